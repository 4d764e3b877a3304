//===- HostBlock.cpp - reference-counted memory of a buffer ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/HostBlock.h"

namespace spokeshave::runtime {

llvm::Expected<HostBlockRef> HostBlock::allocate(size_t bytes) {
  llvm::Expected<void *> data = runtime::allocate(bytes);
  if (!data)
    return data.takeError();
  return HostBlockRef(new HostBlock(*data, bytes, /*owned=*/true, {}));
}

HostBlockRef HostBlock::external(void *data, size_t bytes, ReleaseFunction release) {
  return HostBlockRef(new HostBlock(data, bytes, /*owned=*/false, std::move(release)));
}

HostBlock::~HostBlock() {
  if (owned)
    deallocate(pointer, bytes);
  else if (release)
    release();
}

} // namespace spokeshave::runtime
