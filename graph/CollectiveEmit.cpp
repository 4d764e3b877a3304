//===- CollectiveEmit.cpp - writing what processes do with each other ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/CollectiveEmit.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

//===----------------------------------------------------------------------===//
// What differs between processes
//===----------------------------------------------------------------------===//

Value CollectiveEmit::processId() {
  Type i32 = builder.getI32Type();
  auto idOf = [&]<typename Op>(Op *) {
    auto type = RankedTensorType::get({}, builder.getIntegerType(32, /*isSigned=*/false));
    return emit.convert(builder.create<Op>(loc, type), i32);
  };
  if (processes.replicas == 1)
    return idOf(static_cast<sh::PartitionIdOp *>(nullptr));
  Value replica = idOf(static_cast<sh::ReplicaIdOp *>(nullptr));
  if (processes.partitions == 1)
    return replica;
  Value first = emit.mul(replica, emit.integerLike(replica, processes.partitions));
  return emit.add(first, idOf(static_cast<sh::PartitionIdOp *>(nullptr)));
}

Value CollectiveEmit::rowOf(ArrayRef<int32_t> table, int64_t columns) {
  auto type = RankedTensorType::get({processes.count(), columns}, builder.getI32Type());
  Value all =
      builder.create<sh::ConstantOp>(loc, cast<ElementsAttr>(DenseElementsAttr::get(type, table)));
  return pick(all, processId());
}

Value CollectiveEmit::element(Value row, int64_t column) {
  return emit.reshape(emit.slice(row, {column}, {column + 1}), {});
}

Value CollectiveEmit::flagOf(ArrayRef<bool> flags) {
  SmallVector<int32_t> numbers(flags.begin(), flags.end());
  Value number = element(rowOf(numbers, 1), 0);
  return builder.create<sh::CompareOp>(loc, number, emit.integerLike(number, 0),
                                       sh::ComparisonDirection::NE);
}

//===----------------------------------------------------------------------===//
// Where they meet
//===----------------------------------------------------------------------===//

DenseIntElementsAttr CollectiveEmit::matrix(const DeviceGroups &groups) {
  SmallVector<int64_t> ids;
  for (const DeviceGroup &group : groups)
    llvm::append_range(ids, group);
  int64_t rows = groups.size();
  auto type =
      RankedTensorType::get({rows, rows ? int64_t(ids.size()) / rows : 0}, builder.getI64Type());
  return DenseIntElementsAttr::get(type, ids);
}

sh::ChannelHandleAttr CollectiveEmit::channelOrDefault() {
  if (channel && channel->getHandle() > 0)
    return *channel;
  return sh::ChannelHandleAttr::get(builder.getContext(), /*handle=*/1, /*type=*/0);
}

Value CollectiveEmit::stack(Value value, const DeviceGroups &groups) {
  SmallVector<int64_t> shape(emit.shapeOf(value));
  shape.insert(shape.begin(), 1);
  Value one = emit.reshape(value, shape);
  shape[0] = groups.front().size();
  if (shape[0] == 1)
    return one;
  auto gather = builder.create<sh::AllGatherOp>(
      loc, TypeRange{emit.typeOf(value).clone(shape)}, ValueRange{one},
      builder.getI64IntegerAttr(0), matrix(groups), channelOrDefault(), builder.getUnitAttr());
  return gather.getResult(0);
}

Value CollectiveEmit::exchange(Value parts, const DeviceGroups &groups, bool ofReduction) {
  int64_t count = groups.front().size();
  if (count == 1)
    return parts;
  auto result = builder.create<sh::AllToAllOp>(
      loc, TypeRange{parts.getType()}, ValueRange{parts}, builder.getI64IntegerAttr(0),
      builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(count), matrix(groups),
      channelOrDefault());
  if (ofReduction)
    result->setAttr("graph.of_reduction", builder.getUnitAttr());
  return result.getResult(0);
}

Value CollectiveEmit::broadcastFirst(Value value, const DeviceGroups &groups) {
  auto result =
      builder.create<sh::CollectiveBroadcastOp>(loc, TypeRange{value.getType()}, ValueRange{value},
                                                matrix(groups), channelOrDefault(), UnitAttr());
  return result.getResult(0);
}

Value CollectiveEmit::permute(Value value, const DeviceGroups &pairs) {
  SmallVector<int64_t> ids;
  for (const DeviceGroup &pair : pairs)
    llvm::append_range(ids, pair);
  auto type = RankedTensorType::get({int64_t(pairs.size()), 2}, builder.getI64Type());
  return builder.create<sh::CollectivePermuteOp>(
      loc, value.getType(), value, DenseIntElementsAttr::get(type, ids), channelOrDefault());
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value CollectiveEmit::pick(Value stacked, Value index) {
  SmallVector<int64_t> sizes(emit.shapeOf(stacked));
  SmallVector<Value> starts(sizes.size(), emit.integerLike(index, 0));
  starts[0] = index;
  sizes[0] = 1;
  Value slice = builder.create<sh::DynamicSliceOp>(loc, emit.typeOf(stacked).clone(sizes), stacked,
                                                   starts, builder.getDenseI64ArrayAttr(sizes));
  return emit.reshape(slice, ArrayRef<int64_t>(sizes).drop_front());
}

Value CollectiveEmit::choose(Value condition, Value a, Value b) {
  Value all = emit.broadcast(condition, emit.shapeOf(a), {});
  return builder.create<sh::SelectOp>(loc, a.getType(), all, a, b);
}

Value CollectiveEmit::move(Value value, int64_t from, int64_t to) {
  if (from == to)
    return value;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, emit.typeOf(value).getRank()));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(emit.shapeOf(value)[dim]);
  return builder.create<sh::TransposeOp>(loc, emit.typeOf(value).clone(shape), value,
                                         builder.getDenseI64ArrayAttr(order));
}

Value CollectiveEmit::divide(Value value, int64_t dim, int64_t parts) {
  SmallVector<int64_t> shape(emit.shapeOf(value));
  shape[dim] /= parts;
  shape.insert(shape.begin() + dim, parts);
  return emit.reshape(value, shape);
}

} // namespace spokeshave::graph
