//===- Lanes.cpp - arithmetic of instructions, lane by lane ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chip's arithmetic: IEEE 754 in f32 (and f64, emulated), integers that wrap.
// The transcendental unit is modelled as the correctly rounded function.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Lanes.h"

#include "kernel/TwoOverPi.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <cmath>

namespace spokeshave::runtime::tpu {

using spokeshave::tpu::bitsOf;
using spokeshave::tpu::ElementType;
using spokeshave::tpu::FloatPredicate;
using spokeshave::tpu::Instruction;
using spokeshave::tpu::IntPredicate;
using spokeshave::tpu::kRegisterLanes;
using spokeshave::tpu::Opcode;

namespace {

Lane lowBits(Lane value, int64_t bits) {
  return bits >= 64 ? value : value & ((Lane(1) << bits) - 1);
}

int64_t signedOf(Lane value, int64_t bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

const llvm::fltSemantics &semanticsOf(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return llvm::APFloat::BFloat();
  case ElementType::F16:
    return llvm::APFloat::IEEEhalf();
  case ElementType::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case ElementType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case ElementType::F64:
    return llvm::APFloat::IEEEdouble();
  default:
    return llvm::APFloat::IEEEsingle();
  }
}

template <typename F> F floatOf(Lane bits) {
  if constexpr (sizeof(F) == 4)
    return llvm::bit_cast<float>(uint32_t(bits));
  else
    return llvm::bit_cast<double>(bits);
}
template <typename F> Lane laneOf(F value) {
  if constexpr (sizeof(F) == 4)
    return llvm::bit_cast<uint32_t>(value);
  else
    return llvm::bit_cast<uint64_t>(value);
}

/// IEEE 754-2019. Equal values have equal bits, but zeros: the positive one is larger.
/// Without branches, for loops over lanes.
template <bool kMinimum, typename F> F extreme(F a, F b) {
  Lane x = laneOf(a), y = laneOf(b);
  Lane ordered = (a < b) == kMinimum ? x : y;
  Lane equal = kMinimum ? x | y : x & y;
  Lane chosen = a == b ? equal : ordered;
  return a == a && b == b ? floatOf<F>(chosen) : a + b;
}

/// To nearest even; NaN becomes quiet.
Lane roundToBf16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return value == value ? rounded : (bits >> 16) | 0x40;
}

/// To nearest even; NaN becomes quiet.
Lane roundToF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffff;
  Lane sign = bits >> 16 & 0x8000;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x477ff000) // rounds to 65536 or is beyond it
    return sign | 0x7c00;
  if (magnitude < 0x38800000) { // subnormal: multiples of 2^-24
    float scaled = llvm::bit_cast<float>(magnitude) * 0x1p24f;
    return sign | Lane(std::nearbyint(scaled));
  }
  uint32_t rebased = magnitude - 0x38000000;
  return sign | ((rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

/// f32 of each bit pattern of a type of at most 16 bits.
std::vector<float> allValuesOf(ElementType type) {
  std::vector<float> values(size_t(1) << bitsOf(type));
  for (auto [bits, value] : llvm::enumerate(values)) {
    llvm::APFloat number(semanticsOf(type), llvm::APInt(bitsOf(type), bits));
    bool lost;
    number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
    value = number.convertToFloat();
  }
  return values;
}

/// The outcomes of a comparison for which a predicate holds: 1 equal, 2 greater,
/// 4 less, 8 unordered.
unsigned outcomesOf(FloatPredicate predicate) {
  static constexpr uint8_t truth[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15};
  return truth[unsigned(predicate)];
}

template <typename F> Lane compareFloats(F x, F y, unsigned outcomes) {
  unsigned outcome = unsigned(x == y) | unsigned(x > y) << 1 | unsigned(x < y) << 2;
  outcome |= unsigned(outcome == 0) << 3;
  return (outcomes & outcome) != 0;
}

/// One loop per opcode: the switch stands outside.
struct Loop {
  const Instruction &instruction;
  const Lane *a, *b, *c; ///< never null
  Lane *dst;

  template <typename Fn> bool each(Fn function) {
    // What is read for a lane is read before it is written; see Operand.
#pragma clang loop vectorize(assume_safety)
    for (size_t i = 0; i < instruction.lanes; ++i)
      dst[i] = function(i);
    return true;
  }
  template <typename Fn> bool integers(Fn function) {
    Lane mask = lowBits(~Lane(0), bitsOf(instruction.type));
    return each([=, this](size_t i) { return function(a[i], b[i]) & mask; });
  }
  template <typename Fn> bool signedIntegers(Fn function) {
    int64_t bits = bitsOf(instruction.type);
    if (bits == 32)
      return each([=, this](size_t i) -> Lane {
        return uint32_t(function(int64_t(int32_t(a[i])), int64_t(int32_t(b[i]))));
      });
    return each([=, this](size_t i) {
      return lowBits(Lane(function(signedOf(a[i], bits), signedOf(b[i], bits))), bits);
    });
  }
  template <typename Fn> bool compareSigned(Fn function) {
    return signedIntegers([=](int64_t x, int64_t y) { return int64_t(function(x, y)); });
  }
  template <typename F, typename Fn> bool floatsOf(Fn function) {
    return each([=, this](size_t i) {
      return laneOf<F>(function(floatOf<F>(a[i]), floatOf<F>(b[i]), floatOf<F>(c[i])));
    });
  }
  template <typename Fn> bool floats(Fn function) {
    return instruction.type == ElementType::F64 ? floatsOf<double>(function)
                                                : floatsOf<float>(function);
  }

  bool compareIntegers();
  bool integer();
  bool floating();
  bool transcendental();
  bool angle();
  bool conversion();
};

bool Loop::compareIntegers() {
  switch (IntPredicate(instruction.predicate)) {
  case IntPredicate::Eq:
    return each([=, this](size_t i) -> Lane { return a[i] == b[i]; });
  case IntPredicate::Ne:
    return each([=, this](size_t i) -> Lane { return a[i] != b[i]; });
  case IntPredicate::Slt:
    return compareSigned([](int64_t x, int64_t y) { return x < y; });
  case IntPredicate::Sle:
    return compareSigned([](int64_t x, int64_t y) { return x <= y; });
  case IntPredicate::Sgt:
    return compareSigned([](int64_t x, int64_t y) { return x > y; });
  case IntPredicate::Sge:
    return compareSigned([](int64_t x, int64_t y) { return x >= y; });
  case IntPredicate::Ult:
    return each([=, this](size_t i) -> Lane { return a[i] < b[i]; });
  case IntPredicate::Ule:
    return each([=, this](size_t i) -> Lane { return a[i] <= b[i]; });
  case IntPredicate::Ugt:
    return each([=, this](size_t i) -> Lane { return a[i] > b[i]; });
  case IntPredicate::Uge:
    return each([=, this](size_t i) -> Lane { return a[i] >= b[i]; });
  }
  return false;
}

bool Loop::integer() {
  int64_t bits = bitsOf(instruction.type);
  Lane most = lowBits(~Lane(0), bits);
  auto amount = [&](Lane shift) { return shift < Lane(bits); };
  switch (instruction.op) {
  case Opcode::Add:
    return integers([](Lane x, Lane y) { return x + y; });
  case Opcode::Sub:
    return integers([](Lane x, Lane y) { return x - y; });
  case Opcode::Mul:
    return integers([](Lane x, Lane y) { return x * y; });
  case Opcode::DivU: // a zero divisor gives all ones, as the language says
    return integers([&](Lane x, Lane y) { return y ? x / y : most; });
  case Opcode::RemU:
    return integers([](Lane x, Lane y) { return y ? x % y : x; });
  case Opcode::DivS:
    return signedIntegers([](int64_t x, int64_t y) {
      return y == 0 ? -1 : y == -1 ? int64_t(0 - uint64_t(x)) : x / y;
    });
  case Opcode::RemS:
    return signedIntegers([](int64_t x, int64_t y) { return y == 0 ? x : y == -1 ? 0 : x % y; });
  case Opcode::And:
    return integers([](Lane x, Lane y) { return x & y; });
  case Opcode::Or:
    return integers([](Lane x, Lane y) { return x | y; });
  case Opcode::Xor:
    return integers([](Lane x, Lane y) { return x ^ y; });
  case Opcode::Shl:
    return integers([&](Lane x, Lane y) { return amount(y) ? x << y : 0; });
  case Opcode::ShrU:
    return integers([&](Lane x, Lane y) { return amount(y) ? x >> y : 0; });
  case Opcode::ShrS:
    return each([&](size_t i) {
      int64_t shift = std::min<Lane>(b[i], bits - 1);
      return lowBits(Lane(signedOf(a[i], bits) >> shift), bits);
    });
  case Opcode::MaxS:
    return signedIntegers([](int64_t x, int64_t y) { return std::max(x, y); });
  case Opcode::MinS:
    return signedIntegers([](int64_t x, int64_t y) { return std::min(x, y); });
  case Opcode::MaxU:
    return integers([](Lane x, Lane y) { return std::max(x, y); });
  case Opcode::MinU:
    return integers([](Lane x, Lane y) { return std::min(x, y); });
  case Opcode::PopCount:
    return each([&](size_t i) { return Lane(llvm::popcount(a[i])); });
  case Opcode::CountLeadingZeros:
    return each([&](size_t i) { return Lane(llvm::countl_zero(a[i]) - (64 - bits)); });
  case Opcode::CountTrailingZeros:
    return each([&](size_t i) { return Lane(std::min<int64_t>(bits, llvm::countr_zero(a[i]))); });
  case Opcode::CompareI:
    return compareIntegers();
  case Opcode::Move:
    return each([=, this](size_t i) { return a[i]; });
  case Opcode::Select:
    return each([=, this](size_t i) { return c[i] & 1 ? a[i] : b[i]; });
  default:
    return false;
  }
}

bool Loop::floating() {
  switch (instruction.op) {
  case Opcode::AddF:
    return floats([](auto x, auto y, auto) { return x + y; });
  case Opcode::SubF:
    return floats([](auto x, auto y, auto) { return x - y; });
  case Opcode::MulF:
    return floats([](auto x, auto y, auto) { return x * y; });
  case Opcode::FmaF:
    return floats([](auto x, auto y, auto z) { return std::fma(x, y, z); });
  case Opcode::DivF:
    return floats([](auto x, auto y, auto) { return x / y; });
  case Opcode::SqrtF:
    return floats([](auto x, auto, auto) { return std::sqrt(x); });
  case Opcode::NegF: {
    Lane sign = Lane(1) << (bitsOf(instruction.type) - 1);
    return each([=, this](size_t i) { return a[i] ^ sign; });
  }
  case Opcode::AbsF: {
    Lane sign = Lane(1) << (bitsOf(instruction.type) - 1);
    return each([=, this](size_t i) { return a[i] & ~sign; });
  }
  case Opcode::CopySignF: {
    Lane sign = Lane(1) << (bitsOf(instruction.type) - 1);
    return each([&](size_t i) { return (a[i] & ~sign) | (b[i] & sign); });
  }
  case Opcode::MaxF:
    return floats([](auto x, auto y, auto) { return extreme<false>(x, y); });
  case Opcode::MinF:
    return floats([](auto x, auto y, auto) { return extreme<true>(x, y); });
  case Opcode::FloorF:
    return floats([](auto x, auto, auto) { return std::floor(x); });
  case Opcode::CeilF:
    return floats([](auto x, auto, auto) { return std::ceil(x); });
  case Opcode::TruncF:
    return floats([](auto x, auto, auto) { return std::trunc(x); });
  case Opcode::RoundF:
    return floats([](auto x, auto, auto) { return std::nearbyint(x); });
  case Opcode::CompareF: {
    unsigned outcomes = outcomesOf(FloatPredicate(instruction.predicate));
    if (instruction.type == ElementType::F64)
      return each([=, this](size_t i) {
        return compareFloats(floatOf<double>(a[i]), floatOf<double>(b[i]), outcomes);
      });
    return each([=, this](size_t i) {
      return compareFloats(floatOf<float>(a[i]), floatOf<float>(b[i]), outcomes);
    });
  }
  default:
    return false;
  }
}

bool Loop::transcendental() {
  auto through = [&](auto function) {
    return each(
        [&](size_t i) { return laneOf<float>(float(function(double(floatOf<float>(a[i]))))); });
  };
  switch (instruction.op) {
  case Opcode::Exp2:
    return through([](double x) { return std::exp2(x); });
  case Opcode::Log2:
    return through([](double x) { return std::log2(x); });
  case Opcode::Reciprocal:
    return through([](double x) { return 1 / x; });
  case Opcode::Rsqrt:
    return through([](double x) { return 1 / std::sqrt(x); });
  case Opcode::Tanh:
    return through([](double x) { return std::tanh(x); });
  default:
    return false;
  }
}

/// A part of the remainder modulo pi/2 by Payne and Hanek's method: of 2/pi only the
/// bits count whose product with the angle is neither a multiple of 4 nor far below
/// the result's last place.
double angleRemainder(double x, unsigned part) {
  using kernel::kTwoOverPi;
  using Wide = unsigned __int128;
  uint64_t bits = llvm::bit_cast<uint64_t>(x);
  uint64_t mantissa = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  int64_t exponent = (bits >> 52) & 0x7ff; // x = mantissa * 2^(exponent - 1075)
  int64_t at = std::max<int64_t>(0, exponent - (1075 + 2 - 64));
  if (exponent == 0x7ff)
    return std::nan("");
  auto window = [&](int64_t i) { // 64 bits of 2/pi from bit at + 64 i
    uint64_t high = kTwoOverPi[at / 64 + i], low = kTwoOverPi[at / 64 + i + 1];
    return at % 64 ? high << (at % 64) | low >> (64 - at % 64) : high;
  };
  Wide low = Wide(mantissa) * window(2);
  Wide middle = Wide(mantissa) * window(1) + uint64_t(low >> 64);
  uint64_t top = mantissa * window(0) + uint64_t(middle >> 64);
  // Two bits of quadrant, then a fraction of a quarter turn, taken as signed.
  uint64_t quadrant = top >> 62;
  Wide fraction = Wide(top) << 66 | Wide(uint64_t(middle)) << 2 | uint64_t(low) >> 62;
  bool negative = fraction >> 127;
  quadrant += negative;
  long double turns = std::ldexp((long double)(negative ? -fraction : fraction), -128);
  // 64 bits of pi/2 and 64 more: enough for what is kept of the product.
  long double whole = 0x1.921fb54442d18468p+0L, rest = 0x1.898cc51701b839a2p-64L;
  long double product = turns * whole;
  long double error = std::fma(turns, whole, -product) + turns * rest;
  double high = double(product), tail = double((product - high) + error);
  bool flip = negative != bool(bits >> 63);
  if (part == 0)
    return double((bits >> 63 ? 4 - quadrant % 4 : quadrant) % 4);
  double value = part == 1 ? high : tail;
  return flip ? -value : value;
}

bool Loop::angle() {
  if (instruction.op != Opcode::ReduceAngle)
    return false;
  return each([&](size_t i) {
    return laneOf<double>(angleRemainder(floatOf<double>(a[i]), instruction.predicate));
  });
}

bool Loop::conversion() {
  int64_t to = bitsOf(instruction.type), from = bitsOf(instruction.from);
  bool doubleTo = instruction.type == ElementType::F64;
  auto floatFrom = [&](size_t i) -> double {
    if (instruction.from == ElementType::F64)
      return floatOf<double>(a[i]);
    return toFloat(a[i], instruction.from);
  };
  auto isF32 = [](ElementType type) { return type == ElementType::F32; };
  switch (instruction.op) {
  case Opcode::ExtendS:
    return each([&](size_t i) { return lowBits(Lane(signedOf(a[i], from)), to); });
  case Opcode::ExtendU:
  case Opcode::Truncate:
    return each([&](size_t i) { return lowBits(a[i], std::min(from, to)); });
  case Opcode::SignedToFloat:
    return each([&](size_t i) {
      int64_t value = signedOf(a[i], from);
      return doubleTo ? laneOf<double>(double(value)) : laneOf<float>(float(value));
    });
  case Opcode::UnsignedToFloat:
    return each([&](size_t i) {
      return doubleTo ? laneOf<double>(double(a[i])) : laneOf<float>(float(a[i]));
    });
  case Opcode::FloatToSigned:
    return each([&](size_t i) {
      double value = floatFrom(i); // out of range: kernels have clamped before
      return std::abs(value) < 0x1p63 ? lowBits(Lane(int64_t(value)), to) : lowBits(1ull << 63, to);
    });
  case Opcode::FloatToUnsigned:
    return each([&](size_t i) {
      double value = floatFrom(i);
      if (value > -1 && value < 0x1p64)
        return lowBits(value >= 0x1p63 ? Lane(value - 0x1p63) + (1ull << 63) : Lane(value), to);
      return lowBits(~Lane(0), to);
    });
  case Opcode::ConvertF:
    if (isF32(instruction.from) && instruction.type == ElementType::BF16)
      return each([=, this](size_t i) { return roundToBf16(floatOf<float>(a[i])); });
    if (instruction.from == ElementType::BF16 && isF32(instruction.type))
      return each([=, this](size_t i) { return a[i] << 16; });
    if (isF32(instruction.from) && instruction.type == ElementType::F16)
      return each(
          [=, this](size_t i) { return fromFloat(floatOf<float>(a[i]), ElementType::F16); });
    return each([&](size_t i) -> Lane {
      double value = floatFrom(i);
      if (doubleTo)
        return laneOf<double>(value);
      if (instruction.type == ElementType::F32)
        return laneOf<float>(float(value));
      if (instruction.type == ElementType::BF16 && instruction.from == ElementType::F32)
        return fromFloat(float(value), ElementType::BF16);
      bool lost;
      llvm::APFloat number(value);
      number.convert(semanticsOf(instruction.type), llvm::APFloat::rmNearestTiesToEven, &lost);
      return number.bitcastToAPInt().getZExtValue();
    });
  default:
    return false;
  }
}

} // namespace

float toFloat(Lane bits, ElementType type) {
  if (type == ElementType::F32)
    return floatOf<float>(bits);
  if (type == ElementType::BF16)
    return floatOf<float>(bits << 16);
  static const std::vector<float> f16 = allValuesOf(ElementType::F16);
  static const std::vector<float> f8e4m3 = allValuesOf(ElementType::F8E4M3FN);
  static const std::vector<float> f8e5m2 = allValuesOf(ElementType::F8E5M2);
  if (type == ElementType::F16)
    return f16[bits];
  return type == ElementType::F8E4M3FN ? f8e4m3[bits] : f8e5m2[bits];
}

Lane fromFloat(float value, ElementType type) {
  if (type == ElementType::F32)
    return laneOf<float>(value);
  if (type == ElementType::BF16)
    return roundToBf16(value);
  if (type == ElementType::F16)
    return roundToF16(value);
  bool lost;
  llvm::APFloat number(value);
  number.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

bool compute(const Instruction &instruction, Operand a, Operand b, Operand c, Lane *dst) {
  // Scalars and immediates in all lanes, for loops that the compiler vectorizes.
  static constexpr Lane kNone[kRegisterLanes] = {};
  thread_local Lane splats[3][kRegisterLanes];
  auto lanesOf = [&](Operand operand, unsigned number) -> const Lane * {
    if (!operand.lanes)
      return kNone;
    if (operand.step != 0 || instruction.lanes == 1)
      return operand.lanes;
    std::fill_n(splats[number], instruction.lanes, *operand.lanes);
    return splats[number];
  };
  Loop loop{instruction, lanesOf(a, 0), lanesOf(b, 1), lanesOf(c, 2), dst};
  return loop.integer() || loop.floating() || loop.transcendental() || loop.angle() ||
         loop.conversion();
}

} // namespace spokeshave::runtime::tpu
