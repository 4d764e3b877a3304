//===- Executable.cpp - compiling, describing and serializing programs -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Executable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace spokeshave::pjrt {

namespace {
std::string fingerprintOf(const CompiledBody &body, uint64_t options, const Backend &backend) {
  // This machine does not change, and looking at it takes longer than hashing.
  static const uint64_t thisMachine = TopologyDescription().fingerprint();
  uint64_t machine = backend.machineHash ? backend.machineHash : thisMachine;
  std::string key = versionText() + "|" + std::to_string(options) + "|" + std::to_string(machine) +
                    "|" + body.source;
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(key.data()), key.size()));
  return llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64).str();
}

/// Reads the framework's options, and checks those that are ours: names without prefix.
Status readOptions(llvm::StringRef serialized, const Backend &backend, CompiledBody &body) {
  if (Status status = parseFrameworkOptions(serialized, body.framework); !status.isOk())
    return status;
  for (auto &[name, value] : body.framework.overrides) {
    llvm::StringRef ours = name;
    ours.consume_front("spokeshave_");
    name = ours.str();
  }
  llvm::Expected<uint64_t> hash = backend.hashOptions(body.framework.overrides);
  if (!hash)
    return toStatus(hash.takeError());
  body.fingerprint = fingerprintOf(body, *hash, backend);
  return {};
}

/// The framework's options and the program must be of as many devices.
Status checkCounts(const FrameworkOptions &framework, const LoadedProgram &program) {
  if (framework.replicas != program.replicas || framework.partitions != program.partitions)
    return statusOf(ErrorCode::BadOption, "the program is for " + llvm::Twine(program.replicas) +
                                              " replicas and " + llvm::Twine(program.partitions) +
                                              " partitions, the options say " +
                                              llvm::Twine(framework.replicas) + " and " +
                                              llvm::Twine(framework.partitions));
  return {};
}

//===-- Shardings, as OpSharding of the framework's protocol buffers --------===//

void appendVarint(std::string &bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

void appendNumbers(std::string &bytes, unsigned field, llvm::ArrayRef<int64_t> numbers) {
  std::string packed;
  for (int64_t number : numbers)
    appendVarint(packed, static_cast<uint64_t>(number));
  appendVarint(bytes, field << 3 | 2);
  appendVarint(bytes, packed.size());
  bytes += packed;
}

/// Of a part: type OTHER (field 1), the parts of each dimension and the copies of
/// each (3), the devices part by part (4), "the last dimension is copies" (6).
std::string serializeSharding(const cpu::ValueSpec &spec) {
  if (spec.parts.size() <= spec.shape.size())
    return "";
  llvm::ArrayRef<int64_t> numbers(spec.parts);
  auto tiles = llvm::to_vector(numbers.take_front(spec.shape.size()));
  llvm::ArrayRef<int64_t> partOf = numbers.drop_front(spec.shape.size());
  int64_t parts = 1;
  for (int64_t count : tiles)
    parts *= count;
  llvm::SmallVector<int64_t> devices;
  for (int64_t part = 0; part < parts; ++part)
    for (auto [device, held] : llvm::enumerate(partOf))
      if (held == part)
        devices.push_back(static_cast<int64_t>(device));
  int64_t copies = static_cast<int64_t>(partOf.size()) / std::max<int64_t>(1, parts);
  if (copies > 1)
    tiles.push_back(copies);
  std::string bytes;
  appendVarint(bytes, 1 << 3);
  appendVarint(bytes, 3);
  appendNumbers(bytes, 3, tiles);
  appendNumbers(bytes, 4, devices);
  if (copies > 1) {
    appendVarint(bytes, 6 << 3);
    appendVarint(bytes, 1);
  }
  return bytes;
}

/// The C API's view of an argument or result.
Status shapeOf(const cpu::ValueSpec &spec, Shape &shape) {
  ElementType type = elementTypeNamed(spec.elementType);
  // Tokens have no bytes and no place in the C API; they travel as empty bools.
  if (type == ElementType::Token)
    return makeShape(ElementType::Pred, std::array<int64_t, 1>{0}.data(), 1, shape);
  if (type == ElementType::Invalid)
    return unimplemented("arrays of " + llvm::Twine(spec.elementType) + " as arguments or results");
  return makeShape(type, spec.shape.data(), spec.shape.size(), shape);
}

NamedValue cost(llvm::StringRef name, double value) {
  NamedValue entry{};
  entry.struct_size = Layout<NamedValue>::size;
  entry.name = name.data();
  entry.name_size = name.size();
  entry.type = NamedValueType::Float;
  entry.float_value = static_cast<float>(value);
  entry.value_size = 1;
  return entry;
}

Status describe(CompiledBody &body) {
  const LoadedProgram &program = *body.program;
  for (const cpu::ValueSpec &spec : program.arguments)
    if (Status status = shapeOf(spec, body.arguments.emplace_back()); !status.isOk())
      return status;
  for (const cpu::ValueSpec &spec : program.results) {
    Shape &shape = body.results.emplace_back();
    if (Status status = shapeOf(spec, shape); !status.isOk())
      return status;
    body.resultTypes.push_back(shape.type);
    body.resultRanks.push_back(shape.dims.size());
    body.resultDims.insert(body.resultDims.end(), shape.dims.begin(), shape.dims.end());
  }
  for (const Shape &shape : body.arguments)
    body.argumentLayouts.push_back(layoutOfRank(shape.dims.size()));
  for (const Shape &shape : body.results)
    body.resultLayouts.push_back(layoutOfRank(shape.dims.size()));
  size_t most = std::max(body.arguments.size(), body.results.size());
  body.memoryKinds.assign(most, kMemoryKind.data());
  body.memoryKindSizes.assign(most, kMemoryKind.size());
  body.argumentShardings = Shardings(program.arguments);
  body.resultShardings = Shardings(program.results);
  const cpu::CompileStats &stats = program.stats;
  body.costs = {cost("flops", stats.flops), cost("transcendentals", stats.transcendentals),
                cost("bytes accessed", stats.bytesAccessed)};
  for (const auto &[name, value] : program.extraCosts)
    body.costs.push_back(cost(name, value));
  return {};
}

Status finish(std::shared_ptr<CompiledBody> made, BodyPtr &body) {
  if (Status status = describe(*made); !status.isOk())
    return status;
  body = std::move(made);
  return {};
}

//===-- Serialization ------------------------------------------------------===//

constexpr llvm::StringLiteral kMagic = "SPOKESHAVE-PJRT\n";

void append(std::string &bytes, llvm::StringRef part) {
  char size[8];
  llvm::support::endian::write64le(size, part.size());
  bytes.append(size, sizeof size);
  bytes.append(part);
}

bool take(llvm::StringRef &bytes, llvm::StringRef &part) {
  if (bytes.size() < 8)
    return false;
  uint64_t size = llvm::support::endian::read64le(bytes.data());
  bytes = bytes.drop_front(8);
  if (size > bytes.size())
    return false;
  part = bytes.take_front(size);
  bytes = bytes.drop_front(size);
  return true;
}
} // namespace

Status compileProgram(const Backend &backend, llvm::StringRef format, llvm::StringRef source,
                      llvm::StringRef serializedOptions, BodyPtr &body) {
  if (format != "mlir")
    return unimplemented("programs in the format '" + format +
                         "': this plugin compiles StableHLO in the format 'mlir'");
  auto made = std::make_shared<CompiledBody>();
  made->source = source.str();
  made->compileOptions = serializedOptions.str();
  if (Status status = readOptions(serializedOptions, backend, *made); !status.isOk())
    return status;
  llvm::Expected<std::shared_ptr<LoadedProgram>> program =
      backend.compile(source, made->framework.overrides);
  if (!program)
    return toStatus(program.takeError());
  made->program = std::move(*program);
  if (Status status = checkCounts(made->framework, *made->program); !status.isOk())
    return status;
  return finish(std::move(made), body);
}

Status serializeBody(const CompiledBody &body, std::string &bytes) {
  llvm::Expected<std::string> program = body.program->serialize();
  if (!program)
    return toStatus(program.takeError());
  std::string content;
  append(content, versionText());
  append(content, body.compileOptions);
  append(content, body.source);
  append(content, *program);
  // The checksum goes first: a damaged file must not reach the loader.
  char checksum[8];
  llvm::support::endian::write64le(checksum, llvm::xxh3_64bits(content));
  bytes = kMagic.str() + std::string(checksum, sizeof checksum) + content;
  return {};
}

Status deserializeBody(const Backend &backend, llvm::StringRef bytes, BodyPtr &body) {
  Status damaged = statusOf(ErrorCode::ExecutableMismatch,
                            "the serialized executable is damaged or was made by something else");
  if (!bytes.consume_front(kMagic) || bytes.size() < 8)
    return damaged;
  uint64_t checksum = llvm::support::endian::read64le(bytes.data());
  bytes = bytes.drop_front(8);
  if (checksum != llvm::xxh3_64bits(bytes))
    return damaged;
  llvm::StringRef version, compileOptions, source, program;
  if (!take(bytes, version) || !take(bytes, compileOptions) || !take(bytes, source) ||
      !take(bytes, program))
    return damaged;
  if (version != versionText())
    return statusOf(ErrorCode::ExecutableMismatch, "the serialized executable was made by " +
                                                       version + ", this is " + versionText());
  auto made = std::make_shared<CompiledBody>();
  made->source = source.str();
  made->compileOptions = compileOptions.str();
  if (Status status = readOptions(compileOptions, backend, *made); !status.isOk())
    return status;
  llvm::Expected<std::shared_ptr<LoadedProgram>> loaded = backend.load(program);
  if (!loaded)
    return toStatus(loaded.takeError());
  made->program = std::move(*loaded);
  if (Status status = checkCounts(made->framework, *made->program); !status.isOk())
    return status;
  return finish(std::move(made), body);
}

Shardings::Shardings(llvm::ArrayRef<cpu::ValueSpec> specs) {
  for (const cpu::ValueSpec &spec : specs)
    texts.push_back(serializeSharding(spec));
  if (texts.empty())
    texts.emplace_back();
  // The strings stay where they are when the whole is moved: they are in a vector.
  for (const std::string &text : texts) {
    pointers.push_back(text.data());
    sizes.push_back(text.size());
  }
}

Status checkDevices(const Client &client, const CompiledBody &body) {
  const FrameworkOptions &framework = body.framework;
  int64_t wanted = framework.replicas * framework.partitions;
  if (wanted > static_cast<int64_t>(client.devices.size()))
    return statusOf(ErrorCode::BadArgument, "the program is for " + llvm::Twine(wanted) +
                                                " devices, this client has " +
                                                llvm::Twine(client.devices.size()) +
                                                " (SPOKESHAVE_NUM_DEVICES says how many)");
  if (wanted != static_cast<int64_t>(framework.deviceIds.size()))
    return invalidArgument("the device assignment names " +
                           llvm::Twine(framework.deviceIds.size()) + " devices for a program of " +
                           llvm::Twine(wanted));
  llvm::SmallVector<bool> taken(client.devices.size());
  for (int64_t id : framework.deviceIds) {
    if (id < 0 || id >= static_cast<int64_t>(client.devices.size()))
      return invalidArgument("the device assignment names device " + llvm::Twine(id) +
                             ", which does not exist");
    if (taken[id])
      return invalidArgument("the device assignment names device " + llvm::Twine(id) + " twice");
    taken[id] = true;
  }
  return {};
}

LoadedExecutable::LoadedExecutable(Client *client, BodyPtr body)
    : client(client), current(std::move(body)) {
  const FrameworkOptions &framework = current->framework;
  for (int64_t replica = 0; replica < framework.replicas; ++replica)
    for (int64_t partition = 0; partition < framework.partitions; ++partition) {
      int64_t id = framework.deviceIds[partition * framework.replicas + replica];
      devices.push_back(client->devices[id]);
      logicalIds.push_back(
          LogicalDeviceIds{static_cast<int>(replica), static_cast<int>(partition)});
    }
}

BodyPtr LoadedExecutable::body() const {
  std::lock_guard<std::mutex> lock(mutex);
  return current;
}

void LoadedExecutable::remove() {
  BodyPtr last; // freed outside of the lock
  std::lock_guard<std::mutex> lock(mutex);
  last = std::move(current);
}

} // namespace spokeshave::pjrt
