//===- FfiAbi.h - the binary interface of typed custom calls ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts of XLA's FFI, versions 0.3 to 0.5, as facts: structs whose first
// field is the size the other side knows, codes of data types, the table of
// functions that a handler may call back. Version 0.5 only appended to 0.3, so
// one table serves handlers of both; where a struct grew, its size says so.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace spokeshave::runtime::ffi {

constexpr int32_t kMajorVersion = 0;
constexpr int32_t kMinorVersion = 5;

// clang-format off
enum DataType : int32_t {
  kInvalid = 0, kPred = 1, kS8 = 2, kS16 = 3, kS32 = 4, kS64 = 5,
  kU8 = 6, kU16 = 7, kU32 = 8, kU64 = 9, kF16 = 10, kF32 = 11, kF64 = 12,
  kC64 = 15, kBF16 = 16, kToken = 17, kC128 = 18,
  kF8E5M2 = 19, kF8E4M3FN = 20, kS4 = 21, kU4 = 22, kF8E4M3B11FNUZ = 23,
  kF8E5M2FNUZ = 24, kF8E4M3FNUZ = 25, kS2 = 26, kU2 = 27, kF8E4M3 = 28,
  kF8E3M4 = 29, kS1 = 30, kU1 = 31, kF4E2M1FN = 32, kF8E8M0FNU = 33,
};
// clang-format on

enum AttributeType : int32_t { kArray = 1, kDictionary = 2, kScalar = 3, kString = 4 };
enum Stage : int32_t { kInstantiate = 0, kPrepare = 1, kInitialize = 2, kExecute = 3 };
constexpr int32_t kBufferKind = 1; ///< the only type of arguments and results
constexpr int32_t kMetadataExtension = 1;

/// Codes as in absl::Status.
enum ErrorCodeValue : int32_t {
  kErrorUnknown = 2,
  kErrorInvalidArgument = 3,
  kErrorNotFound = 5,
  kErrorAlreadyExists = 6,
  kErrorResourceExhausted = 8,
  kErrorUnimplemented = 12,
  kErrorInternal = 13,
};

struct Error;         // FfiApi.h
struct Future;        // FfiApi.h
struct InvokeContext; // FfiApi.h
struct Api;

struct Extension {
  size_t size;
  int32_t type;
  Extension *next;
};
/// The two fields that begin nearly every struct.
struct Base {
  size_t size;
  Extension *extensions;
};

struct ApiVersion : Base {
  int32_t major, minor;
};
struct Buffer : Base {
  int32_t type;
  void *data;
  int64_t rank;
  const int64_t *dimensions;
};
struct Span {
  const char *data;
  size_t length;
};
struct Scalar {
  int32_t type;
  void *value;
};
struct Array {
  int32_t type;
  size_t length;
  void *data;
};
struct Buffers : Base { ///< arguments or results
  int64_t count;
  const int32_t *kinds;
  void **buffers;
};
/// Sorted by name; handlers search by bisection.
struct Attributes : Base {
  int64_t count;
  const int32_t *types;
  const Span *const *names;
  void *const *values;
};
struct CallFrame : Base {
  const Api *api;
  InvokeContext *context;
  int32_t stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
  Future *future; ///< out: set by handlers that complete later
};
/// Handlers insist on the size without `future`.
constexpr size_t kCallFrameSize = 168;
static_assert(sizeof(CallFrame) == kCallFrameSize + sizeof(Future *));

using Handler = Error *(CallFrame *);

struct TypeId {
  int64_t id;
};
struct TypeInfo : Base {
  void (*deleter)(void *);
};
struct Metadata {
  size_t size;
  ApiVersion version;
  uint32_t traits;
  TypeId stateType;
};
struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};
struct HandlerBundle { ///< `record` came with 0.5 and is not read
  Handler *instantiate, *prepare, *initialize, *execute;
};

//===----------------------------------------------------------------------===//
// The functions that handlers call, each with a struct of arguments
//===----------------------------------------------------------------------===//

struct ErrorCreateArgs : Base {
  const char *message;
  int32_t code;
};
struct ErrorDetailsArgs : Base { ///< 0.3 ends after `message`
  Error *error;
  const char *message; ///< out
  int32_t code;        ///< out, since 0.5
};
constexpr size_t kErrorMessageSize = 32;
static_assert(sizeof(ErrorDetailsArgs) == kErrorMessageSize + 8);
struct ErrorDestroyArgs : Base {
  Error *error;
};
struct FutureArgs : Base { ///< Create (out), SetAvailable
  Future *future;
};
struct FutureErrorArgs : Base {
  Future *future;
  Error *error;
};
struct HandlerRegisterArgs : Base {
  Span name, platform;
  HandlerBundle bundle; // more fields follow
};
struct TypeRegisterArgs : Base {
  Span name;
  TypeId *typeId; ///< in and out
  const TypeInfo *info;
};
struct ContextGetArgs : Base {
  InvokeContext *context;
  TypeId *typeId;
  void *data; ///< out
};
struct StateArgs : Base { ///< Set (in), Get (out)
  InvokeContext *context;
  int32_t stage;
  TypeId *typeId;
  void *state;
};
struct StreamArgs : Base {
  InvokeContext *context;
  void *stream; ///< out
};
struct AllocateArgs : Base {
  InvokeContext *context;
  size_t bytes, alignment;
  void *data; ///< out
};
struct FreeArgs : Base {
  InvokeContext *context;
  size_t bytes;
  void *data;
};
struct ScheduleArgs : Base {
  InvokeContext *context;
  void (*task)(void *);
  void *data;
};
struct ThreadCountArgs : Base {
  InvokeContext *context;
  int64_t *count; ///< out
};
struct RunIdArgs : Base {
  InvokeContext *context;
  int64_t runId; ///< out
};
struct DeviceOrdinalArgs : Base {
  InvokeContext *context;
  int32_t deviceOrdinal; ///< out
};
struct FindExtensionArgs : Base {
  InvokeContext *context;
  int64_t type;
  const void *extension; ///< out
};
struct CustomOptionsArgs : Base {
  InvokeContext *context;
  const Attributes *attributes; ///< out
};

struct Api : Base {
  ApiVersion version;
  const void *internalApi;
  Error *(*errorCreate)(ErrorCreateArgs *);
  void (*errorDetails)(ErrorDetailsArgs *);
  void (*errorDestroy)(ErrorDestroyArgs *);
  Error *(*handlerRegister)(HandlerRegisterArgs *);
  Error *(*streamGet)(StreamArgs *);
  Error *(*typeRegister)(TypeRegisterArgs *);
  Error *(*contextGet)(ContextGetArgs *);
  Error *(*stateSet)(StateArgs *);
  Error *(*stateGet)(StateArgs *);
  Error *(*memoryAllocate)(AllocateArgs *);
  Error *(*memoryFree)(FreeArgs *);
  Error *(*poolSchedule)(ScheduleArgs *);
  Error *(*poolThreadCount)(ThreadCountArgs *);
  Error *(*futureCreate)(FutureArgs *);
  Error *(*futureSetAvailable)(FutureArgs *);
  Error *(*futureSetError)(FutureErrorArgs *);
  Error *(*runIdGet)(RunIdArgs *);
  Error *(*deviceOrdinalGet)(DeviceOrdinalArgs *);
  Error *(*findExtension)(FindExtensionArgs *);    ///< since 0.5
  Error *(*customOptionsGet)(CustomOptionsArgs *); ///< since 0.5
};
static_assert(sizeof(Api) == 208 && sizeof(Buffer) == 48 && sizeof(Attributes) == 48);
static_assert(sizeof(ApiVersion) == 24 && sizeof(Metadata) == 48 && sizeof(Extension) == 24);

} // namespace spokeshave::runtime::ffi
