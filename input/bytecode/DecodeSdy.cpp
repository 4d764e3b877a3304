//===- DecodeSdy.cpp - attributes of sdy, the sharding dialect -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sdy's attributes say how tensors are spread over a mesh of devices. They also
// occur in programs of a single device, on custom calls.
//
//===----------------------------------------------------------------------===//
#include "input/SdyOps.h"
#include "input/bytecode/Decoder.h"

using namespace mlir;

namespace spokeshave::bytecode {

namespace {

enum AttributeCode : uint64_t {
  ManualAxes = 0,
  MeshAxis = 1,
  Mesh = 2,
  SubAxisInfo = 3,
  AxisRef = 4,
  DimensionSharding = 5,
  TensorSharding = 6,
  TensorShardingPerValue = 7,
  DimMapping = 8,
  TensorMapping = 9,
  OpShardingRule = 10,
  // 11 to 14 belong to collectives that only Shardy's own passes make.
  TensorShardingV2 = 15, // With unreduced axes.
  TensorShardingPerValueV2 = 16,
  TensorShardingV3 = 17, // And how they are to be reduced.
};

} // namespace

Attribute Decoder::sdyAttribute(Cursor &cursor) {
  MLIRContext *context = input.context;
  uint64_t code = cursor.varint();
  switch (code) {
  case MeshAxis: {
    StringRef name = container.string(cursor);
    return sdy::MeshAxisAttr::get(context, name, cursor.signedVarint());
  }
  case Mesh: {
    auto axes = listOf<sdy::MeshAxisAttr>(cursor);
    SmallVector<int64_t> devices = cursor.signedVarints();
    return cursor.ok() ? sdy::MeshAttr::get(context, axes, devices) : Attribute();
  }
  case SubAxisInfo: {
    int64_t preSize = cursor.signedVarint(), size = cursor.signedVarint();
    return sdy::SubAxisInfoAttr::get(context, preSize, size);
  }
  case AxisRef: {
    StringRef name = container.string(cursor);
    Attribute subAxis = optionalAttribute(cursor);
    auto info = subAxis ? checked<sdy::SubAxisInfoAttr>(subAxis, cursor) : sdy::SubAxisInfoAttr();
    return cursor.ok() ? sdy::AxisRefAttr::get(context, name, info) : Attribute();
  }
  case DimensionSharding: {
    auto axes = listOf<sdy::AxisRefAttr>(cursor);
    bool isClosed = cursor.byte() != 0;
    auto [priority, hasPriority] = cursor.flagged();
    std::optional<int64_t> given;
    if (hasPriority)
      given = static_cast<int64_t>(priority);
    return cursor.ok() ? sdy::DimensionShardingAttr::get(context, axes, isClosed, given)
                       : Attribute();
  }
  case TensorSharding:
  case TensorShardingV2:
  case TensorShardingV3:
    return sdyTensorSharding(cursor, code != TensorSharding, code == TensorShardingV3);
  case OpShardingRule:
    return sdyShardingRule(cursor);
  default:
    return sdyList(code, cursor);
  }
}

/// Attributes that are little more than a list.
Attribute Decoder::sdyList(uint64_t code, Cursor &cursor) {
  MLIRContext *context = input.context;
  switch (code) {
  case ManualAxes: {
    auto axes = listOf<StringAttr>(cursor);
    return cursor.ok() ? sdy::ManualAxesAttr::get(context, axes) : Attribute();
  }
  case TensorShardingPerValue:
  case TensorShardingPerValueV2: {
    auto shardings = listOf<sdy::TensorShardingAttr>(cursor);
    return cursor.ok() ? sdy::TensorShardingPerValueAttr::get(context, shardings) : Attribute();
  }
  case DimMapping:
    return sdy::DimMappingAttr::get(context, cursor.signedVarints());
  case TensorMapping: {
    auto mappings = listOf<sdy::DimMappingAttr>(cursor);
    return cursor.ok() ? sdy::TensorMappingAttr::get(context, mappings) : Attribute();
  }
  default:
    cursor.error("sdy attributes of code " + Twine(code) + " are not supported");
    return {};
  }
}

Attribute Decoder::sdyTensorSharding(Cursor &cursor, bool hasUnreduced, bool hasReduction) {
  Attribute mesh = attribute(cursor);
  auto dims = listOf<sdy::DimensionShardingAttr>(cursor);
  auto replicated = listOf<sdy::AxisRefAttr>(cursor);
  SmallVector<sdy::AxisRefAttr> unreduced;
  if (hasUnreduced)
    unreduced = listOf<sdy::AxisRefAttr>(cursor);
  int64_t reduction = hasReduction ? cursor.signedVarint() : 0;
  std::optional<sdy::ReductionOp> reductionOp;
  if (reduction >= 0 && reduction <= UINT32_MAX)
    reductionOp = sdy::symbolizeReductionOp(static_cast<uint32_t>(reduction));
  if (!reductionOp)
    cursor.error("an unknown reduction " + Twine(reduction));
  return cursor.ok() ? sdy::TensorShardingAttr::get(input.context, mesh, dims, replicated,
                                                    unreduced, *reductionOp)
                     : Attribute();
}

Attribute Decoder::sdyShardingRule(Cursor &cursor) {
  SmallVector<int64_t> factorSizes = cursor.signedVarints();
  auto operands = listOf<sdy::TensorMappingAttr>(cursor);
  auto results = listOf<sdy::TensorMappingAttr>(cursor);
  SmallVector<int64_t> reduction = cursor.signedVarints();
  SmallVector<int64_t> needReplication = cursor.signedVarints();
  SmallVector<int64_t> permutation = cursor.signedVarints();
  SmallVector<int64_t> blocked = cursor.signedVarints();
  bool isCustom = cursor.byte() != 0;
  return cursor.ok() ? sdy::OpShardingRuleAttr::get(input.context, factorSizes, operands, results,
                                                    reduction, needReplication, permutation,
                                                    blocked, isCustom)
                     : Attribute();
}

} // namespace spokeshave::bytecode
