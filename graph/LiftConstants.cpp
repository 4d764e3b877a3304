//===- LiftConstants.cpp - fusions that differ in constants become equal ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of an unrolled loop compute the same with other numbers: a time, a
// factor of a schedule. As inputs, these numbers leave one kernel for all steps
// instead of one each, and compile time does not grow with their count.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/FusionKey.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "llvm/ADT/MapVector.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_LIFTCONSTANTS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

namespace {

/// Fewer kernels than this stay as they are: a constant is better than a load.
constexpr size_t kFewestKernels = 4;

/// Whether a kernel works on the value of `op` as on any other number. Constants
/// of integers are mostly positions, of which kernels want to know more.
bool isNumber(stablehlo::ConstantOp op) {
  return isSplatConstant(op) && isa<FloatType>(getElementTypeOrSelf(op.getType())) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp, stablehlo::DivOp,
                      stablehlo::MaxOp, stablehlo::MinOp>(user);
         });
}

SmallVector<stablehlo::ConstantOp> numbersOf(FusionOp fusion) {
  SmallVector<stablehlo::ConstantOp> numbers;
  if (!fusion.getBlock().getOps<stablehlo::WhileOp>().empty())
    return numbers; // a loop keeps its state in registers, and its numbers there
  for (auto op : fusion.getBlock().getOps<stablehlo::ConstantOp>())
    if (isNumber(op))
      numbers.push_back(op);
  return numbers;
}

/// Fusions that are equal but for their numbers, in the order of the program.
struct Group {
  SmallVector<FusionOp> fusions;
  SmallVector<SmallVector<stablehlo::ConstantOp>> numbers; ///< of each fusion

  /// Whether number `i` is not the same in all.
  bool differs(size_t i) {
    return llvm::any_of(numbers, [&](auto &list) {
      return list[i].getValueAttr() != numbers.front()[i].getValueAttr();
    });
  }
  /// How many kernels they would be.
  size_t kernels() {
    SmallVector<ArrayAttr> values;
    for (auto &list : numbers) {
      SmallVector<Attribute> attributes;
      for (stablehlo::ConstantOp op : list)
        attributes.push_back(op.getValueAttr());
      values.push_back(ArrayAttr::get(fusions.front().getContext(), attributes));
    }
    llvm::SmallDenseSet<Attribute> distinct(values.begin(), values.end());
    return distinct.size();
  }
};

/// Makes the numbers `constants` of a fusion its last inputs.
void lift(FusionOp fusion, ArrayRef<stablehlo::ConstantOp> constants) {
  OpBuilder outside(fusion);
  for (stablehlo::ConstantOp constant : constants) {
    auto type = cast<RankedTensorType>(constant.getType());
    auto scalarType = RankedTensorType::get({}, type.getElementType());
    Attribute element = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>();
    Value scalar = outside.create<stablehlo::ConstantOp>(
        constant.getLoc(), cast<ElementsAttr>(DenseElementsAttr::get(scalarType, element)));
    fusion.getInputsMutable().append(scalar);
    Value inside = fusion.getBlock().addArgument(scalarType, constant.getLoc());
    OpBuilder builder(constant);
    if (type.getRank() > 0)
      inside = builder.create<stablehlo::BroadcastInDimOp>(constant.getLoc(), type, inside,
                                                           builder.getDenseI64ArrayAttr({}));
    constant.replaceAllUsesWith(inside);
    constant.erase();
  }
}

class LiftConstantsPass : public graph::impl::LiftConstantsBase<LiftConstantsPass> {
  void runOnOperation() override {
    // Names say most: texts are written only where there are enough of one name.
    llvm::MapVector<StringAttr, SmallVector<FusionOp>> byName;
    getOperation().walk([&](FusionOp fusion) { byName[fusion.getNameAttr()].push_back(fusion); });
    FusionKeyWriter keys;
    llvm::MapVector<StringAttr, Group> groups;
    for (auto &[name, fusions] : byName) {
      if (fusions.size() < kFewestKernels)
        continue;
      for (FusionOp fusion : fusions) {
        SmallVector<stablehlo::ConstantOp> numbers = numbersOf(fusion);
        SmallVector<Operation *> masked(numbers.begin(), numbers.end());
        std::string key = keys.write(fusion, masked);
        if (numbers.empty() || key.empty())
          continue;
        Group &group = groups[StringAttr::get(&getContext(), key)];
        group.fusions.push_back(fusion);
        group.numbers.push_back(std::move(numbers));
      }
    }
    for (auto &[key, group] : groups)
      liftDifferent(group);
  }

  void liftDifferent(Group &group) {
    if (group.kernels() < kFewestKernels)
      return;
    SmallVector<size_t> different;
    for (size_t i = 0; i < group.numbers.front().size(); ++i)
      if (group.differs(i))
        different.push_back(i);
    for (auto [fusion, numbers] : llvm::zip_equal(group.fusions, group.numbers)) {
      SmallVector<stablehlo::ConstantOp> chosen;
      for (size_t i : different)
        chosen.push_back(numbers[i]);
      lift(fusion, chosen);
    }
  }
};

} // namespace
