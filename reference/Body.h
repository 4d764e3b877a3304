//===- Body.h - computations that operations apply to elements -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a reduce, sort, scatter or map, called once per element. Where it
// is elementwise operations only, as it nearly always is, it is turned into a
// list of kernels on scalars; any other body runs as a region on rank-0 tensors.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Evaluator.h"
#include "reference/Kernel.h"

namespace spokeshave::reference {

class Body {
public:
  Body(Call &call, mlir::Region &region);

  /// An error at the operation unless the body has so many arguments and results.
  mlir::LogicalResult expect(unsigned numArguments, unsigned numResults) const;
  unsigned numResults() const { return resultRegisters.size(); }
  /// Element types that the body takes and returns.
  ElementType argumentType(unsigned i) const { return argumentTypes[i]; }
  ElementType resultType(unsigned i) const { return returnTypes[i]; }

  /// Applies the body. `results` may alias `arguments`.
  mlir::LogicalResult operator()(llvm::ArrayRef<Scalar> arguments,
                                 llvm::MutableArrayRef<Scalar> results);

private:
  struct Step {
    Kernel kernel;
    unsigned operands[3];
    unsigned arity;
    unsigned result;
  };

  bool compile();
  bool compileOp(mlir::Operation &op, llvm::DenseMap<mlir::Value, unsigned> &registerOf);
  bool addConstant(mlir::Value value, const Tensor &tensor,
                   llvm::DenseMap<mlir::Value, unsigned> &registerOf);
  mlir::LogicalResult interpret(llvm::ArrayRef<Scalar> arguments,
                                llvm::MutableArrayRef<Scalar> results);

  Call &call;
  mlir::Region &region;
  llvm::SmallVector<ElementType> argumentTypes, returnTypes;
  llvm::SmallVector<unsigned> resultRegisters;
  std::vector<Step> steps;
  std::vector<Scalar> registers;
  bool compiled = false;
};

} // namespace spokeshave::reference
