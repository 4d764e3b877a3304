//===- StablehloAssembly.h - custom parts of operations' text ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions behind `custom<...>` in the declarations of operations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloText.h"
