//===- Extensions.cpp - layouts and shardings ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two chained tables beside the main one. Layouts: every array is row-major, and
// says so in the text form that frameworks parse, "{1,0}". Shardings: on one
// device every argument and result is replicated; with this the framework need
// not fetch and parse the whole program after each compilation.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Executable.h"
#include "runtime/pjrt/Serve.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace spokeshave::pjrt {

namespace {
std::string layoutText(size_t rank) {
  std::string text = "{";
  llvm::raw_string_ostream os(text);
  llvm::interleave(rowMajor(rank), os, ",");
  os << "}";
  return text;
}
} // namespace

/// One per rank, for the life of the process: nobody has to free them.
ArrayLayout *layoutOfRank(size_t rank) {
  static std::mutex mutex;
  static std::map<size_t, ArrayLayout> layouts;
  std::lock_guard<std::mutex> lock(mutex);
  ArrayLayout &layout = layouts[rank];
  if (layout.text.empty())
    layout.text = layoutText(rank);
  return &layout;
}

namespace {
//===-- Layouts ------------------------------------------------------------===//

struct Layouts_Destroy_Args {
  SPOKESHAVE_PJRT_HEAD;
  ArrayLayout *layout;
};
struct Layouts_Serialize_Args {
  SPOKESHAVE_PJRT_HEAD;
  ArrayLayout *layout;
  const char *serialized_bytes;
  size_t serialized_bytes_size;
  Bytes *serialized_layout;
  void (*serialized_layout_deleter)(Bytes *);
};
struct Layouts_Default_Args {
  SPOKESHAVE_PJRT_HEAD;
  void *client_or_topology;
  ElementType type;
  const int64_t *dims;
  size_t num_dims;
  ArrayLayout *layout;
};
struct Layouts_Buffer_Args {
  SPOKESHAVE_PJRT_HEAD;
  Buffer *buffer;
  ArrayLayout *layout;
};
struct Layouts_Executable_Args {
  SPOKESHAVE_PJRT_HEAD;
  Executable *executable;
  size_t count;
  ArrayLayout *const *layouts;
};

struct LayoutsExtension {
  Extension base;
  ErrorObject *(*destroy)(Layouts_Destroy_Args *);
  ErrorObject *(*serialize)(Layouts_Serialize_Args *);
  ErrorObject *(*clientDefault)(Layouts_Default_Args *);
  ErrorObject *(*ofBuffer)(Layouts_Buffer_Args *);
  ErrorObject *(*topologyDefault)(Layouts_Default_Args *);
  ErrorObject *(*ofOutputs)(Layouts_Executable_Args *);
  ErrorObject *(*ofParameters)(Layouts_Executable_Args *);
};
static_assert(sizeof(LayoutsExtension) == 80 && sizeof(Layouts_Serialize_Args) == 56 &&
              sizeof(Layouts_Default_Args) == 56 && sizeof(Layouts_Executable_Args) == 40);

/// As in Api.cpp: nothing unwinds into the framework.
template <typename Function> ErrorObject *guarded(Function function) noexcept {
  try {
    return Status(function()).release();
  } catch (const std::exception &error) {
    return statusOf(ErrorCode::Internal, error.what()).release();
  } catch (...) {
    return statusOf(ErrorCode::Internal, "an unknown exception").release();
  }
}

ErrorObject *destroyLayout(Layouts_Destroy_Args *) {
  return nullptr;
}

ErrorObject *serializeLayout(Layouts_Serialize_Args *args) {
  return guarded([&] {
    giveBytes(args->layout->text, args->serialized_bytes, args->serialized_bytes_size,
              args->serialized_layout, args->serialized_layout_deleter);
    return Status();
  });
}

ErrorObject *defaultLayout(Layouts_Default_Args *args) {
  return guarded([&] {
    args->layout = layoutOfRank(args->num_dims);
    return Status();
  });
}

ErrorObject *bufferLayout(Layouts_Buffer_Args *args) {
  return guarded([&] {
    args->layout = layoutOfRank(args->buffer->shape.dims.size());
    return Status();
  });
}

// The lists belong to the executable.
ErrorObject *outputLayouts(Layouts_Executable_Args *args) {
  args->count = args->executable->body->resultLayouts.size();
  args->layouts = args->executable->body->resultLayouts.data();
  return nullptr;
}

ErrorObject *parameterLayouts(Layouts_Executable_Args *args) {
  args->count = args->executable->body->argumentLayouts.size();
  args->layouts = args->executable->body->argumentLayouts.data();
  return nullptr;
}

//===-- Shardings ----------------------------------------------------------===//

struct Shardings_Args {
  SPOKESHAVE_PJRT_HEAD;
  Executable *executable;
  size_t count;
  const char *const *shardings;
  const size_t *sharding_sizes;
};
struct ShardingsExtension {
  Extension base;
  ErrorObject *(*ofParameters)(Shardings_Args *);
  ErrorObject *(*ofOutputs)(Shardings_Args *);
};
static_assert(sizeof(ShardingsExtension) == 40 && sizeof(Shardings_Args) == 48);

// A serialized OpSharding that says "replicated" is the empty message.
ErrorObject *give(Shardings_Args *args, const Shardings &shardings, size_t count) {
  args->count = count;
  args->shardings = shardings.pointers.data();
  args->sharding_sizes = shardings.sizes.data();
  return nullptr;
}

ErrorObject *parameterShardings(Shardings_Args *args) {
  const CompiledBody &body = *args->executable->body;
  return give(args, body.argumentShardings, body.arguments.size());
}

// No results are an empty tuple, which has one sharding all the same.
ErrorObject *outputShardings(Shardings_Args *args) {
  const CompiledBody &body = *args->executable->body;
  return give(args, body.resultShardings, std::max<size_t>(1, body.results.size()));
}
} // namespace

Extension *extensions() {
  static ShardingsExtension shardings = {
      {sizeof(ShardingsExtension), ExtensionType::Shardings, nullptr},
      parameterShardings,
      outputShardings};
  static LayoutsExtension layouts = {
      {sizeof(LayoutsExtension), ExtensionType::Layouts, &shardings.base},
      destroyLayout,
      serializeLayout,
      defaultLayout,
      bufferLayout,
      defaultLayout,
      outputLayouts,
      parameterLayouts};
  return &layouts.base;
}

} // namespace spokeshave::pjrt
