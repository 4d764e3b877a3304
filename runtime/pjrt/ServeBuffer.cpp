//===- ServeBuffer.cpp - what buffers are asked and copied to --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Buffer.h"
#include "runtime/pjrt/HostCopy.h"
#include "runtime/pjrt/Serve.h"

#include <cstring>

namespace spokeshave::pjrt {

namespace {
/// Starts a buffer of its own with the contents of `source` once that is ready.
Status copyBuffer(Buffer *source, Device *device, Memory *memory, Buffer *&copy) {
  ValuePtr value;
  if (Status status = liveValue(source, "the buffer to copy", value); !status.isOk())
    return status;
  auto target = std::make_shared<Value>(std::make_shared<Completion>());
  copy = new Buffer(device, memory, source->shape, target);
  value->ready->then([value, target, bytes = source->shape.bytes](const Status &status) {
    if (!status.isOk())
      return (void)target->ready->complete(status);
    llvm::Expected<runtime::HostBlockRef> block = target->pin(bytes);
    if (!block)
      return (void)target->ready->complete(toStatus(block.takeError()));
    std::memcpy((*block)->data(), value->storage()->data(), bytes);
    target->ready->complete({});
  });
  return {};
}

Event *eventOf(CompletionPtr completion) {
  return new Event{std::move(completion)};
}

/// Copies [offset, offset + size) of the buffer's bytes to `target` once they
/// are ready.
CompletionPtr copyBytes(ValuePtr value, int64_t offset, int64_t size, void *target) {
  auto done = std::make_shared<Completion>();
  value->ready->then([value, done, offset, size, target](const Status &status) {
    if (status.isOk())
      std::memcpy(target, static_cast<char *>(value->storage()->data()) + offset, size);
    done->complete(status);
  });
  return done;
}

Status checkRange(const Buffer &buffer, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0 || offset > buffer.shape.bytes || size > buffer.shape.bytes - offset)
    return invalidArgument("bytes " + llvm::Twine(offset) + " to " + llvm::Twine(offset + size) +
                           " of a buffer of " + llvm::Twine(buffer.shape.bytes) + " bytes");
  return {};
}
} // namespace

//===-- Questions ----------------------------------------------------------===//

Status serve(Buffer_Destroy_Args &args) {
  delete args.buffer;
  return {};
}

Status serve(Buffer_ElementType_Args &args) {
  args.type = args.buffer->shape.type;
  return {};
}

Status serve(Buffer_Dimensions_Args &args) {
  args.dims = args.buffer->shape.dims.data();
  args.num_dims = args.buffer->shape.dims.size();
  return {};
}

Status serve(Buffer_UnpaddedDimensions_Args &args) {
  args.unpadded_dims = args.buffer->shape.dims.data();
  args.num_dims = args.buffer->shape.dims.size();
  return {};
}

Status serve(Buffer_DynamicDimensionIndices_Args &args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return {};
}

Status serve(Buffer_GetMemoryLayout_Args &args) {
  args.layout.type = LayoutKind::Tiled;
  args.layout.tiled = {Layout<TiledLayout>::size,
                       nullptr,
                       args.buffer->minorToMajor.data(),
                       args.buffer->minorToMajor.size(),
                       nullptr,
                       nullptr,
                       0};
  return {};
}

Status serve(Buffer_OnDeviceSizeInBytes_Args &args) {
  args.on_device_size_in_bytes = args.buffer->shape.bytes;
  return {};
}

Status serve(Buffer_Device_Args &args) {
  args.device = args.buffer->device;
  return {};
}

Status serve(Buffer_Memory_Args &args) {
  args.memory = args.buffer->memory;
  return {};
}

Status serve(Buffer_IsOnCpu_Args &args) {
  args.is_on_cpu = true;
  return {};
}

//===-- Life ---------------------------------------------------------------===//

Status serve(Buffer_Delete_Args &args) {
  args.buffer->release();
  return {};
}

Status serve(Buffer_IsDeleted_Args &args) {
  args.is_deleted = args.buffer->isDeleted();
  return {};
}

Status serve(Buffer_ReadyEvent_Args &args) {
  ValuePtr value;
  Status status = liveValue(args.buffer, "the buffer", value);
  args.event = eventOf(status.isOk() ? value->ready : completed(status));
  return {};
}

Status serve(Buffer_IncreaseExternalReferenceCount_Args &args) {
  return args.buffer->addExternalReference();
}

Status serve(Buffer_DecreaseExternalReferenceCount_Args &args) {
  return args.buffer->dropExternalReference();
}

Status serve(Buffer_UnsafePointer_Args &args) {
  void *address = nullptr;
  Status status = args.buffer->pointer(address);
  args.buffer_pointer = reinterpret_cast<uintptr_t>(address);
  return status;
}

Status serve(Buffer_OpaqueDeviceMemoryDataPointer_Args &args) {
  return args.buffer->pointer(args.device_memory_ptr);
}

//===-- Copies -------------------------------------------------------------===//

Status serve(Buffer_CopyToDevice_Args &args) {
  if (Status status = requireArgument(args.dst_device, "the target device"); !status.isOk())
    return status;
  return copyBuffer(args.buffer, args.dst_device, args.dst_device->memories.front(),
                    args.dst_buffer);
}

Status serve(Buffer_CopyToMemory_Args &args) {
  if (Status status = requireArgument(args.dst_memory, "the target memory"); !status.isOk())
    return status;
  return copyBuffer(args.buffer, args.dst_memory->devices.front(), args.dst_memory,
                    args.dst_buffer);
}

Status serve(Buffer_ToHostBuffer_Args &args) {
  ValuePtr value;
  if (Status status = liveValue(args.src, "the buffer", value); !status.isOk())
    return status;
  const Shape &shape = args.src->shape;
  if (!args.dst) {
    args.dst_size = shape.bytes;
    return {};
  }
  if (args.dst_size < static_cast<size_t>(shape.bytes))
    return invalidArgument("the target has " + llvm::Twine(args.dst_size) + " bytes, " +
                           shape.text() + " needs " + llvm::Twine(shape.bytes));
  int64_t elementBytes = *bytesOf(shape.type);
  llvm::SmallVector<int64_t> strides;
  if (Status status = stridesOf(args.host_layout, shape.dims, elementBytes, strides);
      !status.isOk())
    return status;
  auto done = std::make_shared<Completion>();
  char *target = static_cast<char *>(args.dst);
  value->ready->then([=](const Status &status) {
    if (status.isOk())
      copyStrided(target, strides, static_cast<const char *>(value->storage()->data()),
                  denseStrides(shape.dims, elementBytes), shape.dims, elementBytes);
    done->complete(status);
  });
  args.event = eventOf(std::move(done));
  return {};
}

Status serve(Buffer_CopyRawToHost_Args &args) {
  ValuePtr value;
  if (Status status = liveValue(args.buffer, "the buffer", value); !status.isOk())
    return status;
  if (Status status = checkRange(*args.buffer, args.offset, args.transfer_size); !status.isOk())
    return status;
  args.event = eventOf(copyBytes(value, args.offset, args.transfer_size, args.dst));
  return {};
}

namespace {
/// A copy whose target the framework names later.
struct FutureCopy {
  ValuePtr value;
  int64_t offset, size;
  CompletionPtr done;
};

void onFutureCopyReady(CopyRawToHostFutureReady *args) {
  std::unique_ptr<FutureCopy> copy(static_cast<FutureCopy *>(args->callback_data));
  if (args->error_code != StatusCode::Ok) {
    copy->done->complete(
        Status(args->error_code, llvm::StringRef(args->error_message, args->error_message_size)));
    return;
  }
  copyBytes(copy->value, copy->offset, copy->size, args->dst)
      ->then([done = copy->done](const Status &status) { done->complete(status); });
}

/// A donated buffer that is usable once a dependency of the framework's is over.
struct Dependency {
  CompletionPtr over;
};

void onDependencyReady(DependencyReady *args) {
  std::unique_ptr<Dependency> dependency(static_cast<Dependency *>(args->callback_data));
  dependency->over->complete(
      Status(args->error_code, llvm::StringRef(args->error_message, args->error_message_size)));
}
} // namespace

Status serve(Buffer_CopyRawToHostFuture_Args &args) {
  ValuePtr value;
  if (Status status = liveValue(args.buffer, "the buffer", value); !status.isOk())
    return status;
  if (Status status = checkRange(*args.buffer, args.offset, args.transfer_size); !status.isOk())
    return status;
  auto done = std::make_shared<Completion>();
  args.event = eventOf(done);
  args.callback_data = new FutureCopy{value, args.offset, args.transfer_size, done};
  args.future_ready_callback = onFutureCopyReady;
  return {};
}

Status serve(Buffer_DonateWithControlDependency_Args &args) {
  ValuePtr value = args.buffer->release();
  if (!value)
    return invalidArgument("the buffer was deleted or donated");
  auto over = std::make_shared<Completion>();
  auto target = std::make_shared<Value>(std::make_shared<Completion>());
  whenAll({value->ready, over}, [value, target](const Status &status) {
    if (status.isOk())
      target->settle(value->storage());
    target->ready->complete(status);
  });
  args.callback_data = new Dependency{over};
  args.dependency_ready_callback = onDependencyReady;
  args.out_buffer =
      new Buffer(args.buffer->device, args.buffer->memory, args.buffer->shape, target);
  return {};
}

Status serve(Buffer_Bitcast_Args &args) {
  ValuePtr value;
  if (Status status = liveValue(args.buffer, "the buffer", value); !status.isOk())
    return status;
  Shape shape;
  if (Status status = makeShape(args.element_type, args.dims, args.num_dims, shape); !status.isOk())
    return status;
  if (shape.bytes != args.buffer->shape.bytes)
    return invalidArgument("a bitcast from " + args.buffer->shape.text() + " to " + shape.text() +
                           " changes the size");
  args.out_buffer = new Buffer(args.buffer->device, args.buffer->memory, std::move(shape), value);
  return {};
}

} // namespace spokeshave::pjrt
