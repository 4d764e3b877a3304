//===- Tensor.h - the values that the interpreter computes -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Tensor owns its elements: dense, row-major, each element at a byte of its
// own (so an i4 takes a byte). Copies share the bytes until one is written. A
// token and a tuple are Tensors too, so that every StableHLO value is one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Element.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace spokeshave::reference {

using Index = llvm::SmallVector<int64_t, 6>;
using Shape = llvm::ArrayRef<int64_t>;

class Tensor {
public:
  Tensor() = default;
  /// All elements zero.
  Tensor(ElementType type, Shape shape);
  /// Elements of an attribute; dense, splat and resource attributes are read.
  static mlir::FailureOr<Tensor> fromAttribute(mlir::ElementsAttr attribute);
  /// `bytes` in this class's layout (as numpy has it; see Npy.h for files).
  static mlir::FailureOr<Tensor> fromBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
  static Tensor splat(ElementType type, Shape shape, const Scalar &value);
  static Tensor scalar(ElementType type, const Scalar &value) { return splat(type, {}, value); }
  static Tensor token();
  static Tensor tuple(std::vector<Tensor> elements);

  bool isNull() const { return valueKind == Kind::Null; }
  bool isTensor() const { return valueKind == Kind::Array; }
  bool isToken() const { return valueKind == Kind::Token; }
  bool isTuple() const { return valueKind == Kind::Tuple; }
  llvm::ArrayRef<Tensor> tupleElements() const;

  ElementType elementType() const { return type; }
  Shape shape() const { return dims; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t dim(int64_t axis) const { return dims[axis]; }
  int64_t size() const { return count; }
  mlir::RankedTensorType tensorType() const;

  const char *data() const { return bytes ? bytes->data() : nullptr; }
  /// Bytes to write to; takes a copy first if another Tensor shares them.
  char *mutableData();
  size_t byteSize() const { return static_cast<size_t>(count) * type.bytes(); }

  Scalar at(int64_t linear) const { return type.load(data() + linear * type.bytes()); }
  Scalar at(llvm::ArrayRef<int64_t> index) const { return at(linearIndex(index)); }
  /// Writers. For loops take mutableData() and store through the element type.
  void set(int64_t linear, const Scalar &value) {
    type.store(mutableData() + linear * type.bytes(), value);
  }
  int64_t linearIndex(llvm::ArrayRef<int64_t> index) const;

  /// The same bytes under another shape of as many elements.
  Tensor withShape(Shape shape) const;
  /// The same bytes under another type of the same storage size.
  Tensor withType(ElementType newType) const;

  /// Integers as a list, for operands that are indices or shapes.
  Index toIndex() const;
  /// A dense attribute of the tensor's type.
  mlir::DenseElementsAttr toAttribute() const;
  /// The same type, shape and bits.
  bool bitEquals(const Tensor &other) const;
  void print(llvm::raw_ostream &os) const;

private:
  enum class Kind : uint8_t { Null, Array, Token, Tuple };

  ElementType type;
  Index dims;
  int64_t count = 0;
  std::shared_ptr<std::vector<char>> bytes;
  std::shared_ptr<std::vector<Tensor>> elements;
  Kind valueKind = Kind::Null;
};

/// The number of elements of a shape, or -1 where it does not fit.
int64_t elementCount(Shape shape);
/// Row-major distances between neighbours along each axis, in elements.
Index stridesOf(Shape shape);
/// Steps `index` to the next one in lexicographic order; false after the last.
bool nextIndex(llvm::MutableArrayRef<int64_t> index, Shape shape);

/// Calls `visit(index)` for the index space of `shape`, in ascending
/// lexicographic order.
template <typename Visitor> void forEachIndex(Shape shape, Visitor visit) {
  if (elementCount(shape) == 0)
    return;
  Index index(shape.size(), 0);
  do
    visit(llvm::ArrayRef<int64_t>(index));
  while (nextIndex(index, shape));
}

} // namespace spokeshave::reference
