//===- LanesTest.cpp - the arithmetic of lanes -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops give the same bits on every instruction set of the host, those of the
// C library and of LLVM's software floats.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "runtime/tpu/LaneLoops.h"

#include "gtest/gtest.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <random>

using namespace spokeshave::runtime::tpu;
using spokeshave::tpu::bitsOf;
using spokeshave::tpu::ElementType;
using spokeshave::tpu::File;
using spokeshave::tpu::Instruction;
using spokeshave::tpu::kRegisterLanes;
using spokeshave::tpu::Opcode;

namespace {

constexpr size_t kCount = kRegisterLanes;
template <typename T> using Lanes = std::vector<T>;

std::vector<const LaneLoops *> loopsOfHost() {
  std::vector<const LaneLoops *> found{&kLaneLoopsBase};
  if (spokeshave::runtime::machineSupportsIsa("avx2"))
    found.push_back(&kLaneLoopsAvx2);
  if (spokeshave::runtime::machineSupportsIsa("avx512"))
    found.push_back(&kLaneLoopsAvx512);
  return found;
}

Instruction vectorInstruction(Opcode op, ElementType type, ElementType from = ElementType::I32) {
  Instruction made;
  made.op = op, made.type = type, made.from = from;
  made.lanes = kCount;
  made.dst = {File::Vector, 0};
  return made;
}

/// Random bits below the type's width, among them zeros, infinities, NaNs, and numbers
/// of ordinary size.
template <typename T> Lanes<T> someLanes(ElementType type, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 10);
  int64_t bits = bitsOf(type);
  Lanes<T> made(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    Lane lane = random();
    if (i % 4 == 1 && type == ElementType::F32)
      lane = llvm::bit_cast<uint32_t>(float(normal(random)));
    if (i % 4 == 1 && type == ElementType::F64)
      lane = llvm::bit_cast<uint64_t>(normal(random));
    if (i % 16 == 2)
      lane = i % 5 == 0 ? 0 : Lane(1) << (bits - 1);
    if (i % 16 == 3 && type == ElementType::F32)
      lane = i % 5 == 0 ? 0x7f800000 : i % 5 == 1 ? 0xff800000 : 0x7fc00000;
    if (i % 16 == 4)
      lane = random() % 40;
    made[i] = T(bits == 64 ? lane : lane & ((Lane(1) << bits) - 1));
  }
  return made;
}

/// NaNs are equal: x86 takes the payload from the operand that comes first.
template <typename T> bool areEqual(T x, T y, ElementType type) {
  if (x == y)
    return true;
  if (type == ElementType::F32)
    return std::isnan(llvm::bit_cast<float>(uint32_t(x))) &&
           std::isnan(llvm::bit_cast<float>(uint32_t(y)));
  return type == ElementType::F64 && std::isnan(llvm::bit_cast<double>(uint64_t(x))) &&
         std::isnan(llvm::bit_cast<double>(uint64_t(y)));
}

template <typename T> void expectEqualOnAll(Opcode op, ElementType type, unsigned predicate) {
  auto isWideType = sizeof(T) == 8;
  Lanes<T> a = someLanes<T>(type, 1), b = someLanes<T>(type, 2), c = someLanes<T>(type, 3);
  Lanes<VectorLane> mask = someLanes<VectorLane>(ElementType::I1, 4);
  Instruction instruction = vectorInstruction(op, type);
  instruction.predicate = uint8_t(predicate);
  Lanes<T> first;
  for (const LaneLoops *loops : loopsOfHost()) {
    Lanes<T> dst(kCount);
    LaneArrays arrays{a.data(), b.data(),
                      op == Opcode::Select ? static_cast<const void *>(mask.data()) : c.data(),
                      dst.data()};
    ASSERT_TRUE((isWideType ? loops->wide : loops->narrow)(instruction, arrays));
    if (first.empty())
      first = dst;
    for (size_t i = 0; i < kCount; ++i)
      ASSERT_TRUE(areEqual(first[i], dst[i], type))
          << int(op) << " " << int(type) << " lane " << i << ": " << a[i] << ", " << b[i];
  }
}

TEST(Lanes, InstructionSetsAgree) {
  for (int op = int(Opcode::Add); op <= int(Opcode::CompareI); ++op)
    for (ElementType type : {ElementType::I8, ElementType::I16, ElementType::I32})
      expectEqualOnAll<VectorLane>(Opcode(op), type, 4);
  for (int op = int(Opcode::Add); op <= int(Opcode::CompareI); ++op)
    expectEqualOnAll<Lane>(Opcode(op), ElementType::I64, 4);
  for (int op = int(Opcode::AddF); op <= int(Opcode::CompareF); ++op) {
    expectEqualOnAll<VectorLane>(Opcode(op), ElementType::F32, 4);
    expectEqualOnAll<Lane>(Opcode(op), ElementType::F64, 4);
  }
  for (int op = int(Opcode::Exp2); op <= int(Opcode::Tanh); ++op)
    expectEqualOnAll<VectorLane>(Opcode(op), ElementType::F32, 0);
  expectEqualOnAll<VectorLane>(Opcode::Select, ElementType::F32, 0);
  expectEqualOnAll<Lane>(Opcode::Select, ElementType::F64, 0);
}

/// One instruction on f32, by the loops of this host.
Lanes<VectorLane> computeOn(Instruction instruction, const Lanes<VectorLane> &a) {
  Lanes<VectorLane> dst(kCount);
  EXPECT_TRUE(compute(instruction, {a.data()}, {}, {}, dst.data()));
  return dst;
}

TEST(Lanes, TheTranscendentalUnitRoundsCorrectly) {
  const std::pair<Opcode, double (*)(double)> functions[] = {
      {Opcode::Exp2, [](double x) { return std::exp2(x); }},
      {Opcode::Log2, [](double x) { return std::log2(x); }},
      {Opcode::Reciprocal, [](double x) { return 1 / x; }},
      {Opcode::Rsqrt, [](double x) { return 1 / std::sqrt(x); }},
      {Opcode::Tanh, [](double x) { return std::tanh(x); }}};
  for (auto [op, function] : functions)
    for (unsigned seed = 0; seed < 200; ++seed) {
      Lanes<VectorLane> in = someLanes<VectorLane>(ElementType::F32, seed);
      Lanes<VectorLane> out = computeOn(vectorInstruction(op, ElementType::F32), in);
      for (size_t i = 0; i < kCount; ++i) {
        float x = llvm::bit_cast<float>(in[i]), want = float(function(double(x)));
        ASSERT_TRUE(areEqual(llvm::bit_cast<VectorLane>(want), out[i], ElementType::F32))
            << int(op) << " of " << x << ": " << llvm::bit_cast<float>(out[i]) << ", not " << want;
      }
    }
}

TEST(Lanes, ConversionsAreThoseOfSoftwareFloats) {
  const std::pair<ElementType, const llvm::fltSemantics *> types[] = {
      {ElementType::BF16, &llvm::APFloat::BFloat()},
      {ElementType::F16, &llvm::APFloat::IEEEhalf()},
      {ElementType::F8E4M3FN, &llvm::APFloat::Float8E4M3FN()},
      {ElementType::F8E5M2, &llvm::APFloat::Float8E5M2()}};
  auto convert = [](llvm::APFloat number, const llvm::fltSemantics &to) {
    bool lost;
    number.convert(to, llvm::APFloat::rmNearestTiesToEven, &lost);
    return VectorLane(number.bitcastToAPInt().getZExtValue());
  };
  const llvm::fltSemantics &single = llvm::APFloat::IEEEsingle();
  for (auto [type, semantics] : types)
    for (unsigned seed = 0; seed < 20; ++seed) {
      Lanes<VectorLane> in = someLanes<VectorLane>(ElementType::F32, seed);
      Lanes<VectorLane> out =
          computeOn(vectorInstruction(Opcode::ConvertF, type, ElementType::F32), in);
      Lanes<VectorLane> narrow = someLanes<VectorLane>(type, seed);
      Lanes<VectorLane> back =
          computeOn(vectorInstruction(Opcode::ConvertF, ElementType::F32, type), narrow);
      for (size_t i = 0; i < kCount; ++i) {
        llvm::APFloat number(single, llvm::APInt(32, in[i]));
        if (!number.isNaN())
          ASSERT_EQ(convert(number, *semantics), out[i]) << nameOf(type).str() << " of " << in[i];
        llvm::APFloat small(*semantics, llvm::APInt(bitsOf(type), narrow[i]));
        ASSERT_TRUE(areEqual(convert(small, single), back[i], ElementType::F32))
            << nameOf(type).str() << " " << narrow[i];
      }
    }
}

TEST(Lanes, WidthsMeetInConversions) {
  Lanes<VectorLane> in = someLanes<VectorLane>(ElementType::I32, 7);
  Lanes<Lane> wide(kCount);
  ASSERT_TRUE(compute(vectorInstruction(Opcode::ExtendS, ElementType::I64, ElementType::I32),
                      {in.data()}, {}, {}, wide.data()));
  Lanes<VectorLane> narrow(kCount);
  ASSERT_TRUE(compute(vectorInstruction(Opcode::Truncate, ElementType::I16, ElementType::I64),
                      {wide.data()}, {}, {}, narrow.data()));
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(int64_t(wide[i]), int64_t(int32_t(in[i])));
    EXPECT_EQ(narrow[i], in[i] & 0xffff);
  }
}

TEST(Lanes, GathersReadOnlyLanesThatAreOn) {
  std::vector<uint32_t> memory(5000);
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = uint32_t(i * 7 + 1);
  std::mt19937 random(5);
  Lanes<VectorLane> indices(kCount), mask(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    mask[i] = random() % 3 != 0;
    indices[i] = mask[i] ? 100 + random() % 4000 : random();
  }
  const char *base = reinterpret_cast<const char *>(memory.data());
  for (const LaneLoops *loops : loopsOfHost()) {
    std::vector<int64_t> offsets(kCount);
    int64_t least, largest;
    loops->offsets(indices.data(), 4, kCount, mask.data(), offsets.data(), least, largest);
    EXPECT_GE(least, 400);
    EXPECT_LT(largest, 4 * 4100);
    Lanes<VectorLane> dst(kCount);
    loops->gather(base, offsets.data(), kCount, mask.data(), dst.data());
    for (size_t i = 0; i < kCount; ++i)
      EXPECT_EQ(dst[i], mask[i] ? memory[indices[i]] : 0);
  }
}

TEST(Lanes, ProductsSumInTheOrderOfK) {
  constexpr size_t kSize = 128;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> left(8 * kSize), weights(kSize * kSize), want(8 * kSize, 0);
  for (float &value : left)
    value = normal(random);
  for (float &value : weights)
    value = normal(random);
  for (size_t row = 0; row < 8; ++row)
    for (size_t k = 0; k < kSize; ++k)
      for (size_t n = 0; n < kSize; ++n) {
        volatile float product = left[row * kSize + k] * weights[k * kSize + n];
        want[row * kSize + n] += product;
      }
  for (const LaneLoops *loops : loopsOfHost()) {
    std::vector<float> sums(8 * kSize);
    loops->multiply(left.data(), weights.data(), kSize, kSize, sums.data());
    EXPECT_EQ(want, sums);
  }
}

} // namespace
