//===- Flag.cpp - options that are true or false ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "support/Flag.h"

#include "support/Error.h"

#include "llvm/ADT/StringSwitch.h"

#include <optional>

using namespace spokeshave;

llvm::Error spokeshave::setFlag(bool &flag, llvm::StringRef name, llvm::StringRef value) {
  std::optional<bool> parsed = llvm::StringSwitch<std::optional<bool>>(value.lower())
                                   .Cases("1", "true", "on", "yes", true)
                                   .Cases("0", "false", "off", "no", false)
                                   .Default(std::nullopt);
  if (!parsed)
    return makeError(ErrorCode::BadOption,
                     "option " + name + " is true or false, not '" + value + "'");
  flag = *parsed;
  return llvm::Error::success();
}
