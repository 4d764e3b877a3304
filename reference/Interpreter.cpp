//===- Interpreter.cpp - runs functions, regions and operations ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Interpreter.h"

#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Grid.h"
#include "reference/Kernel.h"
#include "support/Error.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace spokeshave::reference {

/// Calls and regions nest on the machine's stack; this keeps recursion off its end.
static constexpr int kMaxDepth = 200;

const Tensor *Scope::find(Value value) const {
  for (const Scope *scope = this; scope; scope = scope->parent)
    if (auto it = scope->values.find(value); it != scope->values.end())
      return &it->second;
  return nullptr;
}

Shape Call::declaredShape(unsigned i) const {
  return cast<ShapedType>(op->getResult(i).getType()).getShape();
}

const HandlerTable &HandlerTable::all() {
  static const HandlerTable table = [] {
    HandlerTable table;
    for (auto theme :
         {addBatchNorm, addCheck, addCollectives, addCommunication, addControlFlow, addConvolution,
          addCustomCall, addDot, addFft, addGather, addLinearAlgebra, addMovement, addQuantization,
          addRandom, addReduction, addScatter, addSharding, addSlicing, addSort})
      theme(table);
    return table;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Types of values.
//===----------------------------------------------------------------------===//

static bool shapesAgree(Shape declared, Shape actual) {
  return declared.size() == actual.size() &&
         llvm::all_of_zip(declared, actual, [](int64_t declaredDim, int64_t dim) {
           return declaredDim == dim || ShapedType::isDynamic(declaredDim);
         });
}

static bool hasType(const Tensor &value, Type type) {
  if (isa<stablehlo::TokenType>(type))
    return value.isToken();
  if (auto tuple = dyn_cast<TupleType>(type))
    return value.isTuple() && value.tupleElements().size() == tuple.size() &&
           llvm::all_of_zip(value.tupleElements(), tuple.getTypes(), hasType);
  if (auto future = dyn_cast<stablehlo::FutureType>(type)) // held as a tuple
    return value.isTuple() && value.tupleElements().size() == future.getTypes().size();
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return isa<TensorType>(type) && value.isTensor();
  return value.isTensor() && value.elementType().type() == ranked.getElementType() &&
         shapesAgree(ranked.getShape(), value.shape());
}

static std::string describe(const Tensor &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (value.isTensor())
    os << value.tensorType();
  else
    os << (value.isToken() ? "a token" : value.isTuple() ? "a tuple" : "nothing");
  return text;
}

static LogicalResult checkValues(Operation *op, ArrayRef<Tensor> values, TypeRange types,
                                 StringRef what) {
  if (values.size() != types.size())
    return op->emitError() << "expected " << types.size() << " " << what << "s, got "
                           << values.size();
  for (auto [i, type] : llvm::enumerate(types))
    if (!hasType(values[i], type))
      return op->emitError() << what << " " << i << " should have type " << type << ", is "
                             << describe(values[i]);
  return success();
}

//===----------------------------------------------------------------------===//
// Operations.
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::step(Operation *op) {
  ++steps;
  if (options.stepLimit && steps > options.stepLimit)
    return op->emitError() << "stopped: more than " << options.stepLimit << " steps";
  return success();
}

LogicalResult Evaluator::runOp(Operation *op, ArrayRef<Tensor> operands,
                               ArrayRef<ElementType> resultTypes, Results &results,
                               const Scope &scope) {
  Call call{*this, scope, op, operands, resultTypes, results};
  if (computesOnQuantized(op, operands, resultTypes))
    return runQuantized(call);
  if (Handler handler = HandlerTable::all().find(op))
    return handler(call);
  if (isElementwise(op))
    return runElementwise(call);
  return op->emitError() << "the interpreter does not know '" << op->getName() << "'";
}

LogicalResult Evaluator::runOp(Operation *op, ArrayRef<Tensor> operands, Results &results,
                               const Scope &scope) {
  SmallVector<ElementType, 4> resultTypes;
  for (Type type : op->getResultTypes()) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped) {
      resultTypes.emplace_back();
      continue;
    }
    FailureOr<ElementType> element = ElementType::get(shaped.getElementType());
    if (failed(element))
      return op->emitError() << "has no interpretation for elements of type "
                             << shaped.getElementType();
    // A shape that overflows would make a buffer that is too small.
    if (shaped.hasStaticShape() &&
        elementCount(shaped.getShape()) > (int64_t{1} << 40) / element->bytes())
      return op->emitError() << "has a result too large to interpret: " << type;
    resultTypes.push_back(*element);
  }
  if (failed(step(op)) || failed(runOp(op, operands, resultTypes, results, scope)))
    return failure();
  return checkValues(op, results, op->getResultTypes(), "result");
}

//===----------------------------------------------------------------------===//
// Regions and functions.
//===----------------------------------------------------------------------===//

/// Whether `op` and what is before it in its block hold all uses of `value`. Uses
/// are listed last first, so that the usual answer comes from the first one.
static bool isLastUse(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    return inBlock && (inBlock == op || inBlock->isBeforeInBlock(op));
  });
}

LogicalResult Evaluator::runRegion(Region &region, ArrayRef<Tensor> arguments, Results &results,
                                   const Scope *parent) {
  Operation *owner = region.getParentOp();
  if (!region.hasOneBlock())
    return owner->emitError() << "has a region that is not a single block";
  if (failed(checkValues(owner, arguments, region.getArgumentTypes(), "argument")))
    return failure();
  if (depth >= kMaxDepth)
    return owner->emitError() << "calls and regions nest too deeply";
  ++depth;
  auto leave = llvm::make_scope_exit([&] { --depth; });

  Scope scope(parent);
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    scope.define(argument, value);
  for (Operation &op : region.front()) {
    SmallVector<Tensor, 4> operands;
    for (Value operand : op.getOperands()) {
      const Tensor *value = scope.find(operand);
      if (!value)
        return op.emitError() << "uses a value that the interpreter has not computed";
      operands.push_back(*value);
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      results.assign(operands.begin(), operands.end());
      return success();
    }
    Results values;
    if (failed(runOp(&op, operands, values, scope)))
      return failure();
    for (auto [result, value] : llvm::zip(op.getResults(), values))
      if (!result.use_empty())
        scope.define(result, std::move(value));
    // Programs are long and tensors large: what is not needed any more goes.
    for (Value operand : op.getOperands())
      if (isLastUse(operand, &op))
        scope.forget(operand);
  }
  return owner->emitError() << "has a region without a terminator";
}

LogicalResult Evaluator::runFunction(func::FuncOp function, ArrayRef<Tensor> arguments,
                                     Results &results) {
  if (function.isExternal())
    return function.emitError() << "has no body to interpret";
  return runRegion(function.getBody(), arguments, results, nullptr);
}

func::FuncOp Evaluator::lookupFunction(Operation *from, FlatSymbolRefAttr name) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(from, name);
  if (!function)
    from->emitError() << "refers to " << name << ", which is no function";
  return function;
}

//===----------------------------------------------------------------------===//
// Entry points.
//===----------------------------------------------------------------------===//

/// "main", or the function that is asked for, or else the only public one.
static func::FuncOp findEntry(ModuleOp module, StringRef name) {
  if (!name.empty())
    return module.lookupSymbol<func::FuncOp>(name);
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    return main;
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    if (only)
      return {};
    only = function;
  }
  return only;
}

FailureOr<SmallVector<Tensor>> evaluateFunction(func::FuncOp function, ArrayRef<Tensor> arguments,
                                                const Options &options) {
  Results results;
  Evaluator evaluator(options);
  if (failed(evaluator.runFunction(function, arguments, results)))
    return failure();
  return results;
}

llvm::Expected<SmallVector<Tensor>> evaluate(ModuleOp module, ArrayRef<Tensor> arguments,
                                             const Options &options) {
  func::FuncOp entry = findEntry(module, options.entry);
  if (!entry)
    return makeError(ErrorCode::InvalidProgram, "the module has no entry function");
  DiagnosticCollector diagnostics(module.getContext());
  FailureOr<SmallVector<Tensor>> results = evaluateFunction(entry, arguments, options);
  if (failed(results))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "interpretation failed");
  return std::move(*results);
}

FailureOr<SmallVector<Tensor>> evaluateOp(Operation *op, ArrayRef<Tensor> operands) {
  if (failed(checkValues(op, operands, op->getOperandTypes(), "operand")))
    return failure();
  Options options;
  Evaluator evaluator(options);
  Results results;
  Scope scope;
  if (failed(evaluator.runOp(op, operands, results, scope)))
    return failure();
  return results;
}

llvm::Expected<SmallVector<SmallVector<Tensor>>>
evaluateGrid(ModuleOp module, int64_t replicas, int64_t partitions,
             ArrayRef<SmallVector<Tensor>> arguments, const Options &options) {
  func::FuncOp entry = findEntry(module, options.entry);
  if (!entry)
    return makeError(ErrorCode::InvalidProgram, "the module has no entry function");
  if (replicas < 1 || partitions < 1 ||
      static_cast<int64_t>(arguments.size()) != replicas * partitions)
    return makeError(ErrorCode::BadArgument, "a grid needs arguments for each process");
  DiagnosticCollector diagnostics(module.getContext());
  Grid grid(replicas, partitions);
  SmallVector<func::FuncOp> programs(arguments.size(), entry);
  SmallVector<SmallVector<Tensor>> results;
  if (failed(grid.run(programs, arguments, results, options)))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "interpretation failed");
  return std::move(results);
}

} // namespace spokeshave::reference
