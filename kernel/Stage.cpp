//===- Stage.cpp - kernels for machines with an explicit near memory -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The near memory of a staged kernel: its own scratch, then what each buffer
// needs. Transfers stand in the kernel as operations, so that what overlaps what
// can be read there:
//
//   start windows of task 0
//   for task:
//     start windows of task + 1     (buffers - 1 ahead)
//     wait for windows of task
//     compute
//     start results of task;  wait for results of task - 1
//
// A window that several tasks in a row share is waited for by the first of them and,
// of results, written by the last. Windows are those that the lowering declares
// (kernel.window), of other buffers those that findWindow finds.
//
//===----------------------------------------------------------------------===//
#include "kernel/Stage.h"

#include "kernel/LinearTerms.h"
#include "kernel/Share.h"
#include "kernel/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

constexpr int64_t kAlignment = 4096;

/// How one buffer is staged.
struct Staged {
  BlockArgument buffer;
  MemRefType type;
  bool isRead = false, isWritten = false; ///< in far memory
  int64_t nearOffset = -1;                ///< where it is in near memory already
  bool inPlace = false;                   ///< and is used there, untransferred
  std::optional<Window> window;           ///< found; nothing: as a whole
  std::optional<Window> touched;          ///< what each task touches, also in place
  WindowOp declared;                      ///< by the lowering, or null
  int64_t offset = 0, slotElements = 0, slots = 1;
  Value scratch; ///< what the computation uses
  Value home;    ///< of a buffer in near memory: where transfers find it

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
  int64_t bytes() const { return slots * llvm::alignTo(slotElements * elementBytes(), kAlignment); }
};

class Stager {
public:
  Stager(FuncOp kernel, const StageOptions &options)
      : kernel(kernel), options(options), builder(kernel.getContext()), loc(kernel.getLoc()),
        tasks(kernel.getTasks()), share(tasks) {}
  LogicalResult run();
  StageNeed need();

private:
  LogicalResult describe();
  bool paysOff(const Window &window, MemRefType type) const;
  LogicalResult layOut();
  SmallVector<TouchedBuffer> touched();
  void shareTasks(bool isStaged);
  void wrapInLoop();
  void redirect(Staged &buffer);
  void redirectAccesses(Value from, const Staged &buffer, Value shift);
  void redirectDeclared(Staged &buffer);
  void redirectDot(TileDotOp dot, Value from, const Staged &buffer, Value shift);
  void redirectRows(const Staged &buffer, Value shift);
  Value relative(Value index, Value shift);
  Value linearIndex(ValueRange indices, MemRefType type);
  Value slotOrigin(const Staged &buffer, Value slot);
  Value constant(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }
  Value quotient(Value value, int64_t divisor);
  Value remainder(Value value, int64_t divisor);
  Value slotOf(Value task, const Staged &buffer);
  /// Semaphore of a slot of a buffer, for one direction.
  Value semaphore(const Staged &buffer, unsigned number, Value slot, bool out);
  void startTransfer(Staged &buffer, unsigned number, Value task, bool out);
  void wait(Staged &buffer, unsigned number, Value task, bool out);
  void startFirst(Staged &buffer, unsigned number, int64_t task);
  void advance(Staged &buffer, unsigned number, Value task);
  /// One transfer for all tasks.
  bool isWhole(const Staged &buffer) const { return !buffer.moves() || buffer.period() >= tasks; }
  void guarded(Value condition, llvm::function_ref<void()> body);
  /// `body` at those tasks that are the `place`-th of a window.
  void atPlace(Staged &buffer, Value task, int64_t place, llvm::function_ref<void()> body);

  FuncOp kernel;
  const StageOptions &options;
  OpBuilder builder;
  Location loc;
  int64_t tasks;
  int64_t share;              ///< tasks of each core; the last one's may be fewer
  Value begin, end;           ///< of this core's tasks
  SmallVector<int64_t> parts; ///< of the buffers, see StageNeed
  SmallVector<Staged> buffers;
  scf::ForOp loop;
};

/// Windows of tasks that overlap move elements again and again: then not if the
/// buffer as a whole takes no more room than the windows in flight.
bool Stager::paysOff(const Window &window, MemRefType type) const {
  int64_t whole = type.getNumElements();
  int64_t moved = window.elements() * llvm::divideCeil(tasks, window.period());
  return 2 * moved < 3 * whole || whole > options.buffers * window.elements();
}

LogicalResult Stager::describe() {
  bool updates = kernel.getUpdatesOutputs();
  for (auto [number, value] : llvm::enumerate(kernel.getBuffers())) {
    Staged staged;
    staged.buffer = cast<BlockArgument>(value);
    staged.type = cast<MemRefType>(value.getType());
    bool isOutput = number >= kernel.getNumInputs();
    staged.isRead = !isOutput || updates;
    staged.isWritten = isOutput;
    if (kernel.getNearOffsets())
      staged.nearOffset = (*kernel.getNearOffsets())[number];
    if (staged.type.getNumElements() == 0)
      continue;
    bool otherUses = false;
    for (Operation *user : value.getUsers()) {
      auto window = dyn_cast<WindowOp>(user);
      otherUses |= !window;
      if (!window)
        continue;
      DeclaredWindow declared(window);
      if (isOutput && !declared.movesOnce())
        return window.emitOpError("of a result is used again after other ones");
      Staged here = staged;
      here.declared = window;
      here.slotElements = declared.elements();
      here.slots = declared.period() < tasks ? options.buffers : 1;
      here.inPlace = here.nearOffset >= 0 && here.canBeInPlace();
      buffers.push_back(here);
    }
    if (!otherUses)
      continue;
    staged.inPlace = staged.nearOffset >= 0;
    if (tasks > 1 && (!staged.inPlace || options.cores > 1))
      staged.touched = findWindow(kernel, staged.buffer);
    if (!staged.inPlace)
      staged.window = staged.touched;
    if (staged.window && !isOutput && !paysOff(*staged.window, staged.type))
      staged.window.reset();
    staged.slotElements = staged.window ? staged.window->elements() : staged.type.getNumElements();
    staged.slots = staged.window ? options.buffers : 1;
    buffers.push_back(staged);
  }
  return success();
}

LogicalResult Stager::layOut() {
  int64_t offset = llvm::alignTo(kernel.getScratchBytes(), kAlignment);
  for (Staged &buffer : buffers) {
    if (buffer.inPlace)
      continue;
    buffer.offset = offset;
    offset += buffer.bytes();
  }
  if (offset > options.nearBytes) {
    InFlightDiagnostic error = emitError(loc)
                               << "kernel @" << kernel.getSymName() << " needs " << offset
                               << " bytes of near memory, the chip has " << options.nearBytes;
    error.attachNote() << "scratch: " << kernel.getScratchBytes() << " bytes";
    for (const Staged &buffer :
         llvm::make_filter_range(buffers, [](const Staged &each) { return !each.inPlace; }))
      error.attachNote() << "buffer " << buffer.buffer.getArgNumber() - 1 << " of " << buffer.type
                         << ": " << buffer.bytes() << " bytes"
                         << (buffer.moves() ? " in windows" : ", as a whole");
    return failure();
  }
  kernel.setScratchBytes(offset);
  return success();
}

SmallVector<TouchedBuffer> Stager::touched() {
  SmallVector<TouchedBuffer> found;
  for (const Staged &buffer : buffers)
    found.push_back({buffer.buffer.getArgNumber() - 1, buffer.type.getNumElements(),
                     buffer.elementBytes(), buffer.buffer.getArgNumber() > kernel.getNumInputs(),
                     buffer.declared, buffer.touched});
  return found;
}

/// Decides how many tasks a core does, and says what these touch; once they are staged,
/// each core moves buffers without windows as a whole.
void Stager::shareTasks(bool isStaged) {
  if (options.cores < 2)
    return;
  SmallVector<TouchedBuffer> all = touched();
  if (!kernel.getUpdatesOutputs())
    share = shareOfCore(tasks, options.cores, all);
  for (auto [each, buffer] : llvm::zip_equal(all, buffers))
    if (isStaged && !buffer.inPlace && !buffer.moves())
      each.window.reset();
  parts = partsOfCores(tasks, share, options.cores, kernel.getBuffers().size(), all);
}

/// The body goes into a loop over the tasks.
void Stager::wrapInLoop() {
  Block &block = kernel.getBlock();
  builder.setInsertionPointToStart(&block);
  begin = constant(0), end = constant(tasks);
  loop = builder.create<scf::ForOp>(loc, begin, end, constant(1));
  Block *body = loop.getBody();
  auto first = std::next(Block::iterator(loop));
  body->getOperations().splice(body->begin(), block.getOperations(), first, block.end());
  Value core = kernel.getTask();
  core.replaceAllUsesWith(loop.getInductionVar());
  kernel.setTasks(llvm::divideCeil(tasks, share));
  if (share == tasks)
    return;
  builder.setInsertionPoint(loop);
  begin = builder.create<arith::MulIOp>(loc, core, constant(share));
  Value next = builder.create<arith::AddIOp>(loc, begin, constant(share));
  end = builder.create<arith::MinSIOp>(loc, next, constant(tasks));
  loop.setLowerBound(begin);
  loop.setUpperBound(end);
}

Value Stager::quotient(Value value, int64_t divisor) {
  if (divisor == 1)
    return value;
  if (llvm::isPowerOf2_64(divisor))
    return builder.createOrFold<arith::ShRUIOp>(loc, value, constant(llvm::Log2_64(divisor)));
  return builder.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
}

Value Stager::remainder(Value value, int64_t divisor) {
  if (llvm::isPowerOf2_64(divisor))
    return builder.createOrFold<arith::AndIOp>(loc, value, constant(divisor - 1));
  return builder.createOrFold<arith::RemUIOp>(loc, value, constant(divisor));
}

/// The slot of the window that `task` uses.
Value Stager::slotOf(Value task, const Staged &buffer) {
  if (buffer.slots == 1)
    return constant(0);
  return remainder(quotient(task, buffer.period()), buffer.slots);
}

Value Stager::semaphore(const Staged &buffer, unsigned number, Value slot, bool out) {
  int64_t first = 2 * options.buffers * number + (out ? options.buffers : 0);
  return builder.createOrFold<arith::AddIOp>(loc, slot, constant(first));
}

/// The first element of a slot in the buffer's scratch.
Value Stager::slotOrigin(const Staged &buffer, Value slot) {
  int64_t bytes = llvm::alignTo(buffer.slotElements * buffer.elementBytes(), kAlignment);
  return builder.createOrFold<arith::MulIOp>(loc, slot, constant(bytes / buffer.elementBytes()));
}

void Stager::startTransfer(Staged &buffer, unsigned number, Value task, bool out) {
  Value slot = slotOf(task, buffer);
  Value near = slotOrigin(buffer, slot), far = constant(0);
  SmallVector<Value> counts{constant(buffer.slotElements)};
  SmallVector<int64_t> nearStrides{1}, farStrides{1};
  if (buffer.declared) {
    SmallVector<Value> all;
    std::tie(far, all) = DeclaredWindow(buffer.declared).place(builder, loc, task);
    counts.clear(), nearStrides.clear(), farStrides.clear();
    ArrayRef<int64_t> sizes = buffer.declared.getSizes();
    int64_t stride = buffer.slotElements;
    for (auto [d, count] : llvm::enumerate(all)) {
      stride /= sizes[d];
      if (sizes[d] == 1 && d + 1 < all.size())
        continue;
      counts.push_back(count);
      nearStrides.push_back(stride);
      farStrides.push_back(buffer.declared.getStrides()[d]);
    }
  } else if (buffer.window) {
    std::tie(far, counts[0]) = buffer.window->clipped(builder, loc, task);
    Value origin = buffer.window->origin(builder, loc, task);
    Value skipped = builder.createOrFold<arith::SubIOp>(loc, far, origin);
    near = builder.createOrFold<arith::AddIOp>(loc, near, skipped);
    if (buffer.window->rows > 1) {
      counts.insert(counts.begin(), constant(buffer.window->rows));
      nearStrides.insert(nearStrides.begin(), buffer.window->count);
      farStrides.insert(farStrides.begin(), buffer.window->rowStride);
    }
  }
  Value signal = semaphore(buffer, number, slot, out);
  Value home = buffer.home ? buffer.home : buffer.buffer;
  if (out)
    builder.create<DmaStartOp>(loc, buffer.scratch, near, home, far, counts, signal, nearStrides,
                               farStrides);
  else
    builder.create<DmaStartOp>(loc, home, far, buffer.scratch, near, counts, signal, farStrides,
                               nearStrides);
}

void Stager::wait(Staged &buffer, unsigned number, Value task, bool out) {
  builder.create<DmaWaitOp>(loc, semaphore(buffer, number, slotOf(task, buffer), out));
}

void Stager::guarded(Value condition, llvm::function_ref<void()> body) {
  auto branch = builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// `index` of an access, counted from the window's slot instead of the buffer. A
/// constant stays the last term, which the access can take for nothing.
Value Stager::relative(Value index, Value shift) {
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (sum && index.getType().isIndex() && sum.getRhs().getDefiningOp<arith::ConstantOp>()) {
    Value moved = builder.create<arith::AddIOp>(loc, sum.getLhs(), shift);
    return builder.create<arith::AddIOp>(loc, moved, sum.getRhs());
  }
  if (auto vector = dyn_cast<VectorType>(index.getType())) {
    shift = builder.createOrFold<arith::IndexCastOp>(loc, vector.getElementType(), shift);
    shift = builder.create<vector::BroadcastOp>(loc, vector, shift);
  }
  return builder.createOrFold<arith::AddIOp>(loc, index, shift);
}

void Stager::redirectDot(TileDotOp dot, Value from, const Staged &buffer, Value shift) {
  if (dot.getC() == from) {
    dot.getCMutable().assign(buffer.scratch);
    dot.getCOffsetMutable().assign(relative(dot.getCOffset(), shift));
  }
  if (dot.getB() == from) {
    dot.getBMutable().assign(buffer.scratch);
    dot.getBOffsetMutable().assign(relative(dot.getBOffset(), shift));
    if (buffer.window && buffer.window->rows > 1)
      dot.setBDepthStride(buffer.window->count);
  }
  if (dot.getA() == from) {
    dot.getAMutable().assign(buffer.scratch);
    dot.getAOffsetMutable().assign(relative(dot.getAOffset(), shift));
  }
}

/// Loads and stores of `from`, the buffer or its view, go to scratch, `shift` elements
/// further.
void Stager::redirectAccesses(Value from, const Staged &buffer, Value shift) {
  auto type = cast<MemRefType>(from.getType());
  SmallVector<Operation *> users(from.getUsers());
  for (Operation *user : users) {
    if (isa<WindowOp>(user))
      continue;
    builder.setInsertionPoint(user);
    auto move = [&](auto access) {
      Value linear = relative(linearIndex(access.getIndices(), type), shift);
      access.getIndicesMutable().assign(linear);
      access.getBufferMutable().assign(buffer.scratch);
    };
    auto moveRows = [&](auto access) {
      access.getOffsetMutable().assign(relative(access.getOffset(), shift));
      access.getBufferMutable().assign(buffer.scratch);
    };
    if (auto load = dyn_cast<LoadOp>(user))
      move(load);
    else if (auto store = dyn_cast<StoreOp>(user))
      move(store);
    else if (auto load = dyn_cast<LoadRowsOp>(user))
      moveRows(load);
    else if (auto store = dyn_cast<StoreRowsOp>(user))
      moveRows(store);
    else
      redirectDot(cast<TileDotOp>(user), from, buffer, shift);
  }
}

/// Loads of a box's elements, whose rows lie closer together in scratch. A constant
/// stays the last term, as in relative().
void Stager::redirectRows(const Staged &buffer, Value shift) {
  const Window &window = *buffer.window;
  SmallVector<Operation *> users(buffer.buffer.getUsers());
  for (Operation *user : users) {
    auto load = cast<LoadOp>(user);
    builder.setInsertionPoint(load);
    LinearTerms index =
        LinearTerms::of(load.getIndices()[0]).repitched(window.rowStride, window.count);
    Value place = builder.create<arith::AddIOp>(loc, index.variable(builder, loc), shift);
    if (index.constant)
      place = builder.create<arith::AddIOp>(loc, place, constant(index.constant));
    load.getIndicesMutable().assign(place);
    load.getBufferMutable().assign(buffer.scratch);
  }
}

/// The view that a lowering uses becomes a slot of scratch.
void Stager::redirectDeclared(Staged &buffer) {
  Value view = buffer.declared.getResult();
  if (buffer.inPlace) {
    builder.setInsertionPointToStart(loop.getBody());
    Value task = loop.getInductionVar();
    redirectAccesses(view, buffer, DeclaredWindow(buffer.declared).place(builder, loc, task).first);
    return;
  }
  if (buffer.slots == 1) {
    view.replaceAllUsesWith(buffer.scratch);
    return;
  }
  builder.setInsertionPointToStart(loop.getBody());
  redirectAccesses(view, buffer, slotOrigin(buffer, slotOf(loop.getInductionVar(), buffer)));
}

/// Loads and stores go to scratch.
void Stager::redirect(Staged &buffer) {
  if (buffer.declared)
    return redirectDeclared(buffer);
  if (!buffer.window) {
    buffer.buffer.replaceUsesWithIf(buffer.scratch,
                                    [](OpOperand &use) { return !isa<WindowOp>(use.getOwner()); });
    return;
  }
  builder.setInsertionPointToStart(loop.getBody());
  Value task = loop.getInductionVar(), slot = slotOrigin(buffer, slotOf(task, buffer));
  auto shiftOf = [&](const Window &window) {
    return builder.createOrFold<arith::SubIOp>(loc, slot, window.origin(builder, loc, task));
  };
  bool isOfDots = llvm::any_of(buffer.buffer.getUsers(), llvm::IsaPred<TileDotOp>);
  if (buffer.window->rows > 1 && !isOfDots)
    redirectRows(buffer, shiftOf(buffer.window->withinBox()));
  else
    redirectAccesses(buffer.buffer, buffer, shiftOf(*buffer.window));
}

/// The row-major number of an element.
Value Stager::linearIndex(ValueRange indices, MemRefType type) {
  if (indices.size() == 1)
    return indices[0];
  Value sum = constant(0);
  int64_t stride = 1;
  for (int64_t d = int64_t(indices.size()) - 1; d >= 0; --d) {
    Value term = builder.createOrFold<arith::MulIOp>(loc, indices[d], constant(stride));
    sum = builder.createOrFold<arith::AddIOp>(loc, sum, term);
    stride *= type.getDimSize(d);
  }
  return sum;
}

StageNeed Stager::need() {
  StageNeed need;
  need.scratch = llvm::alignTo(kernel.getScratchBytes(), kAlignment);
  need.far.resize(kernel.getBuffers().size());
  need.near.resize(kernel.getBuffers().size());
  if (failed(describe()))
    return need;
  for (Staged &buffer : buffers) {
    unsigned number = buffer.buffer.getArgNumber() - 1;
    need.far[number] += buffer.bytes();
    need.near[number] += buffer.canBeInPlace() ? 0 : buffer.bytes();
  }
  shareTasks(/*isStaged=*/false);
  if (!parts.empty())
    need.moved = movedByCores(tasks, share, options.cores, parts, touched());
  need.parts = std::move(parts);
  need.cores = llvm::divideCeil(tasks, std::max<int64_t>(1, share));
  return need;
}

LogicalResult Stager::run() {
  if (failed(describe()))
    return failure();
  if (tasks == 0)
    return kernel.getBlock().clear(), success();
  if (failed(layOut()))
    return failure();
  shareTasks(/*isStaged=*/true);
  if (!parts.empty())
    kernel.setCoreParts(parts);
  wrapInLoop();
  builder.setInsertionPoint(loop);
  for (Staged &buffer : buffers) {
    auto flat =
        MemRefType::get({buffer.bytes() / buffer.elementBytes()}, buffer.type.getElementType());
    if (buffer.nearOffset >= 0)
      buffer.home = builder.create<ScratchOp>(loc, buffer.type, buffer.nearOffset);
    if (buffer.inPlace) {
      buffer.scratch = buffer.home;
      buffer.isRead = buffer.isWritten = false;
      continue;
    }
    buffer.scratch =
        builder.create<ScratchOp>(loc, buffer.moves() ? flat : buffer.type, buffer.offset);
  }
  for (Staged &buffer : buffers)
    redirect(buffer);

  // Before the loop: what is read as a whole, and the first windows.
  builder.setInsertionPoint(loop);
  int64_t ahead = options.buffers - 1;
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.isRead)
      continue;
    int64_t period = buffer.period();
    int64_t starts =
        buffer.slots > 1 ? std::min(ahead, int64_t(llvm::divideCeil(share, period))) : 1;
    if (buffer.slots == 1 && !isWhole(buffer))
      starts = 0; // no copies: each starts when it is needed
    for (int64_t window = 0; window < starts; ++window)
      startFirst(buffer, number, window * period);
  }
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isRead && isWhole(buffer))
      wait(buffer, number, constant(0), false);

  // In the loop: the next windows, then wait for this task's.
  Value task = loop.getInductionVar();
  builder.setInsertionPointToStart(loop.getBody());
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isRead && !isWhole(buffer))
      advance(buffer, number, task);
  // A slot of results is free when its last transfer is done.
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && !isWhole(buffer))
      atPlace(buffer, task, 0, [&] { wait(buffer, number, task, true); });
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && !isWhole(buffer))
      atPlace(buffer, task, buffer.period() - 1,
              [&] { startTransfer(buffer, number, task, true); });

  // After the loop: what was written as a whole.
  builder.setInsertionPointAfter(loop);
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && isWhole(buffer))
      startTransfer(buffer, number, constant(0), true);
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.isWritten)
      continue;
    for (int64_t slot = 0; slot < buffer.slots; ++slot)
      wait(buffer, number, constant(slot * buffer.period()), true);
  }
  // What is declared is in place.
  SmallVector<WindowOp> declarations;
  kernel.walk([&](WindowOp op) { declarations.push_back(op); });
  for (WindowOp op : declarations)
    op.erase();
  return success();
}

/// Before the loop: starts the transfer of the window of a core's task `task`, or of
/// the whole buffer. The last core may have fewer tasks.
void Stager::startFirst(Staged &buffer, unsigned number, int64_t task) {
  Value first = builder.createOrFold<arith::AddIOp>(loc, begin, constant(task));
  auto start = [&] { startTransfer(buffer, number, first, false); };
  int64_t least = tasks - (llvm::divideCeil(tasks, share) - 1) * share;
  if (task < least)
    return start();
  guarded(builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, first, end), start);
}

void Stager::atPlace(Staged &buffer, Value task, int64_t place, llvm::function_ref<void()> body) {
  int64_t period = buffer.period();
  if (period == 1)
    return body();
  Value within = remainder(task, period);
  guarded(builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, within, constant(place)),
          body);
}

/// At the first task of a window: starts the transfer of a later one, and waits for
/// its own.
void Stager::advance(Staged &buffer, unsigned number, Value task) {
  int64_t ahead = buffer.period() * (options.buffers - 1);
  atPlace(buffer, task, 0, [&] {
    Value next = builder.createOrFold<arith::AddIOp>(loc, task, constant(ahead));
    Value hasNext = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, next, end);
    guarded(hasNext, [&] { startTransfer(buffer, number, next, false); });
    wait(buffer, number, task, false);
  });
}

} // namespace

StageNeed kernel::stageNeed(FuncOp kernel, const StageOptions &options) {
  return Stager(kernel, options).need();
}

LogicalResult kernel::stageBuffers(FuncOp kernel, const StageOptions &options) {
  return Stager(kernel, options).run();
}
