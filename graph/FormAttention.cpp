//===- FormAttention.cpp - attention becomes a fusion ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scores of attention are its largest tensor, and nothing else needs them: as
// one kernel they are made and used block by block (Dao et al., FlashAttention,
// 2022; Rabe and Staats, 2021). Into the fusion go the two products and the
// softmax (Attention.h), masks that are cheaper to compute than to read, and
// whatever only moves queries, keys, values and the result.
//
//===----------------------------------------------------------------------===//
#include "graph/Attention.h"
#include "graph/Classify.h"
#include "graph/FusionBuilder.h"
#include "graph/Passes.h"
#include "graph/Precision.h"

#include "llvm/ADT/SetVector.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_FORMATTENTION
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// Smaller products have too few rows to be worth a block.
constexpr int64_t kFewestRows = 16, kFewestKeys = 32, kDeepest = 512;
/// Chains of operations on the way to a mask.
constexpr int kLongestSide = 16;

class Former {
public:
  Former(Attention attention) : attention(std::move(attention)) {}
  void run();

private:
  void takeMoves(Value value);
  void takeSide(Value value, int depth = 0);
  Value takeEpilogue();
  void sortInto(Operation *op, SmallVectorImpl<Operation *> &ops);

  Attention attention;
  llvm::SetVector<Operation *> members;
  llvm::SmallPtrSet<Operation *, 32> placed;
};

} // namespace

/// What only says where an element lies: the kernel reads it there.
void Former::takeMoves(Value value) {
  Operation *op = value.getDefiningOp();
  bool moves = isa_and_nonnull<sh::ReshapeOp, sh::TransposeOp, sh::SliceOp>(op);
  if (auto broadcast = dyn_cast_or_null<sh::BroadcastInDimOp>(op))
    moves = !isSplatConstant(broadcast.getOperand().getDefiningOp());
  if (!moves)
    return;
  members.insert(op);
  takeMoves(op->getOperand(0));
}

/// What the scores are combined with: spread and cheap values are made again in the
/// kernel, others are its inputs.
void Former::takeSide(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || members.contains(op) || isSplatConstant(op) || depth > kLongestSide)
    return;
  OpClass opClass = classify(op);
  bool cheap = opClass == OpClass::Elementwise && op->getNumRegions() == 0 && elementCost(op) <= 1;
  bool moves =
      opClass == OpClass::View || isa<sh::IotaOp, sh::BroadcastInDimOp, sh::TransposeOp>(op);
  // Work on a tensor that is spread later is done once, before.
  if (!moves && !(cheap && numElements(value.getType()) >= attention.keys()))
    return;
  members.insert(op);
  for (Value operand : op->getOperands())
    takeSide(operand, depth + 1);
}

/// Moves and conversions of the result: the value that leaves the fusion.
Value Former::takeEpilogue() {
  Value result = attention.result;
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    bool takes = isa<sh::ReshapeOp, sh::TransposeOp>(user) ||
                 (isa<sh::ConvertOp>(user) &&
                  isa<FloatType>(getElementTypeOrSelf(user->getResult(0).getType())) &&
                  !getElementTypeOrSelf(user->getResult(0).getType()).isF64());
    if (!takes || user->getBlock() != attention.mix->getBlock())
      break;
    members.insert(user);
    result = user->getResult(0);
  }
  return result;
}

/// Appends `op` behind the members that it reads.
void Former::sortInto(Operation *op, SmallVectorImpl<Operation *> &ops) {
  if (!members.contains(op) || !placed.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp())
      sortInto(def, ops);
  ops.push_back(op);
}

void Former::run() {
  members.insert(attention.mix);
  members.insert(attention.result.getDefiningOp());
  members.insert(attention.inner.begin(), attention.inner.end());
  takeMoves(attention.products.getLhs());
  takeMoves(attention.products.getRhs());
  takeMoves(attention.weightsAreLeft ? attention.mix.getRhs() : attention.mix.getLhs());
  for (Operation *op : attention.inner)
    if (op != attention.products.getOperation())
      for (Value operand : op->getOperands())
        takeSide(operand);
  Value result = takeEpilogue();

  FusionPlan plan;
  plan.kind = FusionKind::Attention;
  plan.hero = attention.mix;
  sortInto(result.getDefiningOp(), plan.ops);
  plan.outputs = {result};
  OpBuilder builder(result.getDefiningOp());
  FusionOp fusion = buildFusion(builder, plan);
  fusion.setName("attention");
  result.replaceAllUsesWith(fusion.getResult(0));
  for (Operation *op : llvm::reverse(plan.ops))
    if (op->use_empty())
      op->erase();
}

static int64_t batchOf(sh::DotGeneralOp dot) {
  auto type = cast<RankedTensorType>(dot.getType());
  return type.getRank() == 3 ? type.getDimSize(0) : 1;
}

/// Whether blocks are worth their trouble. By shapes alone, so that the order of
/// sums does not depend on the machine.
static bool isWorthBlocks(const Attention &attention, int64_t fewestBytes) {
  auto type = cast<RankedTensorType>(attention.scores.getType());
  int64_t keys = attention.keys();
  int64_t rows = type.getNumElements() / std::max<int64_t>(1, keys * batchOf(attention.products));
  return type.hasStaticShape() && keys >= kFewestKeys && rows >= kFewestRows &&
         attention.depth() <= kDeepest && 4 * type.getNumElements() >= fewestBytes;
}

namespace {
class FormAttentionPass : public spokeshave::graph::impl::FormAttentionBase<FormAttentionPass> {
public:
  using FormAttentionBase::FormAttentionBase;
  void runOnOperation() override {
    if (getOperation().getName() != "main") // others are decompositions of composites
      return;
    SmallVector<sh::DotGeneralOp> products;
    getOperation().walk([&](sh::DotGeneralOp dot) {
      if (!dot->getParentOfType<FusionOp>())
        products.push_back(dot);
    });
    // From the end: what is erased stands before the second product.
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (sh::DotGeneralOp dot : llvm::reverse(products)) {
      if (gone.contains(dot))
        continue;
      std::optional<Attention> attention = matchAttention(dot);
      if (!attention || !isWorthBlocks(*attention, fewestBytes))
        continue;
      if (onePass && (needsParts(attention->products) || needsParts(attention->mix)))
        continue;
      gone.insert(attention->products);
      Former(std::move(*attention)).run();
    }
  }
};
} // namespace
