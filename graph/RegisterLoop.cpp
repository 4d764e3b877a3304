//===- RegisterLoop.cpp - loops that run in registers ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RegisterLoop.h. Here stands what such a loop may hold, and how much.
//
//===----------------------------------------------------------------------===//
#include "graph/RegisterLoop.h"

#include "graph/Classify.h"
#include "graph/Fusion.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// What one member of the batch may carry in registers.
constexpr int64_t kMostCarriedBytes = 256;
/// Arrays beyond this are updated where they lie rather than held in registers.
constexpr int64_t kLargestHeldArray = 64;
/// Elements of one value for one member. Each is code of its own: without a batch
/// that fills the lanes, larger ones are better off as vectors in memory.
constexpr int64_t kMostElements = 64, kMostElementsAlone = 32;
/// Instructions of one trip: bounds the time to compile. A single state has one lane,
/// where kernels of the trip's parts would have all.
constexpr int64_t kMostInstructions = 3000, kMostInstructionsAlone = 400;
/// What an element of a stack costs in instructions: lanes that lie in lines of
/// their own miss the cache one by one, and lines side by side of a long stack push
/// each other out of it. Kernels over the whole batch read and write it in order.
constexpr int64_t kPriceOfElement = 4, kPriceOfStray = 16;
/// Fewer lanes do not fill a line.
constexpr int64_t kLanesOfLine = 16;

Block &bodyOf(sh::WhileOp loop) {
  return loop.getBody().front();
}
Block &conditionOf(sh::WhileOp loop) {
  return loop.getCond().front();
}

bool isSupportedType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() == 0)
    return false;
  Type element = tensor.getElementType();
  return element.isIntOrFloat() || isa<ComplexType>(element);
}

//===----------------------------------------------------------------------===//
// Batches that run until no member wants to
//===----------------------------------------------------------------------===//

/// Whether `a`, of the loop's condition, and `b`, of its body, are the same
/// function of what the loop carries.
bool isSameFunction(Value a, Value b, int depth = 0) {
  if (a == b)
    return true;
  constexpr int kDeepest = 16;
  auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
  if (x || y)
    return x && y && x.getArgNumber() == y.getArgNumber() &&
           isa<sh::WhileOp>(x.getOwner()->getParentOp()) &&
           x.getOwner()->getParentOp() == y.getOwner()->getParentOp();
  Operation *f = a.getDefiningOp(), *g = b.getDefiningOp();
  if (depth > kDeepest || f->getName() != g->getName() || f->getNumRegions() != 0 ||
      g->getNumRegions() != 0 || f->getAttrDictionary() != g->getAttrDictionary() ||
      a.getType() != b.getType() || f->getNumResults() != 1 ||
      f->getNumOperands() != g->getNumOperands())
    return false;
  return llvm::all_of(llvm::zip_equal(f->getOperands(), g->getOperands()), [&](auto pair) {
    return isSameFunction(std::get<0>(pair), std::get<1>(pair), depth + 1);
  });
}

/// p of a condition that says "p holds for some member".
Value findWants(sh::WhileOp loop) {
  auto reduce = conditionOf(loop).getTerminator()->getOperand(0).getDefiningOp<sh::ReduceOp>();
  if (!reduce || reduce.getInputs().size() != 1 || reduce->getBlock() != &conditionOf(loop))
    return {};
  Block &body = reduce.getBody().front();
  auto either = body.getTerminator()->getOperand(0).getDefiningOp<sh::OrOp>();
  DenseIntElementsAttr init;
  if (!either || either.getLhs() != body.getArgument(0) || either.getRhs() != body.getArgument(1) ||
      !matchPattern(reduce.getInitValues().front(), m_Constant(&init)) || !init.isSplat() ||
      init.getSplatValue<APInt>() != 0)
    return {};
  return reduce.getInputs().front();
}

/// Whether the body hands on what a member carries as it is where `wants` does
/// not hold: JAX writes select(wants, next, carried) for each carried value.
bool holdsOthers(sh::WhileOp loop, Value wants) {
  Operation *yield = bodyOf(loop).getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    auto select = value.getDefiningOp<sh::SelectOp>();
    if (!select || select.getOnFalse() != bodyOf(loop).getArgument(i))
      return false;
    Value condition = select.getPred();
    if (auto broadcast = condition.getDefiningOp<sh::BroadcastInDimOp>()) {
      // Along further dimensions of the value, the members' in front.
      for (auto [d, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        if (dim != int64_t(d))
          return false;
      condition = broadcast.getOperand();
    }
    if (!isSameFunction(wants, condition))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

class Planner {
public:
  explicit Planner(sh::WhileOp loop) { plan.loop = loop; }
  std::optional<RegisterLoop> run();

private:
  bool findMemory();
  void findBatch();
  bool mayWait();
  void findChanging();
  bool checkCarried(sh::WhileOp loop);
  bool count(Block &block);
  bool count(Operation *op);
  static bool isHeld(Operation *op);
  int64_t priceOf(Value array);
  bool isInMemory(sh::DynamicUpdateSliceOp update);
  bool isInMemory(Value value);
  int64_t perMember(Value value) const { return plan.elementsPerMember(value); }
  SmallVector<std::pair<int32_t, int64_t>> parallelDimensions(Value value);

  RegisterLoop plan;
  int64_t memoryCost = 0; ///< of the stacks' elements of one trip, in instructions
};

bool Planner::findMemory() {
  sh::WhileOp loop = plan.loop;
  plan.inMemory.resize(loop->getNumOperands());
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    if (!isSupportedType(loop->getOperand(i).getType()))
      return false;
    if (graph::isInMemory(loop, i))
      plan.inMemory.set(i);
  }
  return true;
}

/// The parallel dimensions of `value`: class and extent.
SmallVector<std::pair<int32_t, int64_t>> Planner::parallelDimensions(Value value) {
  SmallVector<std::pair<int32_t, int64_t>> found;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (auto [d, extent] : llvm::enumerate(shape))
    if (int32_t number = plan.dimensions->parallelClass(value, d); number >= 0)
      found.push_back({number, extent});
  return found;
}

/// The batch's dimensions are the parallel ones of the largest value in registers
/// that all other carried values have, but for those that have none of them: these
/// are the same for all members.
void Planner::findBatch() {
  constexpr int64_t kShortest = 4; ///< shorter dimensions are no lanes
  sh::WhileOp loop = plan.loop;
  SmallVector<std::pair<int32_t, int64_t>> best;
  int64_t largest = 0;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    Value value = bodyOf(loop).getArgument(i);
    auto found = parallelDimensions(value);
    int64_t elements = numElements(value.getType());
    if (!plan.inMemory.test(i) && !found.empty() && elements > largest) {
      largest = elements;
      best = found;
    }
  }
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    DenseSet<int32_t> present;
    for (auto [number, extent] : parallelDimensions(bodyOf(loop).getArgument(i)))
      present.insert(number);
    bool any = llvm::any_of(best, [&](auto dim) { return present.contains(dim.first); });
    // What is written must be written by one member.
    if (any || plan.inMemory.test(i))
      llvm::erase_if(best, [&](auto dim) { return !present.contains(dim.first); });
  }
  int64_t members = 1;
  for (auto [number, extent] : best)
    members *= extent;
  if (members < kShortest)
    return;
  for (auto [number, extent] : best) {
    plan.batch.push_back(number);
    plan.extents.push_back(extent);
  }
}

/// Whether members stop one by one: all that is carried is of the batch, and the
/// wishes are reckoned for each member.
bool Planner::mayWait() {
  if (!plan.wants)
    return true;
  auto isOfBatch = [&](Value value) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    size_t found = 0;
    for (int64_t d = 0; d < rank; ++d)
      found += plan.batchNumber(value, d) >= 0;
    return found == plan.batch.size();
  };
  return !plan.batch.empty() && perMember(plan.wants) == 1 && isOfBatch(plan.wants) &&
         llvm::all_of(bodyOf(plan.loop).getArguments(), isOfBatch);
}

/// Carried values, what is made of them, and all results of inner loops, branches
/// and sums: these are written where they stand.
void Planner::findChanging() {
  plan.loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isRegion = isa<sh::WhileOp, sh::IfOp, sh::CaseOp>(op);
    bool changes =
        isRegion || classify(op) == OpClass::Hero ||
        llvm::any_of(op->getOperands(), [&](Value value) { return plan.changing.contains(value); });
    if (changes)
      plan.changing.insert(op->result_begin(), op->result_end());
    if (!isRegion)
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      plan.changing.insert(region.args_begin(), region.args_end());
    return WalkResult::advance();
  });
}

bool Planner::checkCarried(sh::WhileOp loop) {
  int64_t bytes = 0;
  for (auto [i, value] : llvm::enumerate(bodyOf(loop).getArguments())) {
    if (!isSupportedType(value.getType()))
      return false;
    if (loop == plan.loop && plan.inMemory.test(i))
      continue;
    int64_t elements = numElements(value.getType());
    bytes += byteSize(value.getType()) / elements * perMember(value);
  }
  return bytes <= kMostCarriedBytes;
}

bool Planner::count(Block &block) {
  int64_t most = plan.batch.empty() ? kMostInstructionsAlone : kMostInstructions;
  for (Operation &op : block.without_terminator())
    if (!count(&op) || plan.instructions > most)
      return false;
  return true;
}

/// What a kernel can hold, apart from its size.
bool Planner::isHeld(Operation *op) {
  if (!llvm::all_of(op->getOperandTypes(), isSupportedType) ||
      !llvm::all_of(op->getResultTypes(), isSupportedType))
    return false;
  if (isa<sh::WhileOp, sh::IfOp, sh::CaseOp, sh::ReduceOp, sh::DynamicUpdateSliceOp>(op))
    return true;
  // Others are inputs: see FormLoops.cpp.
  if (isa<sh::ConstantOp>(op))
    return isSplatConstant(op);
  if (auto dot = dyn_cast<sh::DotGeneralOp>(op)) {
    Type type = getElementTypeOrSelf(dot.getType());
    return !isa<ComplexType>(type) && !type.isInteger(1);
  }
  OpClass opClass = classify(op);
  return opClass != OpClass::TopLevel && opClass != OpClass::Hero;
}

/// Adds the instructions of `op`; false if a kernel cannot or should not hold it.
bool Planner::count(Operation *op) {
  if (!isHeld(op))
    return false;
  if (isa<sh::WhileOp, sh::IfOp, sh::CaseOp>(op)) {
    if (auto inner = dyn_cast<sh::WhileOp>(op); inner && !checkCarried(inner))
      return false;
    return llvm::all_of(op->getRegions(), [&](Region &region) { return count(region.front()); });
  }
  if (!plan.changing.contains(op->getResult(0)))
    return true; // read at its place, like an input
  int64_t elements = perMember(op->getResult(0));
  int64_t most = plan.batch.empty() ? kMostElementsAlone : kMostElements;
  if (auto dot = dyn_cast<sh::DotGeneralOp>(op)) {
    int64_t products = elements;
    for (int64_t dim : dot.getDotDimensionNumbers().getLhsContractingDimensions())
      products *= cast<RankedTensorType>(dot.getLhs().getType()).getDimSize(dim);
    plan.instructions += products;
    return elements <= most;
  }
  if (auto reduce = dyn_cast<sh::ReduceOp>(op)) {
    int64_t inputs = perMember(reduce.getInputs().front());
    plan.instructions += inputs * int64_t(llvm::range_size(reduce.getBody().front()));
    return inputs <= 4 * most;
  }
  if (auto update = dyn_cast<sh::DynamicUpdateSliceOp>(op)) {
    int64_t part = perMember(update.getUpdate());
    memoryCost += isInMemory(update) ? part * priceOf(update) : 0;
    plan.instructions += isInMemory(update) ? part : elements * part;
    return (isInMemory(update) ? part : elements) <= most;
  }
  if (isa<sh::DynamicSliceOp, sh::GatherOp>(op)) {
    // From registers: one selection per candidate. From memory: a load.
    Value from = op->getOperand(0);
    bool held = plan.changing.contains(from) && !isInMemory(resolveViews(from));
    plan.instructions += elements * (held ? perMember(from) : 2);
    memoryCost += held ? 0 : elements * priceOf(from);
    return elements <= most && (!held || perMember(from) <= most);
  }
  plan.instructions += elements * elementCost(op);
  return classify(op) != OpClass::Elementwise || elements <= most;
}

/// Of an element of an array in memory: lanes should stand side by side in it.
int64_t Planner::priceOf(Value array) {
  if (plan.batch.empty())
    return 0;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(array.getType()).getShape();
  int64_t minor = int64_t(shape.size()) - 1;
  while (minor > 0 && shape[minor] == 1)
    --minor;
  bool sideBySide = minor >= 0 && plan.batchNumber(array, minor) == int(plan.batch.size()) - 1 &&
                    plan.extents.back() >= kLanesOfLine;
  return sideBySide ? kPriceOfElement : kPriceOfStray;
}

bool Planner::isInMemory(sh::DynamicUpdateSliceOp update) {
  return llvm::any_of(plan.inMemory.set_bits(), [&](unsigned i) {
    return llvm::is_contained(updatesInPlace(plan.loop, i), update);
  });
}

bool Planner::isInMemory(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &bodyOf(plan.loop) &&
         plan.inMemory.test(argument.getArgNumber());
}

std::optional<RegisterLoop> Planner::run() {
  sh::WhileOp loop = plan.loop;
  if (!findMemory())
    return std::nullopt;
  Operation *ignored = nullptr;
  if (Value wants = findWants(loop); wants && holdsOthers(loop, wants)) {
    plan.wants = wants;
    ignored = conditionOf(loop).getTerminator()->getOperand(0).getDefiningOp();
  }
  plan.dimensions = std::make_unique<LoopDimensions>(loop, ignored);
  findBatch();
  if (!mayWait()) { // once more, members wait for each other
    plan.wants = {};
    plan.batch.clear();
    plan.extents.clear();
    plan.dimensions = std::make_unique<LoopDimensions>(loop, nullptr);
    findBatch();
  }
  findChanging();
  if (!checkCarried(loop) || !count(conditionOf(loop)) || !count(bodyOf(loop)) ||
      memoryCost > plan.instructions)
    return std::nullopt;
  return std::move(plan);
}

} // namespace

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

int RegisterLoop::batchNumber(Value value, int64_t dim) const {
  int32_t number = dimensions->parallelClass(value, dim);
  auto found = llvm::find(batch, number);
  return number < 0 || found == batch.end() ? -1 : int(found - batch.begin());
}

int64_t RegisterLoop::elementsPerMember(Value value) const {
  int64_t elements = 1;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  for (auto [d, extent] : llvm::enumerate(shape))
    if (batchNumber(value, d) < 0)
      elements *= extent;
  return elements;
}

std::optional<RegisterLoop> graph::planRegisterLoop(sh::WhileOp loop) {
  return Planner(loop).run();
}

SmallVector<sh::DynamicUpdateSliceOp> graph::updatesInPlace(sh::WhileOp loop, unsigned i) {
  SmallVector<sh::DynamicUpdateSliceOp> updates;
  if (!conditionOf(loop).getArgument(i).use_empty())
    return {};
  Value value = bodyOf(loop).getTerminator()->getOperand(i);
  while (auto update = value.getDefiningOp<sh::DynamicUpdateSliceOp>()) {
    if (!value.hasOneUse() || update->getBlock() != &bodyOf(loop))
      return {};
    updates.push_back(update);
    value = update.getOperand();
  }
  if (value != bodyOf(loop).getArgument(i))
    return {};
  std::reverse(updates.begin(), updates.end());
  return updates;
}

bool graph::isInMemory(sh::WhileOp loop, unsigned i) {
  return byteSize(loop->getOperand(i).getType()) > kLargestHeldArray &&
         !updatesInPlace(loop, i).empty();
}

sh::WhileOp graph::loopOf(FusionOp fusion) {
  auto loops = fusion.getBlock().getOps<sh::WhileOp>();
  return loops.empty() ? sh::WhileOp() : *loops.begin();
}

unsigned graph::carriedNumber(FusionOp fusion, unsigned result) {
  return cast<OpResult>(fusion.getYield().getValues()[result]).getResultNumber();
}
