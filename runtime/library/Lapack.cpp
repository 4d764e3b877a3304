//===- Lapack.cpp - the library routines of linear algebra -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Our matrices are row-major, LAPACK's column-major. A row-major matrix read as
// column-major is its transpose: so lower becomes upper and left becomes right,
// and nothing has to be moved. Each matrix is computed by one thread; those of
// a batch in parallel.
//
//===----------------------------------------------------------------------===//
#include "runtime/library/Lapack.h"

#include "support/Error.h"

#include "llvm/ADT/StringSwitch.h"

#include <complex>
#include <cstring>
#include <dlfcn.h>
#include <limits>

namespace spokeshave::runtime {
namespace {

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

// Fortran: all by reference, lengths of strings at the end.
using Potrf = void(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t);
using Trsm = void(const char *side, const char *uplo, const char *trans, const char *diag,
                  const int *m, const int *n, const void *alpha, const void *a, const int *lda,
                  void *b, const int *ldb, size_t, size_t, size_t, size_t);

/// Routines by precision: s, d, c, z.
struct Lapack {
  Potrf *potrf[4];
  Trsm *trsm[4];
  std::string missing; ///< why it cannot be used, empty if it can
};

Lapack loadLapack() {
  Lapack result{};
  void *library = nullptr;
  bool ours = true;
  for (const char *name : {"libopenblas.so.0", "liblapack.so.3"}) {
    ours = dlopen(name, RTLD_NOW | RTLD_NOLOAD) == nullptr;
    if ((library = dlopen(name, RTLD_NOW | RTLD_LOCAL)))
      break;
  }
  if (!library) {
    result.missing = "this needs LAPACK, and neither libopenblas.so.0 nor liblapack.so.3 can be "
                     "loaded (Debian: libopenblas0 or liblapack3)";
    return result;
  }
  // Our pool gives it matrices in parallel. A copy that the process had loaded
  // before us may have been set up by its user and is left alone.
  if (auto *setThreads =
          reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads")))
    if (ours)
      setThreads(1);
  for (int i = 0; i < 4; ++i) {
    std::string precision(1, "sdcz"[i]);
    result.potrf[i] = reinterpret_cast<Potrf *>(dlsym(library, (precision + "potrf_").c_str()));
    result.trsm[i] = reinterpret_cast<Trsm *>(dlsym(library, (precision + "trsm_").c_str()));
    if (!result.potrf[i] || !result.trsm[i])
      result.missing = "the LAPACK library of this machine is incomplete";
  }
  return result;
}

const Lapack &lapack() {
  static const Lapack *instance = new Lapack(loadLapack());
  return *instance;
}

//===----------------------------------------------------------------------===//
// What both routines share
//===----------------------------------------------------------------------===//

/// A stack of row-major matrices.
struct Matrices {
  int64_t batch = 1;
  int rows = 0, columns = 0;
  int64_t elements() const { return int64_t(rows) * columns; }
};

std::optional<Matrices> matricesOf(const cpu::ValueSpec &spec) {
  llvm::ArrayRef<int64_t> shape = spec.shape;
  if (shape.size() < 2 || shape.back() > INT32_MAX || shape[shape.size() - 2] > INT32_MAX)
    return std::nullopt;
  Matrices result;
  for (int64_t extent : shape.drop_back(2))
    result.batch *= extent;
  result.rows = static_cast<int>(shape[shape.size() - 2]);
  result.columns = static_cast<int>(shape.back());
  return result;
}

/// s, d, c, z as 0 to 3; -1 for another type.
int precisionOf(llvm::StringRef elementType) {
  return llvm::StringSwitch<int>(elementType)
      .Case("f32", 0)
      .Case("f64", 1)
      .Case("complex<f32>", 2)
      .Case("complex<f64>", 3)
      .Default(-1);
}
constexpr int64_t kElementBytes[4] = {4, 8, 8, 16};

llvm::Error invalid(const cpu::CallSpec &spec, const llvm::Twine &why) {
  return makeError(ErrorCode::InvalidProgram, describe(spec) + " " + why);
}

llvm::Error checkLibrary(const cpu::CallSpec &spec) {
  if (lapack().missing.empty())
    return llvm::Error::success();
  return makeError(ErrorCode::UnsupportedProgram, describe(spec) + ": " + lapack().missing);
}

/// Calls `body` with a value of the element type.
template <typename Body> void withElement(int precision, Body body) {
  switch (precision) {
  case 0:
    return body(float());
  case 1:
    return body(double());
  case 2:
    return body(std::complex<float>());
  default:
    return body(std::complex<double>());
  }
}

/// About what a matrix of `flops` operations takes.
int64_t nanosecondsFor(double flops) {
  return static_cast<int64_t>(flops / 4) + 200;
}

//===----------------------------------------------------------------------===//
// Cholesky
//===----------------------------------------------------------------------===//

class CholeskyCall final : public PreparedCall {
public:
  CholeskyCall(Matrices matrices, int precision, bool lower)
      : matrices(matrices), precision(precision), lower(lower) {}

  llvm::Error run(void *const *buffers, const CallEnvironment &environment) override {
    if (matrices.batch == 0 || matrices.elements() == 0)
      return llvm::Error::success();
    if (buffers[0] != buffers[1])
      std::memcpy(buffers[1], buffers[0], matrices.batch * matrixBytes());
    double n = matrices.rows;
    environment.pool->parallelFor(matrices.batch, nanosecondsFor(n * n * n / 3),
                                  [&](int64_t begin, int64_t end) {
                                    for (int64_t i = begin; i < end; ++i)
                                      factor(static_cast<char *>(buffers[1]) + i * matrixBytes());
                                  });
    return llvm::Error::success();
  }

private:
  int64_t matrixBytes() const { return matrices.elements() * kElementBytes[precision]; }

  void factor(char *matrix) const {
    char uplo = lower ? 'U' : 'L';
    int info = 0;
    lapack().potrf[precision](&uplo, &matrices.rows, matrix, &matrices.rows, &info, 1);
    withElement(precision,
                [&]<typename T>(T) { finish(reinterpret_cast<T *>(matrix), info != 0); });
  }

  /// Clears the other triangle, or all of it if there is no factor.
  template <typename T> void finish(T *matrix, bool failed) const {
    for (int64_t i = 0; i < matrices.rows; ++i)
      for (int64_t j = 0; j < matrices.rows; ++j)
        if (failed)
          matrix[i * matrices.rows + j] = T(std::numeric_limits<double>::quiet_NaN());
        else if (lower ? j > i : j < i)
          matrix[i * matrices.rows + j] = T(0);
  }

  Matrices matrices;
  int precision;
  bool lower;
};

//===----------------------------------------------------------------------===//
// Triangular solve
//===----------------------------------------------------------------------===//

class TriangularSolveCall final : public PreparedCall {
public:
  TriangularSolveCall(Matrices a, Matrices b, int precision, bool leftSide, bool lower,
                      bool unitDiagonal, char transpose)
      : a(a), b(b), precision(precision), side(leftSide ? 'R' : 'L'), uplo(lower ? 'U' : 'L'),
        diagonal(unitDiagonal ? 'U' : 'N'), transpose(transpose) {}

  llvm::Error run(void *const *buffers, const CallEnvironment &environment) override {
    int64_t size = kElementBytes[precision];
    if (b.batch == 0 || b.elements() == 0)
      return llvm::Error::success();
    if (buffers[1] != buffers[2])
      std::memcpy(buffers[2], buffers[1], b.batch * b.elements() * size);
    auto *left = static_cast<char *>(buffers[0]), *right = static_cast<char *>(buffers[2]);
    environment.pool->parallelFor(b.batch, nanosecondsFor(double(a.rows) * double(b.elements())),
                                  [&](int64_t begin, int64_t end) {
                                    for (int64_t i = begin; i < end; ++i)
                                      solve(left + i * a.elements() * size,
                                            right + i * b.elements() * size);
                                  });
    return llvm::Error::success();
  }

private:
  void solve(const char *left, char *right) const {
    withElement(precision, [&]<typename T>(T) {
      T one(1);
      lapack().trsm[precision](&side, &uplo, &transpose, &diagonal, &b.columns, &b.rows, &one, left,
                               &a.rows, right, &b.columns, 1, 1, 1, 1);
    });
  }

  Matrices a, b;
  int precision;
  char side, uplo, diagonal, transpose; ///< as LAPACK sees the transposes
};

} // namespace

llvm::Expected<std::unique_ptr<PreparedCall>> prepareCholesky(const cpu::CallSpec &spec,
                                                              const CallConfig &config) {
  if (spec.inputs.size() != 1 || spec.outputs.size() != 1)
    return invalid(spec, "needs one operand and one result");
  std::optional<Matrices> matrices = matricesOf(spec.inputs[0]);
  int precision = precisionOf(spec.inputs[0].elementType);
  if (!matrices || matrices->rows != matrices->columns || precision < 0 ||
      spec.outputs[0].shape != spec.inputs[0].shape ||
      spec.outputs[0].elementType != spec.inputs[0].elementType)
    return invalid(spec, "needs square matrices of f32, f64, complex<f32> or complex<f64>");
  if (llvm::Error error = checkLibrary(spec))
    return std::move(error);
  return std::make_unique<CholeskyCall>(*matrices, precision,
                                        config.getBool("lower").value_or(false));
}

llvm::Expected<std::unique_ptr<PreparedCall>> prepareTriangularSolve(const cpu::CallSpec &spec,
                                                                     const CallConfig &config) {
  if (spec.inputs.size() != 2 || spec.outputs.size() != 1)
    return invalid(spec, "needs two operands and one result");
  std::optional<Matrices> a = matricesOf(spec.inputs[0]), b = matricesOf(spec.inputs[1]);
  int precision = precisionOf(spec.inputs[0].elementType);
  std::optional<bool> left = config.getBool("left_side"), lower = config.getBool("lower"),
                      unit = config.getBool("unit_diagonal");
  char transpose = llvm::StringSwitch<char>(config.getEnum("transpose_a").value_or(""))
                       .Case("NO_TRANSPOSE", 'N')
                       .Case("TRANSPOSE", 'T')
                       .Case("ADJOINT", 'C')
                       .Default(0);
  if (!left || !lower || !unit || !transpose)
    return invalid(spec, "needs left_side, lower, unit_diagonal and transpose_a");
  if (!a || !b || precision < 0 || a->rows != a->columns || a->batch != b->batch ||
      a->rows != (*left ? b->rows : b->columns) || spec.outputs[0].shape != spec.inputs[1].shape ||
      spec.inputs[1].elementType != spec.inputs[0].elementType ||
      spec.outputs[0].elementType != spec.inputs[0].elementType)
    return invalid(spec, "needs square matrices and right-hand sides that fit them, of f32, f64, "
                         "complex<f32> or complex<f64>");
  if (llvm::Error error = checkLibrary(spec))
    return std::move(error);
  return std::make_unique<TriangularSolveCall>(*a, *b, precision, *left, *lower, *unit, transpose);
}

} // namespace spokeshave::runtime
