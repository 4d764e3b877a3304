//===- BufferAdapter.cpp - layouts and aliases that a call asks for --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/BufferAdapter.h"

#include "support/Error.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace mlir;

namespace spokeshave::runtime {

//===----------------------------------------------------------------------===//
// Transposed copies
//===----------------------------------------------------------------------===//

namespace {

/// A dimension of a strided copy, strides in elements.
struct Loop {
  int64_t extent, from, to;
};

/// The two innermost loops in tiles, so that whichever side has the long stride
/// uses its cache lines whole.
template <typename T>
void copyPlane(T *target, const T *source, const Loop &outer, const Loop &inner) {
  constexpr int64_t tile = 16;
  for (int64_t i0 = 0; i0 < outer.extent; i0 += tile)
    for (int64_t j0 = 0; j0 < inner.extent; j0 += tile)
      for (int64_t i = i0, iEnd = std::min(outer.extent, i0 + tile); i < iEnd; ++i)
        for (int64_t j = j0, jEnd = std::min(inner.extent, j0 + tile); j < jEnd; ++j)
          target[i * outer.to + j * inner.to] = source[i * outer.from + j * inner.from];
}

template <typename T> void copyLoops(T *target, const T *source, llvm::ArrayRef<Loop> loops) {
  if (loops.size() == 2)
    return copyPlane(target, source, loops[0], loops[1]);
  for (int64_t i = 0; i < loops.front().extent; ++i)
    copyLoops(target + i * loops.front().to, source + i * loops.front().from, loops.drop_front());
}

struct Complex128 {
  uint64_t parts[2];
};

void copyStrided(void *target, const void *source, llvm::SmallVectorImpl<Loop> &loops,
                 int64_t elementBytes) {
  auto run = [&]<typename T>(T) {
    copyLoops(static_cast<T *>(target), static_cast<const T *>(source), loops);
  };
  switch (elementBytes) {
  case 1:
    return run(uint8_t());
  case 2:
    return run(uint16_t());
  case 4:
    return run(uint32_t());
  case 8:
    return run(uint64_t());
  case 16:
    return run(Complex128());
  default:
    break; // create() admits no other size
  }
}

/// Loops over the dimensions, those with the shortest strides of either side
/// innermost.
llvm::SmallVector<Loop, 6> loopsFor(llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<int64_t> minorToMajor, bool fromRowMajor) {
  llvm::SmallVector<Loop, 6> loops(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    loops[i] = {shape[i], stride, 0};
  stride = 1;
  for (int64_t dimension : minorToMajor) {
    loops[dimension].to = stride;
    stride *= shape[dimension];
  }
  if (!fromRowMajor)
    for (Loop &loop : loops)
      std::swap(loop.from, loop.to);
  llvm::sort(loops, [](const Loop &a, const Loop &b) {
    return std::min(a.from, a.to) > std::min(b.from, b.to);
  });
  while (loops.size() < 2)
    loops.insert(loops.begin(), Loop{1, 0, 0});
  return loops;
}

bool isRowMajor(llvm::ArrayRef<int64_t> minorToMajor) {
  for (auto [i, dimension] : llvm::enumerate(minorToMajor))
    if (dimension != static_cast<int64_t>(minorToMajor.size() - 1 - i))
      return false;
  return true;
}

} // namespace

void copyToLayout(void *target, const void *source, llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> minorToMajor, int64_t elementBytes) {
  auto loops = loopsFor(shape, minorToMajor, /*fromRowMajor=*/true);
  copyStrided(target, source, loops, elementBytes);
}

void copyFromLayout(void *target, const void *source, llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<int64_t> minorToMajor, int64_t elementBytes) {
  auto loops = loopsFor(shape, minorToMajor, /*fromRowMajor=*/false);
  copyStrided(target, source, loops, elementBytes);
}

//===----------------------------------------------------------------------===//
// Reading the configuration
//===----------------------------------------------------------------------===//

static llvm::Error invalid(const cpu::CallSpec &spec, const llvm::Twine &why) {
  return makeError(ErrorCode::InvalidProgram, describe(spec) + " " + why);
}

llvm::Error BufferAdapter::readLayouts(const cpu::CallSpec &spec, Attribute attribute, size_t first,
                                       size_t count) {
  if (!attribute)
    return llvm::Error::success();
  auto layouts = dyn_cast<ArrayAttr>(attribute);
  if (!layouts || layouts.size() != count)
    return invalid(spec, "does not have one layout for each operand and result");
  for (size_t i = 0; i < count; ++i) {
    Slot &slot = slots[first + i];
    auto order = integersOf(layouts[i]);
    if (!order || order->size() != slot.shape.size())
      return invalid(spec, "has a layout of another rank than its operand or result");
    llvm::SmallVector<int64_t> sorted = *order, all(order->size());
    llvm::sort(sorted);
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
      return invalid(spec, "has a layout that is no permutation of the dimensions");
    if (isRowMajor(*order) || slot.bytes == 0)
      continue;
    if (slot.elementBytes > 16 || !llvm::isPowerOf2_64(slot.elementBytes))
      return makeError(ErrorCode::UnsupportedProgram,
                       describe(spec) + " wants a layout of elements that have no whole bytes");
    slot.minorToMajor.assign(order->begin(), order->end());
    direct = false;
  }
  return llvm::Error::success();
}

/// output_operand_alias<output_tuple_indices = [0], operand_index = 1,
/// operand_tuple_indices = []>, as text: the dialect is not loaded here.
llvm::Error BufferAdapter::readAliases(const cpu::CallSpec &spec, Attribute attribute) {
  if (!attribute)
    return llvm::Error::success();
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list)
    return invalid(spec, "has malformed output_operand_aliases");
  for (Attribute element : list) {
    auto opaque = dyn_cast<OpaqueAttr>(element);
    llvm::StringRef text = opaque ? opaque.getAttrData() : "";
    auto numberAfter = [&](llvm::StringRef key, size_t missing) {
      size_t value = missing;
      llvm::StringRef rest = text.split(key).second.ltrim(" =[");
      return rest.consumeInteger(10, value) ? missing : value;
    };
    size_t operand = numberAfter("operand_index", SIZE_MAX);
    size_t result = numberAfter("output_tuple_indices", 0);
    if (operand >= spec.inputs.size() || result >= spec.outputs.size() ||
        slots[operand].bytes != slots[inputs + result].bytes)
      return invalid(spec, "aliases an operand and a result that do not fit each other");
    aliases.push_back({operand, inputs + result});
    direct = false;
  }
  return llvm::Error::success();
}

llvm::Expected<BufferAdapter> BufferAdapter::create(const cpu::CallSpec &spec,
                                                    const CallConfig &config) {
  BufferAdapter adapter;
  adapter.inputs = spec.inputs.size();
  auto add = [&](const cpu::ValueSpec &value) {
    Slot slot;
    slot.shape.assign(value.shape.begin(), value.shape.end());
    slot.bytes = value.byteSize;
    int64_t elements = 1;
    for (int64_t extent : value.shape)
      elements *= extent;
    slot.elementBytes = elements > 0 ? value.byteSize / elements : 0;
    adapter.slots.push_back(std::move(slot));
  };
  llvm::for_each(spec.inputs, add);
  llvm::for_each(spec.outputs, add);
  if (llvm::Error error =
          adapter.readLayouts(spec, config.get("operand_layouts"), 0, spec.inputs.size()))
    return std::move(error);
  if (llvm::Error error = adapter.readLayouts(spec, config.get("result_layouts"),
                                              spec.inputs.size(), spec.outputs.size()))
    return std::move(error);
  if (llvm::Error error = adapter.readAliases(spec, config.get("output_operand_aliases")))
    return std::move(error);
  return std::move(adapter);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

llvm::Error BufferAdapter::run(void *const *buffers,
                               llvm::function_ref<llvm::Error(void *const *)> body) const {
  if (direct)
    return body(buffers);
  llvm::SmallVector<void *, 8> adapted(buffers, buffers + slots.size());
  std::vector<ScopedMemory> copies;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    if (slot.minorToMajor.empty())
      continue;
    llvm::Expected<ScopedMemory> copy = ScopedMemory::create(static_cast<size_t>(slot.bytes));
    if (!copy)
      return copy.takeError();
    adapted[i] = copy->get();
    copies.push_back(std::move(*copy));
    if (i < inputs)
      copyToLayout(adapted[i], buffers[i], slot.shape, slot.minorToMajor, slot.elementBytes);
  }
  for (Alias alias : aliases) {
    if (slots[alias.operand].bytes > 0 && adapted[alias.operand] != adapted[alias.result])
      std::memcpy(adapted[alias.result], adapted[alias.operand],
                  static_cast<size_t>(slots[alias.operand].bytes));
    adapted[alias.operand] = adapted[alias.result];
  }
  if (llvm::Error error = body(adapted.data()))
    return error;
  for (size_t i = inputs; i < slots.size(); ++i)
    if (const Slot &slot = slots[i]; !slot.minorToMajor.empty())
      copyFromLayout(buffers[i], adapted[i], slot.shape, slot.minorToMajor, slot.elementBytes);
  return llvm::Error::success();
}

} // namespace spokeshave::runtime
