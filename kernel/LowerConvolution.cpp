//===- LowerConvolution.cpp - convolutions, element by element -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The direct form: an element of the result is a sum over the window and the
// input features of its group. It takes every dtype, grouping, dilation and
// layout, and is the right form for depthwise convolutions, where the lanes run
// along the features. Convolutions that are matrix products in disguise are
// lowered by LowerDot.cpp.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Accumulate.h"
#include "kernel/LowerFusion.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

/// A sum is kept in f32 for all narrow floats, as wide as the result otherwise.
static Type accumulatorType(Type element) {
  return isSmallFloat(element) ? Float32Type::get(element.getContext()) : element;
}

/// sum + a * b, fused for real floats.
static Element multiplyAdd(Element a, Element b, Element sum) {
  if (sum.isComplex())
    return {sum.re + (a.re * b.re - a.im * b.im), sum.im + (a.re * b.im + a.im * b.re)};
  if (sum.re.isFloat())
    return {fma(a.re, b.re, sum.re), {}};
  return {a.re * b.re + sum.re, {}};
}

static FailureOr<Elements> convolveAt(ElementEmitter &emitter, hlo::ConvolutionOp op,
                                      const Position &at) {
  ConvolutionShape shape(op);
  Type result = typeOf(op).getElementType(), wide = accumulatorType(result);
  Type part = isa<ComplexType>(wide) ? cast<ComplexType>(wide).getElementType() : wide;
  Element zero = constantElement(emitter.context(), emitter.getBuilder().getZeroAttr(part), part,
                                 emitter.lanes());
  if (isa<ComplexType>(wide))
    zero.im = zero.re;
  // The window's dimensions, then the input features of a group.
  SmallVector<int64_t> extents(shape.window);
  extents.push_back(shape.features);
  auto step = [&](const Position &w, ArrayRef<Element> sum) -> FailureOr<Elements> {
    Position left, right;
    Num inside;
    if (!shape.operands(emitter, at, w, left, right, inside))
      return Elements(sum);
    FailureOr<Element> a = failure();
    {
      ElementEmitter::Condition condition(emitter, inside);
      a = emitter.emit(op.getLhs(), left);
    }
    FailureOr<Element> b = emitter.emit(op.getRhs(), right);
    if (failed(a) || failed(b))
      return failure();
    Element x = convertElement(*a, typeOf(op.getLhs()).getElementType(), wide);
    Element y = convertElement(*b, typeOf(op.getRhs()).getElementType(), wide);
    return selectElements(inside, {multiplyAdd(x, y, sum[0])}, sum);
  };
  FailureOr<Elements> sum = accumulateOver(emitter, extents, {zero}, /*unroll=*/16, step);
  if (failed(sum) || wide == result)
    return sum;
  return Elements{{roundTo((*sum)[0].re, result), {}}};
}

LogicalResult kernel::lowerConvolution(FusionLowering &lowering) {
  auto convolutions = lowering.fusion.getBlock().getOps<hlo::ConvolutionOp>();
  if (!llvm::hasSingleElement(convolutions))
    return lowering.fusion.emitOpError("of kind convolution holds not exactly one convolution");
  hlo::ConvolutionOp op = *convolutions.begin();
  if (isMatrixConvolution(op))
    return lowerMatrixConvolution(lowering, op);
  ConvolutionShape shape(op);
  int64_t terms = shape.features;
  for (int64_t size : shape.window)
    terms *= size;
  return lowerLoop(
      lowering,
      [&](ElementEmitter &emitter) {
        bindAll(emitter, op,
                [&emitter, op](const Position &at) { return convolveAt(emitter, op, at); });
      },
      /*heroCost=*/terms * 700);
}
