//===- Client.h - the client and the devices and memories it owns ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A client has as many devices as it was asked for, each with one memory. On the
// CPU all share the machine's cores and memory: programs for several devices run
// on as many threads at once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/Backend.h"
#include "runtime/pjrt/Dispatcher.h"
#include "runtime/pjrt/PjrtArgs.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spokeshave::pjrt {

inline constexpr llvm::StringLiteral kMemoryKind = "device";

struct DeviceDescription {
  int id = 0;
  std::string kind, debugString, text;
  std::vector<NamedValue> attributes;
};

struct Device {
  Client *client = nullptr;
  DeviceDescription *description = nullptr;
  int localHardwareId = 0;
  std::vector<Memory *> memories; ///< the default memory first
};

/// Begins with the function table that the framework calls.
struct Memory {
  const MemoryTable *table;
  Client *client;
  int id;
  std::string debugString, text;
  std::vector<Device *> devices;

  explicit Memory(Client *client, int id);
  ~Memory();
  void *userData(const void *key);
  void setUserData(const void *key, void *data, void (*destroy)(void *));

private:
  struct UserData {
    void *data;
    void (*destroy)(void *);
  };
  std::mutex mutex;
  std::map<const void *, UserData> user;
};

/// A description of devices without the devices.
struct TopologyDescription {
  std::string platform, platformVersion;
  uint64_t machineHash;
  std::vector<std::unique_ptr<DeviceDescription>> descriptions;
  std::vector<DeviceDescription *> list;
  std::vector<NamedValue> attributes;

  explicit TopologyDescription(const Backend &backend = {}, int devices = 1);
  uint64_t fingerprint() const;
};

struct Client {
  Backend backend;
  std::shared_ptr<TopologyDescription> topology;
  std::vector<std::unique_ptr<Device>> ownedDevices;
  std::vector<std::unique_ptr<Memory>> ownedMemories;
  std::vector<Device *> devices;
  std::vector<Memory *> memories;
  std::shared_ptr<Dispatcher> dispatcher = std::make_shared<Dispatcher>();

  explicit Client(Backend backend, int devices = 1);
  ~Client();
};

/// The compiler's version, part of fingerprints and of platform_version.
std::string versionText();

} // namespace spokeshave::pjrt
