//===- FloatingPoint.h - the modes that generated code relies on -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs keep denormals and round to nearest. The user's process may have set
// other modes (some libraries switch denormals off for the whole thread), and
// threads inherit them: so every thread that runs our code sets its own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace spokeshave::runtime {

inline void setDefaultFloatingPoint() {
#if defined(__x86_64__)
  _mm_setcsr(0x1f80); // round to nearest, exceptions masked, no flush to zero
#else
  std::fesetenv(FE_DFL_ENV);
#endif
}

/// Sets the modes for a scope and restores those of the caller after it.
class ScopedFloatingPoint {
public:
#if defined(__x86_64__)
  ScopedFloatingPoint() : saved(_mm_getcsr()) { setDefaultFloatingPoint(); }
  ~ScopedFloatingPoint() { _mm_setcsr(saved); }
#else
  ScopedFloatingPoint() {
    std::fegetenv(&saved);
    setDefaultFloatingPoint();
  }
  ~ScopedFloatingPoint() { std::fesetenv(&saved); }
#endif
  ScopedFloatingPoint(const ScopedFloatingPoint &) = delete;
  ScopedFloatingPoint &operator=(const ScopedFloatingPoint &) = delete;

private:
#if defined(__x86_64__)
  unsigned saved;
#else
  std::fenv_t saved;
#endif
};

} // namespace spokeshave::runtime
