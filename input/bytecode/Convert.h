//===- Convert.h - the attributes of an operation, from VHLO to StableHLO --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VHLO keeps every attribute flat and explicit. Here dimension numbers become
// structured attributes, tensors of indices become arrays, and attributes that
// say what absence says are left out: the result is what StableHLO's own text
// would have been.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/bytecode/Cursor.h"
#include "input/bytecode/OpTable.h"

#include "mlir/IR/OperationSupport.h"

namespace spokeshave::bytecode {

/// Converts the attributes of one operation.
class AttributeConverter {
public:
  AttributeConverter(Input &input, mlir::Location location, const OpSpec &spec)
      : input(input), location(location), spec(spec) {}

  /// Takes the serialized attribute `name`.
  void add(llvm::StringRef name, mlir::Attribute value) { given.emplace_back(name, value); }

  /// Appends the operation's attributes to `result`; errors are reported at the
  /// operation.
  void convert(mlir::NamedAttrList &result);

private:
  mlir::Attribute find(llvm::StringRef name) const;
  mlir::Attribute convert(const Property &property, mlir::Attribute value);
  mlir::Attribute integers(llvm::StringRef name, mlir::Attribute value);
  mlir::Attribute bools(llvm::StringRef name, mlir::Attribute value);
  mlir::Attribute symbols(llvm::StringRef name, mlir::Attribute value);

  // The parts of structured attributes.
  int64_t part(llvm::StringRef name);
  llvm::SmallVector<int64_t> listPart(llvm::StringRef name);
  llvm::SmallVector<int64_t> optionalListPart(llvm::StringRef name);
  void addStructure(mlir::NamedAttrList &result);
  mlir::Attribute dotDimensionNumbers();
  mlir::Attribute dotAlgorithm();
  mlir::Attribute gatherDimensionNumbers();
  mlir::Attribute scatterDimensionNumbers();
  mlir::Attribute convolutionDimensionNumbers();
  mlir::Attribute channelHandle();
  void dropEmptyLayouts(mlir::NamedAttrList &result);

  void error(llvm::StringRef name, const llvm::Twine &what);

  Input &input;
  mlir::Location location;
  const OpSpec &spec;
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::Attribute>, 8> given;
};

} // namespace spokeshave::bytecode
