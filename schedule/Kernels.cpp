//===- Kernels.cpp - fusions become kernels, equal ones become one ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transformer of twelve layers has the fusions of one layer: kernels are
// compared by content, so that code and compile time do not grow with depth.
//
//===----------------------------------------------------------------------===//
#include "schedule/Kernels.h"

#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;

namespace {

/// Hashes the operations of a region: names, attributes, types, and values by
/// the order in which they are defined. Locations are left out.
class BodyHash {
public:
  llvm::hash_code hash(graph::FusionOp fusion) {
    code = llvm::hash_combine(unsigned(fusion.getKind()));
    visit(fusion.getBody());
    return code;
  }

private:
  void number(Value value) {
    numbers.try_emplace(value, numbers.size());
    code = llvm::hash_combine(code, value.getType().getAsOpaquePointer());
  }

  void visit(Region &region) {
    code = llvm::hash_combine(code, region.getBlocks().size());
    for (Block &block : region) {
      llvm::for_each(block.getArguments(), [&](Value value) { number(value); });
      for (Operation &op : block) {
        code = llvm::hash_combine(code, op.getName(), op.getDiscardableAttrDictionary(),
                                  op.hashProperties());
        for (Value operand : op.getOperands())
          code = llvm::hash_combine(code, numbers.lookup(operand));
        llvm::for_each(op.getResults(), [&](Value value) { number(value); });
        for (Region &inner : op.getRegions())
          visit(inner);
      }
    }
  }

  DenseMap<Value, unsigned> numbers;
  llvm::hash_code code = 0;
};

bool sameBody(graph::FusionOp a, graph::FusionOp b) {
  return a.getKind() == b.getKind() && a.getOperandTypes() == b.getOperandTypes() &&
         a.getResultTypes() == b.getResultTypes() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

} // namespace

FlatSymbolRefAttr KernelTable::kernelFor(graph::FusionOp fusion) {
  auto &candidates = byHash[size_t(BodyHash().hash(fusion))];
  for (KernelOp kernel : candidates)
    if (sameBody(kernel.getFusion(), fusion))
      return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
  FlatSymbolRefAttr symbol = outline(fusion);
  candidates.push_back(cast<KernelOp>(module.getBody()->back()));
  return symbol;
}

FlatSymbolRefAttr KernelTable::outline(graph::FusionOp fusion) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  // The dot keeps a kernel "exp" apart from the C library's function, and from
  // other names of the module.
  std::string name = fusion.getName().empty() ? "kernel" : fusion.getName().str();
  name += "." + std::to_string(namesTaken[name]++);
  auto kernel = builder.create<KernelOp>(fusion.getLoc(), name);
  Block *block = &kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : fusion.getInputs()) {
    Value argument = block->addArgument(input.getType(), fusion.getLoc());
    mapping.map(input, argument);
  }
  // An input that comes in twice must stay two: set the operands one by one.
  builder.setInsertionPointToStart(block);
  Operation *clone = builder.clone(*fusion, mapping);
  clone->setOperands(ValueRange(block->getArguments()));
  return FlatSymbolRefAttr::get(kernel.getSymNameAttr());
}

FlatSymbolRefAttr KernelTable::fillFor(DenseElementsAttr value, Location loc) {
  FlatSymbolRefAttr &symbol = fills[value];
  if (symbol)
    return symbol;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto fusion = builder.create<graph::FusionOp>(loc, TypeRange{value.getType()}, ValueRange{},
                                                graph::FusionKind::Loop, "fill");
  OpBuilder inner = OpBuilder::atBlockEnd(&fusion.getBlock());
  Value constant = inner.create<stablehlo::ConstantOp>(loc, value);
  inner.create<graph::YieldOp>(loc, constant);
  symbol = kernelFor(fusion);
  fusion.erase();
  return symbol;
}
