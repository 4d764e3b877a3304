//===- DecodeSdy.cpp - attributes of sdy, the sharding dialect -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sdy's attributes say how tensors are spread over a mesh of devices. They also
// occur in programs of a single device, on custom calls.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Decoder.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace spokeshave::bytecode {

Attribute Decoder::sdyAttribute(Cursor &cursor) {
  // Until the sdy dialect is there, its attributes are kept opaque.
  StringRef rest = cursor.bytes(cursor.remaining());
  return OpaqueAttr::get(StringAttr::get(input.context, "sdy"), llvm::toHex(rest),
                         NoneType::get(input.context));
}

} // namespace spokeshave::bytecode
