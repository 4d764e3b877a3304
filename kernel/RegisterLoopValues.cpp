//===- RegisterLoopValues.cpp - what a loop in registers computes ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RegisterLoopEmitter.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Reduction.h"
#include "kernel/RegisterLoopEmitter.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Whether the lanes stand at different elements of `value`.
bool RegisterLoopEmitter::isBatched(Value value) const {
  for (int64_t d = 0; d < typeOf(value).getRank(); ++d)
    if (plan.batchNumber(value, d) == int(plan.batch.size()) - 1)
      return !plan.batch.empty();
  return false;
}

/// Where the tile's members find element number `element` of their part.
Position RegisterLoopEmitter::positionOf(Value value, int64_t element) const {
  RankedTensorType type = typeOf(value);
  Position position(type.getRank());
  for (int64_t d = type.getRank() - 1; d >= 0; --d) {
    if (int number = plan.batchNumber(value, d); number >= 0) {
      position[d] = members[number];
      continue;
    }
    position[d] = Index(element % type.getDimSize(d));
    element /= type.getDimSize(d);
  }
  return position;
}

FailureOr<Elements> RegisterLoopEmitter::readHere(Value value) {
  Elements elements;
  for (int64_t i = 0; i < plan.elementsPerMember(value); ++i) {
    FailureOr<Element> element = emitter.emit(value, positionOf(value, i));
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  return elements;
}

/// All elements, in the registers that the value's kind asks for.
FailureOr<Elements> RegisterLoopEmitter::read(Value value) {
  if (auto known = registers.find(value); known != registers.end())
    return known->second;
  if (isBatched(value) || emitter.lanes() == 1)
    return readHere(value);
  ElementEmitter::Tile tile(emitter, 1);
  return readHere(value);
}

void RegisterLoopEmitter::define(Value value, Elements elements) {
  registers[value] = std::move(elements);
  emitter.bind(value, [this, value](const Position &position) -> FailureOr<Element> {
    return lookUp(value, position);
  });
}

/// The register that `position` names, of the tile's own members.
Element RegisterLoopEmitter::lookUp(Value value, const Position &position) {
  RankedTensorType type = typeOf(value);
  IndexSpace &space = emitter.space();
  Index number;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) != 1 && plan.batchNumber(value, d) < 0)
      number = space.add(space.scale(number, type.getDimSize(d)), position[d]);
  return chooseElement(registers.find(value)->second, number);
}

/// An index that is known only when run chooses among all elements.
Element RegisterLoopEmitter::chooseElement(const Elements &elements, const Index &number) {
  auto spread = [&](Element element) {
    return isa<VectorType>(element.re.type()) ? element : emitter.spread(element);
  };
  int64_t count = elements.size();
  // Out of bounds only where the reader drops the value.
  if (number.isConstant())
    return spread(elements[number.constant < count ? std::max<int64_t>(number.constant, 0) : 0]);
  Num at;
  if (number.isUniform()) {
    ElementEmitter::Tile tile(emitter, 1);
    at = {emitter.context(), emitter.space().perLane(number, 32)};
  } else {
    at = {emitter.context(), emitter.space().perLane(number, 32)};
  }
  Element chosen = spread(elements.back());
  for (int64_t i = count - 2; i >= 0; --i) {
    Element candidate = spread(elements[i]);
    Num here = eq(at, i);
    chosen.re = select(here, candidate.re, chosen.re);
    if (chosen.isComplex())
      chosen.im = select(here, candidate.im, chosen.im);
  }
  return chosen;
}

/// The registers' types: each element's, of a complex one both parts'.
SmallVector<Type> RegisterLoopEmitter::typesOf(Value value) const {
  Type element = typeOf(value).getElementType(), type = registerType(element);
  if (isBatched(value) && emitter.lanes() > 1)
    type = VectorType::get({emitter.lanes()}, type);
  int64_t parts = isa<ComplexType>(element) ? 2 : 1;
  return SmallVector<Type>(plan.elementsPerMember(value) * parts, type);
}

FailureOr<Carried> RegisterLoopEmitter::readAll(ValueRange values) {
  Carried all;
  for (Value value : values) {
    FailureOr<Elements> elements = read(value);
    if (failed(elements))
      return failure();
    llvm::append_range(all, flatten(*elements));
  }
  return all;
}

void RegisterLoopEmitter::defineAll(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    Elements elements;
    bool isComplex = isa<ComplexType>(typeOf(value).getElementType());
    for (int64_t i = 0; i < plan.elementsPerMember(value); ++i) {
      Element element{{emitter.context(), flat.front()}, {}};
      flat = flat.drop_front();
      if (isComplex) {
        element.im = {emitter.context(), flat.front()};
        flat = flat.drop_front();
      }
      elements.push_back(element);
    }
    define(value, std::move(elements));
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult RegisterLoopEmitter::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(visit(&op)))
      return failure();
  return success();
}

/// What moves elements, and products that the sum which reads them takes in.
bool RegisterLoopEmitter::isEvaluatedWhereRead(Operation *op) const {
  if (isa<hlo::DynamicSliceOp, hlo::GatherOp>(op))
    return false;
  if (auto update = dyn_cast<hlo::DynamicUpdateSliceOp>(op)) {
    for (unsigned i : plan.inMemory.set_bits())
      if (llvm::is_contained(graph::updatesInPlace(plan.loop, i), update))
        return true;
    return false;
  }
  if (auto product = dyn_cast<hlo::MulOp>(op)) {
    Type type = getElementTypeOrSelf(product.getType());
    return (type.isF32() || type.isF64()) && product->hasOneUse() &&
           isa<hlo::AddOp, hlo::SubtractOp>(*product->user_begin()) &&
           (*product->user_begin())->getBlock() == product->getBlock();
  }
  return !kernel::isElementwise(op) && !isa<hlo::MapOp>(op);
}

LogicalResult RegisterLoopEmitter::visit(Operation *op) {
  if (isa<hlo::IfOp, hlo::CaseOp>(op))
    return visitIf(op);
  if (auto loop = dyn_cast<hlo::WhileOp>(op))
    return visitLoop(loop);
  if (auto reduce = dyn_cast<hlo::ReduceOp>(op))
    return visitReduce(reduce);
  if (auto dot = dyn_cast<hlo::DotGeneralOp>(op))
    return visitDot(dot);
  Value result = op->getResult(0);
  if (!plan.changing.contains(result) || isEvaluatedWhereRead(op))
    return success();
  FailureOr<Elements> elements = read(result);
  if (failed(elements))
    return failure();
  define(result, std::move(*elements));
  return success();
}

/// Element by element in row-major order: the members are too short for lanes.
LogicalResult RegisterLoopEmitter::visitReduce(hlo::ReduceOp op) {
  // "Any member" is asked in the loop's condition, member by member.
  if (plan.wants && op.getInputs().front() == plan.wants)
    return success();
  Value first = op->getResult(0), input = op.getInputs().front();
  ElementEmitter::Tile tile(emitter, isBatched(first) ? emitter.lanes() : 1,
                            isBatched(first) ? emitter.currentMask() : Value());
  Reduction reduction(emitter, {op});
  SmallVector<int64_t> extents;
  int64_t count = 1;
  for (int64_t d : op.getDimensions())
    count *= typeOf(input).getDimSize(d);
  std::vector<Elements> results(op->getNumResults());
  for (int64_t i = 0; i < plan.elementsPerMember(first); ++i) {
    Position kept = positionOf(first, i);
    FailureOr<Elements> sums = reduction.initial();
    for (int64_t r = 0; succeeded(sums) && r < count; ++r)
      sums = reduction.accumulate(*sums, {}, [&](hlo::ReduceOp) {
        Position position(typeOf(input).getRank());
        int64_t rest = r, next = kept.size();
        for (int64_t d = typeOf(input).getRank() - 1; d >= 0; --d) {
          if (!llvm::is_contained(op.getDimensions(), d)) {
            position[d] = kept[--next];
            continue;
          }
          position[d] = Index(rest % typeOf(input).getDimSize(d));
          rest /= typeOf(input).getDimSize(d);
        }
        return position;
      });
    if (failed(sums))
      return failure();
    reduction.finish(*sums);
    for (auto [result, sum] : llvm::zip_equal(results, *sums))
      result.push_back(sum);
  }
  for (auto [value, elements] : llvm::zip_equal(op->getResults(), results))
    define(value, std::move(elements));
  return success();
}

/// Element number `element` of a product, summed upwards.
FailureOr<Element> RegisterLoopEmitter::dotElement(hlo::DotGeneralOp op, int64_t element) {
  auto numbers = op.getDotDimensionNumbers();
  RankedTensorType lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  Type to = typeOf(op).getElementType();
  Type wide = isSmallFloat(to) ? Type(builder().getF32Type()) : to;
  Position at = positionOf(op, element);
  Position a(lhs.getRank()), b(rhs.getRank());
  int64_t next = 0, depth = 1;
  for (auto [l, r] :
       llvm::zip_equal(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))
    a[l] = b[r] = at[next++];
  auto place = [&](Position &side, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
    for (int64_t d = 0; d < int64_t(side.size()); ++d)
      if (!llvm::is_contained(batching, d) && !llvm::is_contained(contracting, d))
        side[d] = at[next++];
  };
  place(a, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
  place(b, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions());
  for (int64_t d : numbers.getLhsContractingDimensions())
    depth *= lhs.getDimSize(d);
  auto widen = [&](Element value, Type from) {
    return registerType(from) == registerType(wide) ? value : convertElement(value, from, wide);
  };
  Num sum = constantElement(emitter.context(), builder().getZeroAttr(registerType(wide)), wide,
                            emitter.lanes())
                .re;
  for (int64_t k = 0; k < depth; ++k) {
    int64_t rest = k;
    for (auto [l, r] : llvm::reverse(llvm::zip_equal(numbers.getLhsContractingDimensions(),
                                                     numbers.getRhsContractingDimensions()))) {
      a[l] = b[r] = Index(rest % lhs.getDimSize(l));
      rest /= lhs.getDimSize(l);
    }
    FailureOr<Element> x = emitter.emit(op.getLhs(), a), y = emitter.emit(op.getRhs(), b);
    if (failed(x) || failed(y))
      return failure();
    Num p = widen(*x, lhs.getElementType()).re, q = widen(*y, rhs.getElementType()).re;
    sum = sum.isFloat() ? fma(p, q, sum) : p * q + sum;
  }
  return Element{isSmallFloat(to) ? roundTo(sum, to) : sum, {}};
}

LogicalResult RegisterLoopEmitter::visitDot(hlo::DotGeneralOp op) {
  ElementEmitter::Tile tile(emitter, isBatched(op) ? emitter.lanes() : 1,
                            isBatched(op) ? emitter.currentMask() : Value());
  Elements elements;
  for (int64_t i = 0; i < plan.elementsPerMember(op); ++i) {
    FailureOr<Element> element = dotElement(op, i);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  define(op, std::move(elements));
  return success();
}

/// What the lanes read at the same place in all trips is read before the loop.
LogicalResult RegisterLoopEmitter::hoistTiles() {
  constexpr int64_t kMostElements = 16, kMostRegisters = 64;
  int64_t count = 0;
  WalkResult result = plan.loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isRegion = isa<hlo::WhileOp, hlo::IfOp, hlo::CaseOp>(op);
    bool reads =
        !isRegion && (kernel::isElementwise(op) || isa<hlo::ReduceOp, hlo::DotGeneralOp>(op) ||
                      op->hasTrait<OpTrait::IsTerminator>());
    for (Value value : op->getOperands()) {
      if (!reads || plan.changing.contains(value) || !isBatched(value) ||
          value.getDefiningOp<hlo::ConstantOp>() || plan.elementsPerMember(value) > kMostElements)
        continue;
      count += plan.elementsPerMember(value);
      if (count <= kMostRegisters && failed(readHere(value)))
        return WalkResult::interrupt();
    }
    return isRegion ? WalkResult::advance() : WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}
