//===- Plan.h - a program on its way to buffers ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the steps of scheduling work on, between the tensors of the graph and
// the buffers of the schedule dialect:
//
//   linearize        @main -> nodes (values that want memory) and steps
//   computeLiveness  when each node holds a value
//   coalesce         nodes that can share memory without a copy become one class
//   loopsThatCopy    loops to linearize anew, with two trips in one
//   orderCopies      the copies that are left, in an order that loses nothing
//   assignArena      classes without memory of their own get arena offsets
//   checkPlan        plays the program and checks that no value is overwritten
//   emitProgram      -> schedule.program
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/LiveSet.h"
#include "schedule/ScheduleDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <vector>

namespace spokeshave::schedule {

using NodeId = int32_t;

/// Where a node's memory comes from.
enum class Home { Arena, Argument, Result, Constant };

/// A value that wants memory. Loop-carried values are one node for the operand
/// of condition and body and the result of the loop.
struct Node {
  mlir::MemRefType type;
  mlir::Location loc;
  Home home = Home::Arena;
  int64_t number = -1; ///< of the argument or result
  bool readOnly = false;
  mlir::ElementsAttr constant;
  LiveSet live;
  llvm::SmallVector<int32_t, 4> reads; ///< windows, ascending
  int64_t bytes() const { return byteSizeOf(type); }
};

/// A node seen with a type: a reshape or bitcast of it costs nothing.
struct BufferUse {
  NodeId node;
  mlir::MemRefType type;
};

struct Copy {
  BufferUse source, target;
};

/// A result that a launch may write where it reads an input.
struct Share {
  NodeId source, target;
};

struct Step;
using Sequence = std::vector<Step>;

struct Step {
  enum class Kind { Launch, Library, CustomCall, While, Case, Copies };
  Kind kind;
  mlir::Operation *op;
  int32_t window;                                ///< a loop's: where it is entered
  int32_t exitWindow = -1;                       ///< of loops and cases
  llvm::SmallVector<BufferUse, 4> reads, writes; ///< the buffers, in order
  /// Done at once before the step itself, as if all sources were read first.
  llvm::SmallVector<Copy, 1> copies;
  llvm::SmallVector<Copy, 1> moves; ///< the copies that are left, one by one
  llvm::SmallVector<Share, 1> shares;
  /// Loops: condition and body; the body ends with the copies to the carried
  /// nodes. Cases: the branches; each ends with the copies to the results.
  std::vector<Sequence> blocks;
  std::optional<BufferUse> selector; ///< a loop's predicate, a case's index
  std::optional<int64_t> trips;
};

/// A region of the program, for liveness. Block 0 is the body of @main.
struct BlockInfo {
  int32_t parent = -1;
  int32_t first = 0, last = 0;            ///< windows of its steps
  int32_t stepFirst = 0, stepLast = 0;    ///< windows of the loop or case it is of
  bool inLoop = false;                    ///< is it a loop's
  llvm::SmallVector<int32_t, 2> siblings; ///< all blocks of the same step
};

/// A node whose value arrives in more than one place.
struct LoopValue {
  NodeId node;
  int32_t parent, body; ///< blocks
  int32_t entry, bodyFirst, latch, exit;
};
struct CaseValue {
  NodeId node;
  int32_t parent;
  llvm::SmallVector<int32_t, 2> arrivals;
  int32_t exit;
};
struct PlainValue {
  NodeId node;
  int32_t block, window;
};

struct Plan {
  mlir::func::FuncOp function;
  std::vector<Node> nodes;
  Sequence steps;
  llvm::SmallVector<int64_t> aliases; ///< of each result: its argument or -1
  llvm::SmallVector<NodeId> arguments, results;

  std::vector<BlockInfo> blocks;
  std::vector<int32_t> windowBlock; ///< the block of each window
  std::vector<PlainValue> plainValues;
  std::vector<LoopValue> loopValues;
  std::vector<CaseValue> caseValues;

  /// Filled by coalesce: nodes of one class share memory. The representative of
  /// a class has the class's home.
  std::vector<NodeId> classOf;
  /// Filled by assignArena, by representative; -1 for other homes.
  std::vector<int64_t> offsetOf;
  int64_t arenaBytes = 0;

  NodeId addNode(mlir::MemRefType type, mlir::Location loc) {
    nodes.push_back(Node{type, loc});
    return nodes.size() - 1;
  }
  NodeId rootOf(NodeId node) const { return classOf[node]; }
  bool sameMemory(NodeId a, NodeId b) const { return classOf[a] == classOf[b]; }
};

/// Loops of known trips, to be written with two trips in one: what the first leaves
/// in new memory, the second brings back, where else it would be copied each time.
using LoopSet = llvm::DenseSet<mlir::Operation *>;

/// Errors are located diagnostics: UnsupportedProgram for what has no schedule.
mlir::LogicalResult linearize(mlir::func::FuncOp function, Plan &plan, const LoopSet &doubled);
void computeLiveness(Plan &plan);
void coalesce(Plan &plan);
/// Of a plan with classes and without doubled loops: those that copy enough for it
/// to pay that their bodies stand there twice.
LoopSet loopsThatCopy(Plan &plan);
/// Of these, the loops that copy less doubled, as they are in `plan`.
LoopSet loopsThatGained(const LoopSet &doubled, Plan &before, Plan &plan);
void orderCopies(Plan &plan);
void assignArena(Plan &plan);
mlir::LogicalResult checkPlan(const Plan &plan);
/// Replaces @main by schedule.program and schedule.kernel operations.
mlir::LogicalResult emitProgram(Plan &plan, mlir::ModuleOp module);

/// Calls `visit(step, depth)` for each step, before the steps inside it; depth
/// counts the loops around.
void forEachStep(Sequence &steps, llvm::function_ref<void(Step &, int)> visit, int depth = 0);

} // namespace spokeshave::schedule
