//===- JsonLines.cpp - scans JSON for the lines of its fields --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "machine/JsonLines.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace spokeshave;
using namespace spokeshave::machine;

namespace {
constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostDepth = 32;

/// The end of the string that opens at `start`: the position after its quote.
size_t endOfString(llvm::StringRef text, size_t start) {
  size_t position = start + 1;
  while (position < text.size() && text[position] != '"')
    position += text[position] == '\\' ? 2 : 1;
  return std::min(position + 1, text.size());
}
} // namespace

void JsonLines::enterKey(llvm::StringRef key, int64_t line, std::vector<std::string> &path) {
  path.back() = key.str();
  std::string whole = llvm::join(path, ".");
  if (!lines.try_emplace(whole, line).second && twice.empty())
    twice = whole;
  keys.push_back({std::move(whole), line});
}

llvm::Error JsonLines::scan(llvm::StringRef text) {
  if (text.size() > kMostBytes)
    return makeError(ErrorCode::BadOption, "larger than a MiB: this is no chip file");
  std::vector<std::string> path; // a key for each object or array that is open
  int64_t line = 1;
  for (size_t position = 0; position < text.size();) {
    char c = text[position];
    if (c == '"') {
      size_t end = endOfString(text, position);
      llvm::StringRef content = text.slice(position + 1, end - 1);
      // A string before a colon is a key.
      if (text.drop_front(end).ltrim().starts_with(":") && !path.empty())
        enterKey(content, line, path);
      position = end;
      continue;
    }
    if (c == '{' || c == '[')
      path.push_back("");
    else if ((c == '}' || c == ']') && !path.empty())
      path.pop_back();
    if (path.size() > kMostDepth)
      return makeError(ErrorCode::BadOption, llvm::Twine(line) + ": nested too deeply");
    line += c == '\n';
    ++position;
  }
  return llvm::Error::success();
}

int64_t JsonLines::lineOf(llvm::StringRef path) const {
  while (!path.empty()) {
    auto found = lines.find(path);
    if (found != lines.end())
      return found->second;
    path = path.rsplit('.').first;
    if (!path.contains('.') && lines.find(path) == lines.end())
      return 0;
  }
  return 0;
}
