//===- LapackTest.cpp - linear algebra against its definition ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Library.h"
#include "runtime/test/TestProgram.h"

#include <complex>
#include <random>

namespace spokeshave::runtime::test {
namespace {

template <typename T> constexpr const char *nameOf() {
  if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return "complex<f32>";
  else
    return "complex<f64>";
}

template <typename T> T randomValue(std::mt19937 &random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  if constexpr (std::is_floating_point_v<T>)
    return T(uniform(random));
  else
    return T(typename T::value_type(uniform(random)), typename T::value_type(uniform(random)));
}

template <typename T> T conjugate(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return std::conj(value);
}

std::optional<ErrorCode> runCall(const cpu::CallSpec &spec, std::vector<void *> buffers) {
  static ThreadPool pool(3);
  auto call = prepareLibraryCall(spec);
  if (!call)
    return codeOf(call.takeError());
  CallEnvironment environment;
  environment.pool = &pool;
  return codeOf((*call)->run(buffers.data(), environment));
}

template <typename T> cpu::CallSpec choleskySpec(std::vector<int64_t> shape, bool lower) {
  cpu::CallSpec spec;
  spec.target = "cholesky";
  spec.isLibrary = true;
  spec.config = lower ? "{lower = true}" : "{lower = false}";
  spec.inputs = spec.outputs = {values(nameOf<T>(), shape, sizeof(T))};
  return spec;
}

template <typename T> void checkCholesky(int64_t batch, int64_t n, bool lower) {
  std::mt19937 random(3);
  std::vector<T> a(batch * n * n), l(a.size());
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<T> g(n * n);
    for (T &value : g)
      value = randomValue<T>(random);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T sum = i == j ? T(1) : T(0);
        for (int64_t k = 0; k < n; ++k)
          sum += g[i * n + k] * conjugate(g[j * n + k]);
        a[(b * n + i) * n + j] = sum;
      }
  }
  std::vector<T> input = a; // what is on the other side must not be looked at
  for (int64_t i = 0; i < batch * n * n; ++i)
    if (lower ? i % n > i / n % n : i % n < i / n % n)
      input[i] = T(1e9);
  ASSERT_EQ(runCall(choleskySpec<T>({batch, n, n}, lower), {input.data(), l.data()}), std::nullopt);
  double worst = 0;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const T *factor = l.data() + b * n * n;
        if (lower ? j > i : j < i)
          EXPECT_EQ(factor[i * n + j], T(0));
        T sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += lower ? factor[i * n + k] * conjugate(factor[j * n + k])
                       : conjugate(factor[k * n + i]) * factor[k * n + j];
        worst = std::max<double>(worst, std::abs(sum - a[(b * n + i) * n + j]));
      }
  double epsilon = sizeof(T) == sizeof(std::abs(T())) ? 1 : 2;
  epsilon *= std::is_same_v<decltype(std::abs(T())), float> ? 1.2e-7 : 2.2e-16;
  EXPECT_LT(worst, 50 * double(n) * epsilon) << nameOf<T>() << (lower ? " lower" : " upper");
}

TEST(Lapack, Cholesky) {
  for (bool lower : {true, false}) {
    checkCholesky<float>(5, 17, lower);
    checkCholesky<double>(3, 40, lower);
    checkCholesky<std::complex<float>>(2, 9, lower);
    checkCholesky<std::complex<double>>(4, 12, lower);
  }
}

TEST(Lapack, CholeskyOfNoSuchMatrixIsNaN) {
  std::vector<float> a = {1, 2, 2, 1, /* then a good one */ 4, 0, 0, 9}, l(8);
  ASSERT_EQ(runCall(choleskySpec<float>({2, 2, 2}, true), {a.data(), l.data()}), std::nullopt);
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(std::isnan(l[i]));
  EXPECT_EQ((std::vector<float>{l[4], l[5], l[6], l[7]}), (std::vector<float>{2, 0, 0, 3}));
}

template <typename T>
void checkSolve(bool left, bool lower, bool unit, const std::string &transpose) {
  SCOPED_TRACE(std::string(nameOf<T>()) + (left ? " left" : " right") +
               (lower ? " lower" : " upper") + (unit ? " unit " : " ") + transpose);
  const int64_t batch = 3, n = 7, m = 4;
  const int64_t rows = left ? n : m, columns = left ? m : n;
  std::mt19937 random(5);
  std::vector<T> a(batch * n * n), b(batch * n * m), x(b.size());
  for (T &value : a)
    value = randomValue<T>(random) * T(0.3);
  for (int64_t i = 0; i < batch * n; ++i)
    a[i * n + i % n] += T(2);
  for (T &value : b)
    value = randomValue<T>(random);
  cpu::CallSpec spec;
  spec.target = "triangular_solve";
  spec.isLibrary = true;
  auto text = [](bool value) { return value ? "true" : "false"; };
  spec.config = std::string("{left_side = ") + text(left) + ", lower = " + text(lower) +
                ", unit_diagonal = " + text(unit) + ", transpose_a = \"" + transpose + "\"}";
  spec.inputs = {values(nameOf<T>(), {batch, n, n}, sizeof(T)),
                 values(nameOf<T>(), {batch, rows, columns}, sizeof(T))};
  spec.outputs = {spec.inputs[1]};
  ASSERT_EQ(runCall(spec, {a.data(), b.data(), x.data()}), std::nullopt);

  auto entry = [&](int64_t p, int64_t i, int64_t j) { // of op(a)
    bool plain = transpose == "NO_TRANSPOSE";
    int64_t r = plain ? i : j, c = plain ? j : i;
    if (r == c && unit)
      return T(1);
    if (r != c && (lower ? c > r : c < r))
      return T(0);
    T value = a[(p * n + r) * n + c];
    return transpose == "ADJOINT" ? conjugate(value) : value;
  };
  double worst = 0;
  for (int64_t p = 0; p < batch; ++p)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        T sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += left ? entry(p, i, k) * x[(p * rows + k) * columns + j]
                      : x[(p * rows + i) * columns + k] * entry(p, k, j);
        worst = std::max<double>(worst, std::abs(sum - b[(p * rows + i) * columns + j]));
      }
  EXPECT_LT(worst, (std::is_same_v<decltype(std::abs(T())), float> ? 1e-5 : 1e-13));
}

TEST(Lapack, TriangularSolve) {
  for (bool left : {true, false})
    for (bool lower : {true, false})
      for (bool unit : {true, false})
        for (const char *transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          checkSolve<float>(left, lower, unit, transpose);
          checkSolve<double>(left, lower, unit, transpose);
          checkSolve<std::complex<float>>(left, lower, unit, transpose);
          checkSolve<std::complex<double>>(left, lower, unit, transpose);
        }
}

TEST(Lapack, BadSpecifications) {
  auto spec = choleskySpec<float>({2, 3}, true);
  EXPECT_EQ(codeOf(prepareLibraryCall(spec)), ErrorCode::InvalidProgram);
  spec = choleskySpec<float>({3}, true);
  EXPECT_EQ(codeOf(prepareLibraryCall(spec)), ErrorCode::InvalidProgram);
  spec.inputs = spec.outputs = {values("i32", {3, 3}, 4)};
  EXPECT_EQ(codeOf(prepareLibraryCall(spec)), ErrorCode::InvalidProgram);
  spec.target = "triangular_solve";
  EXPECT_EQ(codeOf(prepareLibraryCall(spec)), ErrorCode::InvalidProgram);
}

} // namespace
} // namespace spokeshave::runtime::test
