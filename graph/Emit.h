//===- Emit.h - writing StableHLO with few words ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

namespace spokeshave::graph {

/// Makes StableHLO operations at one place. Types follow from the operands.
class Emit {
public:
  Emit(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::RankedTensorType typeOf(mlir::Value value) const {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) const { return typeOf(value).getShape(); }

  /// The number `value` everywhere, of an integer or float type.
  mlir::Value splat(mlir::RankedTensorType type, double value);
  mlir::Value integer(mlir::RankedTensorType type, uint64_t value);
  /// `value` like an existing tensor.
  mlir::Value integerLike(mlir::Value like, uint64_t value) { return integer(typeOf(like), value); }

  /// A one- or two-operand elementwise operation of the operand's type.
  template <typename OpT> mlir::Value unary(mlir::Value a) {
    return builder.create<OpT>(loc, a.getType(), a);
  }
  template <typename OpT> mlir::Value binary(mlir::Value a, mlir::Value b) {
    return builder.create<OpT>(loc, a.getType(), a, b);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return binary<stablehlo::AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return binary<stablehlo::SubtractOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return binary<stablehlo::MulOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return binary<stablehlo::DivOp>(a, b); }
  mlir::Value bitXor(mlir::Value a, mlir::Value b) { return binary<stablehlo::XorOp>(a, b); }

  /// a < b as bools.
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value convert(mlir::Value value, mlir::Type element);
  mlir::Value bitcast(mlir::Value value, mlir::RankedTensorType type);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Operand dimension i becomes dimension `dims[i]` of `shape`.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dims);
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values, int64_t dim);
  /// Elements [start, limit) along each dimension.
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> limits);
  mlir::Value iota(mlir::RankedTensorType type, int64_t dim);
  /// The sum over `dims`.
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> dims);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace spokeshave::graph
