//===- StablehloVerifyControl.cpp - verifiers of control flow and calls -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, loops, calls out of the program, asynchronous operations, tuples.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

using namespace mlir;

namespace spokeshave::stablehlo {

//===----------------------------------------------------------------------===//
// Control flow.
//===----------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  if (rankOf(getPred()) != 0)
    return emitOpError("if_i1: pred must be a scalar, got ") << getPred().getType();
  for (Region *branch : {&getTrueBranch(), &getFalseBranch()})
    if (branch->getNumArguments() != 0)
      return violation(*this, 1) << "branches must not take arguments";
  ReturnOp onTrue = returnOf(getTrueBranch()), onFalse = returnOf(getFalseBranch());
  if (!onTrue || !onFalse)
    return violation(*this, 2) << "branches must be one block that ends in stablehlo.return";
  if (!areCompatibleTypes(onTrue->getOperandTypes(), onFalse->getOperandTypes()))
    return violation(*this, 2) << "branches must give values of the same types, got ("
                               << onTrue->getOperandTypes() << ") and ("
                               << onFalse->getOperandTypes() << ")";
  return verifySignature(*this, 3, "true_branch", getTrueBranch(), {}, getResultTypes());
}

LogicalResult CaseOp::verify() {
  if (rankOf(getIndex()) != 0)
    return emitOpError("case_i1: index must be a scalar, got ") << getIndex().getType();
  if (getBranches().empty())
    return violation(*this, 1) << "there must be at least one branch";
  ReturnOp first = returnOf(getBranches().front());
  for (Region &branch : getBranches()) {
    if (branch.getNumArguments() != 0)
      return violation(*this, 2) << "branches must not take arguments";
    ReturnOp terminator = returnOf(branch);
    if (!first || !terminator)
      return violation(*this, 3) << "branches must be one block that ends in stablehlo.return";
    if (!areCompatibleTypes(first->getOperandTypes(), terminator->getOperandTypes()))
      return violation(*this, 3) << "branches must give values of the same types, got ("
                                 << first->getOperandTypes() << ") and ("
                                 << terminator->getOperandTypes() << ")";
  }
  return verifySignature(*this, 4, "branch", getBranches().front(), {}, getResultTypes());
}

LogicalResult WhileOp::verify() {
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifySignature(*this, 1, "cond", getCond(), getOperandTypes(), boolean)) ||
      failed(verifySignature(*this, 2, "body", getBody(), getOperandTypes(), getOperandTypes())))
    return failure();
  if (!areCompatibleTypes(getOperandTypes(), getResultTypes()))
    return violation(*this, 3) << "operands and results must have the same types, got ("
                               << getOperandTypes() << ") and (" << getResultTypes() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// Calls.
//===----------------------------------------------------------------------===//

LogicalResult CompositeOp::verify() {
  auto isIdentifier = [](StringRef text) {
    auto fits = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
    return !text.empty() && (llvm::isAlpha(text.front()) || text.front() == '_') &&
           llvm::all_of(text, fits);
  };
  auto [space, name] = getName().split('.');
  if (!isIdentifier(space) || !isIdentifier(name))
    return violation(*this, 1) << "name must be of the form 'namespace.name', got \"" << getName()
                               << '"';
  return success();
}

/// `layouts` holds a permutation of the dimensions of each of `types`.
static LogicalResult verifyLayouts(CustomCallOp op, StringRef name, TypeRange types,
                                   ArrayAttr layouts) {
  if (layouts.size() != types.size())
    return op.emitOpError() << name << " must have one layout for each of " << types.size()
                            << " values, got " << layouts.size();
  for (auto [index, type, layout] : llvm::enumerate(types, layouts)) {
    SmallVector<int64_t> order;
    for (const APInt &dim : cast<DenseIntElementsAttr>(layout).getValues<APInt>())
      order.push_back(dim.getSExtValue());
    auto shaped = dyn_cast<ShapedType>(type);
    int64_t rank = shaped && shaped.hasRank() ? shaped.getRank() : 0;
    SmallVector<int64_t> sorted(order);
    llvm::sort(sorted);
    bool unranked = shaped && !shaped.hasRank();
    if (!unranked && !llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
      return op.emitOpError() << "layout " << index << " of " << name
                              << " must order the dimensions of " << type;
  }
  return success();
}

/// The types that layouts are given for: those of the values, or of one tuple.
static TypeRange unpacked(TypeRange types) {
  auto tuple = types.size() == 1 ? dyn_cast<TupleType>(types.front()) : TupleType();
  return tuple ? TypeRange(tuple.getTypes()) : types;
}

/// The type inside `type` that tuple indices lead to, or null.
static Type typeAt(Type type, Sizes indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast_or_null<TupleType>(type);
    if (!tuple || index < 0 || index >= int64_t(tuple.size()))
      return {};
    type = tuple.getType(index);
  }
  return type;
}

static LogicalResult verifyAlias(CustomCallOp op, OutputOperandAliasAttr alias) {
  int64_t operand = alias.getOperandIndex();
  if (operand < 0 || operand >= int64_t(op->getNumOperands()))
    return op.emitOpError("output_operand_alias names operand ")
           << operand << ", but there are " << op->getNumOperands();
  Type from = typeAt(op->getOperand(operand).getType(), alias.getOperandTupleIndices());
  // Several results count as one tuple.
  Sizes indices = alias.getOutputTupleIndices();
  Type to;
  if (op->getNumResults() == 1) {
    to = typeAt(op->getResult(0).getType(), indices);
  } else if (!indices.empty() && indices.front() >= 0 &&
             indices.front() < int64_t(op->getNumResults())) {
    to = typeAt(op->getResult(indices.front()).getType(), indices.drop_front());
  }
  if (!from || !to)
    return op.emitOpError("output_operand_alias has tuple indices that lead nowhere");
  if (from != to)
    return op.emitOpError("output_operand_alias must join values of the same type, got ")
           << to << " and " << from;
  return success();
}

LogicalResult CustomCallOp::verify() {
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError("operand_layouts and result_layouts must be given together");
  if (getOperandLayouts() &&
      (failed(verifyLayouts(*this, "operand_layouts", getOperandTypes(), *getOperandLayouts())) ||
       failed(verifyLayouts(*this, "result_layouts", unpacked(getResultTypes()),
                            *getResultLayouts()))))
    return failure();
  if (getResultTilings() && getResultTilings()->size() != unpacked(getResultTypes()).size())
    return emitOpError("result_tilings must have one tiling for each result");
  for (Attribute alias : getOutputOperandAliases())
    if (failed(verifyAlias(*this, cast<OutputOperandAliasAttr>(alias))))
      return failure();
  if (getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI) {
    if (getBackendConfig() && isa<StringAttr>(*getBackendConfig()) &&
        !cast<StringAttr>(*getBackendConfig()).empty())
      return emitOpError(
          "API_VERSION_TYPED_FFI takes a dictionary as backend_config, got a string");
  } else if (getBackendConfig() && isa<DictionaryAttr>(*getBackendConfig())) {
    return emitOpError("backend_config is a dictionary, which only API_VERSION_TYPED_FFI takes");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Asynchronous operations.
//===----------------------------------------------------------------------===//

LogicalResult AsyncStartOp::verify() {
  ReturnOp terminator = returnOf(getBody());
  if (!terminator || getBody().front().getOperations().size() != 2)
    return violation(*this, 1) << "body must be one operation and a stablehlo.return";
  Operation &inner = getBody().front().front();
  if (!isa<AllReduceOp, AllGatherOp, AllToAllOp, CollectivePermuteOp, ReduceScatterOp,
           CollectiveBroadcastOp, CollectiveReduceOp, SliceOp, DynamicSliceOp,
           DynamicUpdateSliceOp>(inner))
    return violation(*this, 2) << "body must be a collective or a slice, got " << inner.getName();
  if (getBody().getArgumentTypes() != getOperandTypes() ||
      !llvm::equal(inner.getOperands(), getBody().getArguments()))
    return violation(*this, 3) << "the operation in the body must take the operands in order";
  auto future = cast<FutureType>(getType());
  if (TypeRange(future.getTypes()) != terminator->getOperandTypes())
    return violation(*this, 4) << "result must be a future of (" << terminator->getOperandTypes()
                               << "), got " << future;
  return success();
}

LogicalResult AsyncDoneOp::verify() {
  auto future = cast<FutureType>(getOperand().getType());
  if (TypeRange(future.getTypes()) != getResultTypes())
    return violation(*this, 1) << "results must have the types of " << future << ", got ("
                               << getResultTypes() << ")";
  return success();
}

} // namespace spokeshave::stablehlo
