//===- Serialize.cpp - a program as bytes and back -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A header (magic, versions, length and hash of the rest), the processor
// features that the code may use, and the fields of cpu::Program in order. One
// list of the fields serves both directions. The
// hash is looked at before anything else of the body; the reader still checks
// every length, so that no input makes it read outside or allocate wildly.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"

#include "machine/Machine.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <type_traits>

namespace spokeshave::runtime {
namespace {

constexpr char kMagic[8] = {'S', 'K', 'S', '-', 'E', 'X', 'E', '\n'};
/// Change with every change to the fields below.
constexpr uint32_t kFormatVersion = 4;

struct Header {
  char magic[8];
  uint32_t formatVersion;
  uint32_t abiVersion;
  uint64_t bodyBytes;
  uint64_t bodyHash;
};
static_assert(sizeof(Header) == 32);

class Writer {
public:
  static constexpr bool reading = false;
  std::string bytes;
  void raw(const void *data, size_t size) { bytes.append(static_cast<const char *>(data), size); }
  bool ok() const { return true; }
};

class Reader {
public:
  static constexpr bool reading = true;
  explicit Reader(llvm::StringRef rest) : rest(rest) {}
  llvm::StringRef rest;
  bool failed = false;
  void raw(void *data, size_t size) {
    if (size == 0)
      return; // an empty list has no memory to read into
    if (size > rest.size()) {
      failed = true;
      rest = {};
      std::memset(data, 0, size);
      return;
    }
    std::memcpy(data, rest.data(), size);
    rest = rest.drop_front(size);
  }
  bool ok() const { return !failed; }
};

// The archive reads or writes; `value` is const for writing.
template <typename Archive, typename T>
  requires std::is_arithmetic_v<std::remove_const_t<T>>
void field(Archive &archive, T &value) {
  archive.raw(&value, sizeof value);
}

/// The count of a list; when reading, at least a byte per element must be left.
template <typename Archive, typename List> size_t count(Archive &archive, List &list) {
  uint64_t size = list.size();
  archive.raw(&size, sizeof size);
  if constexpr (Archive::reading) {
    if (size > archive.rest.size()) {
      archive.failed = true;
      size = 0;
    }
    list.resize(size);
  }
  return size;
}

/// Strings and vectors of bytes or numbers: one block.
template <typename Archive, typename List>
  requires std::is_arithmetic_v<typename List::value_type>
void field(Archive &archive, List &list) {
  size_t size = count(archive, list);
  archive.raw(list.data(), size * sizeof(typename List::value_type));
}

template <typename Archive, typename List>
  requires(!std::is_arithmetic_v<typename List::value_type>)
void field(Archive &archive, List &list) {
  count(archive, list);
  for (auto &element : list)
    if (archive.ok())
      field(archive, element);
}

template <typename Archive, typename... Fields> void fields(Archive &archive, Fields &...all) {
  (field(archive, all), ...);
}

/// Is T, possibly const, the struct `Struct`?
template <typename T, typename Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

/// Objects are shared between programs in memory, not in bytes.
template <typename Archive, Is<cpu::Object> T> void field(Archive &archive, T &object) {
  if constexpr (Archive::reading) {
    std::vector<char> bytes;
    field(archive, bytes);
    object = std::make_shared<const std::vector<char>>(std::move(bytes));
  } else {
    field(archive, *object);
  }
}

template <typename Archive, Is<cpu::PhaseTime> T> void field(Archive &archive, T &phase) {
  fields(archive, phase.name, phase.milliseconds, phase.processorMs);
}

template <typename Archive, Is<cpu::ValueSpec> T> void field(Archive &archive, T &spec) {
  fields(archive, spec.elementType, spec.shape, spec.byteSize, spec.alias, spec.parts);
}

template <typename Archive, Is<cpu::CallSpec> T> void field(Archive &archive, T &spec) {
  fields(archive, spec.target, spec.isLibrary, spec.apiVersion, spec.config, spec.inputs,
         spec.outputs, spec.location);
}

template <typename Archive, Is<cpu::KernelInfo> T> void field(Archive &archive, T &info) {
  fields(archive, info.symbol, info.name, info.kind, info.location, info.launches, info.tasks,
         info.flops, info.bytes, info.instructions, info.movedBytes, info.compileMs, info.isShared);
}

template <typename Archive, Is<cpu::Structure> T> void field(Archive &archive, T &structure) {
  fields(archive, structure.regions, structure.launches, structure.copies, structure.copiedBytes,
         structure.movedBytes);
}

template <typename Archive, Is<cpu::LoopInfo> T> void field(Archive &archive, T &loop) {
  fields(archive, loop.location, loop.depth, loop.trips, loop.iteration);
}

template <typename Archive, Is<cpu::CompileStats> T> void field(Archive &archive, T &stats) {
  fields(archive, stats.kernels, stats.structure, stats.loops, stats.libraryCalls,
         stats.customCalls, stats.arenaBytes, stats.scratchBytes, stats.codeBytes,
         stats.instructionsBefore, stats.instructionsAfter, stats.flops, stats.transcendentals,
         stats.bytesAccessed, stats.millisecondsFront, stats.millisecondsCode, stats.phases,
         stats.objects, stats.sharedObjects);
}

template <typename Archive, Is<cpu::Program> T> void field(Archive &archive, T &program) {
  fields(archive, program.name, program.isa, program.driverSymbol, program.replicas,
         program.partitions, program.objects, program.constants, program.arguments, program.results,
         program.calls, program.stats);
}

/// What code for `isa` may use here: LLVM's feature string for this machine. An
/// instruction set's name alone does not say it (some of the extensions of
/// AVX-512 are used where present).
std::string featuresOf(llvm::StringRef isa) {
  llvm::Expected<machine::Machine> described = machine::describe(isa);
  if (described)
    return described->cpu + "," + described->features;
  llvm::consumeError(described.takeError());
  return "";
}

/// Are all of `needed` among what this machine has for `isa`?
bool hasFeatures(llvm::StringRef needed, llvm::StringRef isa) {
  std::string here = featuresOf(isa);
  auto present = llvm::split(here, ',');
  return llvm::all_of(llvm::split(needed, ','), [&](llvm::StringRef feature) {
    return llvm::is_contained(present, feature);
  });
}

llvm::Error mismatch(const llvm::Twine &why) {
  return makeError(ErrorCode::ExecutableMismatch, "the serialized executable " + why);
}

} // namespace

std::string serialize(const cpu::Program &program) {
  Writer writer;
  writer.bytes.resize(sizeof(Header));
  const std::string features = featuresOf(program.isa);
  field(writer, features);
  field(writer, program);
  llvm::StringRef body = llvm::StringRef(writer.bytes).drop_front(sizeof(Header));
  Header header{{}, kFormatVersion, cpu::kAbiVersion, body.size(), llvm::xxh3_64bits(body)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  std::memcpy(writer.bytes.data(), &header, sizeof header);
  return std::move(writer.bytes);
}

llvm::Expected<std::unique_ptr<cpu::Program>> deserialize(llvm::StringRef bytes) {
  Header header;
  if (bytes.size() < sizeof header)
    return mismatch("is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return mismatch("does not begin with Spokeshave's magic bytes");
  if (header.formatVersion != kFormatVersion || header.abiVersion != cpu::kAbiVersion)
    return mismatch(llvm::formatv("has format {0} and ABI {1}; this build reads {2} and {3}",
                                  header.formatVersion, header.abiVersion, kFormatVersion,
                                  cpu::kAbiVersion)
                        .str());
  llvm::StringRef body = bytes.drop_front(sizeof header);
  if (header.bodyBytes != body.size())
    return mismatch(
        llvm::formatv("is {0} bytes long instead of {1}", body.size(), header.bodyBytes).str());
  if (llvm::xxh3_64bits(body) != header.bodyHash)
    return mismatch("is damaged: its hash differs");
  Reader reader(body);
  auto program = std::make_unique<cpu::Program>();
  std::string features;
  field(reader, features);
  field(reader, *program);
  if (!reader.ok() || !reader.rest.empty())
    return mismatch("is damaged: its fields do not add up");
  if (!machineSupportsIsa(program->isa) || !hasFeatures(features, program->isa))
    return mismatch("was compiled for '" + program->isa + "' with " + features +
                    ", which this machine does not have");
  return std::move(program);
}

} // namespace spokeshave::runtime
