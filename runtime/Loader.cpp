//===- Loader.cpp - object code into the process ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Loader.h"

#include "runtime/Symbols.h"
#include "support/Error.h"

#include "llvm/ExecutionEngine/JITSymbol.h"
#include "llvm/ExecutionEngine/RuntimeDyld.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Memory.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <sys/mman.h>
#include <unistd.h>

namespace spokeshave::runtime {
namespace {

/// Bytes of code, read-only data and writable data.
struct AreaSizes {
  uint64_t bytes[3] = {0, 0, 0};

  void add(const llvm::object::ObjectFile &object);
};

/// Three page-aligned areas of one mapping, filled from their beginnings.
class Mapping : public llvm::RuntimeDyld::MemoryManager {
public:
  ~Mapping() override {
    if (base)
      munmap(base, bytes);
  }

  /// RuntimeDyld ends the process where there is no room for a section: all is
  /// reserved before it begins.
  bool reserve(const AreaSizes &sizes) {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), rounded[3];
    for (int area = 0; area < 3; ++area)
      bytes += rounded[area] = llvm::alignTo(sizes.bytes[area], page);
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return false;
    base = static_cast<char *>(memory);
    char *position = base;
    for (int area = 0; area < 3; ++area) {
      areas[area] = {position, position, position + rounded[area]};
      position += rounded[area];
    }
    return true;
  }

  uint8_t *allocateCodeSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef) override {
    return take(areas[0], size, align);
  }
  uint8_t *allocateDataSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef,
                               bool readOnly) override {
    return take(areas[readOnly ? 1 : 2], size, align);
  }

  // Frames of generated code do not unwind.
  void registerEHFrames(uint8_t *, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}

  bool finalizeMemory(std::string *) override {
    llvm::sys::Memory::InvalidateInstructionCache(base, areas[0].end - areas[0].begin);
    return mprotect(areas[0].begin, areas[0].end - areas[0].begin, PROT_READ | PROT_EXEC) != 0 ||
           mprotect(areas[1].begin, areas[1].end - areas[1].begin, PROT_READ) != 0;
  }

  std::pair<void *, size_t> release() { return {std::exchange(base, nullptr), bytes}; }

private:
  struct Area {
    char *begin = nullptr, *next = nullptr, *end = nullptr;
  };
  static uint8_t *take(Area &area, uintptr_t size, unsigned align) {
    auto address = llvm::alignTo(reinterpret_cast<uintptr_t>(area.next), std::max(1u, align));
    if (address + size > reinterpret_cast<uintptr_t>(area.end))
      return nullptr;
    area.next = reinterpret_cast<char *>(address + size);
    return reinterpret_cast<uint8_t *>(address);
  }
  char *base = nullptr;
  size_t bytes = 0;
  Area areas[3];
};

class Resolver : public llvm::JITSymbolResolver {
public:
  void lookup(const LookupSet &names, OnResolvedFunction resolved) override {
    LookupResult result;
    for (llvm::StringRef name : names) {
      void *address = lookupAllowedSymbol(name);
      if (!address)
        return resolved(makeError(ErrorCode::ExecutableMismatch,
                                  "the object code refers to '" + name +
                                      "', which is not among the functions it may call"));
      result[name] = llvm::JITEvaluatedSymbol(reinterpret_cast<uintptr_t>(address),
                                              llvm::JITSymbolFlags::Exported);
    }
    resolved(std::move(result));
  }
  llvm::Expected<LookupSet> getResponsibilitySet(const LookupSet &) override {
    return LookupSet(); // the object's own definitions always win
  }
};

llvm::Error mismatch(const llvm::Twine &message) {
  return makeError(ErrorCode::ExecutableMismatch, message);
}

/// What the sections of `object` take at most, with stubs and the table of
/// addresses that relocations may want.
void AreaSizes::add(const llvm::object::ObjectFile &object) {
  constexpr uint64_t kPerRelocation = 16, kPerSection = 64;
  enum { Code, Constants, Data };
  llvm::DenseMap<uint64_t, int> areaOf;
  for (const llvm::object::SectionRef &section : object.sections()) {
    uint64_t flags = llvm::object::ELFSectionRef(section).getFlags();
    if (!(flags & llvm::ELF::SHF_ALLOC))
      continue;
    int area = flags & llvm::ELF::SHF_EXECINSTR ? Code
               : flags & llvm::ELF::SHF_WRITE   ? Data
                                                : Constants;
    areaOf[section.getIndex()] = area;
    bytes[area] += section.getSize() + 2 * section.getAlignment().value() + kPerSection;
  }
  for (const llvm::object::SectionRef &section : object.sections()) {
    uint64_t count = std::distance(section.relocation_begin(), section.relocation_end());
    auto relocated = section.getRelocatedSection();
    if (!relocated || *relocated == object.section_end()) {
      llvm::consumeError(relocated.takeError());
      continue;
    }
    bytes[areaOf.lookup((*relocated)->getIndex())] += count * kPerRelocation;
    bytes[Data] += count * kPerRelocation; // addresses of what is far away
  }
  for (const llvm::object::SymbolRef &symbol : object.symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      llvm::consumeError(flags.takeError());
    else if (*flags & llvm::object::SymbolRef::SF_Common)
      bytes[Data] += symbol.getCommonSize() + 2 * symbol.getAlignment();
  }
  bytes[Data] += kPerSection;
}

/// RuntimeDyld ends the process on what it does not know, so look first.
llvm::Error checkObject(const llvm::object::ObjectFile &object) {
  llvm::Triple host(llvm::sys::getProcessTriple());
  if (!object.isELF() || object.getArch() != host.getArch() || !object.isRelocatableObject())
    return mismatch("the object code is not an ELF object for this machine");
  for (const llvm::object::SectionRef &section : object.sections())
    if (llvm::object::ELFSectionRef(section).getFlags() & llvm::ELF::SHF_TLS)
      return mismatch("the object code uses thread-local storage");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::unique_ptr<LoadedObject>>
LoadedObject::load(llvm::ArrayRef<llvm::MemoryBufferRef> buffers) {
  std::vector<std::unique_ptr<llvm::object::ObjectFile>> objects;
  AreaSizes sizes;
  for (llvm::MemoryBufferRef buffer : buffers) {
    auto object = llvm::object::ObjectFile::createObjectFile(buffer);
    if (!object)
      return mismatch(llvm::toString(object.takeError()));
    if (llvm::Error error = checkObject(**object))
      return std::move(error);
    sizes.add(**object);
    objects.push_back(std::move(*object));
  }
  if (objects.empty())
    return mismatch("the program has no code");
  Mapping mapping;
  if (!mapping.reserve(sizes))
    return makeError(ErrorCode::OutOfMemory, "no memory for the code of the program");
  Resolver resolver;
  llvm::RuntimeDyld linker(mapping, resolver);
  for (const auto &object : objects) {
    linker.loadObject(*object);
    if (linker.hasError())
      break;
  }
  if (!linker.hasError())
    linker.resolveRelocations();
  if (linker.hasError())
    return mismatch("the object code does not link: " + linker.getErrorString());
  if (mapping.finalizeMemory(nullptr))
    return makeError(ErrorCode::OutOfMemory, "the system does not let code be made executable");

  std::unique_ptr<LoadedObject> loaded(new LoadedObject);
  for (const auto &[name, symbol] : linker.getSymbolTable())
    loaded->symbols[name] = reinterpret_cast<void *>(symbol.getAddress());
  std::tie(loaded->base, loaded->bytes) = mapping.release();
  return std::move(loaded);
}

LoadedObject::~LoadedObject() {
  if (base)
    munmap(base, bytes);
}

} // namespace spokeshave::runtime
