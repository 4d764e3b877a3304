//===- NpyTest.cpp - reading and writing .npy files ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Npy.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace spokeshave::reference {
namespace {

RankedTensorType typeOf(MLIRContext &context, StringRef text) {
  return cast<RankedTensorType>(parseType(text, &context));
}

TEST(Npy, WritesAndReadsEveryType) {
  MLIRContext context;
  for (StringRef text :
       {"tensor<3xi1>", "tensor<2x3xi8>", "tensor<2x2xui16>", "tensor<i32>", "tensor<4xi64>",
        "tensor<0x3xf32>", "tensor<2xf64>", "tensor<3xf16>", "tensor<3xbf16>", "tensor<5xf8E5M2>",
        "tensor<3xi4>", "tensor<2xui2>", "tensor<2xcomplex<f32>>", "tensor<1x1x1xcomplex<f64>>"}) {
    RankedTensorType type = typeOf(context, text);
    ElementType element = *ElementType::get(type.getElementType());
    Tensor tensor(element, type.getShape());
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set(i, element.round({i - 1, i - 0.5, 2.0 * i}));
    llvm::SmallString<64> path;
    ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("spokeshave", "npy", path));
    llvm::FileRemover remover(path);
    ASSERT_FALSE(static_cast<bool>(writeNpy(path, tensor))) << text.str();
    llvm::Expected<Tensor> back = readNpy(path, type);
    ASSERT_TRUE(static_cast<bool>(back)) << text.str() << llvm::toString(back.takeError());
    EXPECT_TRUE(back->bitEquals(tensor)) << text.str();
  }
}

std::string file(StringRef dictionary, StringRef data) {
  std::string header = dictionary.str() + "\n";
  std::string bytes = "\x93NUMPY";
  bytes += {1, 0, static_cast<char>(header.size()), 0};
  return bytes + header + data.str();
}

TEST(Npy, ReadsColumnMajorFiles) {
  MLIRContext context;
  std::string bytes =
      file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6");
  llvm::Expected<Tensor> tensor = parseNpy(bytes, "x", typeOf(context, "tensor<2x?xi8>"));
  ASSERT_TRUE(static_cast<bool>(tensor));
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(tensor->at(i).i, i + 1);
}

TEST(Npy, RefusesWhatDoesNotFit) {
  MLIRContext context;
  RankedTensorType type = typeOf(context, "tensor<2xi16>");
  auto messageFor = [&](StringRef bytes) {
    llvm::Expected<Tensor> tensor = parseNpy(bytes, "x.npy", type);
    return tensor ? std::string("read") : llvm::toString(tensor.takeError());
  };
  auto mentions = [&](StringRef bytes, StringRef what) {
    return StringRef(messageFor(bytes)).contains(what);
  };
  std::string good = file("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", "abcd");
  EXPECT_EQ(messageFor(good), "read");
  EXPECT_TRUE(mentions("", "not a .npy file"));
  EXPECT_TRUE(mentions("\x93NUMPY\1", "not a .npy file"));
  EXPECT_TRUE(mentions(StringRef(good).drop_back(), "ends before its last element"));
  EXPECT_TRUE(mentions(file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", "abcd"),
                       "holds elements '>i2', expected '<i2'"));
  EXPECT_TRUE(mentions(file("{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2), }", "abcd"),
                       "has shape (1, 2)"));
  EXPECT_TRUE(mentions(file("{'descr': '<i2', 'fortran_order': False, 'shape': (-2,), }", "abcd"),
                       "not a .npy file"));
  EXPECT_TRUE(
      mentions(file("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2,), }", ""),
               "not a .npy file"));
  std::string lying = good;
  lying[8] = '\xFF'; // the header claims to be longer than the file
  EXPECT_TRUE(mentions(lying, "not a .npy file"));
}

} // namespace
} // namespace spokeshave::reference
