//===- TestProgram.h - programs made of hand-written LLVM IR ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Executable.h"
#include "support/Error.h"

#include "gtest/gtest.h"
#include <optional>

namespace spokeshave::runtime::test {

/// Compiles LLVM IR to an object for this machine.
std::vector<char> compileIr(llvm::StringRef ir);

/// The bytes of an object as programs hold them.
cpu::Object objectOf(std::vector<char> bytes);

/// The IR of a program of `count` f32 with one launch:
///   result[i] = argument[i] * 2 + constant[0]
/// in tasks of 64 elements with a scratch of 128 bytes each.
extern const char *const kScaleIr;

cpu::ValueSpec floats(std::vector<int64_t> shape, int64_t alias = -1);
cpu::ValueSpec values(std::string elementType, std::vector<int64_t> shape, int64_t elementBytes);

/// A program of kScaleIr for 64 * 16 elements.
std::unique_ptr<cpu::Program> scaleProgram();

/// A program whose driver makes call 0 with the arguments and results as they are.
std::unique_ptr<cpu::Program> callProgram(cpu::CallSpec call);

/// The code of an error of ours, nothing for success.
inline std::optional<ErrorCode> codeOf(llvm::Error error) {
  if (!error)
    return std::nullopt;
  return takeError(std::move(error))->getCode();
}
template <typename T> std::optional<ErrorCode> codeOf(llvm::Expected<T> value) {
  return value ? std::nullopt : codeOf(value.takeError());
}
inline std::string messageOf(llvm::Error error) {
  return error ? takeError(std::move(error))->getMessage() : "";
}
/// The value of an Expected that must have one.
template <typename T> T get(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(messageOf(value.takeError()));
  return std::move(*value);
}

template <typename T> ExecuteArgument argument(std::vector<T> &data, bool donated = false) {
  return {data.data(), data.size() * sizeof(T), donated};
}
template <typename T> ExecuteResult result(std::vector<T> &data) {
  return {data.data(), data.size() * sizeof(T)};
}

/// Bytes of this process in physical memory.
int64_t residentBytes();

} // namespace spokeshave::runtime::test
