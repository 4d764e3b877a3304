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

/// Three page-aligned areas of one mapping, filled from their beginnings.
class Mapping : public llvm::RuntimeDyld::MemoryManager {
public:
  ~Mapping() override {
    if (base)
      munmap(base, bytes);
  }

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t codeSize, llvm::Align codeAlign, uintptr_t constSize,
                              llvm::Align constAlign, uintptr_t dataSize,
                              llvm::Align dataAlign) override {
    size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    // The alignment again, because stubs behind a section may end unaligned.
    size_t sizes[3] = {llvm::alignTo(codeSize + codeAlign.value(), page),
                       llvm::alignTo(constSize + constAlign.value(), page),
                       llvm::alignTo(dataSize + dataAlign.value(), page)};
    bytes = sizes[0] + sizes[1] + sizes[2];
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return; // the sections then find no room
    base = static_cast<char *>(memory);
    char *position = base;
    for (int area = 0; area < 3; ++area) {
      areas[area] = {position, position, position + sizes[area]};
      position += sizes[area];
    }
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

/// RuntimeDyld ends the process on what it does not know, so look first.
llvm::Error checkObject(const llvm::object::ObjectFile &object) {
  llvm::Triple host(llvm::sys::getProcessTriple());
  if (!object.isELF() || object.getArch() != host.getArch() || !object.isRelocatableObject())
    return mismatch("the object code is not an ELF object for this machine");
  for (const llvm::object::SectionRef &section : object.sections())
    if (llvm::object::ELFSectionRef(section).getFlags() & llvm::ELF::SHF_TLS)
      return mismatch("the object code uses thread-local storage");
  // A failing mmap later would end the process as well: try one of the size of
  // the object with room for stubs.
  size_t bytes = 4 * object.getData().size() + (1 << 20);
  void *probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED)
    return makeError(ErrorCode::OutOfMemory, "no memory for the code of the program");
  munmap(probe, bytes);
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::unique_ptr<LoadedObject>> LoadedObject::load(llvm::MemoryBufferRef buffer) {
  auto object = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!object)
    return mismatch(llvm::toString(object.takeError()));
  if (llvm::Error error = checkObject(**object))
    return std::move(error);
  Mapping mapping;
  Resolver resolver;
  llvm::RuntimeDyld linker(mapping, resolver);
  linker.loadObject(**object);
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
