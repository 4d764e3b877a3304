//===- Cursor.cpp - reading bytes without trusting them --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Cursor.h.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Cursor.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace spokeshave::bytecode {

Input::Input(StringRef bytes, StringRef name, MLIRContext *context)
    : bytes(bytes), context(context),
      fileLocation(FileLineColLoc::get(context, name, /*line=*/0, /*column=*/0)) {}

void Input::error(uint64_t offset, const Twine &message) {
  if (hasFailed)
    return;
  diagnose(offset) << message;
}

InFlightDiagnostic Input::diagnose(uint64_t offset) {
  hasFailed = true;
  return emitError(fileLocation) << "malformed bytecode at byte " << offset << ": ";
}

void Input::error(Location location, const Twine &message) {
  if (hasFailed)
    return;
  diagnose(location) << message;
}

InFlightDiagnostic Input::diagnose(Location location) {
  hasFailed = true;
  return emitError(location);
}

uint8_t Cursor::byte() {
  if (!ok())
    return 0;
  if (position >= end) {
    error("the data ends too early");
    return 0;
  }
  return static_cast<uint8_t>(input->bytes[position++]);
}

// The number of trailing zeros of the first byte says how many bytes follow;
// a first byte of zero says eight.
uint64_t Cursor::varint() {
  uint8_t first = byte();
  if (first & 1)
    return first >> 1;
  unsigned more = first == 0 ? 8 : llvm::countr_zero(first);
  uint64_t value = 0;
  for (unsigned i = 0; i < more; ++i) {
    uint64_t next = byte();
    // The first byte takes part except when it is only a marker.
    unsigned shift = first == 0 ? 8 * i : 8 * (i + 1);
    if (shift < 64)
      value |= next << shift;
  }
  return first == 0 ? value : (value | first) >> (more + 1);
}

int64_t Cursor::signedVarint() {
  uint64_t value = varint();
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

std::pair<uint64_t, bool> Cursor::flagged() {
  uint64_t value = varint();
  return {value >> 1, value & 1};
}

uint64_t Cursor::count() {
  uint64_t value = varint();
  if (ok() && value > remaining()) {
    error("a count of " + Twine(value) + " in the last " + Twine(remaining()) + " bytes");
    return 0;
  }
  return ok() ? value : 0;
}

Range Cursor::take(uint64_t size) {
  if (ok() && size > remaining())
    error("a size of " + Twine(size) + " in the last " + Twine(remaining()) + " bytes");
  if (!ok())
    return {};
  Range range{position, position + size};
  position += size;
  return range;
}

StringRef Cursor::bytes(uint64_t size) {
  Range range = take(size);
  return input->bytes.slice(range.begin, range.end);
}

StringRef Cursor::zeroTerminated() {
  if (!ok())
    return {};
  StringRef rest = input->bytes.slice(position, end);
  size_t length = rest.find('\0');
  if (length == StringRef::npos) {
    error("a string without an end");
    return {};
  }
  position += length + 1;
  return rest.take_front(length);
}

SmallVector<int64_t> Cursor::signedVarints() {
  SmallVector<int64_t> values;
  uint64_t n = count();
  values.reserve(n);
  for (uint64_t i = 0; i < n && ok(); ++i)
    values.push_back(signedVarint());
  return values;
}

// Alignment counts from the start of the file.
void Cursor::align(uint64_t alignment) {
  constexpr uint8_t padding = 0xCB;
  if (!llvm::isPowerOf2_64(alignment) || alignment > (uint64_t(1) << 32))
    return error("an alignment of " + Twine(alignment));
  while (ok() && position % alignment != 0)
    if (byte() != padding && ok())
      error("bad padding");
}

Cursor::Section Cursor::section() {
  constexpr uint8_t hasAlignment = 0x80;
  uint8_t id = byte();
  uint64_t size = varint();
  if (id & hasAlignment)
    align(varint());
  return {static_cast<uint8_t>(id & ~hasAlignment), take(size)};
}

} // namespace spokeshave::bytecode
