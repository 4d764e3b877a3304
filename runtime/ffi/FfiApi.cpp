//===- FfiApi.cpp - what handlers may call back ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/ffi/FfiApi.h"

#include "runtime/Memory.h"
#include "support/Error.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace spokeshave::runtime {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct TypeRegistry {
  std::mutex mutex;
  llvm::StringMap<int64_t> ids;
  std::map<int64_t, void (*)(void *)> deleters;
  int64_t next = 1;

  static TypeRegistry &get() {
    static TypeRegistry *registry = new TypeRegistry;
    return *registry;
  }
};
} // namespace

llvm::Expected<int64_t> registerFfiType(llvm::StringRef name, int64_t typeId,
                                        void (*deleter)(void *)) {
  TypeRegistry &registry = TypeRegistry::get();
  std::lock_guard lock(registry.mutex);
  auto known = registry.ids.find(name);
  if (known != registry.ids.end()) {
    if (typeId != 0 && typeId != known->second)
      return makeError(ErrorCode::BadArgument,
                       "FFI type '" + name + "' is registered with another id");
    typeId = known->second;
  } else {
    if (typeId == 0) {
      while (registry.deleters.count(registry.next))
        ++registry.next;
      typeId = registry.next;
    }
    registry.ids[name] = typeId;
  }
  if (deleter || !registry.deleters.count(typeId))
    registry.deleters[typeId] = deleter;
  return typeId;
}

namespace ffi {

Error *makeFfiError(int32_t code, const llvm::Twine &message) {
  return new Error{code, message.str()};
}

//===----------------------------------------------------------------------===//
// Futures and states
//===----------------------------------------------------------------------===//

void Future::drop() {
  bool last;
  {
    std::lock_guard lock(mutex);
    last = --references == 0;
  }
  if (last)
    delete this;
}

void Future::complete(std::unique_ptr<Error> failure) {
  {
    std::lock_guard lock(mutex);
    if (done)
      return; // a second completion is a bug of the handler, and harmless
    done = true;
    error = std::move(failure);
    completed.notify_all();
  }
  drop();
}

std::unique_ptr<Error> Future::wait() {
  std::unique_ptr<Error> result;
  {
    std::unique_lock lock(mutex);
    completed.wait(lock, [&] { return done; });
    result = std::move(error);
  }
  drop();
  return result;
}

State::~State() {
  if (object && deleter)
    deleter(object);
}

Error *State::set(int64_t typeId, void *value) {
  if (object)
    return makeFfiError(kErrorAlreadyExists, "the state is already set");
  TypeRegistry &registry = TypeRegistry::get();
  std::lock_guard lock(registry.mutex);
  auto entry = registry.deleters.find(typeId);
  if (entry == registry.deleters.end())
    return makeFfiError(kErrorInvalidArgument,
                        llvm::formatv("no FFI type with id {0} is registered", typeId).str());
  object = value;
  type = typeId;
  deleter = entry->second;
  return nullptr;
}

Error *State::get(int64_t typeId, void *&value) const {
  if (!object)
    return makeFfiError(kErrorNotFound, "the state is not set");
  if (type != typeId)
    return makeFfiError(kErrorInvalidArgument,
                        llvm::formatv("the state has type id {0}, not {1}", type, typeId).str());
  value = object;
  return nullptr;
}

static State *stateOf(InvokeContext *context, int32_t stage) {
  switch (stage) {
  case kInstantiate:
    return &context->instantiated;
  case kPrepare:
    return &context->prepared;
  case kInitialize:
    return &context->initialized;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// Our errors as theirs.
Error *convert(llvm::Error error, int32_t code) {
  return makeFfiError(code, takeError(std::move(error))->getMessage());
}

Error *errorCreate(ErrorCreateArgs *args) {
  return makeFfiError(args->code, args->message ? args->message : "");
}

void errorDetails(ErrorDetailsArgs *args) {
  args->message = args->error->message.c_str();
  if (args->size > kErrorMessageSize) // a caller of 0.3 has no such field
    args->code = args->error->code;
}

void errorDestroy(ErrorDestroyArgs *args) {
  delete args->error;
}

Error *handlerRegister(HandlerRegisterArgs *args) {
  auto pointer = [](Handler *handler) { return reinterpret_cast<void *>(handler); };
  CustomCallTarget target;
  target.instantiate = pointer(args->bundle.instantiate);
  target.prepare = pointer(args->bundle.prepare);
  target.initialize = pointer(args->bundle.initialize);
  target.execute = pointer(args->bundle.execute);
  llvm::StringRef name(args->name.data, args->name.length);
  if (llvm::Error error = CustomCallRegistry::global().add(name, target))
    return convert(std::move(error), kErrorInvalidArgument);
  return nullptr;
}

Error *streamGet(StreamArgs *) {
  return makeFfiError(kErrorUnimplemented, "a CPU has no streams");
}

Error *typeRegister(TypeRegisterArgs *args) {
  auto id = registerFfiType(llvm::StringRef(args->name.data, args->name.length), args->typeId->id,
                            args->info ? args->info->deleter : nullptr);
  if (!id)
    return convert(id.takeError(), kErrorInvalidArgument);
  args->typeId->id = *id;
  return nullptr;
}

Error *contextGet(ContextGetArgs *args) {
  if (const FfiUserData *data = args->context->environment.userData)
    for (auto [id, pointer] : *data)
      if (id == args->typeId->id) {
        args->data = pointer;
        return nullptr;
      }
  return makeFfiError(
      kErrorNotFound,
      llvm::formatv("the execution has no user data of type id {0}", args->typeId->id).str());
}

Error *stateSet(StateArgs *args) {
  if (State *state = stateOf(args->context, args->stage))
    return state->set(args->typeId->id, args->state);
  return makeFfiError(kErrorInvalidArgument, "this stage keeps no state");
}

Error *stateGet(StateArgs *args) {
  if (State *state = stateOf(args->context, args->stage))
    return state->get(args->typeId->id, args->state);
  return makeFfiError(kErrorInvalidArgument, "this stage keeps no state");
}

Error *memoryAllocate(AllocateArgs *args) {
  if (args->alignment > kAlignment)
    return makeFfiError(kErrorUnimplemented, "alignment of more than 64 bytes");
  llvm::Expected<void *> data = allocate(args->bytes);
  if (!data)
    return convert(data.takeError(), kErrorResourceExhausted);
  args->data = *data;
  return nullptr;
}

Error *memoryFree(FreeArgs *args) {
  if (args->data)
    deallocate(args->data, args->bytes);
  return nullptr;
}

Error *poolSchedule(ScheduleArgs *args) {
  args->context->environment.pool->schedule([task = args->task, data = args->data] { task(data); });
  return nullptr;
}

Error *poolThreadCount(ThreadCountArgs *args) {
  *args->count = args->context->environment.pool->threadCount();
  return nullptr;
}

Error *futureCreate(FutureArgs *args) {
  args->future = Future::create();
  return nullptr;
}

Error *futureSetAvailable(FutureArgs *args) {
  args->future->complete(nullptr);
  return nullptr;
}

Error *futureSetError(FutureErrorArgs *args) {
  args->future->complete(std::unique_ptr<Error>(args->error));
  return nullptr;
}

Error *runIdGet(RunIdArgs *args) {
  args->runId = args->context->environment.runId;
  return nullptr;
}

Error *deviceOrdinalGet(DeviceOrdinalArgs *args) {
  args->deviceOrdinal = args->context->environment.deviceOrdinal;
  return nullptr;
}

/// We attach none; not finding one is no error here.
Error *findExtension(FindExtensionArgs *args) {
  args->extension = nullptr;
  return nullptr;
}

Error *customOptionsGet(CustomOptionsArgs *args) {
  static const Attributes none{{sizeof(Attributes), nullptr}, 0, nullptr, nullptr, nullptr};
  args->attributes = &none;
  return nullptr;
}

} // namespace

const Api &api() {
  static const Api table = {{sizeof(Api), nullptr},
                            {{sizeof(ApiVersion), nullptr}, kMajorVersion, kMinorVersion},
                            nullptr,
                            errorCreate,
                            errorDetails,
                            errorDestroy,
                            handlerRegister,
                            streamGet,
                            typeRegister,
                            contextGet,
                            stateSet,
                            stateGet,
                            memoryAllocate,
                            memoryFree,
                            poolSchedule,
                            poolThreadCount,
                            futureCreate,
                            futureSetAvailable,
                            futureSetError,
                            runIdGet,
                            deviceOrdinalGet,
                            findExtension,
                            customOptionsGet};
  return table;
}

} // namespace ffi
} // namespace spokeshave::runtime
