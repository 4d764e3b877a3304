//===- Corpus.h - the bytecode programs that tests read --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace spokeshave::test {

/// The folder of programs: SPOKESHAVE_CORPUS of the environment, else the
/// committed one.
std::string corpusFolder();

/// Names without extension of all programs of the corpus, sorted.
std::vector<std::string> corpusPrograms();

/// The contents of a file; empty if it cannot be read.
std::string readFile(const std::string &path);

} // namespace spokeshave::test
