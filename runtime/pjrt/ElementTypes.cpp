//===- ElementTypes.cpp - the table of element types -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/ElementTypes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace spokeshave::pjrt {

namespace {
struct Entry {
  ElementType type;
  const char *name;
  int64_t bytes;
};
constexpr Entry kTypes[] = {
    {ElementType::Pred, "i1", 1},
    {ElementType::S8, "i8", 1},
    {ElementType::S16, "i16", 2},
    {ElementType::S32, "i32", 4},
    {ElementType::S64, "i64", 8},
    {ElementType::U8, "ui8", 1},
    {ElementType::U16, "ui16", 2},
    {ElementType::U32, "ui32", 4},
    {ElementType::U64, "ui64", 8},
    {ElementType::F16, "f16", 2},
    {ElementType::F32, "f32", 4},
    {ElementType::F64, "f64", 8},
    {ElementType::BF16, "bf16", 2},
    {ElementType::C64, "complex<f32>", 8},
    {ElementType::C128, "complex<f64>", 16},
    {ElementType::F8E5M2, "f8E5M2", 1},
    {ElementType::F8E4M3FN, "f8E4M3FN", 1},
    {ElementType::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 1},
    {ElementType::F8E5M2FNUZ, "f8E5M2FNUZ", 1},
    {ElementType::F8E4M3FNUZ, "f8E4M3FNUZ", 1},
    {ElementType::S4, "i4", 1},
    {ElementType::U4, "ui4", 1},
    {ElementType::Token, "token", 0},
    {ElementType::S2, "i2", 1},
    {ElementType::U2, "ui2", 1},
    {ElementType::F8E4M3, "f8E4M3", 1},
    {ElementType::F8E3M4, "f8E3M4", 1},
    {ElementType::F8E8M0FNU, "f8E8M0FNU", 1},
    {ElementType::F4E2M1FN, "f4E2M1FN", 1},
    {ElementType::S1, "si1", 1},
    {ElementType::U1, "ui1", 1},
    {ElementType::F6E2M3FN, "f6E2M3FN", 1},
    {ElementType::F6E3M2FN, "f6E3M2FN", 1},
};

const Entry *find(ElementType type) {
  for (const Entry &entry : kTypes)
    if (entry.type == type)
      return &entry;
  return nullptr;
}
} // namespace

std::optional<int64_t> bytesOf(ElementType type) {
  const Entry *entry = find(type);
  return entry ? std::optional(entry->bytes) : std::nullopt;
}

llvm::StringRef nameOf(ElementType type) {
  const Entry *entry = find(type);
  return entry ? entry->name : "?";
}

ElementType elementTypeNamed(llvm::StringRef name) {
  for (const Entry &entry : kTypes)
    if (name == entry.name)
      return entry.type;
  return ElementType::Invalid;
}

std::optional<int64_t> bytesOf(ElementType type, llvm::ArrayRef<int64_t> dims) {
  std::optional<int64_t> bytes = bytesOf(type);
  // A zero among the dimensions makes the array empty however large the others
  // are, so multiply the non-zero ones for the overflow check.
  bool empty = false;
  for (int64_t dim : dims) {
    if (!bytes || dim < 0)
      return std::nullopt;
    int64_t product;
    if (dim == 0)
      empty = true;
    else if (llvm::MulOverflow(*bytes, dim, product))
      return std::nullopt;
    else
      bytes = product;
  }
  return empty ? 0 : bytes;
}

std::string shapeText(llvm::StringRef elementType, llvm::ArrayRef<int64_t> dims) {
  std::string text = (elementType + "[").str();
  llvm::raw_string_ostream os(text);
  llvm::interleave(dims, os, ",");
  os << "]";
  return text;
}

} // namespace spokeshave::pjrt
