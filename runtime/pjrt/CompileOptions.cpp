//===- CompileOptions.cpp - reading options from protobuf's wire format ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/CompileOptions.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

namespace spokeshave::pjrt {

namespace {
/// One field of a message. `number` holds varints and fixed-width values,
/// `bytes` the length-delimited ones.
struct Field {
  uint32_t id = 0;
  enum Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 } wire = Varint;
  uint64_t number = 0;
  llvm::StringRef bytes;
};

/// Walks over the fields of one message. Never reads past its end; `failed` says
/// that the bytes are no message.
class Reader {
public:
  explicit Reader(llvm::StringRef bytes) : rest(bytes) {}

  bool next(Field &field) {
    uint64_t tag;
    if (failed || rest.empty() || !varint(tag))
      return false;
    field.id = static_cast<uint32_t>(tag >> 3);
    field.wire = static_cast<Field::Wire>(tag & 7);
    if (tag > UINT32_MAX || field.id == 0)
      return fail();
    switch (field.wire) {
    case Field::Varint:
      return varint(field.number);
    case Field::Fixed64:
      return fixed<uint64_t>(field.number);
    case Field::Fixed32:
      return fixed<uint32_t>(field.number);
    case Field::Bytes:
      return delimited(field.bytes);
    }
    return fail(); // groups are obsolete, and nothing else exists
  }

  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest.empty())
        return fail();
      uint8_t byte = rest.front();
      rest = rest.drop_front();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return fail();
  }

  bool empty() const { return rest.empty(); }
  bool failed = false;

private:
  bool fail() {
    failed = true;
    return false;
  }

  template <typename T> bool fixed(uint64_t &value) {
    if (rest.size() < sizeof(T))
      return fail();
    value = llvm::support::endian::read<T, llvm::endianness::little>(rest.data());
    rest = rest.drop_front(sizeof(T));
    return true;
  }

  bool delimited(llvm::StringRef &bytes) {
    uint64_t size;
    if (!varint(size) || size > rest.size())
      return fail();
    bytes = rest.take_front(size);
    rest = rest.drop_front(size);
    return true;
  }

  llvm::StringRef rest;
};

using Visitor = llvm::function_ref<bool(const Field &)>;

/// Calls `visit` for each field; false if the message or a visited part of it is
/// malformed.
bool forEachField(llvm::StringRef message, Visitor visit) {
  Reader reader(message);
  Field field;
  while (reader.next(field))
    if (!visit(field))
      return false;
  return !reader.failed;
}

/// A repeated integer: packed, or one by one.
bool readIds(const Field &field, std::vector<int64_t> &ids) {
  if (field.wire == Field::Varint) {
    ids.push_back(static_cast<int64_t>(field.number));
    return true;
  }
  if (field.wire != Field::Bytes)
    return false;
  Reader packed(field.bytes);
  uint64_t id;
  while (!packed.empty() && packed.varint(id))
    ids.push_back(static_cast<int64_t>(id));
  return !packed.failed;
}

/// DeviceAssignmentProto: 3 is a computation's devices, whose 1 are the ids.
bool readDevices(llvm::StringRef message, std::vector<int64_t> &ids) {
  return forEachField(message, [&](const Field &field) {
    if (field.id != 3 || field.wire != Field::Bytes)
      return true;
    return forEachField(
        field.bytes, [&](const Field &device) { return device.id != 1 || readIds(device, ids); });
  });
}

/// ExecutableBuildOptionsProto.
bool readBuildOptions(llvm::StringRef message, FrameworkOptions &options) {
  return forEachField(message, [&](const Field &field) {
    if (field.id == 4 && field.wire == Field::Varint)
      options.replicas = static_cast<int64_t>(field.number);
    else if (field.id == 5 && field.wire == Field::Varint)
      options.partitions = static_cast<int64_t>(field.number);
    else if (field.id == 9 && field.wire == Field::Bytes) {
      options.deviceAssignment = field.bytes.str();
      options.deviceIds.clear();
      return readDevices(field.bytes, options.deviceIds);
    }
    return true;
  });
}

/// OptionOverrideProto: a string, a bool, an integer or a double.
bool readOverrideValue(llvm::StringRef message, std::string &text) {
  return forEachField(message, [&](const Field &field) {
    if (field.id == 1 && field.wire == Field::Bytes)
      text = field.bytes.str();
    else if (field.id == 2 && field.wire == Field::Varint)
      text = field.number ? "true" : "false";
    else if (field.id == 3 && field.wire == Field::Varint)
      text = std::to_string(static_cast<int64_t>(field.number));
    else if (field.id == 4 && field.wire == Field::Fixed64)
      text = llvm::formatv("{0}", llvm::bit_cast<double>(field.number)).str();
    return true;
  });
}

/// An entry of the map env_option_overrides.
bool readOverride(llvm::StringRef message, FrameworkOptions &options) {
  std::pair<std::string, std::string> entry;
  bool wellFormed = forEachField(message, [&](const Field &field) {
    if (field.id == 1 && field.wire == Field::Bytes)
      entry.first = field.bytes.str();
    else if (field.id == 2 && field.wire == Field::Bytes)
      return readOverrideValue(field.bytes, entry.second);
    return true;
  });
  options.overrides.push_back(std::move(entry));
  return wellFormed;
}
} // namespace

Status parseFrameworkOptions(llvm::StringRef bytes, FrameworkOptions &options) {
  bool wellFormed = forEachField(bytes, [&](const Field &field) {
    if (field.wire != Field::Bytes)
      return true;
    if (field.id == 3)
      return readBuildOptions(field.bytes, options);
    if (field.id == 7)
      return readOverride(field.bytes, options);
    return true;
  });
  if (!wellFormed)
    return invalidArgument("the compile options are no well-formed protocol buffer");
  // Absent numbers read as zero.
  options.replicas = options.replicas ? options.replicas : 1;
  options.partitions = options.partitions ? options.partitions : 1;
  if (options.deviceAssignment.empty()) {
    // One replica and one computation, on device 0.
    options.deviceAssignment.assign("\x08\x01\x10\x01\x1a\x03\x0a\x01\x00", 9);
    options.deviceIds = {0};
  }
  return {};
}

} // namespace spokeshave::pjrt
