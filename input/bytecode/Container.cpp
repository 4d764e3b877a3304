//===- Container.cpp - the sections of an MLIR bytecode file ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Container.h.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Container.h"

#include <optional>

using namespace mlir;

namespace spokeshave::bytecode {

static constexpr StringLiteral magic("ML\xEFR");

bool isBytecode(StringRef bytes) {
  return bytes.starts_with(magic);
}

StringRef Container::string(Cursor &cursor) const {
  uint64_t index = cursor.varint();
  if (!cursor.ok())
    return {};
  if (index >= strings.size()) {
    cursor.error("string " + Twine(index) + " of " + Twine(strings.size()));
    return {};
  }
  return strings[index];
}

namespace {

enum SectionId : uint8_t {
  Strings,
  Dialects,
  AttributesAndTypes,
  Offsets,
  Operations,
  Resources,
  ResourceOffsets,
  DialectVersion,
  PropertyTable,
  NumSections,
};

class ContainerReader {
public:
  explicit ContainerReader(Input &input) : input(input) {}
  Container read();

private:
  void readHeader(Cursor &cursor);
  void findSections(Cursor &cursor);
  void readStrings();
  void readDialects();
  void readOpNames(Cursor &cursor);
  void readOffsets();
  void readEntries(Cursor &offsets, Cursor &data, uint64_t count, SmallVectorImpl<Entry> &entries);
  void readProperties();

  Cursor open(SectionId id) { return Cursor(input, sections[id].value_or(Range{})); }

  Input &input;
  Container container;
  std::optional<Range> sections[NumSections];
};

void ContainerReader::readHeader(Cursor &cursor) {
  if (cursor.bytes(std::min<uint64_t>(magic.size(), cursor.remaining())) != magic)
    return cursor.error("this is not MLIR bytecode");
  container.version = cursor.varint();
  if (container.version > NewestFormat)
    return cursor.error("format version " + Twine(container.version) + " is newer than " +
                        Twine(unsigned(NewestFormat)));
  container.producer = cursor.zeroTerminated();
  if (cursor.ok() && !container.producer.starts_with("StableHLO_v"))
    cursor.error("written by '" + container.producer +
                 "'; only portable artifacts of StableHLO can be read");
}

void ContainerReader::findSections(Cursor &cursor) {
  while (!cursor.empty()) {
    Cursor::Section section = cursor.section();
    if (!cursor.ok())
      return;
    if (section.id >= NumSections)
      return cursor.error("unknown section " + Twine(unsigned(section.id)));
    if (sections[section.id])
      return cursor.error("section " + Twine(unsigned(section.id)) + " occurs twice");
    sections[section.id] = section.range;
  }
  for (SectionId id : {Strings, Dialects, AttributesAndTypes, Offsets, Operations})
    if (!sections[id])
      return cursor.error("section " + Twine(unsigned(id)) + " is missing");
}

// The sizes come first, from the last string to the first; the characters
// fill the end of the section.
void ContainerReader::readStrings() {
  Cursor cursor = open(Strings);
  uint64_t count = cursor.count();
  uint64_t end = sections[Strings]->end;
  container.strings.resize(count);
  for (uint64_t i = count; i-- > 0 && cursor.ok();) {
    uint64_t size = cursor.varint();
    if (size == 0 || size > end - cursor.offset())
      return cursor.error("a string of size " + Twine(size));
    end -= size;
    container.strings[i] = input.bytes.slice(end, end + size - 1);
    if (input.bytes[end + size - 1] != '\0')
      return cursor.error("a string without an end");
  }
}

void ContainerReader::readDialects() {
  Cursor cursor = open(Dialects);
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    if (container.version < DialectVersions) {
      container.dialects.push_back(container.string(cursor));
      continue;
    }
    auto [index, hasVersion] = cursor.flagged();
    if (cursor.ok() && index >= container.strings.size())
      return cursor.error("string " + Twine(index));
    if (!cursor.ok())
      return;
    container.dialects.push_back(container.strings[index]);
    // No dialect's version changes what we read: codes are never reused.
    if (hasVersion && cursor.section().id != DialectVersion && cursor.ok())
      return cursor.error("expected the version of a dialect");
  }
  readOpNames(cursor);
}

void ContainerReader::readOpNames(Cursor &cursor) {
  // The total; only good for reserving.
  if (container.version >= IsolatedSections)
    cursor.varint();
  while (!cursor.empty()) {
    uint64_t dialect = cursor.varint();
    if (cursor.ok() && dialect >= container.dialects.size())
      return cursor.error("dialect " + Twine(dialect));
    uint64_t count = cursor.count();
    for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
      // From version 5 a flag says whether the operation was registered.
      uint64_t index = container.version < Properties ? cursor.varint() : cursor.flagged().first;
      if (cursor.ok() && index >= container.strings.size())
        return cursor.error("string " + Twine(index));
      if (cursor.ok())
        container.opNames.push_back({dialect, container.strings[index]});
    }
  }
}

void ContainerReader::readEntries(Cursor &offsets, Cursor &data, uint64_t count,
                                  SmallVectorImpl<Entry> &entries) {
  while (entries.size() < count && offsets.ok()) {
    uint64_t dialect = offsets.varint();
    if (offsets.ok() && dialect >= container.dialects.size())
      return offsets.error("dialect " + Twine(dialect));
    uint64_t group = offsets.count();
    if (offsets.ok() && group > count - entries.size())
      return offsets.error("more attributes or types than announced");
    for (uint64_t i = 0; i < group && offsets.ok(); ++i) {
      auto [size, hasEncoding] = offsets.flagged();
      Range range = data.take(size);
      entries.push_back({dialect, hasEncoding, range});
    }
  }
}

void ContainerReader::readOffsets() {
  Cursor offsets = open(Offsets);
  Cursor data = open(AttributesAndTypes);
  uint64_t numAttributes = offsets.count();
  uint64_t numTypes = offsets.count();
  readEntries(offsets, data, numAttributes, container.attributes);
  readEntries(offsets, data, numTypes, container.types);
  if (offsets.ok() && !offsets.empty())
    offsets.error("unexpected bytes after the offsets of attributes and types");
}

void ContainerReader::readProperties() {
  if (!sections[PropertyTable])
    return;
  Cursor cursor = open(PropertyTable);
  uint64_t count = cursor.count();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i)
    container.properties.push_back(cursor.take(cursor.varint()));
}

Container ContainerReader::read() {
  Cursor cursor(input, {0, input.bytes.size()});
  readHeader(cursor);
  if (input.ok())
    findSections(cursor);
  if (input.ok())
    readStrings();
  if (input.ok())
    readDialects();
  if (input.ok())
    readOffsets();
  if (input.ok()) {
    readProperties();
    container.operations = *sections[Operations];
  }
  return std::move(container);
}

} // namespace

Container readContainer(Input &input) {
  return ContainerReader(input).read();
}

} // namespace spokeshave::bytecode
