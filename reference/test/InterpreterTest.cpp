//===- InterpreterTest.cpp - the interpreter's C++ interface ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Interpreter.h"

#include "input/Dialects.h"
#include "input/Reader.h"
#include "support/Error.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace spokeshave::reference {
namespace {

class Interpreter : public ::testing::Test {
protected:
  Interpreter() { loadInputDialects(context); }

  ModuleOp read(StringRef text) {
    module = readProgram(text, "test", &context);
    EXPECT_TRUE(module);
    return *module;
  }
  Tensor integers(Shape shape, ArrayRef<int32_t> values) {
    auto type = RankedTensorType::get(shape, IntegerType::get(&context, 32));
    return *Tensor::fromAttribute(DenseElementsAttr::get(type, values));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

constexpr StringLiteral kAdd = R"(
func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %a, %b : tensor<2xi32>
  return %0 : tensor<2xi32>
})";

TEST_F(Interpreter, RunsMain) {
  auto results = evaluate(read(kAdd), {integers({2}, {1, 2}), integers({2}, {10, 20})});
  ASSERT_TRUE(static_cast<bool>(results));
  ASSERT_EQ(results->size(), 1u);
  EXPECT_TRUE(results->front().bitEquals(integers({2}, {11, 22})));
}

std::string messageOf(llvm::Error error) {
  std::unique_ptr<Error> ours = takeError(std::move(error));
  return ours ? ours->getMessage() : "";
}

TEST_F(Interpreter, ReportsBadArguments) {
  ModuleOp add = read(kAdd);
  auto missing = evaluate(add, {integers({2}, {1, 2})});
  ASSERT_FALSE(static_cast<bool>(missing));
  EXPECT_NE(messageOf(missing.takeError()).find("expected 2 arguments, got 1"), std::string::npos);
  auto shape = evaluate(add, {integers({2}, {1, 2}), integers({1}, {1})});
  ASSERT_FALSE(static_cast<bool>(shape));
  EXPECT_NE(messageOf(shape.takeError()).find("should have type 'tensor<2xi32>'"),
            std::string::npos);
}

TEST_F(Interpreter, RunsOneOperation) {
  ModuleOp add = read(kAdd);
  Operation *op = &add.lookupSymbol<func::FuncOp>("main").front().front();
  auto results = evaluateOp(op, {integers({2}, {1, 2}), integers({2}, {3, 4})});
  ASSERT_TRUE(succeeded(results));
  EXPECT_TRUE(results->front().bitEquals(integers({2}, {4, 6})));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(evaluateOp(op, {integers({2}, {1, 2})})));
  EXPECT_EQ(message, "expected 2 operands, got 1");
}

TEST_F(Interpreter, RunsAGrid) {
  ModuleOp program = read(R"(
func.func @main(%x: tensor<1xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64,
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids
    }> : (tensor<1xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
})");
  SmallVector<SmallVector<Tensor>> arguments;
  for (int32_t i = 0; i < 4; ++i)
    arguments.push_back({integers({1}, {i})});
  auto results = evaluateGrid(program, 2, 2, arguments);
  ASSERT_TRUE(static_cast<bool>(results));
  for (const SmallVector<Tensor> &values : *results)
    EXPECT_TRUE(values.front().bitEquals(integers({4}, {0, 1, 2, 3})));
}

TEST_F(Interpreter, CopiesOfTensorsAreIndependent) {
  Tensor a = integers({2}, {1, 2}), b = a;
  b.set(0, Scalar::integer(7));
  EXPECT_EQ(a.at(0).i, 1);
  EXPECT_EQ(b.at(0).i, 7);
}

TEST_F(Interpreter, AttributesGoThereAndBack) {
  for (StringRef text :
       {"dense<[true, false, true]> : tensor<3xi1>", "dense<[-8, 7]> : tensor<2xi4>",
        "dense<[3, 0]> : tensor<2xui2>", "dense<-5> : tensor<4xi64>",
        "dense<[1.5, 0x7FC00001]> : tensor<2xf32>", "dense<0x7C01> : tensor<3xf16>",
        "dense<[0.5, 448.0]> : tensor<2xf8E4M3FN>", "dense<> : tensor<0x3xbf16>",
        "dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f64>>",
        "dense<18446744073709551615> : tensor<ui64>"}) {
    auto attribute = dyn_cast_or_null<DenseElementsAttr>(parseAttribute(text, &context));
    ASSERT_TRUE(attribute) << text.str();
    FailureOr<Tensor> tensor = Tensor::fromAttribute(attribute);
    ASSERT_TRUE(succeeded(tensor)) << text.str();
    EXPECT_EQ(tensor->toAttribute(), attribute) << text.str();
  }
}

} // namespace
} // namespace spokeshave::reference
