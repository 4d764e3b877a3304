//===- BufferTest.cpp - buffers, transfers, events through the C API -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "support/Error.h"

#include "runtime/pjrt/ElementTypes.h"
#include "runtime/pjrt/HostCopy.h"
#include "runtime/pjrt/TestHelpers.h"

#include <deque>
#include <numeric>

namespace spokeshave::pjrt::test {
namespace {

class BufferTest : public PjrtTest {
protected:
  Client_BufferFromHostBuffer_Args hostArgs(const void *data, llvm::ArrayRef<int64_t> dims,
                                            HostBufferSemantics semantics) {
    Client_BufferFromHostBuffer_Args args{};
    args.client = client;
    args.data = data;
    args.type = ElementType::F32;
    args.dims = shapes.emplace_back(dims.begin(), dims.end()).data();
    args.num_dims = dims.size();
    args.device = device;
    args.host_buffer_semantics = semantics;
    return args;
  }

private:
  std::deque<std::vector<int64_t>> shapes; ///< what the arguments point to
};

TEST_F(BufferTest, ZeroCopyUntilTheBufferGoes) {
  alignas(64) float data[4] = {1, 2, 3, 4};
  auto args = hostArgs(data, {4}, HostBufferSemantics::ImmutableZeroCopy);
  CALL_OK(Client_BufferFromHostBuffer, args);
  EXPECT_EQ(addressOf(args.buffer), data);
  Event_IsReady_Args done{};
  done.event = args.done_with_host_buffer;
  CALL_OK(Event_IsReady, done);
  EXPECT_FALSE(done.is_ready);
  destroy(args.buffer);
  CALL_OK(Event_IsReady, done);
  EXPECT_TRUE(done.is_ready);
  destroyEvent(done.event);
}

TEST_F(BufferTest, CopiesWhatIsStridedOrNotAligned) {
  alignas(64) char bytes[4 * 9];
  float values[6] = {0, 1, 2, 3, 4, 5};
  std::memcpy(bytes + 1, values, sizeof values);
  auto args = hostArgs(bytes + 1, {6}, HostBufferSemantics::ImmutableZeroCopy);
  CALL_OK(Client_BufferFromHostBuffer, args);
  EXPECT_NE(addressOf(args.buffer), bytes + 1);
  std::vector<float> read;
  ASSERT_TRUE(this->read(args.buffer, read).ok());
  EXPECT_EQ(read, (std::vector<float>{0, 1, 2, 3, 4, 5}));
  destroyEvent(args.done_with_host_buffer);
  destroy(args.buffer);

  // A transposed and a reversed array.
  auto strided = hostArgs(values, {3, 2}, HostBufferSemantics::ImmutableZeroCopy);
  int64_t transposed[] = {4, 12}, reversed[] = {-8, 4};
  strided.byte_strides = transposed;
  strided.num_byte_strides = 2;
  CALL_OK(Client_BufferFromHostBuffer, strided);
  ASSERT_TRUE(this->read(strided.buffer, read).ok());
  EXPECT_EQ(read, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  destroyEvent(strided.done_with_host_buffer);
  destroy(strided.buffer);
  strided.data = values + 4;
  strided.byte_strides = reversed;
  CALL_OK(Client_BufferFromHostBuffer, strided);
  ASSERT_TRUE(this->read(strided.buffer, read).ok());
  EXPECT_EQ(read, (std::vector<float>{4, 5, 2, 3, 0, 1}));
  destroyEvent(strided.done_with_host_buffer);
  destroy(strided.buffer);
}

TEST_F(BufferTest, ImpossibleShapesAreRefused) {
  float data[1] = {};
  auto negative = hostArgs(data, {-1}, HostBufferSemantics::ImmutableOnlyDuringCall);
  EXPECT_EQ(CALL(Client_BufferFromHostBuffer, negative).code, StatusCode::InvalidArgument);
  auto huge = hostArgs(data, {int64_t(1) << 40, int64_t(1) << 40},
                       HostBufferSemantics::ImmutableOnlyDuringCall);
  EXPECT_EQ(CALL(Client_BufferFromHostBuffer, huge).code, StatusCode::InvalidArgument);
  auto type = hostArgs(data, {1}, HostBufferSemantics::ImmutableOnlyDuringCall);
  type.type = static_cast<ElementType>(99);
  EXPECT_EQ(CALL(Client_BufferFromHostBuffer, type).code, StatusCode::InvalidArgument);
  Client_CreateUninitializedBuffer_Args tooLarge{};
  int64_t dims[] = {int64_t(1) << 45};
  tooLarge.client = client;
  tooLarge.device = device;
  tooLarge.shape_dims = dims;
  tooLarge.shape_num_dims = 1;
  tooLarge.shape_element_type = ElementType::F64;
  EXPECT_EQ(CALL(Client_CreateUninitializedBuffer, tooLarge).code, StatusCode::ResourceExhausted);
}

TEST_F(BufferTest, AsyncTransfersInPieces) {
  int64_t dims[] = {4};
  ShapeSpec spec{Layout<ShapeSpec>::size, nullptr, dims, 1, ElementType::F32};
  Device_DefaultMemory_Args memory{};
  memory.device = device;
  CALL_OK(Device_DefaultMemory, memory);
  Client_CreateBuffersForAsyncHostToDevice_Args create{};
  create.client = client;
  create.shape_specs = &spec;
  create.num_shape_specs = 1;
  create.memory = memory.memory;
  CALL_OK(Client_CreateBuffersForAsyncHostToDevice, create);
  AsyncHostToDeviceTransferManager_RetrieveBuffer_Args get{};
  get.transfer_manager = create.transfer_manager;
  CALL_OK(AsyncHostToDeviceTransferManager_RetrieveBuffer, get);
  float data[4] = {1, 2, 3, 4};
  AsyncHostToDeviceTransferManager_TransferData_Args transfer{};
  transfer.transfer_manager = create.transfer_manager;
  for (int half : {1, 0}) {
    transfer.data = data + 2 * half;
    transfer.offset = 8 * half;
    transfer.transfer_size = 8;
    transfer.is_last_transfer = half == 0;
    CALL_OK(AsyncHostToDeviceTransferManager_TransferData, transfer);
    destroyEvent(transfer.done_with_h2d_transfer);
  }
  transfer.offset = 12;
  EXPECT_FALSE(CALL(AsyncHostToDeviceTransferManager_TransferData, transfer).ok());
  std::vector<float> values;
  ASSERT_TRUE(read(get.buffer_out, values).ok());
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4}));
  destroy(get.buffer_out);
  AsyncHostToDeviceTransferManager_Destroy_Args end{};
  end.transfer_manager = create.transfer_manager;
  CALL_OK(AsyncHostToDeviceTransferManager_Destroy, end);
}

TEST_F(BufferTest, AliasAndErrorBuffers) {
  Device_DefaultMemory_Args memory{};
  memory.device = device;
  CALL_OK(Device_DefaultMemory, memory);
  int64_t dims[] = {2};
  Client_CreateAliasBuffer_Args alias{};
  alias.client = client;
  alias.memory = memory.memory;
  alias.shape_dims = dims;
  alias.shape_num_dims = 1;
  alias.shape_element_type = ElementType::F32;
  CALL_OK(Client_CreateAliasBuffer, alias);
  Buffer *source = makeBuffer({7, 8});
  Client_FulfillAliasBuffer_Args fulfil{};
  fulfil.client = client;
  fulfil.buffer = source;
  fulfil.fulfill_alias_buffer_cb = alias.fulfill_alias_buffer_cb;
  CALL_OK(Client_FulfillAliasBuffer, fulfil);
  std::vector<float> values;
  ASSERT_TRUE(read(alias.alias_buffer, values).ok());
  EXPECT_EQ(values, (std::vector<float>{7, 8}));
  destroy(alias.alias_buffer);
  destroy(source);

  Client_CreateErrorBuffer_Args error{};
  error.client = client;
  error.error_code = StatusCode::Aborted;
  error.error_message = "from afar";
  error.error_message_size = 9;
  error.memory = memory.memory;
  error.shape_dims = dims;
  error.shape_num_dims = 1;
  error.shape_element_type = ElementType::F32;
  CALL_OK(Client_CreateErrorBuffer, error);
  Outcome outcome = awaitBuffer(error.buffer);
  EXPECT_EQ(outcome.code, StatusCode::Aborted);
  EXPECT_EQ(outcome.message, "from afar");
  destroy(error.buffer);
}

TEST_F(BufferTest, CopiesAndRawReads) {
  Buffer *source = makeBuffer({1, 2, 3, 4});
  Buffer_CopyToDevice_Args copy{};
  copy.buffer = source;
  copy.dst_device = device;
  CALL_OK(Buffer_CopyToDevice, copy);
  EXPECT_NE(addressOf(copy.dst_buffer), addressOf(source));
  float middle[2] = {};
  Buffer_CopyRawToHost_Args raw{};
  raw.buffer = copy.dst_buffer;
  raw.dst = middle;
  raw.offset = 4;
  raw.transfer_size = 8;
  CALL_OK(Buffer_CopyRawToHost, raw);
  ASSERT_TRUE(await(raw.event).ok());
  EXPECT_EQ(middle[0], 2);
  EXPECT_EQ(middle[1], 3);
  raw.transfer_size = 16;
  EXPECT_FALSE(CALL(Buffer_CopyRawToHost, raw).ok());
  destroy(source);
  destroy(copy.dst_buffer);
}

TEST_F(BufferTest, EventsCallBackOnce) {
  Event_Create_Args create{};
  CALL_OK(Event_Create, create);
  int calls = 0;
  Event_OnReady_Args onReady{};
  onReady.event = create.event;
  onReady.user_arg = &calls;
  onReady.callback = [](ErrorObject *error, void *user) {
    EXPECT_EQ(take(error).message, "late");
    ++*static_cast<int *>(user);
  };
  CALL_OK(Event_OnReady, onReady);
  EXPECT_EQ(calls, 0);
  Event_Set_Args set{};
  set.event = create.event;
  set.error_code = StatusCode::Unknown;
  set.error_message = "late";
  set.error_message_size = 4;
  CALL_OK(Event_Set, set);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(CALL(Event_Set, set).ok());
  CALL_OK(Event_OnReady, onReady);
  EXPECT_EQ(calls, 2);
  destroyEvent(create.event);
}

TEST_F(BufferTest, UnsupportedAndOutdatedCallsSayWhich) {
  Client_DmaMap_Args map{};
  Outcome outcome = CALL(Client_DmaMap, map);
  EXPECT_EQ(outcome.code, StatusCode::Unimplemented);
  EXPECT_NE(outcome.message.find("PJRT_Client_DmaMap"), std::string::npos);
  Buffer_Device_Args old{};
  old.struct_size = 24;
  auto slot = reinterpret_cast<ErrorObject *(*)(Buffer_Device_Args *)>(pjrtApi().Buffer_Device);
  outcome = take(slot(&old));
  EXPECT_EQ(outcome.code, StatusCode::InvalidArgument);
  EXPECT_EQ(old.device, nullptr);
  EXPECT_FALSE(take(slot(nullptr)).ok());
}

TEST_F(BufferTest, MemoryStatsOfBothSizes) {
  alignas(8) unsigned char bytes[208];
  for (size_t size : {185, 201}) {
    std::memset(bytes, 0xAB, sizeof bytes);
    auto &args = reinterpret_cast<Device_MemoryStats_Args &>(bytes);
    args.struct_size = size;
    args.extension_start = nullptr;
    args.device = device;
    auto slot =
        reinterpret_cast<ErrorObject *(*)(Device_MemoryStats_Args *)>(pjrtApi().Device_MemoryStats);
    ASSERT_TRUE(take(slot(&args)).ok());
    EXPECT_GE(args.bytes_limit, args.bytes_in_use);
    for (size_t i = size; i < sizeof bytes; ++i)
      EXPECT_EQ(bytes[i], 0xAB) << "written past struct_size " << size << " at " << i;
  }
}

TEST(HostCopy, EveryOrderOfThreeDimensions) {
  const int64_t dims[] = {3, 4, 5};
  std::vector<int32_t> source(60), target(60), back(60);
  std::iota(source.begin(), source.end(), 0);
  llvm::SmallVector<int64_t> dense = denseStrides(dims, 4);
  int64_t order[] = {0, 1, 2};
  do {
    TiledLayout tiled{Layout<TiledLayout>::size, nullptr, order, 3, nullptr, nullptr, 0};
    MemoryLayout layout{};
    layout.type = LayoutKind::Tiled;
    layout.tiled = tiled;
    llvm::SmallVector<int64_t> strides;
    ASSERT_TRUE(stridesOf(&layout, dims, 4, strides).isOk());
    copyStrided(reinterpret_cast<char *>(target.data()), strides,
                reinterpret_cast<char *>(source.data()), dense, dims, 4);
    EXPECT_EQ(target[strides[0] / 4 + strides[2] / 4 * 2], source[20 + 2]);
    copyStrided(reinterpret_cast<char *>(back.data()), dense,
                reinterpret_cast<char *>(target.data()), strides, dims, 4);
    EXPECT_EQ(back, source);
  } while (std::next_permutation(order, order + 3));
}

TEST(ElementTypes, NamesGoBothWays) {
  for (uint32_t i = 1; i <= 33; ++i) {
    auto type = static_cast<ElementType>(i);
    ASSERT_TRUE(bytesOf(type).has_value()) << i;
    EXPECT_EQ(elementTypeNamed(nameOf(type)), type);
  }
  EXPECT_EQ(bytesOf(ElementType::C128, {2, 0, 3}), 0);
  EXPECT_FALSE(bytesOf(ElementType::F32, {0, INT64_MAX}).has_value());
  EXPECT_FALSE(bytesOf(ElementType::F32, {INT64_MAX, 0}).has_value());
}

} // namespace
} // namespace spokeshave::pjrt::test
