//===- FftTest.cpp - transforms against their definition ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Library.h"
#include "runtime/test/TestProgram.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

namespace spokeshave::runtime::test {
namespace {

using Wide = std::complex<long double>;

/// One axis of complex data, by definition.
void transformAxis(std::vector<Wide> &data, const std::vector<int64_t> &shape, size_t axis,
                   bool inverse) {
  int64_t n = shape[axis], inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  auto outer = static_cast<int64_t>(data.size()) / (n * inner);
  std::vector<Wide> roots(n), line(n);
  for (int64_t k = 0; k < n; ++k)
    roots[k] = std::polar(1.0L, (inverse ? 2 : -2) * std::numbers::pi_v<long double> * k / n);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      Wide *base = data.data() + o * n * inner + i;
      for (int64_t k = 0; k < n; ++k) {
        line[k] = 0;
        for (int64_t j = 0; j < n; ++j)
          line[k] += base[j * inner] * roots[j * k % n];
      }
      for (int64_t k = 0; k < n; ++k)
        base[k * inner] = inverse ? line[k] / static_cast<long double>(n) : line[k];
    }
}

template <typename T> struct Names;
template <> struct Names<float> {
  static constexpr const char *real = "f32", *complex = "complex<f32>";
};
template <> struct Names<double> {
  static constexpr const char *real = "f64", *complex = "complex<f64>";
};

std::string listOf(const std::vector<int64_t> &lengths) {
  std::string text = "array<i64";
  for (size_t i = 0; i < lengths.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(lengths[i]);
  return text + ">";
}

cpu::CallSpec fftSpec(std::string type, std::vector<int64_t> lengths, cpu::ValueSpec input,
                      cpu::ValueSpec output) {
  cpu::CallSpec spec;
  spec.target = "fft";
  spec.isLibrary = true;
  spec.config =
      "{fft_type = #stablehlo<fft_type " + type + ">, fft_length = " + listOf(lengths) + "}";
  spec.inputs = {std::move(input)};
  spec.outputs = {std::move(output)};
  return spec;
}

void runCall(const cpu::CallSpec &spec, const void *in, void *out, ThreadPool &pool) {
  auto call = get(prepareLibraryCall(spec));
  void *buffers[] = {const_cast<void *>(in), out};
  CallEnvironment environment;
  environment.pool = &pool;
  ASSERT_EQ(messageOf(call->run(buffers, environment)), "");
}

/// Runs `type` on random data of real shape `shape` and compares.
template <typename T>
void check(const std::string &type, std::vector<int64_t> shape, size_t axes, int threads = 2) {
  using Complex = std::complex<T>;
  SCOPED_TRACE(type + " " + Names<T>::real + " " + listOf(shape) + " axes " + std::to_string(axes));
  std::vector<int64_t> half = shape, lengths(shape.end() - axes, shape.end());
  half.back() = shape.back() / 2 + 1;
  size_t count = 1, halfCount = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    count *= shape[i];
    halfCount *= half[i];
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<T> uniform(-1, 1);
  bool real = type == "RFFT", realInverse = type == "IRFFT", inverse = type[0] == 'I';

  // The full complex signal and its transform.
  std::vector<Wide> time(count);
  for (Wide &value : time)
    value = Wide(uniform(random), real || realInverse ? T(0) : uniform(random));
  std::vector<Wide> other = time;
  for (size_t axis = shape.size() - axes; axis < shape.size(); ++axis)
    transformAxis(other, shape, axis, inverse && !realInverse);
  // For IRFFT `other` is the spectrum that goes in, and `time` what must come out.
  auto halfOf = [&](const std::vector<Wide> &full) {
    std::vector<Complex> result;
    for (size_t i = 0; i < halfCount; ++i) {
      Wide value = full[i / half.back() * shape.back() + i % half.back()];
      result.emplace_back(static_cast<T>(value.real()), static_cast<T>(value.imag()));
    }
    return result;
  };
  auto narrow = [](const std::vector<Wide> &wide) {
    std::vector<Complex> result;
    for (Wide value : wide)
      result.emplace_back(static_cast<T>(value.real()), static_cast<T>(value.imag()));
    return result;
  };
  auto realOf = [](const std::vector<Wide> &wide) {
    std::vector<T> result;
    for (Wide value : wide)
      result.push_back(static_cast<T>(value.real()));
    return result;
  };

  ThreadPool pool(threads);
  auto complexSpec = values(Names<T>::complex, real || realInverse ? half : shape, 2 * sizeof(T));
  auto realSpec = values(Names<T>::real, shape, sizeof(T));
  std::vector<Complex> complexOut(real ? halfCount : count), expected;
  if (realInverse) {
    std::vector<Complex> in = halfOf(other);
    std::vector<T> out(count);
    runCall(fftSpec(type, lengths, complexSpec, realSpec), in.data(), out.data(), pool);
    complexOut.clear();
    for (T value : out)
      complexOut.emplace_back(value, T(0));
    expected = narrow(time);
  } else if (real) {
    std::vector<T> in = realOf(time);
    runCall(fftSpec(type, lengths, realSpec, complexSpec), in.data(), complexOut.data(), pool);
    expected = halfOf(other);
  } else {
    std::vector<Complex> in = narrow(time);
    runCall(fftSpec(type, lengths, complexSpec, complexSpec), in.data(), complexOut.data(), pool);
    expected = narrow(other);
  }
  double norm = 0, error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    norm += std::norm(std::complex<double>(expected[i]));
    error += std::norm(std::complex<double>(complexOut[i]) - std::complex<double>(expected[i]));
  }
  EXPECT_LT(std::sqrt(error / (norm + 1e-300)), 8 * std::numeric_limits<T>::epsilon());
}

const char *const kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};

TEST(Fft, ManyLengths) {
  for (const char *type : kTypes)
    for (int64_t n : {1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,   12,   13,  15,
                      16,  17,  25,  30,  31,  32,  49,  61,  64,  67,  73,   97,   100, 120,
                      122, 128, 134, 169, 211, 243, 256, 360, 499, 512, 1000, 1009, 1024}) {
      check<float>(type, {n}, 1);
      check<double>(type, {n}, 1);
    }
}

TEST(Fft, BatchesAndDimensions) {
  for (const char *type : kTypes)
    for (int threads : {1, 3}) {
      check<float>(type, {37, 64}, 1, threads);
      check<double>(type, {3, 5, 12}, 1, threads);
      check<float>(type, {12, 20}, 2, threads);
      check<double>(type, {2, 7, 9}, 2, threads);
      check<float>(type, {4, 6, 10}, 3, threads);
      check<double>(type, {2, 3, 5, 7}, 3, threads);
      check<float>(type, {5, 1}, 2, threads);
      check<float>(type, {1, 5}, 2, threads);
      check<float>(type, {40, 67}, 2, threads);
    }
}

TEST(Fft, SameBitsWhateverTheThreads) {
  std::mt19937 random(1);
  std::vector<std::complex<float>> in(200 * 96), one(in.size()), many(in.size()), alone(96);
  for (auto &value : in)
    value = {float(random()) / 4e9f, float(random()) / 4e9f};
  auto side = values("complex<f32>", {200, 96}, 8), line = values("complex<f32>", {1, 96}, 8);
  ThreadPool single(1), pool(4);
  runCall(fftSpec("FFT", {96}, side, side), in.data(), one.data(), single);
  runCall(fftSpec("FFT", {96}, side, side), in.data(), many.data(), pool);
  EXPECT_EQ(memcmp(one.data(), many.data(), one.size() * 8), 0);
  // Nor does the batch around a line change it.
  runCall(fftSpec("FFT", {96}, line, line), in.data() + 5 * 96, alone.data(), single);
  EXPECT_EQ(memcmp(one.data() + 5 * 96, alone.data(), alone.size() * 8), 0);
}

TEST(Fft, NaNStaysInItsLine) {
  std::vector<float> in(4 * 16, 1.0f);
  in[16] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::complex<float>> out(4 * 9);
  ThreadPool pool(1);
  runCall(fftSpec("RFFT", {16}, values("f32", {4, 16}, 4), values("complex<f32>", {4, 9}, 8)),
          in.data(), out.data(), pool);
  for (int i = 0; i < 36; ++i)
    EXPECT_EQ(std::isnan(out[i].real()), i / 9 == 1) << i;
}

TEST(Fft, EmptyBatch) {
  ThreadPool pool(1);
  auto side = values("complex<f32>", {0, 8}, 8);
  runCall(fftSpec("FFT", {8}, side, side), nullptr, nullptr, pool);
}

TEST(Fft, BadSpecifications) {
  auto side = values("complex<f32>", {4, 8}, 8), other = values("complex<f32>", {4, 5}, 8);
  auto code = [](const cpu::CallSpec &spec) { return codeOf(prepareLibraryCall(spec)); };
  EXPECT_EQ(code(fftSpec("FFT", {8}, side, side)), std::nullopt);
  EXPECT_EQ(code(fftSpec("DCT", {8}, side, side)), ErrorCode::InvalidProgram);
  EXPECT_EQ(code(fftSpec("FFT", {7}, side, side)), ErrorCode::InvalidProgram);
  EXPECT_EQ(code(fftSpec("FFT", {8}, side, other)), ErrorCode::InvalidProgram);
  EXPECT_EQ(code(fftSpec("RFFT", {8}, side, other)), ErrorCode::InvalidProgram);
  EXPECT_EQ(code(fftSpec("FFT", {2, 2, 4, 8}, side, side)), ErrorCode::InvalidProgram);
  cpu::CallSpec broken = fftSpec("FFT", {8}, side, side);
  broken.config = "{fft_type = ";
  EXPECT_EQ(code(broken), ErrorCode::InvalidProgram);
  broken.target = "quantum";
  EXPECT_EQ(code(broken), ErrorCode::UnsupportedProgram);
}

} // namespace
} // namespace spokeshave::runtime::test
