//===- Dimensions.cpp - which dimensions of a fusion loop as one -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the body from the inputs to the roots and keeps, for each value, the
// dimensions before which a loop must be cut: there an operation above treats
// the dimension and its neighbour differently.
//
//===----------------------------------------------------------------------===//
#include "kernel/Dimensions.h"
#include "kernel/Types.h"

#include "input/StablehloOps.h"
#include "kernel/Elementwise.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

/// cuts[d]: between dimension d and the last dimension before it that is not 1.
using Cuts = SmallVector<bool, 6>;

class CutAnalysis {
public:
  const Cuts &cutsOf(Value value) {
    auto [entry, isNew] = cuts.try_emplace(value);
    if (isNew)
      entry->second.assign(typeOf(value).getRank(), false);
    return entry->second;
  }
  void visit(Operation *op);

private:
  /// Calls `cut(previous, d)` for each two neighbouring dimensions of `type` that
  /// are not 1; the result says whether to cut between.
  Cuts between(RankedTensorType type, llvm::function_ref<bool(int64_t, int64_t)> cut) {
    Cuts result(type.getRank(), false);
    int64_t previous = -1;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (type.getDimSize(d) == 1)
        continue;
      if (previous >= 0)
        result[d] = cut(previous, d);
      previous = d;
    }
    return result;
  }
  /// Whether operand dimensions a < b are neighbours and not cut.
  bool joined(Value operand, int64_t a, int64_t b) {
    if (a >= b)
      return false;
    for (int64_t d = a + 1; d < b; ++d)
      if (typeOf(operand).getDimSize(d) != 1)
        return false;
    return !cutsOf(operand)[b];
  }
  Cuts ofReshape(hlo::ReshapeOp op);
  Cuts ofBroadcast(hlo::BroadcastInDimOp op);
  /// An operation that treats some dimensions specially, of operands of the same
  /// rank; `both`: also a cut behind such a dimension.
  Cuts ofSpecial(Operation *op, llvm::function_ref<bool(int64_t)> special, bool both);

  llvm::DenseMap<Value, Cuts> cuts;
};

Cuts CutAnalysis::ofReshape(hlo::ReshapeOp op) {
  RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
  llvm::SmallDenseSet<int64_t> suffixes; // elements behind each cut
  int64_t suffix = 1;
  const Cuts &inner = cutsOf(op.getOperand());
  for (int64_t d = from.getRank() - 1; d >= 0; --d) {
    suffix *= from.getDimSize(d);
    if (inner[d])
      suffixes.insert(suffix);
  }
  Cuts result(to.getRank(), false);
  suffix = 1;
  for (int64_t d = to.getRank() - 1; d >= 0; --d) {
    suffix *= to.getDimSize(d);
    result[d] = to.getDimSize(d) != 1 && suffixes.contains(suffix);
  }
  return result;
}

Cuts CutAnalysis::ofBroadcast(hlo::BroadcastInDimOp op) {
  RankedTensorType from = typeOf(op.getOperand());
  SmallVector<int64_t> source(typeOf(op).getRank(), -1);
  for (auto [d, dim] : llvm::enumerate(op.getBroadcastDimensions()))
    if (from.getDimSize(d) != 1)
      source[dim] = d;
  return between(typeOf(op), [&](int64_t a, int64_t b) {
    if (source[a] < 0 || source[b] < 0)
      return source[a] >= 0 || source[b] >= 0;
    return !joined(op.getOperand(), source[a], source[b]);
  });
}

Cuts CutAnalysis::ofSpecial(Operation *op, llvm::function_ref<bool(int64_t)> special, bool both) {
  Value operand = op->getOperand(0);
  return between(typeOf(op->getResult(0)), [&](int64_t a, int64_t b) {
    if (special(b) || (both && special(a)))
      return true;
    for (Value other : op->getOperands())
      if (other.getType() == operand.getType() && cutsOf(other)[b])
        return true;
    return false;
  });
}

void CutAnalysis::visit(Operation *op) {
  if (op->getNumResults() == 0)
    return;
  Value result = op->getResult(0);
  Cuts found =
      TypeSwitch<Operation *, Cuts>(op)
          .Case([&](hlo::ReshapeOp op) { return ofReshape(op); })
          .Case([&](hlo::BroadcastInDimOp op) { return ofBroadcast(op); })
          .Case([&](hlo::TransposeOp op) {
            return between(typeOf(op), [&](int64_t a, int64_t b) {
              return !joined(op.getOperand(), op.getPermutation()[a], op.getPermutation()[b]);
            });
          })
          .Case([&](hlo::IotaOp op) {
            int64_t dim = op.getIotaDimension();
            return between(typeOf(op), [&](int64_t a, int64_t b) { return a == dim || b == dim; });
          })
          .Case([&](hlo::SliceOp op) {
            RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
            return ofSpecial(
                op, [&](int64_t d) { return from.getDimSize(d) != to.getDimSize(d); },
                /*both=*/false);
          })
          .Case([&](hlo::DynamicSliceOp op) {
            RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
            return ofSpecial(
                op, [&](int64_t d) { return from.getDimSize(d) != to.getDimSize(d); },
                /*both=*/false);
          })
          .Case([&](hlo::PadOp op) {
            RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
            return ofSpecial(
                op,
                [&](int64_t d) {
                  return from.getDimSize(d) != to.getDimSize(d) || op.getEdgePaddingLow()[d] != 0;
                },
                /*both=*/true);
          })
          .Case([&](hlo::DynamicUpdateSliceOp op) {
            RankedTensorType part = typeOf(op.getUpdate()), to = typeOf(op);
            return ofSpecial(
                op, [&](int64_t d) { return part.getDimSize(d) != to.getDimSize(d); },
                /*both=*/true);
          })
          .Case([&](hlo::ReverseOp op) {
            return ofSpecial(
                op, [&](int64_t d) { return llvm::is_contained(op.getDimensions(), d); },
                /*both=*/true);
          })
          .Case([&](hlo::ConcatenateOp op) {
            int64_t dim = op.getDimension();
            return ofSpecial(op, [&](int64_t d) { return d == dim; }, /*both=*/true);
          })
          .Case([&](hlo::GatherOp op) {
            auto offsets = op.getDimensionNumbers().getOffsetDims();
            return between(typeOf(op), [&](int64_t a, int64_t b) {
              return llvm::is_contained(offsets, a) != llvm::is_contained(offsets, b) ||
                     llvm::is_contained(offsets, b);
            });
          })
          .Default([&](Operation *op) {
            Cuts all(typeOf(result).getRank(), false);
            if (kernel::isElementwise(op))
              for (Value operand : op->getOperands())
                for (auto [d, cut] : llvm::enumerate(cutsOf(operand)))
                  if (d < all.size())
                    all[d] = all[d] || cut;
            return all;
          });
  for (Value each : op->getResults())
    cuts[each] = each == result ? found : Cuts(typeOf(each).getRank(), false);
}

} // namespace

SmallVector<kernel::DimensionGroup>
kernel::collapsedGroups(graph::FusionOp fusion, ArrayRef<Value> roots,
                        llvm::function_ref<bool(int64_t, int64_t)> cut) {
  CutAnalysis analysis;
  for (Operation &op : fusion.getBlock())
    analysis.visit(&op);
  RankedTensorType type = typeOf(roots.front());
  SmallVector<DimensionGroup> groups;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (type.getDimSize(d) == 1)
      continue;
    bool cutHere = groups.empty() || cut(groups.back().dims.back(), d);
    for (Value root : roots)
      cutHere = cutHere || analysis.cutsOf(root)[d];
    if (cutHere)
      groups.push_back({1, {}});
    groups.back().extent *= type.getDimSize(d);
    groups.back().dims.push_back(d);
  }
  return groups;
}

SmallVector<int64_t> kernel::collapsedDimensions(graph::FusionOp fusion, ArrayRef<Value> roots) {
  SmallVector<int64_t> extents;
  for (const DimensionGroup &group :
       collapsedGroups(fusion, roots, [](int64_t, int64_t) { return false; }))
    extents.push_back(group.extent);
  return extents;
}
