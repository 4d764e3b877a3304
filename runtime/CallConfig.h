//===- CallConfig.h - the configuration of a call, parsed ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program carries the attributes of a call as MLIR text, so that it can be
// written to a file. They are parsed once, at load, in a context that knows no
// dialect but the builtin one (StableHLO's attributes become opaque text), and
// nothing of MLIR is left when the call is ready.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Compile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

#include <optional>

namespace spokeshave::runtime {

/// "custom call 'target' (at file.py:3)", for messages.
std::string describe(const cpu::CallSpec &spec);

class CallConfig {
public:
  /// Error InvalidProgram for text that is no dictionary.
  static llvm::Expected<CallConfig> parse(const cpu::CallSpec &spec);

  mlir::Attribute get(llvm::StringRef name) const { return dictionary.get(name); }
  mlir::DictionaryAttr attributes() const { return dictionary; }
  /// Parses more text in the same context; null if it is no attribute.
  mlir::Attribute parseAttribute(llvm::StringRef text) const;

  /// A bool or the text of an enumeration: "FFT" for both the string and
  /// #stablehlo<fft_type FFT>. Nothing if absent or of another kind.
  std::optional<bool> getBool(llvm::StringRef name) const;
  std::optional<std::string> getEnum(llvm::StringRef name) const;
  /// A list of integers in any of the ways MLIR writes one.
  std::optional<llvm::SmallVector<int64_t>> getIntegers(llvm::StringRef name) const;

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::DictionaryAttr dictionary;
};

/// The integers of an array or elements attribute.
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Attribute attribute);

} // namespace spokeshave::runtime
