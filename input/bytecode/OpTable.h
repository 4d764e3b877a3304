//===- OpTable.h - how serialized operations become operations -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row per versioned operation of VHLO and per operation of sdy: the
// attributes it has, in the order in which bytecode stores them, and what each
// of them becomes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace spokeshave::bytecode {

/// What a serialized attribute becomes.
enum class Conversion {
  Same,     ///< Itself, under the same name.
  Integers, ///< A tensor of i64 becomes an array of i64.
  Bools,    ///< A tensor of i1 becomes an array of bools.
  Symbol,   ///< A string becomes a symbol's name.
  Symbols,  ///< The same for an array of strings.
  Channel,  ///< A number becomes a channel_handle.
  Flag,     ///< True becomes a unit attribute, false nothing.
  Constant, ///< The value of a constant.
  Part,     ///< It becomes part of a structured attribute, see Structure.
  Nothing,  ///< It is not used.
};

/// A value that stands for absence in the StableHLO operation.
enum class Default {
  None,
  False,
  Zero,
  MinusOne,
  NoDicts,   ///< Array of empty dictionaries.
  Empty,     ///< String, array, dictionary or tensor without elements.
  Ones,      ///< Tensor of ones.
  Zeros,     ///< Tensor of zeros or false.
  Precision, ///< Array of DEFAULT.
  Accuracy,  ///< The result accuracy that asks for nothing.
  NoType,    ///< Comparison type NOTYPE.
  Original,  ///< API_VERSION_ORIGINAL.
};

/// Serialized attributes that are one structured attribute in StableHLO.
enum class Structure { None, Dot, Gather, Scatter, Convolution, Channel, CustomCall };

struct Property {
  llvm::StringRef name;
  Conversion conversion = Conversion::Same;
  Default defaultValue = Default::None;
  bool isOptional = false;
};

struct OpSpec {
  std::string name; ///< Of the operation that is built.
  Structure structure = Structure::None;
  llvm::SmallVector<Property, 4> properties;
};

/// The row of a serialized operation such as vhlo's "dot_general_v2".
std::optional<OpSpec> lookUpOp(llvm::StringRef dialect, llvm::StringRef name);

/// All rows' names, with their dialect; for tests.
llvm::SmallVector<std::string> allSerializedOps();

} // namespace spokeshave::bytecode
