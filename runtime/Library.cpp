//===- Library.cpp - routines called instead of generated ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Library.h"

#include "runtime/library/Collectives.h"
#include "runtime/library/Fft.h"
#include "runtime/library/Lapack.h"
#include "support/Error.h"

#include "llvm/ADT/StringSwitch.h"

namespace spokeshave::runtime {

using Prepare = llvm::Expected<std::unique_ptr<PreparedCall>>(const cpu::CallSpec &,
                                                              const CallConfig &);

/// The table of routines; null for any other name.
static Prepare *routine(llvm::StringRef name) {
  return llvm::StringSwitch<Prepare *>(name)
      .Case("fft", prepareFft)
      .Case("cholesky", prepareCholesky)
      .Case("triangular_solve", prepareTriangularSolve)
      .Cases("all_gather", "all_to_all", "collective_permute", "collective_broadcast",
             prepareCollective)
      .Cases("replica_id", "partition_id", prepareDeviceNumber)
      .Cases("send", "recv", "infeed", "outfeed", prepareTransfer)
      .Default(nullptr);
}

bool hasLibraryRoutine(llvm::StringRef name) {
  return routine(name) != nullptr;
}

llvm::Expected<std::unique_ptr<PreparedCall>> prepareLibraryCall(const cpu::CallSpec &spec) {
  Prepare *prepare = routine(spec.target);
  if (!prepare)
    return makeError(ErrorCode::UnsupportedProgram,
                     describe(spec) + ": the runtime has no such routine");
  llvm::Expected<CallConfig> config = CallConfig::parse(spec);
  if (!config)
    return config.takeError();
  return prepare(spec, *config);
}

} // namespace spokeshave::runtime
