//===- EmitReduceAngle.cpp - large angles modulo pi/2 ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelEmitter.h"

using namespace spokeshave;
using namespace spokeshave::cpu;

void KernelEmitter::emitReduceAngle(kernel::ReduceAngleOp op) {}
