//===- Machine.cpp - asks cpuid and /sys what this CPU is ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "machine/Machine.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"

#include <fstream>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace spokeshave::machine {

namespace {

// What each level needs of cpuid, in LLVM's names.
constexpr const char *kAvx2Needs[] = {"avx2", "fma",   "f16c",  "bmi",
                                      "bmi2", "lzcnt", "movbe", "popcnt"};
constexpr const char *kAvx512Needs[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

constexpr const char *kAmxNeeds[] = {"amx-tile", "amx-bf16", "amx-int8", "avx512vnni",
                                     "avx512bf16"};

// Extensions used where present, beyond what the level brings with it.
constexpr const char *kAvx512Extras[] = {"avx512vnni", "avx512bf16", "avx512fp16",
                                         "avx512vbmi", "avx512ifma", "gfni"};
constexpr const char *kAvx2Extras[] = {"avxvnni"};

const llvm::StringMap<bool> &hostFeatures() {
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features;
}

bool hostHas(llvm::StringRef feature) {
  return hostFeatures().lookup(feature);
}

bool hostHasAll(llvm::ArrayRef<const char *> features) {
  return llvm::all_of(features, [](const char *name) { return hostHas(name); });
}

/// Linux saves the 8 KiB of tile registers only for processes that asked for them.
/// It says no where a thread's alternate signal stack is too small for them.
bool mayUseTiles() {
#if defined(__x86_64__)
  constexpr int kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XTILEDATA
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

Isa bestIsa() {
  for (Isa isa : {Isa::Amx, Isa::Avx512, Isa::Avx2})
    if (canRun(isa))
      return isa;
  return Isa::X86_64;
}

std::string readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Reads sizes like "48K" of /sys/devices/system/cpu/cpu0/cache.
int64_t parseSize(llvm::StringRef text) {
  int64_t scale = 1;
  if (text.consume_back("K"))
    scale = 1 << 10;
  else if (text.consume_back("M"))
    scale = 1 << 20;
  int64_t value = 0;
  return text.getAsInteger(10, value) ? 0 : value * scale;
}

void readCaches(Machine &machine) {
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::string type = readLine(folder + "type");
    int64_t size = parseSize(readLine(folder + "size"));
    if (type.empty() || type == "Instruction" || size == 0)
      continue;
    std::string level = readLine(folder + "level");
    if (level == "1")
      machine.l1Bytes = size;
    else if (level == "2")
      machine.l2Bytes = size;
    else if (level == "3")
      machine.l3Bytes = size;
  }
}

std::string readModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    llvm::StringRef text(line);
    if (text.starts_with("model name"))
      return text.split(':').second.trim().str();
  }
  return "unknown";
}

/// The folder of this process in the unified cgroup hierarchy, or of the v1
/// controller `controller`.
std::string cgroupFolder(llvm::StringRef controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string unified;
  for (std::string line; std::getline(file, line);) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(line).split(parts, ':', 2);
    if (parts.size() != 3)
      continue;
    llvm::SmallVector<llvm::StringRef> controllers;
    parts[1].split(controllers, ',');
    if (llvm::is_contained(controllers, controller))
      return ("/sys/fs/cgroup/" + controller + parts[2]).str();
    if (parts[0] == "0" && parts[1].empty())
      unified = ("/sys/fs/cgroup" + parts[2]).str();
  }
  return unified;
}

/// The least of `read` over this cgroup's folder and all folders above it: a
/// limit of a parent holds for its children.
template <typename Read>
int64_t leastOfAncestors(llvm::StringRef controller, int64_t most, Read read) {
  std::string folder = cgroupFolder(controller);
  while (llvm::StringRef(folder).starts_with("/sys/fs/cgroup")) {
    if (int64_t limit = read(folder); limit > 0)
      most = std::min(most, limit);
    size_t slash = folder.find_last_of('/');
    if (slash == std::string::npos)
      break;
    folder.resize(slash);
  }
  return most;
}

int64_t cpuQuota(const std::string &folder) {
  int64_t quota = 0, period = 0;
  auto [first, second] = llvm::StringRef(readLine(folder + "/cpu.max")).split(' ');
  std::string firstText = first.str(), secondText = second.str();
  if (firstText.empty()) {
    firstText = readLine(folder + "/cpu.cfs_quota_us");
    secondText = readLine(folder + "/cpu.cfs_period_us");
  }
  if (llvm::StringRef(firstText).getAsInteger(10, quota) ||
      llvm::StringRef(secondText).getAsInteger(10, period) || quota <= 0 || period <= 0)
    return 0;
  return (quota + period - 1) / period;
}

int64_t memoryLimit(const std::string &folder) {
  for (const char *name : {"/memory.max", "/memory.limit_in_bytes"}) {
    int64_t limit = 0;
    if (!llvm::StringRef(readLine(folder + name)).getAsInteger(10, limit) && limit > 0)
      return limit;
  }
  return 0;
}

void fillLevel(Machine &machine) {
  llvm::SmallVector<std::string> features;
  // Of a machine that is not here nothing beyond the level is assumed.
  bool here = canRun(machine.isa);
  auto extra = [&](const char *name) {
    if (here && hostHas(name))
      features.push_back(std::string("+") + name);
  };
  machine.cpu = "x86-64";
  if (machine.isa >= Isa::Avx2) {
    machine.cpu = "x86-64-v3";
    machine.vectorBits = 256;
    machine.hasFma = machine.hasF16c = true;
    machine.hasVnni = here && hostHas("avxvnni");
  }
  if (machine.isa == Isa::Avx2)
    llvm::for_each(kAvx2Extras, extra);
  if (machine.isa >= Isa::Avx512) {
    machine.cpu = "x86-64-v4";
    machine.vectorBits = 512;
    machine.numVectorRegisters = 32;
    machine.hasVnni = here && hostHas("avx512vnni");
    machine.hasBf16 = here && hostHas("avx512bf16");
    machine.hasFastBf16Dots = machine.hasBf16 && llvm::sys::getHostCPUName().starts_with("znver");
    machine.hasFp16 = here && hostHas("avx512fp16");
    machine.hasVbmi = here && hostHas("avx512vbmi");
    llvm::for_each(kAvx512Extras, extra);
    // Without this LLVM prefers 256-bit vectors for x86-64-v4.
    features.push_back("-prefer-256-bit");
  }
  if (machine.isa == Isa::Amx) {
    machine.hasAmx = machine.hasVnni = machine.hasBf16 = true;
    for (const char *name : kAmxNeeds)
      if (std::string feature = std::string("+") + name; !llvm::is_contained(features, feature))
        features.push_back(feature);
  }
  machine.features = llvm::join(features, ",");
}

} // namespace

llvm::StringRef nameOf(Isa isa) {
  switch (isa) {
  case Isa::Amx:
    return "amx";
  case Isa::Avx512:
    return "avx512";
  case Isa::Avx2:
    return "avx2";
  case Isa::X86_64:
    break;
  }
  return "x86-64";
}

bool canRun(Isa isa) {
#if !defined(__x86_64__)
  return false;
#endif
  switch (isa) {
  case Isa::Amx:
    return canRun(Isa::Avx512) && hostHasAll(kAmxNeeds) && mayUseTiles();
  case Isa::Avx512:
    return hostHasAll(kAvx2Needs) && hostHasAll(kAvx512Needs);
  case Isa::Avx2:
    return hostHasAll(kAvx2Needs);
  case Isa::X86_64:
    break;
  }
  return true;
}

llvm::Expected<Machine> describe(llvm::StringRef isa) {
  Machine machine;
  static constexpr Isa kAll[] = {Isa::X86_64, Isa::Avx2, Isa::Avx512, Isa::Amx};
  const Isa *named = llvm::find_if(kAll, [&](Isa each) { return nameOf(each) == isa; });
  if (named == std::end(kAll) && isa != "native")
    return makeError(ErrorCode::BadOption,
                     "isa is one of native, amx, avx512, avx2, x86-64, not '" + isa + "'");
  machine.isa = isa == "native" ? bestIsa() : *named;
  fillLevel(machine);
  readCaches(machine);
  machine.model = readModel();
  machine.threads = availableThreads();
  return machine;
}

int64_t availableThreads() {
  int64_t count = sysconf(_SC_NPROCESSORS_ONLN);
  // A mask sized for machines with more than the 1024 CPUs of cpu_set_t.
  constexpr int kMaxCpus = 8192;
  cpu_set_t *set = CPU_ALLOC(kMaxCpus);
  if (sched_getaffinity(0, CPU_ALLOC_SIZE(kMaxCpus), set) == 0)
    count = CPU_COUNT_S(CPU_ALLOC_SIZE(kMaxCpus), set);
  CPU_FREE(set);
  return std::max<int64_t>(1, leastOfAncestors("cpu", count, cpuQuota));
}

int64_t availableMemory() {
  int64_t physical = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  return leastOfAncestors("memory", physical, memoryLimit);
}

uint64_t Machine::hash() const {
  std::string key;
  llvm::raw_string_ostream(key) << cpu << '|' << features << '|' << vectorBits << '|'
                                << numVectorRegisters << '|' << hasFma << hasF16c << hasBf16
                                << hasFp16 << hasVnni << hasVbmi << hasAmx << hasFastBf16Dots << '|'
                                << l1Bytes << '|' << l2Bytes << '|' << l3Bytes << '|' << threads
                                << '|' << rowLanes << '|' << taskBytes << convertsBf16
                                << hasTranscendentals;
  return llvm::xxh3_64bits(llvm::StringRef(key));
}

} // namespace spokeshave::machine
