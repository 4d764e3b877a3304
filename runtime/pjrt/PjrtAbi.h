//===- PjrtAbi.h - the binary interface of a PJRT plugin -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts a framework and a plugin agree on, for API version 0.114, which
// the frameworks of 0.112 to 0.116 accept. Field names are the interface's own,
// so that its public documentation applies. The objects behind the pointers are
// our classes of the same namespace; the framework never looks inside, except
// for the table that ErrorObject and Memory begin with.
//
// Each arguments struct begins with the size its caller knows. Structs only ever
// grow at the end, so a field past `struct_size` must be neither read nor
// written: `SPOKESHAVE_PJRT_HAS` asks, `minimumSize` says what we insist on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace spokeshave::pjrt {

constexpr int kApiMajor = 0;
constexpr int kApiMinor = 114;

struct AliasFulfiller;
struct AsyncTrackingEvent;
struct Buffer;
struct Bytes;
struct Chunk;
struct Client;
struct CopyToDeviceStream;
struct Device;
struct DeviceAttributes;
struct DeviceDescription;
struct Event;
struct Executable;
struct ExecuteContext;
struct LoadedExecutable;
struct TopologyDescription;
struct TransferManager;

/// The codes of absl::Status.
enum class StatusCode : uint32_t {
  Ok = 0,
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
  Unauthenticated = 16,
};

enum class ElementType : uint32_t {
  Invalid = 0,
  Pred = 1,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  BF16 = 13,
  C64 = 14,
  C128 = 15,
  F8E5M2 = 16,
  F8E4M3FN = 17,
  F8E4M3B11FNUZ = 18,
  F8E5M2FNUZ = 19,
  F8E4M3FNUZ = 20,
  S4 = 21,
  U4 = 22,
  Token = 23,
  S2 = 24,
  U2 = 25,
  F8E4M3 = 26,
  F8E3M4 = 27,
  F8E8M0FNU = 28,
  F4E2M1FN = 29,
  S1 = 30,
  U1 = 31,
  F6E2M3FN = 32,
  F6E3M2FN = 33,
};

/// What may happen to the caller's memory after BufferFromHostBuffer returns.
enum class HostBufferSemantics : uint32_t {
  ImmutableOnlyDuringCall = 0,
  ImmutableUntilTransferCompletes = 1,
  ImmutableZeroCopy = 2, ///< ours to read until the buffer is gone
  MutableZeroCopy = 3,   ///< ours to write as well
};

enum class ExtensionType : uint32_t {
  Profiler = 1,
  Layouts = 4,
  Ffi = 5,
  MemoryDescriptions = 6,
  PhaseCompile = 9,
  Shardings = 19,
};

struct Extension {
  size_t struct_size;
  ExtensionType type;
  Extension *next;
};
static_assert(sizeof(Extension) == 24);

#define SPOKESHAVE_PJRT_HEAD                                                                       \
  size_t struct_size;                                                                              \
  Extension *extension_start

/// The end of a struct's last field: what callers of version 0.114 pass as
/// struct_size (sizeof would count the padding after it).
template <typename T> struct Layout;
/// The smallest struct_size served; smaller than the layout where fields were
/// added that older frameworks do not know.
template <typename T> constexpr size_t minimumSize = Layout<T>::size;

#define SPOKESHAVE_PJRT_LAYOUT(T, last, bytes)                                                     \
  template <> struct Layout<T> {                                                                   \
    static constexpr const char *name = "PJRT_" #T;                                                \
    static constexpr size_t size = offsetof(T, last) + sizeof(T::last);                            \
    static_assert(size == bytes);                                                                  \
  }

/// Whether the caller of `args` knows `field`.
#define SPOKESHAVE_PJRT_HAS(args, field)                                                           \
  ((args).struct_size >= reinterpret_cast<const char *>(&(args).field) -                           \
                             reinterpret_cast<const char *>(&(args)) + sizeof((args).field))

struct Version {
  SPOKESHAVE_PJRT_HEAD;
  int major_version;
  int minor_version;
};
SPOKESHAVE_PJRT_LAYOUT(Version, minor_version, 24);

struct ErrorObject;
using PayloadVisitor = void (*)(const char *key, size_t keySize, const char *value,
                                size_t valueSize, void *user);

/// The framework calls errors through this table as well as through the slots.
struct ErrorTable {
  size_t struct_size;
  size_t instance_size;
  Extension *extension_start;
  void (*destroy)(ErrorObject *error);
  void (*message)(const ErrorObject *error, const char **message, size_t *size);
  StatusCode (*get_code)(const ErrorObject *error);
  void (*for_each_payload)(const ErrorObject *error, PayloadVisitor visitor, void *user);
};
static_assert(sizeof(ErrorTable) == 56);

struct Memory;
struct MemoryTable {
  size_t struct_size;
  Extension *extension_start;
  size_t instance_struct_size;
  void *(*get_user_data)(Memory *memory, const void *key);
  void (*set_user_data)(Memory *memory, const void *key, void *data, void (*destroy)(void *));
};
static_assert(sizeof(MemoryTable) == 40);

enum class NamedValueType : uint32_t { String = 0, Int64 = 1, Int64List = 2, Float = 3, Bool = 4 };

struct NamedValue {
  SPOKESHAVE_PJRT_HEAD;
  const char *name;
  size_t name_size;
  NamedValueType type;
  union {
    const char *string_value;
    int64_t int64_value;
    const int64_t *int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size; ///< elements of a string or list, else 1
};
SPOKESHAVE_PJRT_LAYOUT(NamedValue, value_size, 56);

struct Program {
  SPOKESHAVE_PJRT_HEAD;
  char *code;
  size_t code_size;
  const char *format; ///< "mlir", "hlo" or "hlo_with_config"
  size_t format_size;
};
SPOKESHAVE_PJRT_LAYOUT(Program, format_size, 48);

struct TiledLayout {
  SPOKESHAVE_PJRT_HEAD;
  const int64_t *minor_to_major;
  size_t minor_to_major_size;
  const int64_t *tile_dims;
  const size_t *tile_dim_sizes;
  size_t num_tiles;
};
SPOKESHAVE_PJRT_LAYOUT(TiledLayout, num_tiles, 56);

struct StridedLayout {
  SPOKESHAVE_PJRT_HEAD;
  const int64_t *byte_strides;
  size_t num_byte_strides;
};
SPOKESHAVE_PJRT_LAYOUT(StridedLayout, num_byte_strides, 32);

enum class LayoutKind : uint32_t { Tiled = 0, Strides = 1 };

struct MemoryLayout {
  SPOKESHAVE_PJRT_HEAD;
  union {
    TiledLayout tiled;
    StridedLayout strides;
  };
  LayoutKind type;
};
SPOKESHAVE_PJRT_LAYOUT(MemoryLayout, type, 76);

struct ShapeSpec {
  SPOKESHAVE_PJRT_HEAD;
  const int64_t *dims;
  size_t num_dims;
  ElementType element_type;
};
SPOKESHAVE_PJRT_LAYOUT(ShapeSpec, element_type, 36);

struct LogicalDeviceIds {
  int replica, partition;
};

/// How the caller of CopyRawToHostFuture says where the bytes go.
struct CopyRawToHostFutureReady {
  size_t struct_size;
  void *callback_data;
  StatusCode error_code;
  const char *error_message;
  size_t error_message_size;
  void *dst;
};
static_assert(sizeof(CopyRawToHostFutureReady) == 48);

/// How the caller of DonateWithControlDependency says the dependency is over.
struct DependencyReady {
  size_t struct_size;
  void *callback_data;
  StatusCode error_code;
  const char *error_message;
  size_t error_message_size;
};
static_assert(sizeof(DependencyReady) == 40);

/// Every slot of the function table, in order. Slot X is the function
/// "PJRT_X", which takes an X_Args.
// clang-format off
#define SPOKESHAVE_PJRT_SLOTS(X) \
  X(Error_Destroy) \
  X(Error_Message) \
  X(Error_GetCode) \
  X(Plugin_Initialize) \
  X(Plugin_Attributes) \
  X(Event_Destroy) \
  X(Event_IsReady) \
  X(Event_Error) \
  X(Event_Await) \
  X(Event_OnReady) \
  X(Client_Create) \
  X(Client_Destroy) \
  X(Client_PlatformName) \
  X(Client_ProcessIndex) \
  X(Client_PlatformVersion) \
  X(Client_Devices) \
  X(Client_AddressableDevices) \
  X(Client_LookupDevice) \
  X(Client_LookupAddressableDevice) \
  X(Client_AddressableMemories) \
  X(Client_Compile) \
  X(Client_DefaultDeviceAssignment) \
  X(Client_BufferFromHostBuffer) \
  X(DeviceDescription_Id) \
  X(DeviceDescription_ProcessIndex) \
  X(DeviceDescription_Attributes) \
  X(DeviceDescription_Kind) \
  X(DeviceDescription_DebugString) \
  X(DeviceDescription_ToString) \
  X(Device_GetDescription) \
  X(Device_IsAddressable) \
  X(Device_LocalHardwareId) \
  X(Device_AddressableMemories) \
  X(Device_DefaultMemory) \
  X(Device_MemoryStats) \
  X(Memory_Id) \
  X(Memory_Kind) \
  X(Memory_DebugString) \
  X(Memory_ToString) \
  X(Memory_AddressableByDevices) \
  X(Executable_Destroy) \
  X(Executable_Name) \
  X(Executable_NumReplicas) \
  X(Executable_NumPartitions) \
  X(Executable_NumOutputs) \
  X(Executable_SizeOfGeneratedCodeInBytes) \
  X(Executable_GetCostAnalysis) \
  X(Executable_OutputMemoryKinds) \
  X(Executable_OptimizedProgram) \
  X(Executable_Serialize) \
  X(LoadedExecutable_Destroy) \
  X(LoadedExecutable_GetExecutable) \
  X(LoadedExecutable_AddressableDevices) \
  X(LoadedExecutable_Delete) \
  X(LoadedExecutable_IsDeleted) \
  X(LoadedExecutable_Execute) \
  X(Executable_DeserializeAndLoad) \
  X(LoadedExecutable_Fingerprint) \
  X(Buffer_Destroy) \
  X(Buffer_ElementType) \
  X(Buffer_Dimensions) \
  X(Buffer_UnpaddedDimensions) \
  X(Buffer_DynamicDimensionIndices) \
  X(Buffer_GetMemoryLayout) \
  X(Buffer_OnDeviceSizeInBytes) \
  X(Buffer_Device) \
  X(Buffer_Memory) \
  X(Buffer_Delete) \
  X(Buffer_IsDeleted) \
  X(Buffer_CopyToDevice) \
  X(Buffer_ToHostBuffer) \
  X(Buffer_IsOnCpu) \
  X(Buffer_ReadyEvent) \
  X(Buffer_UnsafePointer) \
  X(Buffer_IncreaseExternalReferenceCount) \
  X(Buffer_DecreaseExternalReferenceCount) \
  X(Buffer_OpaqueDeviceMemoryDataPointer) \
  X(CopyToDeviceStream_Destroy) \
  X(CopyToDeviceStream_AddChunk) \
  X(CopyToDeviceStream_TotalBytes) \
  X(CopyToDeviceStream_GranuleSize) \
  X(CopyToDeviceStream_CurrentBytes) \
  X(TopologyDescription_Create) \
  X(TopologyDescription_Destroy) \
  X(TopologyDescription_PlatformName) \
  X(TopologyDescription_PlatformVersion) \
  X(TopologyDescription_GetDeviceDescriptions) \
  X(TopologyDescription_Serialize) \
  X(TopologyDescription_Attributes) \
  X(Compile) \
  X(Executable_OutputElementTypes) \
  X(Executable_OutputDimensions) \
  X(Buffer_CopyToMemory) \
  X(Client_CreateViewOfDeviceBuffer) \
  X(Executable_Fingerprint) \
  X(Client_TopologyDescription) \
  X(Executable_GetCompiledMemoryStats) \
  X(Memory_Kind_Id) \
  X(ExecuteContext_Create) \
  X(ExecuteContext_Destroy) \
  X(Buffer_CopyRawToHost) \
  X(AsyncHostToDeviceTransferManager_Destroy) \
  X(AsyncHostToDeviceTransferManager_TransferData) \
  X(Client_CreateBuffersForAsyncHostToDevice) \
  X(AsyncHostToDeviceTransferManager_RetrieveBuffer) \
  X(AsyncHostToDeviceTransferManager_Device) \
  X(AsyncHostToDeviceTransferManager_BufferCount) \
  X(AsyncHostToDeviceTransferManager_BufferSize) \
  X(AsyncHostToDeviceTransferManager_SetBufferError) \
  X(AsyncHostToDeviceTransferManager_AddMetadata) \
  X(Client_DmaMap) \
  X(Client_DmaUnmap) \
  X(Client_CreateUninitializedBuffer) \
  X(Client_UpdateGlobalProcessInfo) \
  X(TopologyDescription_Deserialize) \
  X(Client_CreateAliasBuffer) \
  X(Client_FulfillAliasBuffer) \
  X(LoadedExecutable_GetDeviceAssignment) \
  X(Client_CreateErrorBuffer) \
  X(AsyncHostToDeviceTransferManager_TransferLiteral) \
  X(Buffer_CopyRawToHostFuture) \
  X(Device_PoisonExecution) \
  X(Device_CreateAsyncTrackingEvent) \
  X(AsyncTrackingEvent_Destroy) \
  X(Executable_GetCompileOptions) \
  X(Buffer_DonateWithControlDependency) \
  X(Event_Create) \
  X(Event_Set) \
  X(Device_GetAttributes) \
  X(Client_Load) \
  X(LoadedExecutable_AddressableDeviceLogicalIds) \
  X(Buffer_Bitcast) \
  X(Error_ForEachPayload) \
  X(TopologyDescription_Fingerprint) \
  X(Executable_ParameterMemoryKinds) \
  X(Device_ClearMemoryStats) \
  X(TopologyDescription_MakeCanonicalShapeForMemorySpace) \
  X(TopologyDescription_GetMemorySpaceKindIds)
// clang-format on

struct Api {
  SPOKESHAVE_PJRT_HEAD;
  Version version;
#define SPOKESHAVE_SLOT(name) void *name;
  SPOKESHAVE_PJRT_SLOTS(SPOKESHAVE_SLOT)
#undef SPOKESHAVE_SLOT
};
static_assert(offsetof(Api, Error_Destroy) == 40 && sizeof(Api) == 40 + 138 * 8);

} // namespace spokeshave::pjrt
