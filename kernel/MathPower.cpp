//===- MathPower.cpp - powers, roots, remainders ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The power function needs the logarithm to more places than an f64 has: error
// in it is multiplied by up to 745. It is carried as a sum of two numbers. Of narrow
// floats to a small multiple of a half, products and a root in f64 are more exact and
// take a tenth of the instructions.
//
//===----------------------------------------------------------------------===//
#include "kernel/Math.h"
#include "kernel/MathCoefficients.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

//===----------------------------------------------------------------------===//
// Sums of two numbers
//===----------------------------------------------------------------------===//

Pair kernel::exactSum(Num a, Num b) {
  Num sum = a + b;
  Num partB = sum - a, partA = sum - partB;
  return {sum, (a - partA) + (b - partB)};
}

Pair kernel::exactProduct(Num a, Num b) {
  Num product = a * b;
  if (a.in().machine.hasFma)
    return {product, fma(a, b, -product)};
  // Without fma: halves of 26 bits, whose products are exact.
  auto split = [](Num x) -> Pair {
    Num c = x * 134217729.0; // 2^27 + 1
    Num high = c - (c - x);
    return {high, x - high};
  };
  auto [ah, al] = split(a);
  auto [bh, bl] = split(b);
  return {product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

static Pair fastSum(Num large, Num small) {
  Num sum = large + small;
  return {sum, small - (sum - large)};
}

//===----------------------------------------------------------------------===//
// Power
//===----------------------------------------------------------------------===//

/// log(x) of positive x as a sum, to about 68 bits.
static Pair logPair(Num x) {
  Num tiny = lt(x, 0x1p-1022);
  Num scaled = select(tiny, x * 0x1p54, x);
  int64_t sqrtHalf = 0x3fe6a09e00000000;
  Num bits = scaled.asBits() - sqrtHalf;
  Num m = ((bits & 0xfffffffffffff) + sqrtHalf).asFloat();
  Num k = shiftRightSigned(bits, 52).lowBits(32).toFloat(x.element());
  k = k + select(tiny, x.constant(-54.0), x.constant(0.0));
  Num f = m - 1.0;
  // s = f / (2 + f)
  Pair d = fastSum(x.constant(2.0), f);
  Num s = f / d.high;
  Pair back = exactProduct(s, d.high);
  Num sLow = (((f - back.high) - back.low) - s * d.low) / d.high;
  // 2 s + 2/3 s^3 + s^5 P(s^2)
  Pair square = exactProduct(s, s);
  square.low = fma(s + s, sLow, square.low);
  Pair cube = exactProduct(square.high, s);
  cube.low = cube.low + fma(square.high, sLow, square.low * s);
  constexpr double thirdHigh = 0x1.5555555555555p-1, thirdLow = 0x1.5555555555555p-55;
  Pair third = exactProduct(cube.high, s.constant(thirdHigh));
  third.low = third.low + fma(cube.low, thirdHigh, cube.high * thirdLow);
  Num tail = cube.high * square.high * estrin(square.high, kLogTail64);
  constexpr double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;
  Pair sum = exactSum(k * ln2High, s + s);
  Pair more = exactSum(sum.high, third.high);
  Num low = (sum.low + more.low) + ((sLow + sLow) + (third.low + (tail + k * ln2Low)));
  return fastSum(more.high, low);
}

static Num powerDouble(Num x, Num y) {
  Num size = abs(x);
  Pair logarithm = logPair(size);
  Num special = ~(gt(size, 0.0) & lt(size, kInfinity));
  Num limit = select(eq(size, 0.0), size.constant(-kInfinity), size); // inf, NaN
  Num high = select(special, limit, logarithm.high);
  Num low = select(special, 0.0, logarithm.low);
  Pair product = exactProduct(y, high);
  // Where the product is out of range its low part is meaningless.
  Num inRange = lt(abs(product.high), 1000.0);
  Num rest = select(inRange, fma(y, low, product.low), x.constant(0.0));
  Num result = exp(product.high, rest);

  // Negative bases: the sign by parity, NaN for fractions.
  Num whole = eq(roundEven(y), y) | ge(abs(y), 0x1p53);
  Num half = y * 0.5;
  Num odd = whole & ne(roundEven(half), half) & lt(abs(y), 0x1p53);
  Num negative = lt(x.asBits(), 0);
  result = select(negative & odd, -result, result);
  Num invalid = negative & ~whole & gt(size, 0.0) & lt(size, kInfinity);
  result = select(invalid, kNan, result);
  Num one = eq(y, 0.0) | eq(x, 1.0) | (eq(size, 1.0) & eq(abs(y), kInfinity));
  return select(one, 1.0, select(isNan(x) | isNan(y), x + y, result));
}

static Num powerSingle(Num x, Num y) {
  // In f64 the plain logarithm has places to spare.
  Num size = abs(x);
  Num result = exp(y * log(size));
  Num whole = eq(roundEven(y), y);
  Num half = y * 0.5;
  Num odd = whole & ne(roundEven(half), half);
  Num negative = lt(x.asBits(), 0);
  result = select(negative & odd, -result, result);
  Num invalid = negative & ~whole & gt(size, 0.0) & lt(size, kInfinity);
  result = select(invalid, kNan, result);
  Num one = eq(y, 0.0) | eq(x, 1.0) | (eq(size, 1.0) & eq(abs(y), kInfinity));
  return select(one, 1.0, select(isNan(x) | isNan(y), x + y, result));
}

/// The number that `y` is in all lanes, if the program says it.
static std::optional<double> knownNumber(Num y) {
  Value value = y;
  if (auto splat = value.getDefiningOp<vector::BroadcastOp>())
    value = splat.getSource();
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto elements = dyn_cast<SplatElementsAttr>(attribute))
    attribute = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  return std::nullopt;
}

/// Multiples of a half up to here are products and a root. With six multiplications
/// at most, in f64, which neither overflow nor vanish where an f32 does not.
static constexpr double kLargestFewFactors = 7.5;

/// x to a power of few factors; x is an f32 as f64.
static Num powerOfFactors(Num x, double y) {
  auto halves = int64_t(std::abs(y) * 2);
  bool hasRoot = halves % 2;
  Num base = hasRoot ? abs(x) : x; // roots of -0 and -inf are taken as those of 0 and inf
  std::optional<Num> result;
  if (hasRoot)
    result = sqrt(base);
  Num square = base;
  for (int64_t rest = halves / 2; rest > 0; rest /= 2) {
    if (rest % 2)
      result = result ? *result * square : square;
    if (rest > 1)
      square = square * square;
  }
  Num value = result ? *result : x.constant(1.0); // also of NaN
  if (y < 0)
    value = 1.0 / value;
  if (hasRoot)
    value = select(lt(x, 0.0) & lt(base, kInfinity), kNan, value);
  return value;
}

Num kernel::power(Num x, Num y) {
  if (std::optional<double> known = knownNumber(y); known && x.bits() < 64 &&
                                                    std::abs(*known) <= kLargestFewFactors &&
                                                    *known * 2 == std::trunc(*known * 2))
    return powerOfFactors(x.extended(x.in().builder.getF64Type()), *known).truncated(x.element());
  if (x.bits() == 64)
    return powerDouble(x, y);
  Type f64 = x.in().builder.getF64Type();
  return powerSingle(x.extended(f64), y.extended(f64)).truncated(x.element());
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

static Num cbrtDouble(Num x) {
  Num size = abs(x);
  Num tiny = lt(size, 0x1p-1000), huge = gt(size, 0x1p1000);
  Num one = size.constant(1.0);
  Num scaled =
      size * select(tiny, size.constant(0x1p54), select(huge, size.constant(0x1p-54), one));
  // A third of the exponent, roughly, by dividing the upper half of the bits.
  Num upper = shiftRight(scaled.asBits(), 32);
  Num third = shiftRight(upper * 1431655766, 32) + 715094163;
  Num y = (third << 32).asFloat();
  for (int i = 0; i < 3; ++i) { // Halley's rule: each step triples the places
    Num cube = y * y * y;
    y = y * ((cube + (scaled + scaled)) / (cube + cube + scaled));
  }
  // One step of Newton's with an exact residue.
  Pair square = exactProduct(y, y);
  Pair cube = exactProduct(square.high, y);
  Num residue = (cube.high - scaled) + fma(square.low, y, cube.low);
  y = y - residue / (square.high * 3.0);
  y = y * select(tiny, size.constant(0x1p-18), select(huge, size.constant(0x1p18), one));
  Num plain = gt(size, 0.0) & lt(size, kInfinity);
  return select(plain, copySign(y, x), x);
}

Num kernel::cbrt(Num x) {
  return inDouble(x, cbrtDouble);
}

Num kernel::hypot(Num x, Num y) {
  Num ax = abs(x), ay = abs(y);
  Num swap = gt(ay, ax);
  Num large = select(swap, ay, ax), small = select(swap, ax, ay);
  Num high = x.constant(x.bits() == 64 ? 0x1p500 : 0x1p60);
  Num low = x.constant(x.bits() == 64 ? 0x1p-500 : 0x1p-60);
  // Far enough that neither the largest square overflows nor the smallest vanishes.
  Num bigger = x.constant(x.bits() == 64 ? 0x1p600 : 0x1p100);
  Num smaller = x.constant(x.bits() == 64 ? 0x1p-600 : 0x1p-100);
  Num one = x.constant(1.0);
  Num down = select(gt(large, high), smaller, select(lt(large, low), bigger, one));
  Num up = select(gt(large, high), bigger, select(lt(large, low), smaller, one));
  Num a = large * down, b = small * down;
  Num result = sqrt(fma(a, a, b * b)) * up;
  result = select(isNan(x) | isNan(y), x + y, result);
  return select(eq(ax, kInfinity) | eq(ay, kInfinity), kInfinity, result);
}

//===----------------------------------------------------------------------===//
// Remainder
//===----------------------------------------------------------------------===//

/// r - q * y exactly, where q has few enough bits (or the machine has fma).
static Num reduceOnce(Num r, Num y) {
  Num quotient = truncate(r / y);
  Num size = abs(quotient);
  quotient = copySign(select(lt(size, 0x1p1000), size, 0x1p1000), quotient);
  if (r.in().machine.hasFma)
    return fma(-quotient, y, r);
  // Twenty bits of the quotient times each half of y are exact.
  quotient = (quotient.asBits() & int64_t(0xffffffff00000000)).asFloat();
  Num high = (y.asBits() & int64_t(0xfffffffff8000000)).asFloat(), low = y - high;
  return (r - quotient * high) - quotient * low;
}

static Num remainderDouble(Num x, Num y) {
  ArithContext &in = x.in();
  OpBuilder &builder = in.builder;
  Num ax = abs(x), ay = abs(y);
  Num valid = gt(ay, 0.0) & lt(ax, kInfinity) & ~isNan(y);
  Num works = valid & lt(ay, kInfinity);
  Num start = select(works, ax, 0.0), divisor = select(works, ay, 1.0);
  // Each round takes some 50 bits off the quotient; as a rule one is enough.
  auto loop = builder.create<scf::WhileOp>(in.loc, TypeRange{x.type()}, ValueRange{start});
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *before = builder.createBlock(&loop.getBefore(), {}, {x.type()}, {in.loc});
    Num r(in, before->getArgument(0));
    Num more = ge(abs(r), divisor);
    builder.create<scf::ConditionOp>(in.loc, anyLane(more), ValueRange{r});
    Block *after = builder.createBlock(&loop.getAfter(), {}, {x.type()}, {in.loc});
    Num old(in, after->getArgument(0));
    // A quotient that was rounded up gives a negative rest: the sign is kept.
    builder.create<scf::YieldOp>(
        in.loc, ValueRange{select(ge(abs(old), divisor), reduceOnce(old, divisor), old)});
  }
  Num result(in, loop.getResult(0));
  result = select(lt(result, 0.0), result + divisor, result);
  result = select(works, result, ax); // an infinite divisor leaves x
  return select(valid, copySign(result, x), kNan);
}

Num kernel::floatRemainder(Num x, Num y) {
  if (x.bits() == 64)
    return remainderDouble(x, y);
  Type f64 = x.in().builder.getF64Type();
  return remainderDouble(x.extended(f64), y.extended(f64)).truncated(x.element());
}
