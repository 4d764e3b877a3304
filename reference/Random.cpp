//===- Random.cpp - random bits and numbers --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rng, rng_bit_generator.
//
// The generators are Threefry-2x32 with 20 rounds and Philox-4x32 with 10, of
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). How
// counters are dealt to elements is implementation-defined; here it is the way
// that JAX users know from the CPU. DEFAULT is Philox. rng has no state: equal
// operands give equal numbers.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Ops.h"

#include <array>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace spokeshave::reference {

static uint32_t low32(uint64_t x) {
  return static_cast<uint32_t>(x);
}
static uint32_t high32(uint64_t x) {
  return static_cast<uint32_t>(x >> 32);
}
static uint64_t join(uint32_t low, uint32_t high) {
  return uint64_t{high} << 32 | low;
}

/// One block of Threefry-2x32-20.
static std::array<uint32_t, 2> threefry(std::array<uint32_t, 2> x, uint64_t key) {
  static constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  std::array<uint32_t, 3> ks = {low32(key), high32(key), 0};
  ks[2] = ks[0] ^ ks[1] ^ 0x1BD11BDA; // the constant of the Threefish key schedule
  x[0] += ks[0];
  x[1] += ks[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : rotations[group % 2]) {
      x[0] += x[1];
      x[1] = (x[1] << rotation | x[1] >> (32 - rotation)) ^ x[0];
    }
    x[0] += ks[(group + 1) % 3];
    x[1] += ks[(group + 2) % 3] + group + 1;
  }
  return x;
}

/// One block of Philox-4x32-10.
static std::array<uint32_t, 4> philox(std::array<uint32_t, 4> x, uint64_t key) {
  uint32_t k0 = low32(key), k1 = high32(key);
  for (unsigned round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{0xD2511F53} * x[0], p1 = uint64_t{0xCD9E8D57} * x[2];
    x = {high32(p1) ^ x[1] ^ k0, low32(p1), high32(p0) ^ x[3] ^ k1, low32(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

/// Counters of Philox are 128 bits, low word first.
static std::array<uint32_t, 4> counterAt(uint64_t low, uint64_t high, uint64_t block) {
  uint64_t sum = low + block;
  high += sum < low;
  return {low32(sum), high32(sum), low32(high), high32(high)};
}

namespace {
/// `bits` for `count` elements of 32 or 64 bits each, and the state afterwards.
struct Generated {
  std::vector<uint64_t> bits;
  std::vector<uint64_t> state;
};
} // namespace

/// The state is a key and a counter; where the counter has one word only, the key
/// stands in for its high word as well.
static Generated runPhilox(std::vector<uint64_t> state, int64_t count, bool wide) {
  uint64_t high = state.size() > 2 ? state[2] : state[0];
  Generated result;
  int64_t perBlock = wide ? 2 : 4, blocks = (count + perBlock - 1) / perBlock;
  for (int64_t block = 0; block < blocks; ++block) {
    std::array<uint32_t, 4> out = philox(counterAt(state[1], high, block), state[0]);
    if (wide)
      result.bits.insert(result.bits.end(), {join(out[0], out[1]), join(out[2], out[3])});
    else
      result.bits.insert(result.bits.end(), out.begin(), out.end());
  }
  state[1] += blocks;
  if (state.size() > 2 && state[1] < static_cast<uint64_t>(blocks))
    ++state[2];
  result.state = std::move(state);
  return result;
}

/// 32-bit elements: each block gives two, neighbours along the first even
/// dimension, or where there is none along the largest, whose last is single.
static std::vector<uint64_t> threefryPairs(const std::vector<uint64_t> &state, Shape shape,
                                           uint64_t &blocks) {
  Index full(shape);
  if (full.empty())
    full.push_back(1);
  size_t split = 0;
  bool found = false;
  for (size_t axis = 0; axis < full.size() && !found; ++axis)
    if (full[axis] % 2 == 0) {
      split = axis;
      found = true;
    }
  for (size_t axis = 1; axis < full.size() && !found; ++axis)
    if (full[axis] > full[split])
      split = axis;
  Index half = full;
  half[split] = (full[split] + 1) / 2;
  blocks = elementCount(half);
  std::vector<uint64_t> bits(elementCount(full));
  uint64_t linear = 0;
  Index strides = stridesOf(full);
  forEachIndex(half, [&](ArrayRef<int64_t> index) {
    uint64_t counter = state[1] + linear++;
    std::array<uint32_t, 2> out = threefry({low32(counter), high32(counter)}, state[0]);
    int64_t at = 0;
    for (size_t axis = 0; axis < full.size(); ++axis)
      at += index[axis] * strides[axis];
    at += index[split] * strides[split]; // pairs are neighbours along this dimension
    bits[at] = out[0];
    if (2 * index[split] + 1 < full[split])
      bits[at + strides[split]] = out[1];
  });
  return bits;
}

static Generated runThreefry(std::vector<uint64_t> state, Shape shape, bool wide) {
  Generated result;
  uint64_t blocks = elementCount(shape);
  if (wide) {
    for (uint64_t block = 0; block < blocks; ++block) {
      uint64_t counter = state[1] + block;
      std::array<uint32_t, 2> out = threefry({low32(counter), high32(counter)}, state[0]);
      result.bits.push_back(join(out[0], out[1]));
    }
  } else {
    result.bits = threefryPairs(state, shape, blocks);
  }
  state[1] += blocks;
  result.state = std::move(state);
  return result;
}

/// The state as 64-bit words; JAX passes it as pairs of ui32 as well.
static std::vector<uint64_t> readState(const Tensor &tensor) {
  std::vector<uint64_t> words;
  bool pairs = tensor.elementType().bits() == 32;
  for (int64_t i = 0; i + (pairs ? 1 : 0) < tensor.size(); i += pairs ? 2 : 1)
    words.push_back(pairs ? join(low32(tensor.at(i).u()), low32(tensor.at(i + 1).u()))
                          : tensor.at(i).u());
  return words;
}

static Tensor writeState(const Tensor &like, const std::vector<uint64_t> &words) {
  Tensor result(like.elementType(), like.shape());
  bool pairs = like.elementType().bits() == 32;
  for (int64_t i = 0; i < result.size(); ++i) {
    uint64_t word = words[pairs ? i / 2 : i];
    result.set(i,
               result.elementType().fromBits(pairs ? (i % 2 ? high32(word) : low32(word)) : word));
  }
  return result;
}

static LogicalResult evalRngBitGenerator(stablehlo::RngBitGeneratorOp op, Call &call) {
  const Tensor &initial = call[0];
  ElementType type = call.resultType(1);
  unsigned bits = initial.elementType().bits();
  if (!initial.elementType().isInteger() || (bits != 32 && bits != 64))
    return call.error() << "needs a state of 32 or 64 bit integers";
  std::vector<uint64_t> state = readState(initial);
  bool isThreefry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  if (state.size() < 2 || state.size() > (isThreefry ? 2 : 3) || (bits == 32 && initial.size() % 2))
    return call.error() << "has a state of the wrong size for its algorithm";
  if (type.isComplex())
    return call.error() << "does not generate complex numbers";

  Shape shape = call.declaredShape(1);
  bool wide = type.bits() > 32;
  Generated generated =
      isThreefry ? runThreefry(state, shape, wide) : runPhilox(state, elementCount(shape), wide);
  Tensor output(type, shape);
  char *to = output.mutableData();
  uint64_t mask = type.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << type.bits()) - 1;
  for (int64_t i = 0; i < output.size(); ++i) {
    uint64_t element = generated.bits[i] & mask; // raw bits, also for floats
    if (type.isInteger())
      type.store(to + i * type.bytes(), type.fromBits(element));
    else
      std::memcpy(to + i * type.bytes(), &element, type.bytes());
  }
  call.results.push_back(writeState(initial, generated.state));
  return call.give(std::move(output));
}

//===----------------------------------------------------------------------===//
// rng.
//===----------------------------------------------------------------------===//

/// 53 random bits as a number in [0, 1).
static double unit(uint64_t bits) {
  return std::ldexp(static_cast<double>(bits >> 11), -53);
}

static Scalar uniform(const ElementType &type, const Scalar &a, const Scalar &b, uint64_t bits) {
  if (type.isFloat()) {
    double value = a.re + unit(bits) * (b.re - a.re);
    double rounded = type.round(Scalar::real(value)).re;
    return Scalar::real(rounded < b.re ? rounded : a.re); // the interval is half open
  }
  uint64_t width = b.u() - a.u();
  return Scalar::integer(static_cast<int64_t>(a.u() + (width ? bits % width : 0)));
}

static LogicalResult evalRng(stablehlo::RngOp op, Call &call) {
  ElementType type = call.resultType();
  Index shape = call[2].toIndex();
  bool normal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
  if (failed(checkShape(call, shape, type.bytes())))
    return failure();
  if (normal && !type.isFloat())
    return call.error() << "draws normal numbers of floating-point types only";
  Tensor result(type, shape);
  char *to = result.mutableData();
  Generated random = runPhilox({0x5B0CE5A4E, 0}, 2 * result.size(), true);
  Scalar a = call[0].at(0), b = call[1].at(0);
  for (int64_t i = 0; i < result.size(); ++i, to += type.bytes()) {
    uint64_t first = random.bits[2 * i], second = random.bits[2 * i + 1];
    if (!normal) {
      type.store(to, type.round(uniform(type, a, b, first)));
      continue;
    }
    // Box and Muller; 1 - unit is never 0.
    double radius = std::sqrt(-2 * std::log(1 - unit(first)));
    type.store(to, Scalar::real(a.re + b.re * radius * std::cos(2 * M_PI * unit(second))));
  }
  return call.give(std::move(result));
}

void addRandom(HandlerTable &table) {
  table.add<stablehlo::RngBitGeneratorOp, evalRngBitGenerator>();
  table.add<stablehlo::RngOp, evalRng>();
}

} // namespace spokeshave::reference
