//===- Index.cpp - index expressions, affine in the lane -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Index.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Index.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

bool Index::hasVectors() const {
  return llvm::any_of(terms, [](const Term &t) { return isa<VectorType>(t.value.getType()); });
}

bool Index::isUniform() const {
  return lane == 0 && sublane == 0 && !hasVectors();
}

bool kernel::isUniform(const Position &position) {
  return llvm::all_of(position, [](const Index &index) { return index.isUniform(); });
}

llvm::hash_code kernel::hash_value(const Index &index) {
  llvm::hash_code hash = llvm::hash_combine(index.constant, index.lane, index.sublane);
  for (const Index::Term &term : index.terms)
    hash = llvm::hash_combine(hash, term.value.getAsOpaquePointer(), term.coefficient);
  return hash;
}

Index IndexSpace::variable(Value value, int64_t min, int64_t max, int64_t multiple) {
  return variableAt(level, value, min, max, multiple);
}

Index IndexSpace::variableAt(unsigned at, Value value, int64_t min, int64_t max, int64_t multiple) {
  if (min == max)
    return Index(min);
  // A value that is told twice keeps its number: terms are ordered by it, and two
  // values with one number would be taken for one.
  auto [known, isNew] = facts.try_emplace(value);
  unsigned serial = isNew ? unsigned(facts.size()) : known->second.serial;
  known->second = Facts{min, max, multiple, at, serial};
  Index index;
  index.terms.push_back({value, 1});
  return index;
}

Index IndexSpace::add(const Index &a, const Index &b) const {
  Index sum;
  sum.constant = a.constant + b.constant;
  sum.lane = a.lane + b.lane;
  sum.sublane = a.sublane + b.sublane;
  auto i = a.terms.begin(), j = b.terms.begin();
  auto serial = [&](auto it) { return facts.find(it->value)->second.serial; };
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && serial(i) < serial(j))) {
      sum.terms.push_back(*i++);
    } else if (i == a.terms.end() || serial(j) < serial(i)) {
      sum.terms.push_back(*j++);
    } else {
      if (int64_t coefficient = i->coefficient + j->coefficient)
        sum.terms.push_back({i->value, coefficient});
      ++i, ++j;
    }
  }
  return sum;
}

Index IndexSpace::scale(const Index &a, int64_t factor) const {
  if (factor == 0)
    return Index();
  Index result = a;
  result.constant *= factor;
  result.lane *= factor;
  result.sublane *= factor;
  for (Index::Term &term : result.terms)
    term.coefficient *= factor;
  return result;
}

IndexSpace::Range IndexSpace::range(const Index &index) const {
  Range range{index.constant, index.constant};
  auto widen = [&](int64_t a, int64_t b) {
    range.min += std::min(a, b);
    range.max += std::max(a, b);
  };
  widen(0, index.lane * (activeLanes - 1));
  widen(0, index.sublane * (activeRows - 1));
  for (const Index::Term &term : index.terms) {
    const Facts &known = facts.find(term.value)->second;
    widen(term.coefficient * known.min, term.coefficient * known.max);
  }
  return range;
}

void IndexSpace::enterLevel() {
  ++level;
  quotients.resize(level + 1);
}

void IndexSpace::leaveLevel() {
  quotients.resize(level);
  --level;
}

/// A number that the term is a multiple of, whatever the value.
int64_t IndexSpace::multipleOf(const Index::Term &term) const {
  return std::abs(term.coefficient * facts.find(term.value)->second.multiple);
}

/// dividend / divisor as a new value, at the level of what it is made of.
Index IndexSpace::makeQuotient(const Index &dividend, int64_t divisor) {
  bool uniform = dividend.isUniform();
  unsigned at = uniform ? levelOf({dividend}) : level;
  for (const Quotient &known : quotients[at])
    if (known.divisor == divisor && (uniform || known.lanes == lanes) && known.dividend == dividend)
      return known.quotient;
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *point = at < level && pointOf ? pointOf(at) : nullptr)
    builder.setInsertionPoint(point);
  else
    at = level;
  Range bounds = range(dividend);
  Value quotient;
  if (uniform) {
    Value by = builder.create<arith::ConstantIndexOp>(loc, divisor);
    quotient = builder.createOrFold<arith::DivUIOp>(loc, scalar(dividend), by);
  } else {
    Value all = perLane(dividend);
    Attribute by = IntegerAttr::get(getElementTypeOrSelf(all), divisor);
    if (auto vector = dyn_cast<VectorType>(all.getType()))
      by = DenseElementsAttr::get(vector, by);
    quotient = builder.createOrFold<arith::DivUIOp>(
        loc, all, builder.create<arith::ConstantOp>(loc, cast<TypedAttr>(by)));
  }
  int64_t least = std::max<int64_t>(0, bounds.min) / divisor;
  int64_t most = std::max<int64_t>(0, bounds.max) / divisor;
  Index result = variableAt(at, quotient, least, most);
  quotients[at].push_back({dividend, divisor, lanes, result});
  return result;
}

std::pair<Index, Index> IndexSpace::divide(const Index &index, int64_t divisor) {
  if (divisor == 1)
    return {index, Index()};
  // Terms that are whole multiples go to the quotient, the rest stays.
  Index whole, rest;
  auto split = [&](int64_t step, int64_t &ofWhole, int64_t &ofRest) {
    (step % divisor == 0 ? ofWhole : ofRest) = step % divisor == 0 ? step / divisor : step;
  };
  split(index.lane, whole.lane, rest.lane);
  split(index.sublane, whole.sublane, rest.sublane);
  whole.constant = index.constant / divisor;
  rest.constant = index.constant % divisor;
  for (const Index::Term &term : index.terms) {
    if (term.coefficient % divisor == 0)
      whole.terms.push_back({term.value, term.coefficient / divisor});
    else
      rest.terms.push_back(term);
  }
  Range bounds = range(rest);
  if (bounds.min >= 0 && bounds.max < divisor)
    return {whole, rest};
  if (bounds.min < 0) { // cannot be divided on its own: take the whole
    whole = Index();
    rest = index;
  }
  // high + low, where high is a multiple of a g that divides the divisor and
  // 0 <= low < g, has the quotient of high alone: the lanes share it if they are
  // all in low.
  SmallVector<int64_t> candidates;
  for (const Index::Term &term : rest.terms)
    if (!isa<VectorType>(term.value.getType()))
      candidates.push_back(std::gcd(multipleOf(term), divisor));
  llvm::sort(candidates, std::greater<>());
  for (int64_t g : candidates) {
    if (g == 1)
      break;
    Index high, low;
    low.lane = rest.lane, low.sublane = rest.sublane;
    high.constant = rest.constant / g * g;
    low.constant = rest.constant - high.constant;
    bool reducible = true;
    for (const Index::Term &term : rest.terms) {
      bool isVector = isa<VectorType>(term.value.getType());
      (!isVector && multipleOf(term) % g == 0 ? high : low).terms.push_back(term);
    }
    Range lowBounds = range(low);
    if (lowBounds.min < 0 || lowBounds.max >= g || range(high).min < 0)
      continue;
    for (const Index::Term &term : high.terms)
      reducible = reducible && term.coefficient % g == 0;
    Index reduced = high;
    if (reducible) {
      reduced.constant /= g;
      for (Index::Term &term : reduced.terms)
        term.coefficient /= g;
    }
    Index quotient = makeQuotient(reduced, reducible ? divisor / g : divisor);
    return {add(whole, quotient), subtract(rest, scale(quotient, divisor))};
  }
  Index quotient = makeQuotient(rest, divisor);
  return {add(whole, quotient), subtract(rest, scale(quotient, divisor))};
}

Index IndexSpace::linearize(const Position &position, ArrayRef<int64_t> shape) const {
  Index result;
  int64_t stride = 1;
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    result = add(scale(position[d], stride), result);
    stride *= shape[d];
  }
  return result;
}

Position IndexSpace::delinearize(const Index &index, ArrayRef<int64_t> shape) {
  Position position(shape.size());
  Index rest = index;
  int64_t stride = 1;
  for (int64_t extent : shape)
    stride *= extent;
  for (auto [d, extent] : llvm::enumerate(shape)) {
    if (extent == 0) // nothing is ever read here
      return position;
    stride /= extent;
    if (extent == 1)
      continue;
    std::tie(position[d], rest) = divide(rest, stride);
  }
  return position;
}

unsigned IndexSpace::levelOf(const Position &position) const {
  unsigned deepest = 0;
  for (const Index &index : position)
    for (const Index::Term &term : index.terms)
      deepest = std::max(deepest, facts.find(term.value)->second.level);
  return deepest;
}

Value IndexSpace::scalar(const Index &index) {
  Value sum;
  auto constant = [&](int64_t value) -> Value {
    return builder.create<arith::ConstantIndexOp>(loc, value);
  };
  for (const Index::Term &term : index.terms) {
    if (isa<VectorType>(term.value.getType()))
      continue;
    Value product =
        term.coefficient == 1
            ? term.value
            : builder.createOrFold<arith::MulIOp>(loc, term.value, constant(term.coefficient));
    sum = sum ? builder.createOrFold<arith::AddIOp>(loc, sum, product) : product;
  }
  if (!sum)
    return constant(index.constant);
  return index.constant ? builder.createOrFold<arith::AddIOp>(loc, sum, constant(index.constant))
                        : sum;
}

Value IndexSpace::perLane(const Index &index) {
  return perLane(index, vectorBits);
}

Value IndexSpace::perLane(const Index &index, unsigned bits) {
  Type element = builder.getIntegerType(bits);
  Value base = builder.createOrFold<arith::IndexCastOp>(loc, element, scalar(index));
  if (lanes == 1)
    return base;
  auto type = VectorType::get({lanes}, element);
  Value sum = builder.create<vector::BroadcastOp>(loc, type, base);
  auto add = [&](Value value) { sum = builder.createOrFold<arith::AddIOp>(loc, sum, value); };
  if (index.lane || index.sublane) {
    SmallVector<Attribute> steps;
    for (int64_t i = 0; i < lanes; ++i)
      steps.push_back(builder.getIntegerAttr(element, stepOf(index, i)));
    add(builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, steps)));
  }
  for (const Index::Term &term : index.terms) {
    if (!isa<VectorType>(term.value.getType()))
      continue;
    Value value = term.value;
    unsigned width = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
    if (width < bits)
      value = builder.create<arith::ExtSIOp>(loc, type, value);
    else if (width > bits)
      value = builder.create<arith::TruncIOp>(loc, type, value);
    if (term.coefficient != 1) {
      Attribute factor =
          DenseElementsAttr::get(type, builder.getIntegerAttr(element, term.coefficient));
      value = builder.createOrFold<arith::MulIOp>(
          loc, value, builder.create<arith::ConstantOp>(loc, cast<TypedAttr>(factor)));
    }
    add(value);
  }
  return sum;
}
