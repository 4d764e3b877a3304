//===- Corpus.cpp - the bytecode programs that tests read ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tests/bytecode/Corpus.h"

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace spokeshave::test {

std::string corpusFolder() {
  const char *folder = std::getenv("SPOKESHAVE_CORPUS");
  return folder ? folder : SPOKESHAVE_CORPUS;
}

std::vector<std::string> corpusPrograms() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(corpusFolder(), error))
    if (entry.path().extension() == ".mlirbc")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

} // namespace spokeshave::test
