//===- Evaluator.h - how operations are run, for the themes' files ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each theme (Movement.cpp, Reduction.cpp, ...) adds handlers for its
// operations to one table. A handler sees a Call: the operation, the values of
// its operands, the element types to give its results.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Interpreter.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace spokeshave::reference {

class Evaluator;
class Grid;
using Results = llvm::SmallVector<Tensor>;

/// The values of one region's blocks while it runs, inside those around it.
class Scope {
public:
  explicit Scope(const Scope *parent = nullptr) : parent(parent) {}

  void define(mlir::Value value, Tensor tensor) { values[value] = std::move(tensor); }
  /// Forgets a value defined here; one from further out stays.
  void forget(mlir::Value value) { values.erase(value); }
  /// The value, here or further out; null if there is none.
  const Tensor *find(mlir::Value value) const;

private:
  const Scope *parent;
  llvm::DenseMap<mlir::Value, Tensor> values;
};

/// Where a process stands in the grid.
struct Process {
  Grid *grid = nullptr;
  int64_t replica = 0;
  int64_t partition = 0;
};

struct Call {
  Evaluator &evaluator;
  const Scope &scope;
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> operands;
  /// Per result; the default ElementType for tokens and tuples.
  llvm::ArrayRef<ElementType> resultTypes;
  Results &results;

  const Tensor &operator[](unsigned i) const { return operands[i]; }
  ElementType resultType(unsigned i = 0) const { return resultTypes[i]; }
  /// The shape that the program gives a result; may have dynamic dimensions.
  Shape declaredShape(unsigned i = 0) const;
  /// Appends a result.
  mlir::LogicalResult give(Tensor result) {
    results.push_back(std::move(result));
    return mlir::success();
  }
  mlir::LogicalResult give(mlir::FailureOr<Tensor> result) {
    return mlir::failed(result) ? mlir::failure() : give(std::move(*result));
  }
  mlir::InFlightDiagnostic error() const { return op->emitOpError(); }
};

using Handler = mlir::LogicalResult (*)(Call &call);

class HandlerTable {
public:
  /// Registers `function(Op, Call &)` for the operation class Op.
  template <typename Op, mlir::LogicalResult (*function)(Op, Call &)> void add() {
    handlers[mlir::TypeID::get<Op>()] = [](Call &call) {
      return function(llvm::cast<Op>(call.op), call);
    };
  }
  Handler find(mlir::Operation *op) const { return handlers.lookup(op->getName().getTypeID()); }
  /// The table of all themes.
  static const HandlerTable &all();

private:
  llvm::DenseMap<mlir::TypeID, Handler> handlers;
};

class Evaluator {
public:
  explicit Evaluator(const Options &options, Process process = {})
      : options(options), process(process) {}

  /// Runs a single-block region.
  mlir::LogicalResult runRegion(mlir::Region &region, llvm::ArrayRef<Tensor> arguments,
                                Results &results, const Scope *scope);
  mlir::LogicalResult runFunction(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments,
                                  Results &results);
  /// Runs `op` on `operands`; results are checked against their types.
  mlir::LogicalResult runOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, Results &results,
                            const Scope &scope);
  /// As runOp, for element types of results other than the declared ones.
  mlir::LogicalResult runOp(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                            llvm::ArrayRef<ElementType> resultTypes, Results &results,
                            const Scope &scope);
  mlir::func::FuncOp lookupFunction(mlir::Operation *from, mlir::FlatSymbolRefAttr name);
  /// Counts a step; fails past the limit or where another process failed.
  mlir::LogicalResult step(mlir::Operation *op);

  const Process &where() const { return process; }
  const Options &settings() const { return options; }

  /// What interpreter.probe saw, by its name, in order.
  llvm::StringMap<llvm::SmallVector<Tensor>> probes;

private:
  const Options &options;
  Process process;
  uint64_t steps = 0;
  int depth = 0;
  mlir::SymbolTableCollection symbols;
};

/// Elementwise operations on whole tensors, by their kernels.
mlir::LogicalResult runElementwise(Call &call);

/// Whether `op` computes on quantized tensors by dequantizing its operands and
/// quantizing its results, and if so, does that.
bool computesOnQuantized(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                         llvm::ArrayRef<ElementType> resultTypes);
mlir::LogicalResult runQuantized(Call &call);

// The themes.
void addBatchNorm(HandlerTable &table);
void addCheck(HandlerTable &table);
void addCollectives(HandlerTable &table);
void addCommunication(HandlerTable &table);
void addControlFlow(HandlerTable &table);
void addConvolution(HandlerTable &table);
void addCustomCall(HandlerTable &table);
void addDot(HandlerTable &table);
void addFft(HandlerTable &table);
void addGather(HandlerTable &table);
void addLinearAlgebra(HandlerTable &table);
void addMovement(HandlerTable &table);
void addQuantization(HandlerTable &table);
void addRandom(HandlerTable &table);
void addReduction(HandlerTable &table);
void addScatter(HandlerTable &table);
void addSharding(HandlerTable &table);
void addSlicing(HandlerTable &table);
void addSort(HandlerTable &table);

} // namespace spokeshave::reference
