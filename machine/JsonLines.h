//===- JsonLines.h - on which line a JSON field stands ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's JSON values forget where they stood, keep one of two equal keys and
// recurse as deep as the text nests. This scan runs before LLVM's parser: it
// notes lines and repeated keys, and refuses texts that are too large or deep.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spokeshave::machine {

class JsonLines {
public:
  struct Entry {
    std::string path; ///< keys joined by dots: "memory.vmem.value"
    int64_t line;
  };

  /// Accepts every JSON text within the limits; of other texts it accepts some.
  llvm::Error scan(llvm::StringRef text);

  /// The line of `path` or of the nearest field around it; 0 if there is none.
  int64_t lineOf(llvm::StringRef path) const;
  /// All keys in the order of the text.
  const std::vector<Entry> &entries() const { return keys; }
  /// The first path that stands there twice, or empty.
  llvm::StringRef duplicate() const { return twice; }

private:
  void enterKey(llvm::StringRef key, int64_t line, std::vector<std::string> &path);

  std::vector<Entry> keys;
  llvm::StringMap<int64_t> lines;
  std::string twice;
};

} // namespace spokeshave::machine
