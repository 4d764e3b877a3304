//===- Client.cpp - the client, its devices and memories -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Client.h"

#include "machine/Machine.h"
#include "target/cpu/Abi.h"

#include "llvm/Support/xxhash.h"

namespace spokeshave::pjrt {

namespace {
constexpr MemoryTable kMemoryTable = {
    sizeof(MemoryTable), nullptr, sizeof(Memory),
    [](Memory *memory, const void *key) { return memory->userData(key); },
    [](Memory *memory, const void *key, void *data, void (*destroy)(void *)) {
      memory->setUserData(key, data, destroy);
    }};

/// "avx512 (AMD EPYC ...)": what programs are compiled for, and for whom.
std::string deviceKind() {
  llvm::Expected<machine::Machine> machine = machine::describe();
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return "cpu";
  }
  return ("cpu " + machine::nameOf(machine->isa)).str();
}

uint64_t hashOfThisMachine() {
  llvm::Expected<machine::Machine> machine = machine::describe();
  if (machine)
    return machine->hash();
  llvm::consumeError(machine.takeError());
  return 0;
}
} // namespace

std::string versionText() {
  return "spokeshave 0.1.0, abi " + std::to_string(cpu::kAbiVersion);
}

Memory::Memory(Client *client, int id) : table(&kMemoryTable), client(client), id(id) {
  text = "SpokeshaveMemory(id=" + std::to_string(id) + ")";
  debugString = text + ": main memory";
}

Memory::~Memory() {
  for (auto &[key, entry] : user)
    if (entry.destroy)
      entry.destroy(entry.data);
}

void *Memory::userData(const void *key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = user.find(key);
  return found == user.end() ? nullptr : found->second.data;
}

void Memory::setUserData(const void *key, void *data, void (*destroy)(void *)) {
  UserData old{nullptr, nullptr};
  {
    std::lock_guard<std::mutex> lock(mutex);
    UserData &entry = user[key];
    old = entry;
    entry = {data, destroy};
  }
  if (old.destroy && old.data)
    old.destroy(old.data);
}

TopologyDescription::TopologyDescription(const Backend &backend, int devices)
    : platform(backend.platform), platformVersion(versionText()),
      machineHash(backend.machineHash ? backend.machineHash : hashOfThisMachine()) {
  for (int id = 0; id < devices; ++id) {
    auto device = std::make_unique<DeviceDescription>();
    device->id = id;
    device->kind = backend.deviceKind.empty() ? deviceKind() : backend.deviceKind;
    device->text = "SpokeshaveDevice(id=" + std::to_string(id) + ")";
    device->debugString = device->text + ": " + device->kind;
    list.push_back(device.get());
    descriptions.push_back(std::move(device));
  }
}

uint64_t TopologyDescription::fingerprint() const {
  std::string text = platformVersion + "|" + std::to_string(machineHash);
  for (DeviceDescription *device : list)
    text += "|" + device->kind;
  return llvm::xxh3_64bits(text);
}

Client::Client(Backend used, int count)
    : backend(std::move(used)), topology(std::make_shared<TopologyDescription>(backend, count)) {
  for (DeviceDescription *description : topology->list) {
    auto memory = std::make_unique<Memory>(this, description->id);
    auto device = std::make_unique<Device>();
    device->client = this;
    device->description = description;
    device->localHardwareId = description->id;
    device->memories.push_back(memory.get());
    memory->devices.push_back(device.get());
    devices.push_back(device.get());
    memories.push_back(memory.get());
    ownedDevices.push_back(std::move(device));
    ownedMemories.push_back(std::move(memory));
  }
}

// Programs in flight use the memories: end them before those go.
Client::~Client() {
  dispatcher.reset();
}

} // namespace spokeshave::pjrt
