//===- HostCopy.cpp - copies between dense and strided arrays --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/HostCopy.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace spokeshave::pjrt {

llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> dims, int64_t elementBytes) {
  llvm::SmallVector<int64_t> strides(dims.size());
  int64_t stride = elementBytes;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

bool isDense(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t elementBytes) {
  if (llvm::is_contained(dims, 0))
    return true;
  int64_t stride = elementBytes;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != stride)
      return false;
    stride *= dims[i];
  }
  return true;
}

namespace {
/// One dimension of a copy that is under way.
struct Loop {
  int64_t size, target, source;
};

template <int64_t kBytes> void copyRow(char *target, const char *source, const Loop &loop) {
  for (int64_t i = 0; i < loop.size; ++i)
    std::memcpy(target + i * loop.target, source + i * loop.source, kBytes);
}

void copyRow(char *target, const char *source, const Loop &loop, int64_t bytes) {
  if (loop.target == bytes && loop.source == bytes) {
    std::memcpy(target, source, bytes * loop.size);
    return;
  }
  switch (bytes) {
  case 1:
    return copyRow<1>(target, source, loop);
  case 2:
    return copyRow<2>(target, source, loop);
  case 4:
    return copyRow<4>(target, source, loop);
  case 8:
    return copyRow<8>(target, source, loop);
  case 16:
    return copyRow<16>(target, source, loop);
  }
  for (int64_t i = 0; i < loop.size; ++i)
    std::memcpy(target + i * loop.target, source + i * loop.source, bytes);
}

void copyLoops(char *target, const char *source, llvm::ArrayRef<Loop> loops, int64_t bytes) {
  const Loop &outer = loops.front();
  if (loops.size() == 1)
    return copyRow(target, source, outer, bytes);
  for (int64_t i = 0; i < outer.size; ++i)
    copyLoops(target + i * outer.target, source + i * outer.source, loops.drop_front(), bytes);
}
} // namespace

void copyStrided(char *target, llvm::ArrayRef<int64_t> targetStrides, const char *source,
                 llvm::ArrayRef<int64_t> sourceStrides, llvm::ArrayRef<int64_t> dims,
                 int64_t elementBytes) {
  if (llvm::is_contained(dims, 0) || elementBytes == 0)
    return;
  // Merge neighbours that are contiguous on both sides, so that the inner loop
  // is as long as it can be.
  llvm::SmallVector<Loop> loops;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1)
      continue;
    Loop loop{dims[i], targetStrides[i], sourceStrides[i]};
    if (!loops.empty() && loops.back().target == loop.target * loop.size &&
        loops.back().source == loop.source * loop.size)
      loops.back() = {loops.back().size * loop.size, loop.target, loop.source};
    else
      loops.push_back(loop);
  }
  if (loops.empty())
    loops.push_back({1, elementBytes, elementBytes});
  copyLoops(target, source, loops, elementBytes);
}

Status stridesOf(const MemoryLayout *layout, llvm::ArrayRef<int64_t> dims, int64_t elementBytes,
                 llvm::SmallVector<int64_t> &strides) {
  strides = denseStrides(dims, elementBytes);
  if (!layout)
    return {};
  if (layout->type == LayoutKind::Strides) {
    if (layout->strides.num_byte_strides != dims.size())
      return invalidArgument("the layout has " + llvm::Twine(layout->strides.num_byte_strides) +
                             " strides for an array of rank " + llvm::Twine(dims.size()));
    strides.assign(layout->strides.byte_strides,
                   layout->strides.byte_strides + layout->strides.num_byte_strides);
    return {};
  }
  const TiledLayout &tiled = layout->tiled;
  if (tiled.num_tiles != 0)
    return unimplemented("tiled layouts are not supported on this device");
  if (tiled.minor_to_major_size != dims.size())
    return invalidArgument("the layout's order has " + llvm::Twine(tiled.minor_to_major_size) +
                           " entries for an array of rank " + llvm::Twine(dims.size()));
  llvm::SmallVector<bool> seen(dims.size());
  int64_t stride = elementBytes;
  for (int64_t dim : llvm::ArrayRef(tiled.minor_to_major, dims.size())) {
    if (dim < 0 || dim >= static_cast<int64_t>(dims.size()) || seen[dim])
      return invalidArgument("the layout's order is no permutation");
    seen[dim] = true;
    strides[dim] = stride;
    stride *= dims[dim];
  }
  return {};
}

} // namespace spokeshave::pjrt
