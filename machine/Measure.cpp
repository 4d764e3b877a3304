//===- Measure.cpp - what this machine reaches at best ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each loop keeps enough sums in flight to hide the latency of its instruction:
// ten on two ports of four cycles, four tiles on the matrix unit.
//
//===----------------------------------------------------------------------===//
#include "machine/Measure.h"

#include "machine/Machine.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace spokeshave::machine {
namespace {

/// A loop of `turns` turns. Returns the operations that it did.
using Loop = double (*)(int64_t turns);

/// Keeps the compiler from leaving out what nobody reads.
template <typename T> void use(const T &value) {
  asm volatile("" : : "m"(value) : "memory");
}

#ifdef __x86_64__
// Ten independent sums: STEP(c) is one instruction on sum c.
#define SPOKESHAVE_TEN_SUMS(VECTOR, ZERO, STEP)                                                    \
  VECTOR c0 = ZERO, c1 = c0, c2 = c0, c3 = c0, c4 = c0;                                            \
  VECTOR c5 = c0, c6 = c0, c7 = c0, c8 = c0, c9 = c0;                                              \
  for (int64_t i = 0; i < turns; ++i) {                                                            \
    c0 = STEP(c0), c1 = STEP(c1), c2 = STEP(c2), c3 = STEP(c3), c4 = STEP(c4);                     \
    c5 = STEP(c5), c6 = STEP(c6), c7 = STEP(c7), c8 = STEP(c8), c9 = STEP(c9);                     \
    asm volatile("" : "+x"(c0), "+x"(c1), "+x"(c2), "+x"(c3), "+x"(c4));                           \
    asm volatile("" : "+x"(c5), "+x"(c6), "+x"(c7), "+x"(c8), "+x"(c9));                           \
  }                                                                                                \
  use(c0), use(c1), use(c2), use(c3), use(c4), use(c5), use(c6), use(c7), use(c8), use(c9)

double fmaSse(int64_t turns) {
  __m128 m = _mm_set1_ps(0.999f), a = _mm_set1_ps(0.001f);
#define STEP(c) _mm_add_ps(_mm_mul_ps(c, m), a)
  SPOKESHAVE_TEN_SUMS(__m128, a, STEP);
#undef STEP
  return 2.0 * 4 * 10 * turns;
}

__attribute__((target("avx2,fma"))) double fmaAvx2(int64_t turns) {
  __m256 m = _mm256_set1_ps(0.999f), a = _mm256_set1_ps(0.001f);
#define STEP(c) _mm256_fmadd_ps(c, m, a)
  SPOKESHAVE_TEN_SUMS(__m256, a, STEP);
#undef STEP
  return 2.0 * 8 * 10 * turns;
}

__attribute__((target("avx512f"))) double fmaAvx512(int64_t turns) {
  __m512 m = _mm512_set1_ps(0.999f), a = _mm512_set1_ps(0.001f);
#define STEP(c) _mm512_fmadd_ps(c, m, a)
  SPOKESHAVE_TEN_SUMS(__m512, a, STEP);
#undef STEP
  return 2.0 * 16 * 10 * turns;
}

__attribute__((target("avx512f,avx512bf16"))) double bf16Avx512(int64_t turns) {
  __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.25f));
#define STEP(c) _mm512_dpbf16_ps(c, x, x)
  SPOKESHAVE_TEN_SUMS(__m512, _mm512_setzero_ps(), STEP);
#undef STEP
  return 2.0 * 32 * 10 * turns;
}

__attribute__((target("avx512f,avx512vnni"))) double int8Avx512(int64_t turns) {
  __m512i x = _mm512_set1_epi8(3);
#define STEP(c) _mm512_dpbusd_epi32(c, x, x)
  SPOKESHAVE_TEN_SUMS(__m512i, _mm512_setzero_si512(), STEP);
#undef STEP
  return 2.0 * 64 * 10 * turns;
}

/// The memory image of tile shapes: eight of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytesPerRow[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

// Four sums, two left and two right tiles, as a matrix product holds them.
#define SPOKESHAVE_TILES(PRODUCT)                                                                  \
  TileShapes shapes;                                                                               \
  _tile_loadconfig(&shapes);                                                                       \
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3);                                      \
  _tile_zero(4), _tile_zero(5), _tile_zero(6), _tile_zero(7);                                      \
  for (int64_t i = 0; i < turns; ++i) {                                                            \
    PRODUCT(0, 4, 6);                                                                              \
    PRODUCT(1, 4, 7);                                                                              \
    PRODUCT(2, 5, 6);                                                                              \
    PRODUCT(3, 5, 7);                                                                              \
  }                                                                                                \
  _tile_release()

__attribute__((target("amx-tile,amx-bf16"))) double bf16Tiles(int64_t turns) {
  SPOKESHAVE_TILES(_tile_dpbf16ps);
  return 2.0 * 16 * 16 * 32 * 4 * turns;
}

__attribute__((target("amx-tile,amx-int8"))) double int8Tiles(int64_t turns) {
  SPOKESHAVE_TILES(_tile_dpbssd);
  return 2.0 * 16 * 16 * 64 * 4 * turns;
}

/// The kernel grants tiles to a process that asks.
bool mayUseTiles() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#endif // __x86_64__

struct Loops {
  Loop fma = nullptr, bf16 = nullptr, int8 = nullptr;
};

Loops loopsOfThisMachine() {
  Loops loops;
#ifdef __x86_64__
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](llvm::StringRef name) { return features.lookup(name); };
  loops.fma = has("avx512f") ? fmaAvx512 : has("avx2") && has("fma") ? fmaAvx2 : fmaSse;
  if (has("avx512bf16"))
    loops.bf16 = bf16Avx512;
  if (has("avx512vnni"))
    loops.int8 = int8Avx512;
  bool tiles = has("amx-tile") && (has("amx-bf16") || has("amx-int8")) && mayUseTiles();
  if (tiles && has("amx-bf16"))
    loops.bf16 = bf16Tiles;
  if (tiles && has("amx-int8"))
    loops.int8 = int8Tiles;
#endif
  return loops;
}

/// Runs `work(thread)` on all threads at once and gives the seconds from the
/// common start to the last end.
template <typename Work> double secondsOf(int64_t threads, Work work) {
  using Clock = std::chrono::steady_clock;
  std::barrier ready(threads);
  std::vector<Clock::time_point> begins(threads), ends(threads);
  auto run = [&](int64_t thread) {
    ready.arrive_and_wait();
    begins[thread] = Clock::now();
    work(thread);
    ends[thread] = Clock::now();
  };
  std::vector<std::thread> others;
  for (int64_t thread = 1; thread < threads; ++thread)
    others.emplace_back(run, thread);
  run(0);
  for (std::thread &other : others)
    other.join();
  return std::chrono::duration<double>(*llvm::max_element(ends) - *llvm::min_element(begins))
      .count();
}

constexpr int kRepetitions = 4;

/// 1e9 operations a second of `loop` on all threads, the best of some tries.
double rateOf(Loop loop, int64_t threads) {
  if (!loop)
    return 0;
  // How many turns take some ten milliseconds.
  int64_t turns = 1 << 12;
  while (secondsOf(1, [&](int64_t) { loop(turns); }) < 4e-3)
    turns *= 2;
  double best = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    std::vector<double> operations(threads);
    double seconds =
        secondsOf(threads, [&](int64_t thread) { operations[thread] = loop(4 * turns); });
    double sum = 0;
    for (double one : operations)
      sum += one;
    best = std::max(best, sum / seconds * 1e-9);
  }
  return best;
}

/// Reads and copies two arrays, a part of each per thread.
void measureMemory(Rates &rates) {
  int64_t threads = rates.threads;
  size_t words = std::min<int64_t>(int64_t(128) << 20, availableMemory() / 16) / sizeof(uint64_t);
  size_t part = words / threads / 8 * 8;
  std::unique_ptr<uint64_t[]> from(new (std::nothrow) uint64_t[words]);
  std::unique_ptr<uint64_t[]> to(new (std::nothrow) uint64_t[words]);
  if (!from || !to || part == 0)
    return;
  // The first touch, which the system answers with pages, is not measured.
  secondsOf(threads, [&](int64_t thread) {
    std::memset(from.get() + thread * part, 1, part * sizeof(uint64_t));
    std::memset(to.get() + thread * part, 2, part * sizeof(uint64_t));
  });
  double gigabytes = static_cast<double>(part * threads * sizeof(uint64_t)) * 1e-9;
  for (int i = 0; i < kRepetitions; ++i) {
    double read = secondsOf(threads, [&](int64_t thread) {
      const uint64_t *data = from.get() + thread * part;
      uint64_t sums[8] = {};
      for (size_t at = 0; at < part; at += 8)
        for (size_t lane = 0; lane < 8; ++lane)
          sums[lane] += data[at + lane];
      uint64_t sum = 0;
      for (uint64_t one : sums)
        sum += one;
      use(sum);
    });
    double copied = secondsOf(threads, [&](int64_t thread) {
      std::memcpy(to.get() + thread * part, from.get() + thread * part, part * sizeof(uint64_t));
      use(*to.get());
    });
    rates.readGBs = std::max(rates.readGBs, gigabytes / read);
    rates.copyGBs = std::max(rates.copyGBs, 2 * gigabytes / copied);
  }
}

} // namespace

Rates measureRates(int64_t threads) {
  Rates rates;
  rates.threads = std::max<int64_t>(threads, 1);
  const Loops loops = loopsOfThisMachine();
  rates.fmaGflops = rateOf(loops.fma, rates.threads);
  rates.bf16Gflops = rateOf(loops.bf16, rates.threads);
  rates.int8Gops = rateOf(loops.int8, rates.threads);
  measureMemory(rates);
  return rates;
}

} // namespace spokeshave::machine
