//===- StablehloDialect.cpp - registration ----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the dialect's operations, types and attributes into a context. Attributes
// stand in StablehloAttrs.cpp, operations in generated shards.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "input/StablehloDialect.cpp.inc"
#include "input/StablehloEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "input/StablehloTypes.cpp.inc"

namespace spokeshave::stablehlo {

void StablehloDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "input/StablehloTypes.cpp.inc"
      >();
  registerStablehloDialectOperations(this);
}

LogicalResult FutureType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Type> types) {
  for (Type type : types)
    if (!llvm::isa<RankedTensorType>(type))
      return emitError() << "a future holds ranked tensors, got " << type;
  return success();
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                                 Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || !isa<RankedTensorType>(type))
    return nullptr;
  return builder.create<ConstantOp>(loc, type, elements);
}

} // namespace spokeshave::stablehlo
