//===- Stager.h - one kernel on its way into near memory -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to Stage*.cpp: what they have in common. See Stage.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Share.h"
#include "kernel/Stage.h"
#include "kernel/Windows.h"
#include "schedule/NearMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace spokeshave::kernel {

using schedule::kNearAlignment;

/// How one buffer is staged.
struct Staged {
  mlir::BlockArgument buffer;
  mlir::MemRefType type;
  bool isRead = false, isWritten = false; ///< in far memory
  int64_t nearOffset = -1;                ///< where it is in near memory already
  bool inPlace = false;                   ///< and is used there, untransferred
  std::optional<Window> window;           ///< found; nothing: as a whole
  std::optional<Window> touched;          ///< what each task touches, also in place
  WindowOp declared;                      ///< by the lowering, or null
  int64_t offset = 0, slotElements = 0, slots = 1;
  mlir::Value scratch; ///< what the computation uses
  mlir::Value home;    ///< of a buffer in near memory: where transfers find it

  int64_t elementBytes() const {
    return std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8);
  }
  bool moves() const { return window || declared; }
  int64_t period() const {
    return declared ? DeclaredWindow(declared).period() : window ? window->period() : 1;
  }
  /// Whether accesses to a window could as well be accesses to the buffer.
  bool canBeInPlace() const {
    return !declared ||
           (DeclaredWindow(declared).isContiguous() && DeclaredWindow(declared).isExact());
  }
  int64_t bytes() const {
    return slots * llvm::alignTo(slotElements * elementBytes(), kNearAlignment);
  }
};

class Stager {
public:
  Stager(FuncOp kernel, const StageOptions &options)
      : kernel(kernel), options(options), builder(kernel.getContext()), loc(kernel.getLoc()),
        tasks(kernel.getTasks()), share(tasks) {}
  mlir::LogicalResult run();
  StageNeed need();

private:
  mlir::LogicalResult describe();
  bool paysOff(const Window &window, mlir::MemRefType type) const;
  mlir::LogicalResult layOut();
  mlir::SmallVector<TouchedBuffer> touched();
  void shareTasks(bool isStaged);
  void wrapInLoop();
  void redirect(Staged &buffer);
  void redirectAccesses(mlir::Value from, const Staged &buffer, mlir::Value shift);
  void redirectDeclared(Staged &buffer);
  void redirectDot(TileDotOp dot, mlir::Value from, const Staged &buffer, mlir::Value shift);
  void redirectRows(const Staged &buffer, mlir::Value shift);
  mlir::Value relative(mlir::Value index, mlir::Value shift);
  mlir::Value linearIndex(mlir::ValueRange indices, mlir::MemRefType type);
  mlir::Value slotOrigin(const Staged &buffer, mlir::Value slot);
  mlir::Value constant(int64_t value) {
    return builder.create<mlir::arith::ConstantIndexOp>(loc, value);
  }
  mlir::Value quotient(mlir::Value value, int64_t divisor);
  mlir::Value remainder(mlir::Value value, int64_t divisor);
  mlir::Value slotOf(mlir::Value task, const Staged &buffer);
  /// Semaphore of a slot of a buffer, for one direction.
  mlir::Value semaphore(const Staged &buffer, unsigned number, mlir::Value slot, bool out);
  void startTransfer(Staged &buffer, unsigned number, mlir::Value task, bool out);
  void wait(Staged &buffer, unsigned number, mlir::Value task, bool out);
  void transferBeforeLoop();
  void transferInLoop();
  void transferAfterLoop();
  void startFirst(Staged &buffer, unsigned number, int64_t task);
  void advance(Staged &buffer, unsigned number, mlir::Value task);
  /// One transfer for all tasks.
  bool isWhole(const Staged &buffer) const { return !buffer.moves() || buffer.period() >= tasks; }
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);
  /// `body` at those tasks that are the `place`-th of a window.
  void atPlace(Staged &buffer, mlir::Value task, int64_t place, llvm::function_ref<void()> body);

  FuncOp kernel;
  const StageOptions &options;
  mlir::OpBuilder builder;
  mlir::Location loc;
  int64_t tasks;
  int64_t share;                    ///< tasks of each core; the last one's may be fewer
  mlir::Value begin, end;           ///< of this core's tasks
  mlir::SmallVector<int64_t> parts; ///< of the buffers, see StageNeed
  mlir::SmallVector<Staged> buffers;
  mlir::scf::ForOp loop;
};

} // namespace spokeshave::kernel
