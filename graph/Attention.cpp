//===- Attention.cpp - two products around a softmax -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matched from the end: from the second product up to the first one. The
// dimension of the keys is followed on the way: whatever reshapes and transposes
// do to the others, it stays one dimension of its own.
//
//===----------------------------------------------------------------------===//
#include "graph/Attention.h"

#include "graph/Classify.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool isFloatType(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isF32() || element.isBF16() || element.isF16();
}

static int64_t elementsBehind(ArrayRef<int64_t> shape, int64_t dim) {
  int64_t count = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    count *= size;
  return count;
}

/// The dimension of `to` that is dimension `dim` of `from`, in a reshape.
static std::optional<int64_t> sameDim(ArrayRef<int64_t> from, int64_t dim, ArrayRef<int64_t> to) {
  for (auto [d, size] : llvm::enumerate(to))
    if (size == from[dim] && elementsBehind(to, d) == elementsBehind(from, dim))
      return d;
  return std::nullopt;
}

Value graph::withoutMoves(Value value) {
  while (isa_and_nonnull<sh::ReshapeOp, sh::TransposeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

static Value withoutViews(Value value) {
  while (auto reshape = value.getDefiningOp<sh::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

namespace {

class Matcher {
public:
  std::optional<Attention> run(sh::DotGeneralOp mix);

private:
  bool weightsFrom(Value operand, int64_t keyDim);
  Value divisionBehind(Value weights, int64_t keyDim);
  bool productsFrom(Value value, int64_t keyDim);
  Operation *stepUp(Value &value, int64_t &keyDim);
  Value rowValue(Value value, int64_t keyDim);
  sh::ReduceOp reductionOf(Value value, bool isMaximum);
  sh::DotGeneralOp productBelow(Value value, int depth = 0);
  bool isReducedFrom(sh::ReduceOp reduce, Value value, int64_t keyDim);
  bool isInnerOnly();
  void addInner(Operation *op) {
    if (!llvm::is_contained(found.inner, op))
      found.inner.push_back(op);
  }

  Attention found;
};

} // namespace

/// Past one reshape, transpose or conversion; null if `value` is none of these or
/// does not keep the keys together.
Operation *Matcher::stepUp(Value &value, int64_t &keyDim) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<sh::ReshapeOp, sh::TransposeOp, sh::ConvertOp>(op))
    return nullptr;
  Value operand = op->getOperand(0);
  if (isa<sh::ReshapeOp>(op)) {
    std::optional<int64_t> dim = sameDim(shapeOf(value), keyDim, shapeOf(operand));
    if (!dim)
      return nullptr;
    keyDim = *dim;
  } else if (auto transpose = dyn_cast<sh::TransposeOp>(op)) {
    keyDim = transpose.getPermutation()[keyDim];
  } else if (!isFloatType(operand)) {
    return nullptr;
  }
  addInner(op);
  value = operand;
  return op;
}

/// The value with one element per row of which `value` is the spread along the
/// keys: rows in the order of `value`'s other dimensions.
Value Matcher::rowValue(Value value, int64_t keyDim) {
  while (auto reshape = value.getDefiningOp<sh::ReshapeOp>()) {
    std::optional<int64_t> dim = sameDim(shapeOf(value), keyDim, shapeOf(reshape.getOperand()));
    if (!dim)
      return {};
    keyDim = *dim;
    addInner(reshape);
    value = reshape.getOperand();
  }
  auto broadcast = value.getDefiningOp<sh::BroadcastInDimOp>();
  if (!broadcast)
    return {};
  ArrayRef<int64_t> from = shapeOf(broadcast.getOperand()), to = shapeOf(value);
  SmallVector<bool> given(to.size(), false);
  int64_t last = -1;
  for (auto [d, dim] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
    if (dim <= last)
      return {};
    last = dim;
    given[dim] = from[d] == to[dim];
  }
  for (int64_t d = 0; d < int64_t(to.size()); ++d)
    if (d == keyDim ? given[d] && to[d] != 1 : !given[d] && to[d] != 1)
      return {};
  addInner(broadcast);
  return broadcast.getOperand();
}

/// The reduction of which `value` is a view, a conversion or what guards a maximum:
/// max(-inf, m), select(isfinite(m), m, 0).
sh::ReduceOp Matcher::reductionOf(Value value, bool isMaximum) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto reduce = dyn_cast<sh::ReduceOp>(op)) {
      if (reduce.getInputs().size() != 1)
        return {};
      Block &body = reduce.getBody().front();
      bool fits = isMaximum ? isa<sh::MaxOp>(body.front()) : isa<sh::AddOp>(body.front());
      if (!fits || body.getOperations().size() != 2)
        return {};
      auto init = reduce.getInitValues()[0].getDefiningOp<sh::ConstantOp>();
      auto number = init ? dyn_cast<SplatElementsAttr>(init.getValue()) : SplatElementsAttr();
      if (!number || !isa<FloatType>(number.getElementType()))
        return {};
      APFloat start = number.getSplatValue<APFloat>();
      if (isMaximum ? !(start.isInfinity() && start.isNegative()) : !start.isPosZero())
        return {};
      addInner(op);
      return reduce;
    }
    auto isLow = [](Value bound) {
      Value scalar = bound;
      if (auto broadcast = bound.getDefiningOp<sh::BroadcastInDimOp>())
        scalar = broadcast.getOperand();
      auto constant = scalar.getDefiningOp<sh::ConstantOp>();
      auto number = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
      if (!number || !isa<FloatType>(number.getElementType()))
        return false;
      APFloat bits = number.getSplatValue<APFloat>();
      return bits.isInfinity() && bits.isNegative();
    };
    if (isa<sh::ReshapeOp>(op) || (isa<sh::ConvertOp>(op) && isFloatType(op->getOperand(0)))) {
      value = op->getOperand(0);
    } else if (auto max = dyn_cast<sh::MaxOp>(op); max && isMaximum) {
      unsigned bound = isLow(max->getOperand(0)) ? 0 : 1;
      if (!isLow(max->getOperand(bound)))
        return {};
      value = max->getOperand(1 - bound);
    } else if (auto select = dyn_cast<sh::SelectOp>(op); select && isMaximum) {
      auto finite = select.getPred().getDefiningOp<sh::IsFiniteOp>();
      if (!finite || finite->getOperand(0) != select.getOnTrue() ||
          !isSplatConstant(select.getOnFalse().getDefiningOp()))
        return {};
      addInner(finite);
      value = select.getOnTrue();
    } else {
      return {};
    }
    addInner(op);
  }
  return {};
}

/// Whether the reduction is over the keys, of `value` in the same order.
bool Matcher::isReducedFrom(sh::ReduceOp reduce, Value value, int64_t keyDim) {
  Value input = reduce.getInputs()[0];
  auto through = [&](Value v) {
    while (isa_and_nonnull<sh::ReshapeOp, sh::ConvertOp>(v.getDefiningOp())) {
      if (isa<sh::ConvertOp>(v.getDefiningOp())) {
        // A sum may be of what a later conversion rounds, or of what it widens.
        if (!isFloatType(v.getDefiningOp()->getOperand(0)))
          break;
      }
      addInner(v.getDefiningOp());
      v = v.getDefiningOp()->getOperand(0);
    }
    return v;
  };
  if (reduce.getDimensions().size() != 1 || through(input) != through(value))
    return false;
  int64_t dim = reduce.getDimensions()[0];
  return shapeOf(input)[dim] == shapeOf(value)[keyDim] &&
         elementsBehind(shapeOf(input), dim) == elementsBehind(shapeOf(value), keyDim);
}

/// The product that `value` is computed from, element by element.
sh::DotGeneralOp Matcher::productBelow(Value value, int depth) {
  constexpr int kDeepest = 24;
  Operation *op = value.getDefiningOp();
  if (!op || depth > kDeepest || op->getBlock() != found.mix->getBlock())
    return {};
  if (auto dot = dyn_cast<sh::DotGeneralOp>(op))
    return dot;
  OpClass opClass = classify(op);
  if (opClass != OpClass::Elementwise && opClass != OpClass::View && !isa<sh::TransposeOp>(op))
    return {};
  for (Value operand : op->getOperands())
    if (numElements(operand.getType()) == numElements(value.getType()) && isFloatType(operand))
      if (sh::DotGeneralOp dot = productBelow(operand, depth + 1))
        return dot;
  return {};
}

/// From the scores up to the first product, along the one operand that is made of
/// it at each step.
bool Matcher::productsFrom(Value value, int64_t keyDim) {
  while (true) {
    if (auto dot = value.getDefiningOp<sh::DotGeneralOp>()) {
      int64_t rank = shapeOf(value).size();
      if (dot->getBlock() != found.mix->getBlock() || keyDim < rank - 2)
        return false;
      found.products = dot;
      found.keysAreColumns = keyDim == rank - 1;
      addInner(dot);
      return true;
    }
    Value below = value;
    if (stepUp(below, keyDim)) {
      found.source[value] = below;
      value = below;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || classify(op) != OpClass::Elementwise || op->getNumRegions() != 0)
      return false;
    below = {};
    for (Value operand : op->getOperands()) {
      if (shapeOf(operand) != shapeOf(value) || !isFloatType(operand) || operand == below ||
          !productBelow(operand))
        continue;
      if (below)
        return false; // of two paths, one might be read at another place
      below = operand;
    }
    if (!below)
      return false;
    addInner(op);
    found.source[value] = below;
    value = below;
  }
}

/// The quotient of the second product and the sum of the weights, that product's left
/// factor, where it is divided by it at once and rows stay in their order.
Value Matcher::divisionBehind(Value operand, int64_t keyDim) {
  if (operand != found.mix.getLhs())
    return {};
  Value value = found.mix;
  int64_t widthDim = shapeOf(value).size() - 1;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto divide = dyn_cast<sh::DivOp>(user)) {
      if (divide->getOperand(0) != value)
        return {};
      Value sums = rowValue(divide->getOperand(1), widthDim);
      if (!sums || !(found.sum = reductionOf(sums, /*isMaximum=*/false)) ||
          !isReducedFrom(found.sum, operand, keyDim))
        return {};
      return divide->getResult(0);
    }
    std::optional<int64_t> dim = widthDim;
    if (isa<sh::ReshapeOp>(user))
      dim = sameDim(shapeOf(value), widthDim, shapeOf(user->getResult(0)));
    else if (!isa<sh::ConvertOp>(user) || !isFloatType(user->getResult(0)))
      return {};
    if (!dim)
      return {};
    widthDim = *dim;
    addInner(user);
    value = user->getResult(0);
  }
  return {};
}

/// From an operand of the second product up to the softmax.
bool Matcher::weightsFrom(Value operand, int64_t keyDim) {
  Value value = operand;
  int64_t operandDim = keyDim;
  auto climb = [&] {
    for (Value before = value; stepUp(value, keyDim); before = value)
      found.source[before] = value;
  };
  climb();
  found.result = found.mix;
  if (auto divide = value.getDefiningOp<sh::DivOp>()) {
    addInner(divide);
    Value sums = rowValue(divide->getOperand(1), keyDim);
    if (!sums || !(found.sum = reductionOf(sums, /*isMaximum=*/false)) ||
        !isReducedFrom(found.sum, divide->getOperand(0), keyDim))
      return false;
    found.source[value] = divide->getOperand(0);
    value = divide->getOperand(0);
    climb();
  } else if (!(found.result = divisionBehind(operand, operandDim))) {
    return false;
  }
  auto exp = value.getDefiningOp<sh::ExpOp>();
  auto subtract = exp ? exp->getOperand(0).getDefiningOp<sh::SubtractOp>() : sh::SubtractOp();
  if (!subtract)
    return false;
  addInner(exp);
  addInner(subtract);
  found.weights = exp;
  Value scores = subtract->getOperand(0);
  found.source[exp] = subtract;
  found.source[subtract] = scores;
  Value maxima = rowValue(subtract->getOperand(1), keyDim);
  if (!maxima || !(found.maximum = reductionOf(maxima, /*isMaximum=*/true)) ||
      !isReducedFrom(found.maximum, scores, keyDim))
    return false;
  found.scores = scores;
  found.keyDim = keyDim;
  return productsFrom(scores, keyDim);
}

/// Whether nothing but the attention reads what is computed inside.
bool Matcher::isInnerOnly() {
  llvm::SmallPtrSet<Operation *, 32> members(found.inner.begin(), found.inner.end());
  members.insert(found.mix);
  members.insert(found.result.getDefiningOp());
  for (Operation *op : found.inner) {
    // Spreads of constants and the like may serve others.
    if (op->getBlock() != found.mix->getBlock())
      return false;
    for (Operation *user : op->getUsers())
      if (!members.contains(user))
        return false;
  }
  return true;
}

static bool isNormal(sh::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  int64_t rank = shapeOf(dot.getLhs()).size();
  return int64_t(numbers.getLhsBatchingDimensions().size()) == rank - 2 && rank <= 3 &&
         numbers.getLhsContractingDimensions() == ArrayRef<int64_t>{rank - 1} &&
         numbers.getRhsContractingDimensions() == ArrayRef<int64_t>{rank - 2};
}

std::optional<Attention> Matcher::run(sh::DotGeneralOp mix) {
  if (!isNormal(mix) || !isFloatType(mix.getLhs()) || !isFloatType(mix.getRhs()) ||
      !isFloatType(mix))
    return std::nullopt;
  int64_t rank = shapeOf(mix.getLhs()).size();
  for (bool left : {true, false}) {
    found = Attention();
    found.mix = mix;
    found.weightsAreLeft = left;
    if (!weightsFrom(left ? mix.getLhs() : mix.getRhs(), left ? rank - 1 : rank - 2))
      continue;
    sh::DotGeneralOp products = found.products;
    bool good = isNormal(products) && isFloatType(products.getLhs()) &&
                isFloatType(products.getRhs()) && isFloatType(products) && isInnerOnly();
    // The values must not be made of the weights themselves.
    if (good && withoutMoves(left ? mix.getRhs() : mix.getLhs()) != found.weights)
      return std::move(found);
  }
  return std::nullopt;
}

std::optional<Attention> graph::matchAttention(sh::DotGeneralOp mix) {
  return Matcher().run(mix);
}

//===----------------------------------------------------------------------===//
// Causal masks
//===----------------------------------------------------------------------===//

namespace {
/// An integer tensor that is the index along one dimension plus a constant.
struct Ramp {
  int64_t dim = -1, offset = 0;
};
} // namespace

static std::optional<int64_t> integerSplat(Value value) {
  if (auto broadcast = value.getDefiningOp<sh::BroadcastInDimOp>())
    value = broadcast.getOperand();
  auto constant = value.getDefiningOp<sh::ConstantOp>();
  auto number = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!number || !isa<IntegerType>(number.getElementType()))
    return std::nullopt;
  return number.getSplatValue<APInt>().getSExtValue();
}

/// `value` as a ramp along a dimension of its own shape.
static std::optional<Ramp> rampOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast_or_null<sh::IotaOp>(op))
    return Ramp{int64_t(iota.getIotaDimension()), 0};
  if (auto broadcast = dyn_cast_or_null<sh::BroadcastInDimOp>(op)) {
    std::optional<Ramp> inner = rampOf(broadcast.getOperand());
    if (!inner || shapeOf(broadcast.getOperand())[inner->dim] == 1)
      return std::nullopt;
    return Ramp{broadcast.getBroadcastDimensions()[inner->dim], inner->offset};
  }
  if (auto reshape = dyn_cast_or_null<sh::ReshapeOp>(op)) {
    std::optional<Ramp> inner = rampOf(reshape.getOperand());
    if (!inner)
      return std::nullopt;
    std::optional<int64_t> dim =
        sameDim(shapeOf(reshape.getOperand()), inner->dim, shapeOf(reshape));
    return dim ? std::optional(Ramp{*dim, inner->offset}) : std::nullopt;
  }
  if (isa_and_nonnull<sh::AddOp>(op))
    for (unsigned i : {0u, 1u})
      if (std::optional<int64_t> added = integerSplat(op->getOperand(1 - i)))
        if (std::optional<Ramp> inner = rampOf(op->getOperand(i)))
          return Ramp{inner->dim, inner->offset + *added};
  return std::nullopt;
}

/// The mask as row + offset >= key, by dimensions of `mask`.
static std::optional<CausalMask> visibleKeys(Value mask, int64_t &keyDim) {
  Operation *op = mask.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<sh::BroadcastInDimOp>(op)) {
    auto dims = broadcast.getBroadcastDimensions();
    const auto *key = llvm::find(dims, keyDim);
    if (key == dims.end())
      return std::nullopt;
    int64_t inner = key - dims.begin();
    std::optional<CausalMask> found = visibleKeys(broadcast.getOperand(), inner);
    if (!found || shapeOf(broadcast.getOperand())[inner] == 1 ||
        shapeOf(broadcast.getOperand())[found->rowDim] == 1)
      return std::nullopt;
    return CausalMask{dims[found->rowDim], found->offset, found->compare, found->isAlone};
  }
  if (auto reshape = dyn_cast_or_null<sh::ReshapeOp>(op)) {
    std::optional<int64_t> inner = sameDim(shapeOf(mask), keyDim, shapeOf(reshape.getOperand()));
    if (!inner)
      return std::nullopt;
    std::optional<CausalMask> found = visibleKeys(reshape.getOperand(), *inner);
    if (!found)
      return std::nullopt;
    std::optional<int64_t> row =
        sameDim(shapeOf(reshape.getOperand()), found->rowDim, shapeOf(mask));
    return row ? std::optional(CausalMask{*row, found->offset, found->compare, found->isAlone})
               : std::nullopt;
  }
  // Each term of a conjunction hides keys.
  if (isa_and_nonnull<sh::AndOp>(op)) {
    for (Value operand : op->getOperands())
      if (std::optional<CausalMask> found = visibleKeys(operand, keyDim))
        return CausalMask{found->rowDim, found->offset, found->compare, /*isAlone=*/false};
    return std::nullopt;
  }
  auto compare = dyn_cast_or_null<sh::CompareOp>(op);
  if (!compare)
    return std::nullopt;
  std::optional<Ramp> a = rampOf(compare.getLhs()), b = rampOf(compare.getRhs());
  if (!a || !b)
    return std::nullopt;
  auto direction = compare.getComparisonDirection();
  using Direction = sh::ComparisonDirection;
  bool strict = direction == Direction::GT || direction == Direction::LT;
  if (direction == Direction::LE || direction == Direction::LT)
    std::swap(a, b);
  else if (direction != Direction::GE && direction != Direction::GT)
    return std::nullopt;
  // a >= b, of which a goes along the rows.
  if (b->dim != keyDim || a->dim == keyDim)
    return std::nullopt;
  return CausalMask{a->dim, a->offset - b->offset - (strict ? 1 : 0), compare};
}

/// Whether a score of this value has no weight beside any usual one.
static bool hides(Value value) {
  if (auto broadcast = value.getDefiningOp<sh::BroadcastInDimOp>())
    value = broadcast.getOperand();
  auto constant = value.getDefiningOp<sh::ConstantOp>();
  auto number = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!number || !isa<FloatType>(number.getElementType()))
    return false;
  APFloat low = number.getSplatValue<APFloat>();
  bool loses = false;
  low.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  constexpr double kHidden = -1e8;
  return low.convertToDouble() <= kHidden;
}

std::optional<CausalMask> graph::causalMaskOf(const Attention &attention) {
  // Past reshapes to the last thing that was done to the scores.
  auto select = withoutViews(attention.scores).getDefiningOp<sh::SelectOp>();
  if (!select || select.getPred().getType() == select.getType() || !hides(select.getOnFalse()))
    return std::nullopt;
  std::optional<int64_t> keyDim =
      sameDim(shapeOf(attention.scores), attention.keyDim, shapeOf(select));
  if (!keyDim || shapeOf(select.getPred()).empty())
    return std::nullopt;
  std::optional<CausalMask> mask = visibleKeys(select.getPred(), *keyDim);
  if (!mask)
    return std::nullopt;
  std::optional<int64_t> row = sameDim(shapeOf(select), mask->rowDim, shapeOf(attention.scores));
  // Rows that see no key at all are as the program has them: all keys count.
  if (!row || mask->offset < 0)
    return std::nullopt;
  return CausalMask{*row, mask->offset, mask->compare, mask->isAlone, select};
}
