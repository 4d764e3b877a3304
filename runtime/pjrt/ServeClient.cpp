//===- ServeClient.cpp - client, devices, memories and topology ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Client.h"
#include "runtime/pjrt/Serve.h"

#include "runtime/Memory.h"

namespace spokeshave::pjrt {

//===-- Client -------------------------------------------------------------===//

namespace {
/// More would be a mistake: each device of a program is a thread.
constexpr int64_t kMostDevices = 1024;

/// The number of devices that `text` asks for, from where `source` says.
Status readDevices(llvm::StringRef text, llvm::StringRef source, int &devices) {
  int64_t number = 0;
  if (text.trim().getAsInteger(10, number) || number < 1 || number > kMostDevices)
    return statusOf(ErrorCode::BadOption, source + " is '" + text + "', not a number from 1 to " +
                                              llvm::Twine(kMostDevices));
  devices = static_cast<int>(number);
  return {};
}
} // namespace

Status serve(Client_Create_Args &args) {
  llvm::StringRef target, chip;
  int devices = 0;
  for (size_t i = 0; i < args.num_options; ++i) {
    const NamedValue &option = args.create_options[i];
    llvm::StringRef name(option.name, option.name_size);
    if ((name == "target" || name == "chip") && option.type == NamedValueType::String) {
      (name == "chip" ? chip : target) = llvm::StringRef(option.string_value, option.value_size);
      continue;
    }
    if (name == "num_devices") {
      std::string number = option.type == NamedValueType::String
                               ? std::string(option.string_value, option.value_size)
                               : std::to_string(option.int64_value);
      if (Status status = readDevices(number, "the client's option num_devices", devices);
          !status.isOk())
        return status;
      continue;
    }
    // The framework's own, about processes: there is one.
    if (name != "num_nodes" && name != "node_id")
      return statusOf(ErrorCode::BadOption, "the client has no option '" + name + "'");
  }
  if (const char *text = std::getenv("SPOKESHAVE_NUM_DEVICES"); text && devices == 0)
    if (Status status = readDevices(text, "SPOKESHAVE_NUM_DEVICES", devices); !status.isOk())
      return status;
  llvm::Expected<Backend> backend = backendFor(target, chip);
  if (!backend)
    return toStatus(backend.takeError());
  backend->start();
  args.client = new Client(std::move(*backend), std::max(1, devices));
  return {};
}

Status serve(Client_Destroy_Args &args) {
  delete args.client;
  return {};
}

Status serve(Client_PlatformName_Args &args) {
  giveText(args.client->topology->platform, args.platform_name, args.platform_name_size);
  return {};
}

Status serve(Client_ProcessIndex_Args &args) {
  args.process_index = 0;
  return {};
}

Status serve(Client_PlatformVersion_Args &args) {
  giveText(args.client->topology->platformVersion, args.platform_version,
           args.platform_version_size);
  return {};
}

Status serve(Client_Devices_Args &args) {
  args.devices = args.client->devices.data();
  args.num_devices = args.client->devices.size();
  return {};
}

Status serve(Client_AddressableDevices_Args &args) {
  args.addressable_devices = args.client->devices.data();
  args.num_addressable_devices = args.client->devices.size();
  return {};
}

Status serve(Client_LookupDevice_Args &args) {
  for (Device *device : args.client->devices) {
    if (device->description->id == args.id) {
      args.device = device;
      return {};
    }
  }
  return Status(StatusCode::NotFound, "there is no device with id " + llvm::Twine(args.id));
}

Status serve(Client_LookupAddressableDevice_Args &args) {
  for (Device *device : args.client->devices) {
    if (device->localHardwareId == args.local_hardware_id) {
      args.addressable_device = device;
      return {};
    }
  }
  return Status(StatusCode::NotFound,
                "there is no device with hardware id " + llvm::Twine(args.local_hardware_id));
}

Status serve(Client_AddressableMemories_Args &args) {
  args.addressable_memories = args.client->memories.data();
  args.num_addressable_memories = args.client->memories.size();
  return {};
}

Status serve(Client_DefaultDeviceAssignment_Args &args) {
  int64_t wanted = static_cast<int64_t>(args.num_replicas) * args.num_partitions;
  if (wanted < 1 || wanted > static_cast<int64_t>(args.client->devices.size()))
    return invalidArgument("an assignment of " + llvm::Twine(wanted) + " devices was asked for, " +
                           llvm::Twine(args.client->devices.size()) + " exist");
  if (args.default_assignment_size < static_cast<size_t>(wanted))
    return invalidArgument("the list for the device assignment is too short");
  for (int64_t i = 0; i < wanted; ++i)
    args.default_assignment[i] = args.client->devices[i]->description->id;
  return {};
}

Status serve(Client_TopologyDescription_Args &args) {
  args.topology = args.client->topology.get();
  return {};
}

// There is one process, whatever the framework knows of others.
Status serve(Client_UpdateGlobalProcessInfo_Args &) {
  return {};
}

//===-- Devices ------------------------------------------------------------===//

Status serve(DeviceDescription_Id_Args &args) {
  args.id = args.device_description->id;
  return {};
}

Status serve(DeviceDescription_ProcessIndex_Args &args) {
  args.process_index = 0;
  return {};
}

Status serve(DeviceDescription_Attributes_Args &args) {
  args.attributes = args.device_description->attributes.data();
  args.num_attributes = args.device_description->attributes.size();
  return {};
}

Status serve(DeviceDescription_Kind_Args &args) {
  giveText(args.device_description->kind, args.device_kind, args.device_kind_size);
  return {};
}

Status serve(DeviceDescription_DebugString_Args &args) {
  giveText(args.device_description->debugString, args.debug_string, args.debug_string_size);
  return {};
}

Status serve(DeviceDescription_ToString_Args &args) {
  giveText(args.device_description->text, args.to_string, args.to_string_size);
  return {};
}

Status serve(Device_GetDescription_Args &args) {
  args.device_description = args.device->description;
  return {};
}

Status serve(Device_GetAttributes_Args &args) {
  // The same as the description's, which live as long as the client.
  args.attributes = args.device->description->attributes.data();
  args.num_attributes = args.device->description->attributes.size();
  args.device_attributes = nullptr;
  args.attributes_deleter = [](DeviceAttributes *) {};
  return {};
}

Status serve(Device_IsAddressable_Args &args) {
  args.is_addressable = true;
  return {};
}

Status serve(Device_LocalHardwareId_Args &args) {
  args.local_hardware_id = args.device->localHardwareId;
  return {};
}

Status serve(Device_AddressableMemories_Args &args) {
  args.memories = args.device->memories.data();
  args.num_memories = args.device->memories.size();
  return {};
}

Status serve(Device_DefaultMemory_Args &args) {
  args.memory = args.device->memories.front();
  return {};
}

Status serve(Device_MemoryStats_Args &args) {
  // Buffers, temporaries and scratch of the process; the device is the machine.
  runtime::MemoryStatistics statistics = runtime::memoryStatistics();
  args.bytes_in_use = statistics.bytesInUse;
  args.peak_bytes_in_use = statistics.peakBytesInUse;
  args.num_allocs = statistics.allocations;
  args.largest_alloc_size = statistics.largestAllocation;
  args.bytes_limit = statistics.bytesLimit;
  args.pool_bytes = statistics.bytesInUse + statistics.bytesCached;
  args.peak_bytes_in_use_is_set = args.num_allocs_is_set = args.largest_alloc_size_is_set =
      args.bytes_limit_is_set = args.pool_bytes_is_set = true;
  args.bytes_reserved_is_set = args.peak_bytes_reserved_is_set =
      args.bytes_reservable_limit_is_set = args.largest_free_block_bytes_is_set =
          args.peak_pool_bytes_is_set = false;
  if (SPOKESHAVE_PJRT_HAS(args, peak_allocated_bytes_is_set)) {
    args.peak_allocated_bytes = statistics.peakBytesInUse;
    args.peak_allocated_bytes_is_set = true;
  }
  return {};
}

//===-- Memories -----------------------------------------------------------===//

Status serve(Memory_Id_Args &args) {
  args.id = args.memory->id;
  return {};
}

Status serve(Memory_Kind_Args &args) {
  giveText(kMemoryKind, args.kind, args.kind_size);
  return {};
}

Status serve(Memory_Kind_Id_Args &args) {
  args.kind_id = 0;
  return {};
}

Status serve(Memory_DebugString_Args &args) {
  giveText(args.memory->debugString, args.debug_string, args.debug_string_size);
  return {};
}

Status serve(Memory_ToString_Args &args) {
  giveText(args.memory->text, args.to_string, args.to_string_size);
  return {};
}

Status serve(Memory_AddressableByDevices_Args &args) {
  args.devices = args.memory->devices.data();
  args.num_devices = args.memory->devices.size();
  return {};
}

//===-- Topology -----------------------------------------------------------===//

Status serve(TopologyDescription_Create_Args &args) {
  args.topology = new TopologyDescription;
  return {};
}

Status serve(TopologyDescription_Destroy_Args &args) {
  delete args.topology;
  return {};
}

Status serve(TopologyDescription_PlatformName_Args &args) {
  giveText(args.topology->platform, args.platform_name, args.platform_name_size);
  return {};
}

Status serve(TopologyDescription_PlatformVersion_Args &args) {
  giveText(args.topology->platformVersion, args.platform_version, args.platform_version_size);
  return {};
}

Status serve(TopologyDescription_GetDeviceDescriptions_Args &args) {
  args.descriptions = args.topology->list.data();
  args.num_descriptions = args.topology->list.size();
  return {};
}

Status serve(TopologyDescription_Attributes_Args &args) {
  args.attributes = args.topology->attributes.data();
  args.num_attributes = args.topology->attributes.size();
  return {};
}

// Only this very machine and build can be described: the bytes are its
// fingerprint, which the persistent cache takes into its keys.
Status serve(TopologyDescription_Serialize_Args &args) {
  giveBytes("spokeshave-topology " + std::to_string(args.topology->fingerprint()),
            args.serialized_bytes, args.serialized_bytes_size, args.serialized_topology,
            args.serialized_topology_deleter);
  return {};
}

Status serve(TopologyDescription_Deserialize_Args &args) {
  auto topology = std::make_unique<TopologyDescription>();
  llvm::StringRef bytes(args.serialized_topology, args.serialized_topology_size);
  if (bytes != "spokeshave-topology " + std::to_string(topology->fingerprint()))
    return statusOf(ErrorCode::ExecutableMismatch, "the topology is of another machine or build");
  args.topology = topology.release();
  return {};
}

Status serve(TopologyDescription_Fingerprint_Args &args) {
  args.fingerprint = args.topology->fingerprint();
  return {};
}

Status serve(TopologyDescription_GetMemorySpaceKindIds_Args &args) {
  static constexpr int kinds[] = {0};
  args.memory_space_kind_ids = kinds;
  args.num_memory_space_kind_ids = std::size(kinds);
  return {};
}

} // namespace spokeshave::pjrt
