//===- TpuCostTest.cpp - the closed forms keep to the machine --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the times are those of real chips is checked against published rows by
// scripts/validate_chips.py. Here: whatever the figures, no time beats the
// machine, and times go the way the figures go.
//
//===----------------------------------------------------------------------===//
#include "machine/TpuCost.h"

#include "support/Error.h"

#include <gtest/gtest.h>

using namespace spokeshave;
using namespace spokeshave::machine;

namespace {

Chip load(llvm::StringRef name) {
  return llvm::cantFail(loadChip(name));
}

Gemm product(int64_t m, int64_t n, int64_t k, TpuType type = TpuType::Bf16) {
  Gemm gemm;
  gemm.m = m, gemm.n = n, gemm.k = k;
  gemm.lhs = gemm.rhs = gemm.out = type;
  return gemm;
}

double secondsOf(const Chip &chip, const Gemm &gemm) {
  return chip.seconds(gemmTime(chip, gemm).cycles);
}

TEST(TpuCost, NoProductBeatsPeakOrMemory) {
  for (llvm::StringRef name : chipNames()) {
    Chip chip = load(name);
    for (int64_t m : {1, 8, 100, 1024, 8192})
      for (int64_t n : {128, 1000, 4096})
        for (int64_t k : {64, 512, 8192}) {
          double seconds = secondsOf(chip, product(m, n, k));
          double flops = 2.0 * static_cast<double>(m * n * k);
          double bytes = 2.0 * static_cast<double>(m * k + k * n + m * n);
          EXPECT_GE(seconds, flops / chip.peakFlops(MxuType::Bf16)) << name.str();
          EXPECT_GE(seconds, bytes / chip.hbmBandwidthOfDevice()) << name.str();
        }
  }
}

TEST(TpuCost, BetterFiguresNeverCost) {
  for (llvm::StringRef name : chipNames())
    for (llvm::StringRef better :
         {"cost.hbm_efficiency=1", "cost.mxu_efficiency=1", "cost.kernel_overhead=0us",
          "dma.latency=0ns", "cost.overlap=1", "cost.result_cycles=0", "cost.step_overhead=0us"}) {
      Chip chip = load(name), improved = chip;
      ASSERT_FALSE(static_cast<bool>(improved.set(better)));
      for (int64_t size : {128, 1024, 4096})
        EXPECT_LE(secondsOf(improved, product(size, size, size)),
                  secondsOf(chip, product(size, size, size)))
            << name.str() << " " << better.str();
    }
}

TEST(TpuCost, MoreOfTheMachineIsFaster) {
  Gemm large = product(8192, 8192, 8192);
  // With small windows, memory would hold the faster units up.
  EXPECT_LT(secondsOf(load("v6e:mxu=4,cost.window=64MiB"), large),
            0.7 * secondsOf(load("v6e:cost.window=64MiB"), large));
  Gemm vector = product(1, 8192, 8192);
  EXPECT_LT(secondsOf(load("v6e:hbm=3.2TB/s"), vector), 0.7 * secondsOf(load("v6e"), vector));
  EXPECT_EQ(gemmTime(load("v6e"), vector).bound(), "hbm");
  EXPECT_EQ(gemmTime(load("v6e"), large).bound(), "matrix");
}

TEST(TpuCost, TypesCostWhatTheUnitsDo) {
  Chip v5e = load("v5e"), v4 = load("v4");
  Gemm bf16 = product(8192, 8192, 8192), int8 = product(8192, 8192, 8192, TpuType::Int8);
  EXPECT_NEAR(gemmTime(v5e, int8).matrix / gemmTime(v5e, bf16).matrix, 0.5, 0.01);
  EXPECT_NEAR(gemmTime(v4, int8).matrix / gemmTime(v4, bf16).matrix, 1, 0.01);
  Gemm full = product(1024, 1024, 1024, TpuType::F32);
  double once = gemmTime(v5e, full).matrix;
  full.fullPrecision = true;
  EXPECT_DOUBLE_EQ(gemmTime(v5e, full).matrix, 6 * once);
}

TEST(TpuCost, SmallProductsStayOnOneCore) {
  Chip chip = load("v4");
  EXPECT_EQ(gemmTime(chip, product(128, 128, 128)).cores, 1);
  EXPECT_EQ(gemmTime(chip, product(4096, 4096, 4096)).cores, 2);
  // v7x's cores are devices of their own.
  EXPECT_EQ(gemmTime(load("v7x"), product(4096, 4096, 4096)).cores, 1);
}

TEST(TpuCost, BlocksFitTheWindow) {
  for (llvm::StringRef name : chipNames()) {
    Chip chip = load(name);
    for (int64_t size : {128, 1000, 4096, 16384}) {
      GemmBlocks blocks = chooseGemmBlocks(chip, product(size, size, size));
      double windows = 2.0 * static_cast<double>(blocks.m * blocks.k + blocks.k * blocks.n);
      double sums = 4.0 * static_cast<double>(blocks.m * blocks.n);
      EXPECT_LE(2 * windows + sums, static_cast<double>(chip.cost.window)) << name.str();
      EXPECT_GE(blocks.m, 1);
    }
  }
}

TEST(TpuCost, OperandsInVmemNeedNoHbm) {
  Chip chip = load("v6e");
  Gemm gemm = product(8, 4096, 4096);
  double all = gemmTime(chip, gemm).hbmBytes;
  gemm.rhsInVmem = true;
  EXPECT_EQ(all - gemmTime(chip, gemm).hbmBytes, 2.0 * 4096 * 4096);
}

TEST(TpuCost, LoopsPadToRegistersAndTurnWhereItHelps) {
  Chip chip = load("v4");
  auto add = [&](int64_t rows, int64_t columns) {
    Elementwise loop;
    loop.rows = rows, loop.columns = columns;
    loop.inputs = {TpuType::F16, TpuType::F16};
    loop.outputs = {TpuType::F16};
    return elementwiseTime(chip, loop).cycles;
  };
  // Neither way round is free of padding: the smaller one is paid.
  EXPECT_EQ(add(192, 192), add(192, 256));
  EXPECT_EQ(add(640, 960), add(960, 640));
  EXPECT_LT(add(640, 960), add(640, 1024));
}

TEST(TpuCost, FusedKernelsReadOnce) {
  Chip chip = load("v5e");
  KernelTime apart = layerNormTime(chip, 8192, 4096, TpuType::Bf16, false);
  KernelTime fused = layerNormTime(chip, 8192, 4096, TpuType::Bf16, true);
  EXPECT_LT(fused.cycles, 0.7 * apart.cycles);
  EXPECT_EQ(apart.hbmBytes, 2 * fused.hbmBytes);
  EXPECT_LT(softmaxTime(chip, 8192, 4096, TpuType::Bf16, true).cycles,
            softmaxTime(chip, 8192, 4096, TpuType::Bf16, false).cycles);
}

TEST(TpuCost, AttentionGrowsWithTheSquareAndHalvesWhenCausal) {
  Chip chip = load("v6e");
  Attention attention;
  attention.heads = attention.kvHeads = 16;
  attention.queries = attention.keys = 4096;
  attention.dimension = 128;
  double once = attentionTime(chip, attention).cycles;
  attention.causal = true;
  EXPECT_NEAR(attentionTime(chip, attention).cycles / once, 0.5, 0.1);
  attention.causal = false;
  attention.queries = attention.keys = 8192;
  EXPECT_NEAR(attentionTime(chip, attention).cycles / once, 4, 0.5);
}

TEST(TpuCost, TypesHaveNames) {
  EXPECT_EQ(llvm::cantFail(parseTpuType("int4")), TpuType::Int4);
  llvm::Expected<TpuType> none = parseTpuType("f64");
  ASSERT_FALSE(static_cast<bool>(none));
  EXPECT_NE(takeError(none.takeError())->getMessage().find("no element type 'f64'"),
            std::string::npos);
}

} // namespace
