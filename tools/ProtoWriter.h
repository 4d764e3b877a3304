//===- ProtoWriter.h - messages in the wire format of protocol buffers -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enough of https://protobuf.dev/programming-guides/encoding for files that others
// read: fields are appended in any order, submessages as bytes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <bit>
#include <cstdint>
#include <string>

namespace spokeshave::tools {

class ProtoMessage {
public:
  /// int32, int64, uint64, bool, enum.
  ProtoMessage &integer(unsigned field, uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  ProtoMessage &real(unsigned field, double value) {
    tag(field, 1);
    uint64_t bits = std::bit_cast<uint64_t>(value);
    for (unsigned i = 0; i < 8; ++i)
      bytes.push_back(char(bits >> (8 * i)));
    return *this;
  }
  ProtoMessage &string(unsigned field, llvm::StringRef value) {
    tag(field, 2);
    varint(value.size());
    bytes.append(value.begin(), value.end());
    return *this;
  }
  ProtoMessage &message(unsigned field, const ProtoMessage &value) {
    return string(field, value.bytes);
  }
  llvm::StringRef data() const { return bytes; }

private:
  void tag(unsigned field, unsigned wireType) { varint(uint64_t(field) << 3 | wireType); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes.push_back(char(value | 0x80));
    bytes.push_back(char(value));
  }

  std::string bytes;
};

} // namespace spokeshave::tools
