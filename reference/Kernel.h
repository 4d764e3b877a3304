//===- Kernel.h - elementwise operations on single elements ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise operation is defined once, on Scalars. A Kernel is such a
// definition bound to element types and to the operation's attributes. Whole
// tensors (Elementwise.cpp) and the bodies of reductions (Body.cpp) both run
// kernels, so they cannot disagree.
//
// A definition returns its result before rounding, exactly or in at least twice
// the precision of the type; the kernel rounds it once. Definitions for f64
// compute in long double, all others in double.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Element.h"

#include "mlir/IR/Operation.h"

#include <complex>
#include <optional>

namespace spokeshave::reference {

struct Kernel {
  using Function = Scalar (*)(const Kernel &kernel, const Scalar *operands);

  Function function = nullptr;
  ElementType in;  ///< of the first operand
  ElementType out; ///< of the result
  /// Attributes of the operation, as its definition reads them.
  int64_t first = 0;
  int64_t second = 0;

  Scalar operator()(const Scalar *operands) const { return out.round(function(*this, operands)); }
};

/// The kernel of an elementwise operation, or none where `op` is not
/// elementwise or not defined on these element types.
std::optional<Kernel> elementwiseKernel(mlir::Operation *op,
                                        llvm::ArrayRef<ElementType> operandTypes,
                                        ElementType resultType);
/// Whether `op` is one of the operations that kernels define.
bool isElementwise(mlir::Operation *op);

/// The themes; each leaves `function` null for operations of other themes.
void arithmeticKernel(mlir::Operation *op, Kernel &kernel);
void transcendentalKernel(mlir::Operation *op, Kernel &kernel);
void logicKernel(mlir::Operation *op, Kernel &kernel);
void conversionKernel(mlir::Operation *op, Kernel &kernel);

/// A real function in the precision its format asks for.
template <typename F> Scalar realFunction(const Kernel &kernel, double x, F function) {
  if (kernel.in.format().isDouble())
    return Scalar::real(static_cast<double>(function(static_cast<long double>(x))));
  return Scalar::real(function(x));
}
template <typename F> Scalar realFunction(const Kernel &kernel, double x, double y, F function) {
  if (kernel.in.format().isDouble())
    return Scalar::real(
        static_cast<double>(function(static_cast<long double>(x), static_cast<long double>(y))));
  return Scalar::real(function(x, y));
}

using WideComplex = std::complex<long double>;
inline WideComplex wide(const Scalar &x) {
  return {x.re, x.im};
}
inline Scalar narrow(const WideComplex &x) {
  return Scalar::complex(static_cast<double>(x.real()), static_cast<double>(x.imag()));
}

} // namespace spokeshave::reference
