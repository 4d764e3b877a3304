//===- Rematerialize.cpp - values computed again instead of kept -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gradient keeps what the forward pass computed until the backward pass has come
// to it. What of it is elementwise work on something else that is kept anyway need
// not be: it is made again before its late uses.
//
//===----------------------------------------------------------------------===//
#include "graph/Rematerialize.h"

#include "graph/Classify.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"
#include "support/Location.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_REMATERIALIZE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// From what an operation's results are there to their last use.
struct Life {
  int64_t from = 0, to = 0, bytes = 0;
};

/// A value, how it can be computed from others, and what that gains at the peak.
struct Choice {
  OpResult value;
  llvm::SetVector<Operation *> body; ///< of its fusion, what computes it
  llvm::SetVector<Value> inputs;     ///< of the fusion's body: arguments, other results
  int64_t freed = 0, operations = 0;
  Operation *firstLate = nullptr;
};

class Rematerializer {
public:
  explicit Rematerializer(func::FuncOp function)
      : function(function), block(function.getBody().front()) {
    measure();
  }
  int64_t peak() const { return peakBytes; }
  std::vector<Recomputed> run(int64_t limit);

private:
  void measure();
  static Value rootOf(Value value);
  static bool isKept(Value value);
  int64_t positionOf(Operation *op) const;
  int64_t peakWithin(Operation &op);
  Value outside(FusionOp fusion, Value inside) const;
  bool collect(FusionOp fusion, Value inside, Choice &choice);
  std::optional<Choice> choiceFor(OpResult value);
  void apply(Choice &choice);

  func::FuncOp function;
  Block &block;
  DenseMap<Operation *, int64_t> positions;
  llvm::MapVector<Value, Life> lives;
  int64_t peakBytes = 0, peakAt = 0;
};

int64_t bytesOf(Type type) {
  return isa<RankedTensorType>(type) ? byteSize(type) : 0;
}

/// What `value` is a view of.
Value Rematerializer::rootOf(Value value) {
  while (auto reshape = value.getDefiningOp<sh::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

/// Arguments and constants are there always.
bool Rematerializer::isKept(Value value) {
  return isa<BlockArgument>(value) || value.getDefiningOp<sh::ConstantOp>();
}

/// The number of the operation of the function's body that holds `op`.
int64_t Rematerializer::positionOf(Operation *op) const {
  while (op->getBlock() != &block)
    op = op->getParentOp();
  return positions.lookup(op);
}

/// What the values within a loop or branch take more.
int64_t Rematerializer::peakWithin(Operation &op) {
  int64_t most = 0;
  if (isa<FusionOp>(op))
    return 0;
  for (Region &region : op.getRegions())
    for (Block &inner : region) {
      int64_t sum = 0;
      for (Operation &each : inner) {
        most = std::max(most, sum + peakWithin(each));
        if (isa<FusionOp>(each))
          for (Type type : each.getResultTypes())
            sum += bytesOf(type);
      }
      most = std::max(most, sum);
    }
  return most;
}

void Rematerializer::measure() {
  positions.clear(), lives.clear();
  int64_t count = 0;
  for (Operation &op : block)
    positions[&op] = count++;
  for (Operation &op : block) {
    if (isa<sh::ReshapeOp, sh::ConstantOp>(op))
      continue;
    for (Value result : op.getResults())
      lives[result] = {positions[&op], positions[&op], bytesOf(result.getType())};
  }
  for (Operation &op : block)
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands()) {
        auto *life = lives.find(rootOf(operand));
        if (life != lives.end())
          life->second.to = std::max(life->second.to, positionOf(user));
      }
    });
  std::vector<int64_t> change(count + 1);
  for (auto &[value, life] : lives)
    change[life.from] += life.bytes, change[life.to + 1] -= life.bytes;
  peakBytes = peakAt = 0;
  int64_t sum = 0, at = 0;
  for (Operation &op : block) {
    sum += change[at];
    if (int64_t here = sum + peakWithin(op); here > peakBytes)
      peakBytes = here, peakAt = at;
    ++at;
  }
}

/// What stands for a value of the fusion's body outside: an input or a result.
Value Rematerializer::outside(FusionOp fusion, Value inside) const {
  if (auto argument = dyn_cast<BlockArgument>(inside))
    return fusion.getInputs()[argument.getArgNumber()];
  for (auto [number, yielded] : llvm::enumerate(fusion.getYield().getValues()))
    if (yielded == inside)
      return fusion.getResult(number);
  return {};
}

/// What computes `inside`, back to the fusion's inputs and other results.
bool Rematerializer::collect(FusionOp fusion, Value inside, Choice &choice) {
  Value there = outside(fusion, inside);
  if (there && there != choice.value) {
    choice.inputs.insert(inside);
    return true;
  }
  Operation *op = inside.getDefiningOp();
  if (choice.body.contains(op))
    return true;
  OpClass kind = classify(op);
  bool isCheap = kind == OpClass::Constant || kind == OpClass::View ||
                 kind == OpClass::Elementwise ||
                 isa<sh::BroadcastInDimOp, sh::IotaOp, sh::SliceOp, sh::TransposeOp>(op);
  if (!isCheap || op->getNumRegions() > 0)
    return false;
  choice.operations += std::max<int64_t>(1, elementCost(op)) * numElements(inside.getType());
  if (!llvm::all_of(op->getOperands(),
                    [&](Value operand) { return collect(fusion, operand, choice); }))
    return false;
  choice.body.insert(op);
  return true;
}

/// What computing `value` again after the peak gains.
std::optional<Choice> Rematerializer::choiceFor(OpResult value) {
  auto fusion = dyn_cast<FusionOp>(value.getOwner());
  const Life &life = lives.lookup(value);
  if (!fusion || life.from >= peakAt || life.to <= peakAt || life.bytes == 0)
    return std::nullopt;
  Choice choice;
  choice.value = value, choice.freed = life.bytes;
  int64_t firstLate = INT64_MAX;
  SmallVector<Value> views{value};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (auto reshape = dyn_cast<sh::ReshapeOp>(user); reshape && user->getBlock() == &block) {
        views.push_back(reshape);
        continue;
      }
      int64_t at = positionOf(user);
      if (at == peakAt || isa<func::ReturnOp>(user))
        return std::nullopt;
      if (at > peakAt && at < firstLate)
        firstLate = at;
    }
  if (!collect(fusion, fusion.getYield().getValues()[value.getResultNumber()], choice))
    return std::nullopt;
  for (Value input : choice.inputs) {
    Value root = rootOf(outside(fusion, input));
    if (!isKept(root) && lives.lookup(root).to < firstLate)
      choice.freed -= lives.lookup(root).to >= peakAt ? 0 : lives.lookup(root).bytes;
  }
  choice.firstLate = &*std::next(block.begin(), firstLate);
  return choice.freed > 0 ? std::optional(std::move(choice)) : std::nullopt;
}

/// Writes the fusion that computes the value again, and gives it to the late uses.
void Rematerializer::apply(Choice &choice) {
  auto fusion = cast<FusionOp>(choice.value.getOwner());
  OpBuilder builder(choice.firstLate);
  SmallVector<Value> inputs;
  for (Value input : choice.inputs)
    inputs.push_back(outside(fusion, input));
  auto again = builder.create<FusionOp>(fusion.getLoc(), TypeRange{choice.value.getType()}, inputs,
                                        FusionKind::Loop, fusion.getName());
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip_equal(choice.inputs, again.getBlock().getArguments()))
    mapping.map(input, argument);
  OpBuilder inner = OpBuilder::atBlockEnd(&again.getBlock());
  for (Operation *op : choice.body)
    inner.clone(*op, mapping);
  Value yielded = fusion.getYield().getValues()[choice.value.getResultNumber()];
  inner.create<YieldOp>(fusion.getLoc(), mapping.lookup(yielded));
  auto replace = [&](auto &&self, Value old, Value made) -> void {
    for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
      Operation *user = use.getOwner();
      if (user == again || (user->getBlock() == &block && isa<sh::ReshapeOp>(user))) {
        if (user == again)
          continue;
        OpBuilder views(again->getContext());
        views.setInsertionPointAfterValue(made);
        auto view = views.create<sh::ReshapeOp>(user->getLoc(), user->getResult(0).getType(), made);
        self(self, user->getResult(0), view);
        if (view->use_empty())
          view->erase();
      } else if (positionOf(user) > peakAt) {
        use.set(made);
      }
    }
  };
  replace(replace, choice.value, again.getResult(0));
}

std::vector<Recomputed> Rematerializer::run(int64_t limit) {
  std::vector<Recomputed> done;
  while (peakBytes > limit) {
    std::optional<Choice> best;
    auto gain = [](const Choice &c) { return double(c.freed) / double(c.operations + 1); };
    for (auto &[value, life] : lives)
      if (auto result = dyn_cast<OpResult>(value))
        if (std::optional<Choice> choice = choiceFor(result))
          if (!best || gain(*choice) > gain(*best))
            best = std::move(choice);
    if (!best)
      break;
    auto fusion = cast<FusionOp>(best->value.getOwner());
    done.push_back(
        {fusion.getName().str(), describeLocation(fusion.getLoc()), best->freed, best->operations});
    apply(*best);
    measure();
  }
  return done;
}

struct RematerializePass : graph::impl::RematerializeBase<RematerializePass> {
  using Rematerialize = graph::impl::RematerializeBase<RematerializePass>;
  using Rematerialize::Rematerialize;
  void runOnOperation() override {
    for (const Recomputed &value : rematerialize(getOperation(), limit))
      getOperation().emitRemark() << "computes " << value.name << " again: " << value.bytes
                                  << " bytes for " << value.operations << " operations";
  }
};

} // namespace

int64_t spokeshave::graph::peakOfValues(func::FuncOp function) {
  return Rematerializer(function).peak();
}

std::vector<Recomputed> spokeshave::graph::rematerialize(func::FuncOp function, int64_t limit) {
  return Rematerializer(function).run(limit);
}
