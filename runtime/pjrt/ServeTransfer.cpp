//===- ServeTransfer.cpp - buffers made from memory of the host ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's memory is the device's memory: what is dense, aligned as our own is,
// and promised to stay as it is, is used where it lies.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Buffer.h"
#include "runtime/pjrt/HostCopy.h"
#include "runtime/pjrt/Serve.h"

#include <cstring>

namespace spokeshave::pjrt {

namespace {
/// Where a new buffer goes: `memory` if given, else `device`'s default.
struct Place {
  Device *device = nullptr;
  Memory *memory = nullptr;
};

Status placeOf(Device *device, Memory *memory, Place &place) {
  if (!device && !memory)
    return invalidArgument("neither a device nor a memory for the buffer was given");
  place.memory = memory ? memory : device->memories.front();
  place.device = memory ? memory->devices.front() : device;
  return {};
}

/// Our buffers are row-major; a layout that says anything else is refused.
Status checkLayout(const MemoryLayout *layout, const Shape &shape) {
  int64_t elementBytes = *bytesOf(shape.type);
  llvm::SmallVector<int64_t> strides;
  if (Status status = stridesOf(layout, shape.dims, elementBytes, strides); !status.isOk())
    return status;
  if (!isDense(shape.dims, strides, elementBytes))
    return unimplemented("a buffer on this device that is not row-major");
  return {};
}

/// Powers of two: what vector code may assume of the element type.
bool isAligned(const void *data, int64_t elementBytes) {
  uint64_t alignment = std::min<int64_t>(elementBytes, 8);
  return reinterpret_cast<uintptr_t>(data) % std::max<uint64_t>(alignment, 1) == 0;
}

/// An array of a caller who promises not to change it. Many do all the same, and
/// get away with it elsewhere because arrays of numpy's, which are rarely aligned
/// like this, are copied there.
bool isAlignedAsOurs(const void *data) {
  return reinterpret_cast<uintptr_t>(data) % runtime::kAlignment == 0;
}

Buffer *makeBuffer(const Place &place, Shape shape, CompletionPtr ready,
                   runtime::HostBlockRef block) {
  auto value = std::make_shared<Value>(std::move(ready), std::move(block));
  return new Buffer(place.device, place.memory, std::move(shape), std::move(value));
}
} // namespace

Status serve(Client_BufferFromHostBuffer_Args &args) {
  Shape shape;
  if (Status status = makeShape(args.type, args.dims, args.num_dims, shape); !status.isOk())
    return status;
  Place place;
  if (Status status = placeOf(args.device, args.memory, place); !status.isOk())
    return status;
  if (Status status = checkLayout(args.device_layout, shape); !status.isOk())
    return status;
  int64_t elementBytes = *bytesOf(shape.type);
  llvm::SmallVector<int64_t> strides = denseStrides(shape.dims, elementBytes);
  if (args.num_byte_strides != 0) {
    if (args.num_byte_strides != args.num_dims)
      return invalidArgument("an array of rank " + llvm::Twine(args.num_dims) + " with " +
                             llvm::Twine(args.num_byte_strides) + " strides");
    strides.assign(args.byte_strides, args.byte_strides + args.num_byte_strides);
  }
  if (!args.data && shape.bytes != 0)
    return invalidArgument("the host's array is null");

  bool staysAsItIs = args.host_buffer_semantics == HostBufferSemantics::ImmutableZeroCopy ||
                     args.host_buffer_semantics == HostBufferSemantics::MutableZeroCopy;
  if (staysAsItIs && args.data && isDense(shape.dims, strides, elementBytes) &&
      isAlignedAsOurs(args.data)) {
    auto done = std::make_shared<Completion>();
    auto block = runtime::HostBlock::external(const_cast<void *>(args.data), shape.bytes,
                                              [done] { done->complete({}); });
    args.done_with_host_buffer = new Event{done};
    args.buffer = makeBuffer(place, std::move(shape), completed(), std::move(block));
    return {};
  }
  llvm::Expected<runtime::HostBlockRef> block = runtime::HostBlock::allocate(shape.bytes);
  if (!block)
    return toStatus(block.takeError());
  copyStrided(static_cast<char *>((*block)->data()), denseStrides(shape.dims, elementBytes),
              static_cast<const char *>(args.data), strides, shape.dims, elementBytes);
  args.done_with_host_buffer = new Event{completed()};
  args.buffer = makeBuffer(place, std::move(shape), completed(), std::move(*block));
  return {};
}

Status serve(Client_CreateViewOfDeviceBuffer_Args &args) {
  Shape shape;
  if (Status status = makeShape(args.element_type, args.dims, args.num_dims, shape); !status.isOk())
    return status;
  Memory *memory = SPOKESHAVE_PJRT_HAS(args, memory) ? args.memory : nullptr;
  Place place;
  if (Status status = placeOf(args.device, memory, place); !status.isOk())
    return status;
  if (Status status = checkLayout(args.layout, shape); !status.isOk())
    return status;
  if (!isAligned(args.device_buffer_ptr, *bytesOf(shape.type)))
    return invalidArgument("the memory to view is not aligned to its element");
  if (!args.device_buffer_ptr && shape.bytes != 0)
    return invalidArgument("the memory to view is null");
  auto release = [callback = args.on_delete_callback, pointer = args.device_buffer_ptr,
                  user = args.on_delete_callback_arg] {
    if (callback)
      callback(pointer, user);
  };
  auto block = runtime::HostBlock::external(args.device_buffer_ptr, shape.bytes, release);
  args.buffer = makeBuffer(place, std::move(shape), completed(), std::move(block));
  return {};
}

Status serve(Client_CreateUninitializedBuffer_Args &args) {
  Shape shape;
  if (Status status =
          makeShape(args.shape_element_type, args.shape_dims, args.shape_num_dims, shape);
      !status.isOk())
    return status;
  Place place;
  if (Status status = placeOf(args.device, args.memory, place); !status.isOk())
    return status;
  if (Status status = checkLayout(args.shape_layout, shape); !status.isOk())
    return status;
  llvm::Expected<runtime::HostBlockRef> block = runtime::HostBlock::allocate(shape.bytes);
  if (!block)
    return toStatus(block.takeError());
  args.buffer = makeBuffer(place, std::move(shape), completed(), std::move(*block));
  return {};
}

Status serve(Client_CreateErrorBuffer_Args &args) {
  Shape shape;
  if (Status status =
          makeShape(args.shape_element_type, args.shape_dims, args.shape_num_dims, shape);
      !status.isOk())
    return status;
  Place place;
  if (Status status = placeOf(nullptr, args.memory, place); !status.isOk())
    return status;
  if (args.error_code == StatusCode::Ok)
    return invalidArgument("an error buffer without an error");
  Status error(args.error_code, llvm::StringRef(args.error_message, args.error_message_size));
  args.buffer = makeBuffer(place, std::move(shape), completed(error), nullptr);
  return {};
}

//===-- Buffers that another buffer fills later ----------------------------===//

struct AliasFulfiller {
  ValuePtr target;
  Shape shape;
};

Status serve(Client_CreateAliasBuffer_Args &args) {
  Shape shape;
  if (Status status =
          makeShape(args.shape_element_type, args.shape_dims, args.shape_num_dims, shape);
      !status.isOk())
    return status;
  Place place;
  if (Status status = placeOf(nullptr, args.memory, place); !status.isOk())
    return status;
  if (Status status = checkLayout(args.shape_layout, shape); !status.isOk())
    return status;
  auto target = std::make_shared<Value>(std::make_shared<Completion>());
  args.alias_buffer = new Buffer(place.device, place.memory, shape, target);
  args.fulfill_alias_buffer_cb = new AliasFulfiller{target, shape};
  return {};
}

namespace {
/// The alias becomes what `source` is: the same memory, unless the address of
/// the alias was given away before.
void fulfil(const ValuePtr &target, const ValuePtr &source, int64_t bytes) {
  source->ready->then([target, source, bytes](const Status &status) {
    if (status.isOk()) {
      runtime::HostBlockRef block = target->settle(source->storage());
      if (block->data() != source->storage()->data())
        std::memcpy(block->data(), source->storage()->data(), bytes);
    }
    target->ready->complete(status);
  });
}
} // namespace

Status serve(Client_FulfillAliasBuffer_Args &args) {
  if (Status status = requireArgument(args.fulfill_alias_buffer_cb, "the alias"); !status.isOk())
    return status;
  std::unique_ptr<AliasFulfiller> alias(args.fulfill_alias_buffer_cb);
  if (args.status_code != StatusCode::Ok) {
    alias->target->ready->complete(
        Status(args.status_code, llvm::StringRef(args.error_message, args.error_message_size)));
    return {};
  }
  ValuePtr source;
  Status status = liveValue(args.buffer, "the buffer to fulfil the alias with", source);
  if (status.isOk() && args.buffer->shape.bytes != alias->shape.bytes)
    status = invalidArgument("an alias for " + alias->shape.text() + " fulfilled with " +
                             args.buffer->shape.text());
  if (!status.isOk()) {
    alias->target->ready->complete(status);
    return status;
  }
  fulfil(alias->target, source, alias->shape.bytes);
  return {};
}

//===-- Buffers filled piece by piece --------------------------------------===//

/// Holds buffers while the host fills them.
struct TransferManager {
  Place place;
  std::vector<Shape> shapes;
  std::vector<ValuePtr> values;

  /// What was never finished must not be waited for in vain.
  ~TransferManager() {
    for (const ValuePtr &value : values)
      value->ready->complete(Status(StatusCode::Cancelled, "the transfer was given up"));
  }
  Status check(int index) const {
    if (index < 0 || static_cast<size_t>(index) >= values.size())
      return invalidArgument("the transfer has no buffer " + llvm::Twine(index));
    return {};
  }
};

Status serve(Client_CreateBuffersForAsyncHostToDevice_Args &args) {
  auto manager = std::make_unique<TransferManager>();
  if (Status status = placeOf(nullptr, args.memory, manager->place); !status.isOk())
    return status;
  for (size_t i = 0; i < args.num_shape_specs; ++i) {
    const ShapeSpec &spec = args.shape_specs[i];
    Shape &shape = manager->shapes.emplace_back();
    if (Status status = makeShape(spec.element_type, spec.dims, spec.num_dims, shape);
        !status.isOk())
      return status;
    if (i < args.num_device_layouts)
      if (Status status = checkLayout(args.device_layouts[i], shape); !status.isOk())
        return status;
    llvm::Expected<runtime::HostBlockRef> block = runtime::HostBlock::allocate(shape.bytes);
    if (!block)
      return toStatus(block.takeError());
    manager->values.push_back(
        std::make_shared<Value>(std::make_shared<Completion>(), std::move(*block)));
  }
  args.transfer_manager = manager.release();
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_Destroy_Args &args) {
  delete args.transfer_manager;
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_TransferData_Args &args) {
  TransferManager &manager = *args.transfer_manager;
  if (Status status = manager.check(args.buffer_index); !status.isOk())
    return status;
  int64_t bytes = manager.shapes[args.buffer_index].bytes;
  if (args.offset < 0 || args.transfer_size < 0 || args.offset > bytes ||
      args.transfer_size > bytes - args.offset)
    return invalidArgument("a transfer beyond the end of the buffer");
  ValuePtr value = manager.values[args.buffer_index];
  std::memcpy(static_cast<char *>(value->storage()->data()) + args.offset, args.data,
              args.transfer_size);
  args.done_with_h2d_transfer = new Event{completed()};
  if (args.is_last_transfer)
    value->ready->complete({});
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_TransferLiteral_Args &args) {
  TransferManager &manager = *args.transfer_manager;
  if (Status status = manager.check(args.buffer_index); !status.isOk())
    return status;
  const Shape &shape = manager.shapes[args.buffer_index];
  int64_t elementBytes = *bytesOf(shape.type);
  llvm::SmallVector<int64_t> strides;
  if (Status status = stridesOf(args.shape_layout, shape.dims, elementBytes, strides);
      !status.isOk())
    return status;
  ValuePtr value = manager.values[args.buffer_index];
  copyStrided(static_cast<char *>(value->storage()->data()), denseStrides(shape.dims, elementBytes),
              static_cast<const char *>(args.data), strides, shape.dims, elementBytes);
  args.done_with_h2d_transfer = new Event{completed()};
  value->ready->complete({});
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_RetrieveBuffer_Args &args) {
  TransferManager &manager = *args.transfer_manager;
  if (Status status = manager.check(args.buffer_index); !status.isOk())
    return status;
  args.buffer_out =
      new Buffer(manager.place.device, manager.place.memory, manager.shapes[args.buffer_index],
                 manager.values[args.buffer_index]);
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_Device_Args &args) {
  args.device_out = args.transfer_manager->place.device;
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_BufferCount_Args &args) {
  args.buffer_count = args.transfer_manager->values.size();
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_BufferSize_Args &args) {
  if (Status status = args.transfer_manager->check(args.buffer_index); !status.isOk())
    return status;
  args.buffer_size = args.transfer_manager->shapes[args.buffer_index].bytes;
  return {};
}

Status serve(AsyncHostToDeviceTransferManager_SetBufferError_Args &args) {
  if (Status status = args.transfer_manager->check(args.buffer_index); !status.isOk())
    return status;
  args.transfer_manager->values[args.buffer_index]->ready->complete(
      Status(args.error_code, llvm::StringRef(args.error_message, args.error_message_size)));
  return {};
}

// Metadata is for other platforms' tracing.
Status serve(AsyncHostToDeviceTransferManager_AddMetadata_Args &) {
  return {};
}

} // namespace spokeshave::pjrt
