//===- FftPassesAvx2.cpp - the inner loops of the FFT ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/library/FftPasses.inc"

const FftPasses kFftPassesAvx2 = {dispatch<float>, dispatch<double>, split, join};

} // namespace spokeshave::runtime
