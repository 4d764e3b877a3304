//===- Cgroup.cpp - memory that the container has left --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Cgroup.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using llvm::StringRef;

namespace spokeshave::runtime {
namespace {

/// A small file of /proc or /sys; empty if it cannot be read.
std::string readSmallFile(const std::string &path) {
  std::string text;
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return text;
  char chunk[4096];
  while (true) {
    ssize_t count = read(file, chunk, sizeof chunk);
    if (count <= 0)
      break;
    text.append(chunk, static_cast<size_t>(count));
  }
  close(file);
  return text;
}

std::optional<int64_t> readNumber(const std::string &path) {
  int64_t value;
  if (StringRef(readSmallFile(path)).trim().getAsInteger(10, value))
    return std::nullopt; // also "max"
  return value;
}

/// The value of `key` in a file of "key value" lines.
int64_t valueOf(StringRef text, StringRef key) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    auto [name, number] = line.split(' ');
    int64_t value;
    if (name == key && !number.trim().getAsInteger(10, value))
      return value;
    text = rest;
  }
  return 0;
}

/// The directories of this process's group and its ancestors for `controller`
/// of version 1, or for version 2 if `controller` is empty. Inside a container
/// the path in /proc/self/cgroup may lie outside the mount: then only the mount
/// point itself exists, and it is the container's own group.
llvm::SmallVector<std::string> groupDirectories(StringRef controller) {
  std::string mount = "/sys/fs/cgroup";
  if (!controller.empty())
    mount += "/" + controller.str();
  llvm::SmallVector<std::string> directories;
  std::string groups = readSmallFile("/proc/self/cgroup");
  for (StringRef line : llvm::split(groups, '\n')) {
    auto [number, rest] = line.split(':');
    auto [names, path] = rest.split(':');
    bool matches = controller.empty() ? names.empty() && number == "0"
                                      : llvm::is_contained(llvm::split(names, ','), controller);
    if (!matches)
      continue;
    for (StringRef group = path; group.size() > 1; group = group.rsplit('/').first)
      directories.push_back(mount + group.str());
  }
  directories.push_back(mount);
  return directories;
}

/// Keeps the tighter of `left` and the group with these figures.
void tighten(std::optional<int64_t> &left, int64_t limit, int64_t usage, int64_t reclaimable) {
  // Version 1 writes "no limit" as a number near 2^63.
  if (limit <= 0 || limit > (int64_t(1) << 60))
    return;
  int64_t free = std::max<int64_t>(0, limit - usage + std::min(reclaimable, usage));
  left = std::min(left.value_or(free), free);
}

} // namespace

std::optional<int64_t> cgroupMemoryLeft() {
  std::optional<int64_t> result;
  for (const std::string &directory : groupDirectories("")) {
    std::optional<int64_t> limit = readNumber(directory + "/memory.max");
    if (!limit)
      continue;
    std::string statistics = readSmallFile(directory + "/memory.stat");
    tighten(result, *limit, readNumber(directory + "/memory.current").value_or(0),
            valueOf(statistics, "inactive_file") + valueOf(statistics, "active_file"));
  }
  for (const std::string &directory : groupDirectories("memory")) {
    std::optional<int64_t> limit = readNumber(directory + "/memory.limit_in_bytes");
    if (!limit)
      continue;
    std::string statistics = readSmallFile(directory + "/memory.stat");
    tighten(result, *limit, readNumber(directory + "/memory.usage_in_bytes").value_or(0),
            valueOf(statistics, "total_inactive_file") + valueOf(statistics, "total_active_file"));
  }
  return result;
}

} // namespace spokeshave::runtime
