//===- SdyOps.cpp - registration and verifiers of the sdy dialect -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sharding is checked where an operation owns it: its mesh exists, its axes are
// the mesh's, each used once, and it has the rank of its value.
//
//===----------------------------------------------------------------------===//
#include "input/SdyOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "input/SdyDialect.cpp.inc"
#include "input/SdyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "input/SdyAttrs.cpp.inc"

namespace spokeshave::sdy {

void SdyDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "input/SdyAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "input/SdyOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes.
//===----------------------------------------------------------------------===//

MeshAttr MeshAttr::get(MLIRContext *context, ArrayRef<MeshAxisAttr> axes,
                       ArrayRef<int64_t> deviceIds) {
  bool counting = !axes.empty() && llvm::all_of(llvm::enumerate(deviceIds), [](auto entry) {
    return int64_t(entry.index()) == entry.value();
  });
  return Base::get(context, axes, counting ? ArrayRef<int64_t>() : deviceIds);
}

int64_t MeshAttr::getAxisSize(StringRef name) const {
  for (MeshAxisAttr axis : getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return 0;
}

int64_t MeshAttr::getTotalSize() const {
  int64_t size = 1;
  for (MeshAxisAttr axis : getAxes())
    size *= axis.getSize();
  return size;
}

MeshAttr TensorShardingAttr::getMesh(Operation *op) const {
  if (auto mesh = llvm::dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto symbol = llvm::dyn_cast<FlatSymbolRefAttr>(getMeshOrRef());
  auto meshOp = symbol ? SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, symbol) : MeshOp();
  return meshOp ? meshOp.getMesh() : MeshAttr();
}

//===----------------------------------------------------------------------===//
// Verifiers.
//===----------------------------------------------------------------------===//

LogicalResult MeshOp::verify() {
  constexpr int64_t mostDevices = int64_t(1) << 40;
  llvm::StringSet<> names;
  int64_t total = 1;
  for (MeshAxisAttr axis : getMesh().getAxes()) {
    if (!names.insert(axis.getName()).second)
      return emitOpError("has two axes named \"") << axis.getName() << '"';
    if (axis.getSize() < 1)
      return emitOpError("axis \"")
             << axis.getName() << "\" must have a positive size, got " << axis.getSize();
    if (axis.getSize() > mostDevices / total)
      return emitOpError("has too many devices");
    total *= axis.getSize();
  }
  ArrayRef<int64_t> ids = getMesh().getDeviceIds();
  if (ids.empty())
    return success();
  if (int64_t(ids.size()) != total)
    return emitOpError("expected ") << total << " device ids, got " << ids.size();
  llvm::DenseSet<int64_t> seen;
  for (int64_t id : ids)
    if (id < 0 || !seen.insert(id).second)
      return emitOpError("device ids must be distinct and not negative, got ") << id;
  return success();
}

/// Marks the part [pre, pre * size) of each axis as used.
static LogicalResult verifyAxes(Operation *op, MeshAttr mesh, ArrayRef<AxisRefAttr> axes,
                                llvm::StringMap<SmallVector<std::pair<int64_t, int64_t>>> &used) {
  for (AxisRefAttr axis : axes) {
    int64_t size = mesh.getAxisSize(axis.getName());
    if (size == 0)
      return op->emitOpError("sharding names an axis \"")
             << axis.getName() << "\" that its mesh does not have";
    int64_t begin = 1, end = size;
    if (SubAxisInfoAttr part = axis.getSubAxisInfo()) {
      begin = part.getPreSize();
      if (begin < 1 || part.getSize() < 2 || begin > size / part.getSize() ||
          size % (begin * part.getSize()) != 0)
        return op->emitOpError("sharding has an invalid part of axis \"") << axis.getName() << '"';
      end = begin * part.getSize();
    }
    for (auto [otherBegin, otherEnd] : used[axis.getName()])
      if ((begin < otherEnd && otherBegin < end) || (begin == otherBegin && end == otherEnd))
        return op->emitOpError("sharding uses axis \"") << axis.getName() << "\" twice";
    used[axis.getName()].push_back({begin, end});
  }
  return success();
}

static LogicalResult verifySharding(Operation *op, TensorShardingAttr sharding, Type type,
                                    SymbolTableCollection &symbols) {
  MeshAttr mesh = llvm::dyn_cast<MeshAttr>(sharding.getMeshOrRef());
  if (auto symbol = llvm::dyn_cast<FlatSymbolRefAttr>(sharding.getMeshOrRef())) {
    auto meshOp = symbols.lookupNearestSymbolFrom<MeshOp>(op, symbol);
    if (!meshOp)
      return op->emitOpError("sharding names an unknown mesh ") << symbol;
    mesh = meshOp.getMesh();
  }
  if (!mesh)
    return op->emitOpError("sharding has no mesh");
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t rank = tensor ? tensor.getRank() : 0;
  // A mesh without axes is one device, which holds the whole value.
  bool oneDevice = mesh.getAxes().empty() && sharding.getRank() == 0;
  if (sharding.getRank() != rank && !oneDevice)
    return op->emitOpError("sharding has ")
           << sharding.getRank() << " dimensions, but its value has rank " << rank;
  llvm::StringMap<SmallVector<std::pair<int64_t, int64_t>>> used;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    if (failed(verifyAxes(op, mesh, dim.getAxes(), used)))
      return failure();
  if (failed(verifyAxes(op, mesh, sharding.getReplicatedAxes(), used)))
    return failure();
  return verifyAxes(op, mesh, sharding.getUnreducedAxes(), used);
}

LogicalResult ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySharding(*this, getSharding(), getType(), symbols);
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySharding(*this, getSharding(), getType(), symbols);
}

static LogicalResult verifyShardings(Operation *op, TensorShardingPerValueAttr shardings,
                                     TypeRange types, SymbolTableCollection &symbols) {
  for (auto [sharding, type] : llvm::zip(shardings.getShardings(), types))
    if (failed(verifySharding(op, sharding, type, symbols)))
      return failure();
  return success();
}

LogicalResult ManualComputationOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyShardings(*this, getInShardings(), getOperandTypes(), symbols)))
    return failure();
  return verifyShardings(*this, getOutShardings(), getResultTypes(), symbols);
}

static LogicalResult verifyBody(Operation *op, Region &body) {
  if (body.getNumArguments() != op->getNumOperands())
    return op->emitOpError("body takes ") << body.getNumArguments() << " arguments, but there are "
                                          << op->getNumOperands() << " operands";
  Operation *terminator = body.front().getTerminator();
  if (terminator->getNumOperands() != op->getNumResults())
    return op->emitOpError("body gives ")
           << terminator->getNumOperands() << " values, but there are " << op->getNumResults()
           << " results";
  return success();
}

LogicalResult ManualComputationOp::verify() {
  if (getInShardings().getShardings().size() != getNumOperands())
    return emitOpError("requires one sharding for each operand");
  if (getOutShardings().getShardings().size() != getNumResults())
    return emitOpError("requires one sharding for each result");
  return verifyBody(*this, getBody());
}

LogicalResult NamedComputationOp::verify() {
  if (getInShardings() && getInShardings()->getShardings().size() != getNumOperands())
    return emitOpError("requires one sharding for each operand");
  if (getOutShardings() && getOutShardings()->getShardings().size() != getNumResults())
    return emitOpError("requires one sharding for each result");
  if (failed(verifyBody(*this, getBody())))
    return failure();
  if (getBody().getArgumentTypes() != getOperandTypes())
    return emitOpError("body must take arguments of the operands' types");
  if (getBody().front().getTerminator()->getOperandTypes() != getResultTypes())
    return emitOpError("body must give values of the results' types");
  return success();
}

} // namespace spokeshave::sdy
