//===- CompileOptions.h - the framework's options of a compilation ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They arrive as a serialized protocol buffer, CompileOptionsProto. Only its wire
// format is read here, and only the few fields that matter; unknown ones are
// skipped, as the format wants.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/Status.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>
#include <vector>

namespace spokeshave::pjrt {

struct FrameworkOptions {
  int64_t replicas = 1, partitions = 1;
  /// Serialized DeviceAssignmentProto; that of device 0 if the options had none.
  std::string deviceAssignment;
  /// The ids in it, replica by replica within each partition.
  std::vector<int64_t> deviceIds;
  /// The user's compiler options, values as text.
  std::vector<std::pair<std::string, std::string>> overrides;
};

/// Reads `bytes`; an InvalidArgument error if they are malformed.
Status parseFrameworkOptions(llvm::StringRef bytes, FrameworkOptions &options);

} // namespace spokeshave::pjrt
