//===- Lanes.cpp - arithmetic of instructions, lane by lane ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the loop (LaneLoops.h) and does what is too rare for one.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Lanes.h"

#include "kernel/TwoOverPi.h"
#include "runtime/Executable.h"
#include "runtime/tpu/LaneLoops.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <array>
#include <cmath>

namespace spokeshave::runtime::tpu {

using spokeshave::tpu::bitsOf;
using spokeshave::tpu::ElementType;
using spokeshave::tpu::File;
using spokeshave::tpu::Instruction;
using spokeshave::tpu::kRegisterLanes;
using spokeshave::tpu::Opcode;

const LaneLoops &laneLoops() {
#if defined(__x86_64__)
  static const LaneLoops &best = machineSupportsIsa("avx512") ? kLaneLoopsAvx512
                                 : machineSupportsIsa("avx2") ? kLaneLoopsAvx2
                                                              : kLaneLoopsBase;
  return best;
#else
  return kLaneLoopsBase;
#endif
}

static const llvm::fltSemantics &semanticsOf(ElementType type) {
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

/// f32 of each bit pattern of a type of at most 16 bits.
static std::vector<float> allValuesOf(ElementType type) {
  std::vector<float> values(size_t(1) << bitsOf(type));
  for (auto [bits, value] : llvm::enumerate(values)) {
    llvm::APFloat number(semanticsOf(type), llvm::APInt(bitsOf(type), bits));
    bool lost;
    number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
    value = number.convertToFloat();
  }
  return values;
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

float toFloat(Lane bits, ElementType type) {
  if (type == ElementType::F32)
    return llvm::bit_cast<float>(uint32_t(bits));
  if (type == ElementType::BF16)
    return llvm::bit_cast<float>(uint32_t(bits) << 16);
  static const std::vector<float> f16 = allValuesOf(ElementType::F16);
  static const std::vector<float> f8e4m3 = allValuesOf(ElementType::F8E4M3FN);
  static const std::vector<float> f8e5m2 = allValuesOf(ElementType::F8E5M2);
  if (type == ElementType::F16)
    return f16[bits];
  return type == ElementType::F8E4M3FN ? f8e4m3[bits] : f8e5m2[bits];
}

Lane convertSlowly(Lane bits, ElementType from, ElementType to) {
  bool lost;
  llvm::APFloat number(from == ElementType::F64 ? llvm::bit_cast<double>(bits)
                                                : double(toFloat(bits, from)));
  number.convert(semanticsOf(to), llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

/// Scalars and immediates stand in all lanes of an array.
template <typename T>
static const void *arrayOf(Operand operand, size_t lanes, std::array<Lane, kRegisterLanes> &splat) {
  static constexpr Lane kNone[kRegisterLanes] = {};
  if (!operand.lanes)
    return kNone;
  if (!operand.isScalar)
    return operand.lanes;
  std::fill_n(reinterpret_cast<T *>(splat.data()), lanes,
              T(*static_cast<const Lane *>(operand.lanes)));
  return splat.data();
}

bool compute(const Instruction &instruction, Operand a, Operand b, Operand c, void *dst) {
  alignas(64) thread_local std::array<Lane, kRegisterLanes> splats[3];
  const LaneLoops &loops = laneLoops();
  bool converts = instruction.op >= Opcode::ExtendS && instruction.op <= Opcode::ConvertF;
  if (instruction.dst.file == File::Scalar) {
    auto of = [](Operand operand) {
      static constexpr Lane kZero = 0;
      return operand.lanes ? operand.lanes : &kZero;
    };
    LaneArrays arrays{of(a), of(b), of(c), dst};
    return converts ? loops.convert(instruction, arrays) : loops.scalar(instruction, arrays);
  }
  auto arrayFor = [&](Operand operand, unsigned number, ElementType type) {
    return withLanesOf(type, [&](auto lane) {
      return arrayOf<decltype(lane)>(operand, instruction.lanes, splats[number]);
    });
  };
  LaneArrays arrays{
      arrayFor(a, 0, converts ? instruction.from : instruction.type),
      arrayFor(b, 1, instruction.type),
      arrayFor(c, 2, instruction.op == Opcode::Select ? ElementType::I1 : instruction.type), dst};
  if (converts)
    return loops.convert(instruction, arrays);
  return (isWide(instruction.type) ? loops.wide : loops.narrow)(instruction, arrays);
}

} // namespace spokeshave::runtime::tpu
