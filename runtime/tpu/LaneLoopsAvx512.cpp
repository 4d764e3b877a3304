//===- LaneLoopsAvx512.cpp - the simulator's inner loops ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/LaneLoops.inc"

const LaneLoops kLaneLoopsAvx512 = kLoops;

} // namespace spokeshave::runtime::tpu
