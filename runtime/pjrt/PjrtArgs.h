//===- PjrtArgs.h - the arguments struct of each slot ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One struct per slot of SPOKESHAVE_PJRT_SLOTS, in the order of themes. Sizes
// are asserted here, offsets in PjrtAbiTest.cpp. Kept dense on purpose: this is
// a table, and its meaning is in the interface's public documentation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/PjrtAbi.h"

namespace spokeshave::pjrt {
// clang-format off

struct ExecuteOptions {
  SPOKESHAVE_PJRT_HEAD; void *send_callbacks; void *recv_callbacks; size_t num_send_ops;
  size_t num_recv_ops; int launch_id; const int64_t *non_donatable_input_indices;
  size_t num_non_donatable_input_indices; ExecuteContext *context; const char *call_location;
  size_t num_tasks; int *task_ids; int64_t *incarnation_ids; void *multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks; void *hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
};
SPOKESHAVE_PJRT_LAYOUT(ExecuteOptions, num_hlo_output_callbacks, 144);

//===-- Errors ------------------------------------------------------------===//

struct Error_Destroy_Args { SPOKESHAVE_PJRT_HEAD; ErrorObject *error; };
SPOKESHAVE_PJRT_LAYOUT(Error_Destroy_Args, error, 24);
struct Error_Message_Args {
  SPOKESHAVE_PJRT_HEAD; const ErrorObject *error; const char *message; size_t message_size;
};
SPOKESHAVE_PJRT_LAYOUT(Error_Message_Args, message_size, 40);
struct Error_GetCode_Args { SPOKESHAVE_PJRT_HEAD; const ErrorObject *error; StatusCode code; };
SPOKESHAVE_PJRT_LAYOUT(Error_GetCode_Args, code, 28);
struct Error_ForEachPayload_Args {
  SPOKESHAVE_PJRT_HEAD; const ErrorObject *error; PayloadVisitor visitor; void *user_arg;
};
SPOKESHAVE_PJRT_LAYOUT(Error_ForEachPayload_Args, user_arg, 40);

//===-- Plugin ------------------------------------------------------------===//

struct Plugin_Initialize_Args { SPOKESHAVE_PJRT_HEAD; };
SPOKESHAVE_PJRT_LAYOUT(Plugin_Initialize_Args, extension_start, 16);
struct Plugin_Attributes_Args {
  SPOKESHAVE_PJRT_HEAD; const NamedValue *attributes; size_t num_attributes;
};
SPOKESHAVE_PJRT_LAYOUT(Plugin_Attributes_Args, num_attributes, 32);

//===-- Events ------------------------------------------------------------===//

struct Event_Destroy_Args { SPOKESHAVE_PJRT_HEAD; Event *event; };
SPOKESHAVE_PJRT_LAYOUT(Event_Destroy_Args, event, 24);
struct Event_IsReady_Args { SPOKESHAVE_PJRT_HEAD; Event *event; bool is_ready; };
SPOKESHAVE_PJRT_LAYOUT(Event_IsReady_Args, is_ready, 25);
struct Event_Error_Args { SPOKESHAVE_PJRT_HEAD; Event *event; };
SPOKESHAVE_PJRT_LAYOUT(Event_Error_Args, event, 24);
struct Event_Await_Args { SPOKESHAVE_PJRT_HEAD; Event *event; };
SPOKESHAVE_PJRT_LAYOUT(Event_Await_Args, event, 24);
struct Event_OnReady_Args {
  SPOKESHAVE_PJRT_HEAD; Event *event; void (*callback)(ErrorObject *error, void *user);
  void *user_arg;
};
SPOKESHAVE_PJRT_LAYOUT(Event_OnReady_Args, user_arg, 40);
struct Event_Create_Args { SPOKESHAVE_PJRT_HEAD; Event *event; };
SPOKESHAVE_PJRT_LAYOUT(Event_Create_Args, event, 24);
struct Event_Set_Args {
  SPOKESHAVE_PJRT_HEAD; Event *event; StatusCode error_code; const char *error_message;
  size_t error_message_size;
};
SPOKESHAVE_PJRT_LAYOUT(Event_Set_Args, error_message_size, 48);

//===-- Client ------------------------------------------------------------===//

struct Client_Create_Args {
  SPOKESHAVE_PJRT_HEAD; const NamedValue *create_options; size_t num_options;
  void *kv_get_callback; void *kv_get_user_arg; void *kv_put_callback; void *kv_put_user_arg;
  Client *client; void *kv_try_get_callback; void *kv_try_get_user_arg;
};
SPOKESHAVE_PJRT_LAYOUT(Client_Create_Args, kv_try_get_user_arg, 88);
struct Client_Destroy_Args { SPOKESHAVE_PJRT_HEAD; Client *client; };
SPOKESHAVE_PJRT_LAYOUT(Client_Destroy_Args, client, 24);
struct Client_PlatformName_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; const char *platform_name; size_t platform_name_size;
};
SPOKESHAVE_PJRT_LAYOUT(Client_PlatformName_Args, platform_name_size, 40);
struct Client_ProcessIndex_Args { SPOKESHAVE_PJRT_HEAD; Client *client; int process_index; };
SPOKESHAVE_PJRT_LAYOUT(Client_ProcessIndex_Args, process_index, 28);
struct Client_PlatformVersion_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; const char *platform_version;
  size_t platform_version_size;
};
SPOKESHAVE_PJRT_LAYOUT(Client_PlatformVersion_Args, platform_version_size, 40);
struct Client_Devices_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; Device *const *devices; size_t num_devices;
};
SPOKESHAVE_PJRT_LAYOUT(Client_Devices_Args, num_devices, 40);
struct Client_AddressableDevices_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; Device *const *addressable_devices;
  size_t num_addressable_devices;
};
SPOKESHAVE_PJRT_LAYOUT(Client_AddressableDevices_Args, num_addressable_devices, 40);
struct Client_LookupDevice_Args { SPOKESHAVE_PJRT_HEAD; Client *client; int id; Device *device; };
SPOKESHAVE_PJRT_LAYOUT(Client_LookupDevice_Args, device, 40);
struct Client_LookupAddressableDevice_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; int local_hardware_id; Device *addressable_device;
};
SPOKESHAVE_PJRT_LAYOUT(Client_LookupAddressableDevice_Args, addressable_device, 40);
struct Client_AddressableMemories_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; Memory *const *addressable_memories;
  size_t num_addressable_memories;
};
SPOKESHAVE_PJRT_LAYOUT(Client_AddressableMemories_Args, num_addressable_memories, 40);
struct Client_Compile_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; const Program *program; const char *compile_options;
  size_t compile_options_size; LoadedExecutable *executable;
};
SPOKESHAVE_PJRT_LAYOUT(Client_Compile_Args, executable, 56);
struct Client_DefaultDeviceAssignment_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; int num_replicas; int num_partitions;
  size_t default_assignment_size; int *default_assignment;
};
SPOKESHAVE_PJRT_LAYOUT(Client_DefaultDeviceAssignment_Args, default_assignment, 48);
struct Client_BufferFromHostBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; const void *data; ElementType type; const int64_t *dims;
  size_t num_dims; const int64_t *byte_strides; size_t num_byte_strides;
  HostBufferSemantics host_buffer_semantics; Device *device; Memory *memory;
  MemoryLayout *device_layout; Event *done_with_host_buffer; Buffer *buffer;
};
SPOKESHAVE_PJRT_LAYOUT(Client_BufferFromHostBuffer_Args, buffer, 120);
struct Client_CreateViewOfDeviceBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; void *device_buffer_ptr; const int64_t *dims;
  size_t num_dims; ElementType element_type; MemoryLayout *layout; Device *device;
  void (*on_delete_callback)(void *pointer, void *user); void *on_delete_callback_arg;
  intptr_t stream; Buffer *buffer; Memory *memory;
};
SPOKESHAVE_PJRT_LAYOUT(Client_CreateViewOfDeviceBuffer_Args, memory, 112);
struct Client_TopologyDescription_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; TopologyDescription *topology;
};
SPOKESHAVE_PJRT_LAYOUT(Client_TopologyDescription_Args, topology, 32);
struct Client_CreateBuffersForAsyncHostToDevice_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; ShapeSpec *shape_specs; size_t num_shape_specs;
  MemoryLayout **device_layouts; size_t num_device_layouts; Memory *memory;
  TransferManager *transfer_manager;
};
SPOKESHAVE_PJRT_LAYOUT(Client_CreateBuffersForAsyncHostToDevice_Args, transfer_manager, 72);
struct Client_DmaMap_Args { SPOKESHAVE_PJRT_HEAD; Client *client; const void *data; size_t size; };
SPOKESHAVE_PJRT_LAYOUT(Client_DmaMap_Args, size, 40);
struct Client_DmaUnmap_Args { SPOKESHAVE_PJRT_HEAD; Client *client; const void *data; };
SPOKESHAVE_PJRT_LAYOUT(Client_DmaUnmap_Args, data, 32);
struct Client_CreateUninitializedBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; const int64_t *shape_dims; size_t shape_num_dims;
  ElementType shape_element_type; MemoryLayout *shape_layout; Device *device; Memory *memory;
  Buffer *buffer;
};
SPOKESHAVE_PJRT_LAYOUT(Client_CreateUninitializedBuffer_Args, buffer, 80);
struct Client_UpdateGlobalProcessInfo_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; void *process_infos; size_t num_process_infos;
};
SPOKESHAVE_PJRT_LAYOUT(Client_UpdateGlobalProcessInfo_Args, num_process_infos, 40);
struct Client_CreateAliasBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; Memory *memory; const int64_t *shape_dims;
  size_t shape_num_dims; ElementType shape_element_type; MemoryLayout *shape_layout;
  Buffer *alias_buffer; AliasFulfiller *fulfill_alias_buffer_cb;
};
SPOKESHAVE_PJRT_LAYOUT(Client_CreateAliasBuffer_Args, fulfill_alias_buffer_cb, 80);
struct Client_FulfillAliasBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; Buffer *buffer; StatusCode status_code;
  const char *error_message; size_t error_message_size; AliasFulfiller *fulfill_alias_buffer_cb;
};
SPOKESHAVE_PJRT_LAYOUT(Client_FulfillAliasBuffer_Args, fulfill_alias_buffer_cb, 64);
struct Client_CreateErrorBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; StatusCode error_code; const char *error_message;
  size_t error_message_size; const int64_t *shape_dims; size_t shape_num_dims;
  ElementType shape_element_type; MemoryLayout *shape_layout; Memory *memory; Buffer *buffer;
  const NamedValue *payload; size_t num_payload;
};
SPOKESHAVE_PJRT_LAYOUT(Client_CreateErrorBuffer_Args, num_payload, 112);
struct Client_Load_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; Executable *executable; const char *compile_options;
  size_t compile_options_size; LoadedExecutable *loaded_executable;
};
SPOKESHAVE_PJRT_LAYOUT(Client_Load_Args, loaded_executable, 56);

//===-- Devices -----------------------------------------------------------===//

struct DeviceDescription_Id_Args {
  SPOKESHAVE_PJRT_HEAD; DeviceDescription *device_description; int id;
};
SPOKESHAVE_PJRT_LAYOUT(DeviceDescription_Id_Args, id, 28);
struct DeviceDescription_ProcessIndex_Args {
  SPOKESHAVE_PJRT_HEAD; DeviceDescription *device_description; int process_index;
};
SPOKESHAVE_PJRT_LAYOUT(DeviceDescription_ProcessIndex_Args, process_index, 28);
struct DeviceDescription_Attributes_Args {
  SPOKESHAVE_PJRT_HEAD; DeviceDescription *device_description; size_t num_attributes;
  const NamedValue *attributes;
};
SPOKESHAVE_PJRT_LAYOUT(DeviceDescription_Attributes_Args, attributes, 40);
struct DeviceDescription_Kind_Args {
  SPOKESHAVE_PJRT_HEAD; DeviceDescription *device_description; const char *device_kind;
  size_t device_kind_size;
};
SPOKESHAVE_PJRT_LAYOUT(DeviceDescription_Kind_Args, device_kind_size, 40);
struct DeviceDescription_DebugString_Args {
  SPOKESHAVE_PJRT_HEAD; DeviceDescription *device_description; const char *debug_string;
  size_t debug_string_size;
};
SPOKESHAVE_PJRT_LAYOUT(DeviceDescription_DebugString_Args, debug_string_size, 40);
struct DeviceDescription_ToString_Args {
  SPOKESHAVE_PJRT_HEAD; DeviceDescription *device_description; const char *to_string;
  size_t to_string_size;
};
SPOKESHAVE_PJRT_LAYOUT(DeviceDescription_ToString_Args, to_string_size, 40);
struct Device_GetDescription_Args {
  SPOKESHAVE_PJRT_HEAD; Device *device; DeviceDescription *device_description;
};
SPOKESHAVE_PJRT_LAYOUT(Device_GetDescription_Args, device_description, 32);
struct Device_IsAddressable_Args { SPOKESHAVE_PJRT_HEAD; Device *device; bool is_addressable; };
SPOKESHAVE_PJRT_LAYOUT(Device_IsAddressable_Args, is_addressable, 25);
struct Device_LocalHardwareId_Args { SPOKESHAVE_PJRT_HEAD; Device *device; int local_hardware_id; };
SPOKESHAVE_PJRT_LAYOUT(Device_LocalHardwareId_Args, local_hardware_id, 28);
struct Device_AddressableMemories_Args {
  SPOKESHAVE_PJRT_HEAD; Device *device; Memory *const *memories; size_t num_memories;
};
SPOKESHAVE_PJRT_LAYOUT(Device_AddressableMemories_Args, num_memories, 40);
struct Device_DefaultMemory_Args { SPOKESHAVE_PJRT_HEAD; Device *device; Memory *memory; };
SPOKESHAVE_PJRT_LAYOUT(Device_DefaultMemory_Args, memory, 32);
struct Device_MemoryStats_Args {
  SPOKESHAVE_PJRT_HEAD; Device *device; int64_t bytes_in_use; int64_t peak_bytes_in_use;
  bool peak_bytes_in_use_is_set; int64_t num_allocs; bool num_allocs_is_set;
  int64_t largest_alloc_size; bool largest_alloc_size_is_set; int64_t bytes_limit;
  bool bytes_limit_is_set; int64_t bytes_reserved; bool bytes_reserved_is_set;
  int64_t peak_bytes_reserved; bool peak_bytes_reserved_is_set; int64_t bytes_reservable_limit;
  bool bytes_reservable_limit_is_set; int64_t largest_free_block_bytes;
  bool largest_free_block_bytes_is_set; int64_t pool_bytes; bool pool_bytes_is_set;
  int64_t peak_pool_bytes; bool peak_pool_bytes_is_set; int64_t peak_allocated_bytes;
  bool peak_allocated_bytes_is_set;
};
SPOKESHAVE_PJRT_LAYOUT(Device_MemoryStats_Args, peak_allocated_bytes_is_set, 201);
struct Device_PoisonExecution_Args {
  SPOKESHAVE_PJRT_HEAD; Device *device; int launch_id; StatusCode error_code;
  const char *error_message; size_t error_message_size; bool poisoned; const NamedValue *payload;
  size_t num_payload;
};
SPOKESHAVE_PJRT_LAYOUT(Device_PoisonExecution_Args, num_payload, 72);
struct Device_CreateAsyncTrackingEvent_Args {
  SPOKESHAVE_PJRT_HEAD; Device *device; const char *description; size_t description_size;
  AsyncTrackingEvent *event;
};
SPOKESHAVE_PJRT_LAYOUT(Device_CreateAsyncTrackingEvent_Args, event, 48);
struct Device_GetAttributes_Args {
  SPOKESHAVE_PJRT_HEAD; Device *device; const NamedValue *attributes; size_t num_attributes;
  DeviceAttributes *device_attributes; void (*attributes_deleter)(DeviceAttributes *);
};
SPOKESHAVE_PJRT_LAYOUT(Device_GetAttributes_Args, attributes_deleter, 56);
struct Device_ClearMemoryStats_Args { SPOKESHAVE_PJRT_HEAD; Device *device; };
SPOKESHAVE_PJRT_LAYOUT(Device_ClearMemoryStats_Args, device, 24);

//===-- Memories ----------------------------------------------------------===//

struct Memory_Id_Args { SPOKESHAVE_PJRT_HEAD; Memory *memory; int id; };
SPOKESHAVE_PJRT_LAYOUT(Memory_Id_Args, id, 28);
struct Memory_Kind_Args {
  SPOKESHAVE_PJRT_HEAD; Memory *memory; const char *kind; size_t kind_size;
};
SPOKESHAVE_PJRT_LAYOUT(Memory_Kind_Args, kind_size, 40);
struct Memory_DebugString_Args {
  SPOKESHAVE_PJRT_HEAD; Memory *memory; const char *debug_string; size_t debug_string_size;
};
SPOKESHAVE_PJRT_LAYOUT(Memory_DebugString_Args, debug_string_size, 40);
struct Memory_ToString_Args {
  SPOKESHAVE_PJRT_HEAD; Memory *memory; const char *to_string; size_t to_string_size;
};
SPOKESHAVE_PJRT_LAYOUT(Memory_ToString_Args, to_string_size, 40);
struct Memory_AddressableByDevices_Args {
  SPOKESHAVE_PJRT_HEAD; Memory *memory; Device *const *devices; size_t num_devices;
};
SPOKESHAVE_PJRT_LAYOUT(Memory_AddressableByDevices_Args, num_devices, 40);
struct Memory_Kind_Id_Args { SPOKESHAVE_PJRT_HEAD; Memory *memory; int kind_id; };
SPOKESHAVE_PJRT_LAYOUT(Memory_Kind_Id_Args, kind_id, 28);

//===-- Topology ----------------------------------------------------------===//

struct TopologyDescription_Create_Args {
  SPOKESHAVE_PJRT_HEAD; const char *topology_name; size_t topology_name_size;
  const NamedValue *create_options; size_t num_options; TopologyDescription *topology;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_Create_Args, topology, 56);
struct TopologyDescription_Destroy_Args { SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; };
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_Destroy_Args, topology, 24);
struct TopologyDescription_PlatformName_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; const char *platform_name;
  size_t platform_name_size;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_PlatformName_Args, platform_name_size, 40);
struct TopologyDescription_PlatformVersion_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; const char *platform_version;
  size_t platform_version_size;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_PlatformVersion_Args, platform_version_size, 40);
struct TopologyDescription_GetDeviceDescriptions_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; DeviceDescription *const *descriptions;
  size_t num_descriptions;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_GetDeviceDescriptions_Args, num_descriptions, 40);
struct TopologyDescription_Serialize_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; const char *serialized_bytes;
  size_t serialized_bytes_size; Bytes *serialized_topology;
  void (*serialized_topology_deleter)(Bytes *);
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_Serialize_Args, serialized_topology_deleter, 56);
struct TopologyDescription_Attributes_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; const NamedValue *attributes;
  size_t num_attributes;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_Attributes_Args, num_attributes, 40);
struct TopologyDescription_Deserialize_Args {
  SPOKESHAVE_PJRT_HEAD; const char *serialized_topology; size_t serialized_topology_size;
  TopologyDescription *topology;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_Deserialize_Args, topology, 40);
struct TopologyDescription_Fingerprint_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; size_t fingerprint;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_Fingerprint_Args, fingerprint, 32);
struct TopologyDescription_MakeCanonicalShapeForMemorySpace_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; int memory_space_kind_id;
  const int64_t *dims; size_t num_dims; ElementType element_type; MemoryLayout *layout;
  const char *serialized_shape; size_t serialized_shape_size;
  void (*serialized_shape_deleter)(Bytes *);
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_MakeCanonicalShapeForMemorySpace_Args, serialized_shape_deleter, 88);
struct TopologyDescription_GetMemorySpaceKindIds_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; const int *memory_space_kind_ids;
  size_t num_memory_space_kind_ids;
};
SPOKESHAVE_PJRT_LAYOUT(TopologyDescription_GetMemorySpaceKindIds_Args, num_memory_space_kind_ids, 40);

//===-- Buffers -----------------------------------------------------------===//

struct Buffer_Destroy_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_Destroy_Args, buffer, 24);
struct Buffer_ElementType_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; ElementType type; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_ElementType_Args, type, 28);
struct Buffer_Dimensions_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; const int64_t *dims; size_t num_dims;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_Dimensions_Args, num_dims, 40);
struct Buffer_UnpaddedDimensions_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; const int64_t *unpadded_dims; size_t num_dims;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_UnpaddedDimensions_Args, num_dims, 40);
struct Buffer_DynamicDimensionIndices_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; const size_t *dynamic_dim_indices;
  size_t num_dynamic_dims;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_DynamicDimensionIndices_Args, num_dynamic_dims, 40);
struct Buffer_GetMemoryLayout_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; MemoryLayout layout; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_GetMemoryLayout_Args, layout, 104);
struct Buffer_OnDeviceSizeInBytes_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; size_t on_device_size_in_bytes;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_OnDeviceSizeInBytes_Args, on_device_size_in_bytes, 32);
struct Buffer_Device_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; Device *device; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_Device_Args, device, 32);
struct Buffer_Memory_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; Memory *memory; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_Memory_Args, memory, 32);
struct Buffer_Delete_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_Delete_Args, buffer, 24);
struct Buffer_IsDeleted_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; bool is_deleted; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_IsDeleted_Args, is_deleted, 25);
struct Buffer_CopyToDevice_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; Device *dst_device; Buffer *dst_buffer;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_CopyToDevice_Args, dst_buffer, 40);
struct Buffer_ToHostBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *src; MemoryLayout *host_layout; void *dst; size_t dst_size;
  Event *event;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_ToHostBuffer_Args, event, 56);
struct Buffer_IsOnCpu_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; bool is_on_cpu; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_IsOnCpu_Args, is_on_cpu, 25);
struct Buffer_ReadyEvent_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; Event *event; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_ReadyEvent_Args, event, 32);
struct Buffer_UnsafePointer_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; uintptr_t buffer_pointer;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_UnsafePointer_Args, buffer_pointer, 32);
struct Buffer_IncreaseExternalReferenceCount_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_IncreaseExternalReferenceCount_Args, buffer, 24);
struct Buffer_DecreaseExternalReferenceCount_Args { SPOKESHAVE_PJRT_HEAD; Buffer *buffer; };
SPOKESHAVE_PJRT_LAYOUT(Buffer_DecreaseExternalReferenceCount_Args, buffer, 24);
struct Buffer_OpaqueDeviceMemoryDataPointer_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; void *device_memory_ptr;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_OpaqueDeviceMemoryDataPointer_Args, device_memory_ptr, 32);
struct Buffer_CopyToMemory_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; Memory *dst_memory; Buffer *dst_buffer;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_CopyToMemory_Args, dst_buffer, 40);
struct Buffer_CopyRawToHost_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; void *dst; int64_t offset; int64_t transfer_size;
  Event *event;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_CopyRawToHost_Args, event, 56);
struct Buffer_CopyRawToHostFuture_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; int64_t offset; int64_t transfer_size; Event *event;
  void *callback_data; void (*future_ready_callback)(CopyRawToHostFutureReady *);
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_CopyRawToHostFuture_Args, future_ready_callback, 64);
struct Buffer_DonateWithControlDependency_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; void *callback_data;
  void (*dependency_ready_callback)(DependencyReady *); Buffer *out_buffer;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_DonateWithControlDependency_Args, out_buffer, 48);
struct Buffer_Bitcast_Args {
  SPOKESHAVE_PJRT_HEAD; Buffer *buffer; ElementType element_type; const int64_t *dims;
  size_t num_dims; MemoryLayout *device_layout; Buffer *out_buffer;
};
SPOKESHAVE_PJRT_LAYOUT(Buffer_Bitcast_Args, out_buffer, 64);

//===-- Transfers ---------------------------------------------------------===//

struct CopyToDeviceStream_Destroy_Args { SPOKESHAVE_PJRT_HEAD; CopyToDeviceStream *stream; };
SPOKESHAVE_PJRT_LAYOUT(CopyToDeviceStream_Destroy_Args, stream, 24);
struct CopyToDeviceStream_AddChunk_Args {
  SPOKESHAVE_PJRT_HEAD; CopyToDeviceStream *stream; Chunk *chunk; Event *transfer_complete;
};
SPOKESHAVE_PJRT_LAYOUT(CopyToDeviceStream_AddChunk_Args, transfer_complete, 40);
struct CopyToDeviceStream_TotalBytes_Args {
  SPOKESHAVE_PJRT_HEAD; CopyToDeviceStream *stream; int64_t total_bytes;
};
SPOKESHAVE_PJRT_LAYOUT(CopyToDeviceStream_TotalBytes_Args, total_bytes, 32);
struct CopyToDeviceStream_GranuleSize_Args {
  SPOKESHAVE_PJRT_HEAD; CopyToDeviceStream *stream; int64_t granule_size_in_bytes;
};
SPOKESHAVE_PJRT_LAYOUT(CopyToDeviceStream_GranuleSize_Args, granule_size_in_bytes, 32);
struct CopyToDeviceStream_CurrentBytes_Args {
  SPOKESHAVE_PJRT_HEAD; CopyToDeviceStream *stream; int64_t current_bytes;
};
SPOKESHAVE_PJRT_LAYOUT(CopyToDeviceStream_CurrentBytes_Args, current_bytes, 32);
struct AsyncHostToDeviceTransferManager_Destroy_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_Destroy_Args, transfer_manager, 24);
struct AsyncHostToDeviceTransferManager_TransferData_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; int buffer_index; const void *data;
  int64_t offset; int64_t transfer_size; bool is_last_transfer; Event *done_with_h2d_transfer;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_TransferData_Args, done_with_h2d_transfer, 72);
struct AsyncHostToDeviceTransferManager_RetrieveBuffer_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; int buffer_index; Buffer *buffer_out;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_RetrieveBuffer_Args, buffer_out, 40);
struct AsyncHostToDeviceTransferManager_Device_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; Device *device_out;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_Device_Args, device_out, 32);
struct AsyncHostToDeviceTransferManager_BufferCount_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; size_t buffer_count;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_BufferCount_Args, buffer_count, 32);
struct AsyncHostToDeviceTransferManager_BufferSize_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; int buffer_index; size_t buffer_size;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_BufferSize_Args, buffer_size, 40);
struct AsyncHostToDeviceTransferManager_SetBufferError_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; int buffer_index;
  StatusCode error_code; const char *error_message; size_t error_message_size;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_SetBufferError_Args, error_message_size, 48);
struct AsyncHostToDeviceTransferManager_AddMetadata_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; const NamedValue *transfer_metadata;
  size_t num_metadata;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_AddMetadata_Args, num_metadata, 40);
struct AsyncHostToDeviceTransferManager_TransferLiteral_Args {
  SPOKESHAVE_PJRT_HEAD; TransferManager *transfer_manager; int buffer_index; const void *data;
  const int64_t *shape_dims; size_t shape_num_dims; ElementType shape_element_type;
  MemoryLayout *shape_layout; Event *done_with_h2d_transfer;
};
SPOKESHAVE_PJRT_LAYOUT(AsyncHostToDeviceTransferManager_TransferLiteral_Args, done_with_h2d_transfer, 80);
struct AsyncTrackingEvent_Destroy_Args { SPOKESHAVE_PJRT_HEAD; AsyncTrackingEvent *event; };
SPOKESHAVE_PJRT_LAYOUT(AsyncTrackingEvent_Destroy_Args, event, 24);

//===-- Executables -------------------------------------------------------===//

struct Executable_Destroy_Args { SPOKESHAVE_PJRT_HEAD; Executable *executable; };
SPOKESHAVE_PJRT_LAYOUT(Executable_Destroy_Args, executable, 24);
struct Executable_Name_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; const char *executable_name;
  size_t executable_name_size;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_Name_Args, executable_name_size, 40);
struct Executable_NumReplicas_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; size_t num_replicas;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_NumReplicas_Args, num_replicas, 32);
struct Executable_NumPartitions_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; size_t num_partitions;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_NumPartitions_Args, num_partitions, 32);
struct Executable_NumOutputs_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; size_t num_outputs;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_NumOutputs_Args, num_outputs, 32);
struct Executable_SizeOfGeneratedCodeInBytes_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; int64_t size_in_bytes;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_SizeOfGeneratedCodeInBytes_Args, size_in_bytes, 32);
struct Executable_GetCostAnalysis_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; size_t num_properties;
  const NamedValue *properties;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_GetCostAnalysis_Args, properties, 40);
struct Executable_OutputMemoryKinds_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; size_t num_outputs;
  const char *const *memory_kinds; const size_t *memory_kind_sizes;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_OutputMemoryKinds_Args, memory_kind_sizes, 48);
struct Executable_OptimizedProgram_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; Program *program;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_OptimizedProgram_Args, program, 32);
struct Executable_Serialize_Args {
  SPOKESHAVE_PJRT_HEAD; const Executable *executable; const char *serialized_bytes;
  size_t serialized_bytes_size; Bytes *serialized_executable;
  void (*serialized_executable_deleter)(Bytes *);
};
SPOKESHAVE_PJRT_LAYOUT(Executable_Serialize_Args, serialized_executable_deleter, 56);
struct LoadedExecutable_Destroy_Args { SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable; };
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_Destroy_Args, executable, 24);
struct LoadedExecutable_GetExecutable_Args {
  SPOKESHAVE_PJRT_HEAD; LoadedExecutable *loaded_executable; Executable *executable;
};
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_GetExecutable_Args, executable, 32);
struct LoadedExecutable_AddressableDevices_Args {
  SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable; Device *const *addressable_devices;
  size_t num_addressable_devices;
};
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_AddressableDevices_Args, num_addressable_devices, 40);
struct LoadedExecutable_Delete_Args { SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable; };
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_Delete_Args, executable, 24);
struct LoadedExecutable_IsDeleted_Args {
  SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable; bool is_deleted;
};
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_IsDeleted_Args, is_deleted, 25);
struct LoadedExecutable_Execute_Args {
  SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable; ExecuteOptions *options;
  Buffer *const *const *argument_lists; size_t num_devices; size_t num_args;
  Buffer **const *output_lists; Event **device_complete_events; Device *execute_device;
};
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_Execute_Args, execute_device, 80);
struct Executable_DeserializeAndLoad_Args {
  SPOKESHAVE_PJRT_HEAD; Client *client; const char *serialized_executable;
  size_t serialized_executable_size; LoadedExecutable *loaded_executable;
  const char *overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size; void *load_options;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_DeserializeAndLoad_Args, load_options, 72);
struct LoadedExecutable_Fingerprint_Args {
  SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable; const char *executable_fingerprint;
  size_t executable_fingerprint_size;
};
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_Fingerprint_Args, executable_fingerprint_size, 40);
struct Compile_Args {
  SPOKESHAVE_PJRT_HEAD; TopologyDescription *topology; const Program *program;
  const char *compile_options; size_t compile_options_size; Client *client;
  Executable *executable;
};
SPOKESHAVE_PJRT_LAYOUT(Compile_Args, executable, 64);
struct Executable_OutputElementTypes_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; const ElementType *output_types;
  size_t num_output_types;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_OutputElementTypes_Args, num_output_types, 40);
struct Executable_OutputDimensions_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; size_t num_outputs; const int64_t *dims;
  const size_t *dim_sizes;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_OutputDimensions_Args, dim_sizes, 48);
struct Executable_Fingerprint_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; const char *executable_fingerprint;
  size_t executable_fingerprint_size;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_Fingerprint_Args, executable_fingerprint_size, 40);
struct Executable_GetCompiledMemoryStats_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; int64_t generated_code_size_in_bytes;
  int64_t argument_size_in_bytes; int64_t output_size_in_bytes; int64_t alias_size_in_bytes;
  int64_t temp_size_in_bytes; int64_t host_generated_code_size_in_bytes;
  int64_t host_argument_size_in_bytes; int64_t host_output_size_in_bytes;
  int64_t host_alias_size_in_bytes; int64_t host_temp_size_in_bytes; int64_t peak_memory_in_bytes;
  int64_t total_size_in_bytes; int64_t total_allocation_bytes; int64_t indefinite_allocations;
  int64_t peak_unpadded_heap_bytes;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_GetCompiledMemoryStats_Args, peak_unpadded_heap_bytes, 144);
struct ExecuteContext_Create_Args { SPOKESHAVE_PJRT_HEAD; ExecuteContext *context; };
SPOKESHAVE_PJRT_LAYOUT(ExecuteContext_Create_Args, context, 24);
struct ExecuteContext_Destroy_Args { SPOKESHAVE_PJRT_HEAD; ExecuteContext *context; };
SPOKESHAVE_PJRT_LAYOUT(ExecuteContext_Destroy_Args, context, 24);
struct LoadedExecutable_GetDeviceAssignment_Args {
  SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable; const char *serialized_bytes;
  size_t serialized_bytes_size; Bytes *serialized_device_assignment;
  void (*serialized_device_assignment_deleter)(Bytes *);
};
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_GetDeviceAssignment_Args, serialized_device_assignment_deleter, 56);
struct Executable_GetCompileOptions_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; const char *serialized_bytes;
  size_t serialized_bytes_size; Bytes *serialized_compile_options;
  void (*serialized_compile_options_deleter)(Bytes *);
};
SPOKESHAVE_PJRT_LAYOUT(Executable_GetCompileOptions_Args, serialized_compile_options_deleter, 56);
struct LoadedExecutable_AddressableDeviceLogicalIds_Args {
  SPOKESHAVE_PJRT_HEAD; LoadedExecutable *executable;
  const LogicalDeviceIds *addressable_device_logical_ids;
  size_t num_addressable_device_logical_ids;
};
SPOKESHAVE_PJRT_LAYOUT(LoadedExecutable_AddressableDeviceLogicalIds_Args, num_addressable_device_logical_ids, 40);
struct Executable_ParameterMemoryKinds_Args {
  SPOKESHAVE_PJRT_HEAD; Executable *executable; size_t num_parameters;
  const char *const *memory_kinds; const size_t *memory_kind_sizes;
};
SPOKESHAVE_PJRT_LAYOUT(Executable_ParameterMemoryKinds_Args, memory_kind_sizes, 48);

// clang-format on

//===-- Structs that grew --------------------------------------------------===//
// What follows the smaller size is optional: served where the caller has it.

template <> inline constexpr size_t minimumSize<ExecuteOptions> = 72;
template <> inline constexpr size_t minimumSize<Client_Create_Args> = 72;
template <> inline constexpr size_t minimumSize<Client_CreateErrorBuffer_Args> = 96;
template <> inline constexpr size_t minimumSize<Client_CreateViewOfDeviceBuffer_Args> = 104;
template <> inline constexpr size_t minimumSize<Device_MemoryStats_Args> = 185;
template <> inline constexpr size_t minimumSize<Device_PoisonExecution_Args> = 49;
template <> inline constexpr size_t minimumSize<Executable_DeserializeAndLoad_Args> = 48;
template <> inline constexpr size_t minimumSize<Executable_GetCompiledMemoryStats_Args> = 104;

} // namespace spokeshave::pjrt
