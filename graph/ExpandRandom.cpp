//===- ExpandRandom.cpp - random bits as arithmetic ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threefry-2x32 with 20 rounds and Philox-4x32 with 10, of Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). How counters are dealt
// to elements is not specified; here it is the way that JAX users know from the
// CPU: their keys give their numbers. As arithmetic the bits fuse with what is
// made of them.
//
//===----------------------------------------------------------------------===//
#include "graph/Emit.h"
#include "graph/Expand.h"

#include <array>

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

namespace {

using Pair = std::array<Value, 2>;
using Quad = std::array<Value, 4>;

class RandomBits {
public:
  RandomBits(OpBuilder &builder, sh::RngBitGeneratorOp op)
      : emit(builder, op.getLoc()), op(op),
        u32(IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned)),
        u64(IntegerType::get(builder.getContext(), 64, IntegerType::Unsigned)) {}

  LogicalResult expand();

private:
  RankedTensorType scalar64() const { return RankedTensorType::get({}, u64); }
  RankedTensorType line(int64_t size, Type element) const {
    return RankedTensorType::get({size}, element);
  }

  LogicalResult readState();
  Value writeState();
  Value word(int64_t index);
  Value low(Value value64);
  Value high(Value value64);
  Value join(Value low32, Value high32);
  Value spread(Value scalar, int64_t size) { return emit.broadcast(scalar, {size}, {}); }
  Value counters(Value first, int64_t size);
  Pair threefry(Pair x, Pair key);
  Quad philox(Quad x, Pair key);
  Value threefry32(ArrayRef<int64_t> shape);
  Value threefry64(ArrayRef<int64_t> shape);
  Value philoxBits(ArrayRef<int64_t> shape, bool wide);
  Value toOutput(Value bits);

  Emit emit;
  sh::RngBitGeneratorOp op;
  Type u32, u64;
  Value state;             ///< its words, tensor<?xui64>
  int64_t words = 0;       ///< how many
  SmallVector<Value> next; ///< scalars: the state afterwards
};

Value RandomBits::word(int64_t index) {
  return emit.reshape(emit.slice(state, {index}, {index + 1}), {});
}

// The state is a list of 64-bit words, or of their halves.
LogicalResult RandomBits::readState() {
  state = op.getInitialState();
  auto type = emit.typeOf(state);
  unsigned bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  bool halves = bits == 32;
  if (type.getRank() != 1 || !isa<IntegerType>(type.getElementType()) || (bits != 64 && !halves) ||
      (halves && type.getDimSize(0) % 2))
    return op.emitOpError() << "has a state that is not a list of 64-bit words";
  words = type.getDimSize(0) / (halves ? 2 : 1);
  if (halves)
    state = emit.reshape(state, {words, 2});
  state = emit.bitcast(state, line(words, u64));
  bool isThreefry = op.getRngAlgorithm() == sh::RngAlgorithm::THREE_FRY;
  if (words < 2 || words > (isThreefry ? 2 : 3))
    return op.emitOpError() << "has a state of " << words
                            << " words, which its algorithm does not take";
  return success();
}

Value RandomBits::writeState() {
  SmallVector<Value> parts;
  for (Value value : next)
    parts.push_back(emit.reshape(value, {1}));
  Value all = emit.concatenate(parts, 0);
  auto type = emit.typeOf(op.getOutputState());
  if (type.getElementTypeBitWidth() == 64)
    return emit.bitcast(all, type);
  Value halves = emit.bitcast(all, RankedTensorType::get({words, 2}, type.getElementType()));
  return emit.reshape(halves, type.getShape());
}

Value RandomBits::low(Value value) {
  return emit.convert(emit.binary<sh::AndOp>(value, emit.integerLike(value, 0xFFFFFFFF)), u32);
}

Value RandomBits::high(Value value) {
  return emit.convert(emit.binary<sh::ShiftRightLogicalOp>(value, emit.integerLike(value, 32)),
                      u32);
}

Value RandomBits::join(Value low32, Value high32) {
  Value upper = emit.convert(high32, u64);
  upper = emit.binary<sh::ShiftLeftOp>(upper, emit.integerLike(upper, 32));
  return emit.binary<sh::OrOp>(upper, emit.convert(low32, u64));
}

/// first, first + 1, ...
Value RandomBits::counters(Value first, int64_t size) {
  return emit.add(emit.iota(line(size, u64), 0), spread(first, size));
}

Pair RandomBits::threefry(Pair x, Pair key) {
  static constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  int64_t size = emit.shapeOf(x[0])[0];
  // The third word of the key is the others' parity with a constant.
  Value parity = emit.bitXor(emit.bitXor(key[0], key[1]), emit.integerLike(key[0], 0x1BD11BDA));
  std::array<Value, 3> keys = {key[0], key[1], parity};
  x = {emit.add(x[0], spread(keys[0], size)), emit.add(x[1], spread(keys[1], size))};
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : rotations[group % 2]) {
      x[0] = emit.add(x[0], x[1]);
      Value left = emit.binary<sh::ShiftLeftOp>(x[1], emit.integerLike(x[1], rotation));
      Value right =
          emit.binary<sh::ShiftRightLogicalOp>(x[1], emit.integerLike(x[1], 32 - rotation));
      x[1] = emit.bitXor(emit.binary<sh::OrOp>(left, right), x[0]);
    }
    Value injected = emit.add(keys[(group + 2) % 3], emit.integerLike(key[0], group + 1));
    x[0] = emit.add(x[0], spread(keys[(group + 1) % 3], size));
    x[1] = emit.add(x[1], spread(injected, size));
  }
  return x;
}

Quad RandomBits::philox(Quad x, Pair key) {
  int64_t size = emit.shapeOf(x[0])[0];
  for (unsigned round = 0; round < 10; ++round) {
    Value wide0 = emit.convert(x[0], u64), wide2 = emit.convert(x[2], u64);
    Value p0 = emit.mul(wide0, emit.integerLike(wide0, 0xD2511F53));
    Value p1 = emit.mul(wide2, emit.integerLike(wide2, 0xCD9E8D57));
    x = {emit.bitXor(emit.bitXor(high(p1), x[1]), spread(key[0], size)), low(p1),
         emit.bitXor(emit.bitXor(high(p0), x[3]), spread(key[1], size)), low(p0)};
    key = {emit.add(key[0], emit.integerLike(key[0], 0x9E3779B9)),
           emit.add(key[1], emit.integerLike(key[1], 0xBB67AE85))};
  }
  return x;
}

// Each block gives two neighbours along the first even dimension, else along the
// largest, whose last neighbour is dropped.
Value RandomBits::threefry32(ArrayRef<int64_t> outputShape) {
  SmallVector<int64_t> shape(outputShape);
  if (shape.empty())
    shape.push_back(1);
  auto even = llvm::find_if(shape, [](int64_t size) { return size % 2 == 0; });
  int64_t split = (even != shape.end() ? even : llvm::max_element(shape)) - shape.begin();
  SmallVector<int64_t> half(shape), whole(shape);
  half[split] = (shape[split] + 1) / 2;
  whole[split] = 2 * half[split];
  int64_t blocks = 1;
  for (int64_t size : half)
    blocks *= size;
  Value counter = counters(word(1), blocks);
  Pair bits = threefry({low(counter), high(counter)}, {low(word(0)), high(word(0))});
  next = {word(0), emit.add(word(1), emit.integer(scalar64(), blocks))};
  half.insert(half.begin() + split + 1, 1);
  Value both =
      emit.concatenate({emit.reshape(bits[0], half), emit.reshape(bits[1], half)}, split + 1);
  Value all = emit.reshape(both, whole);
  return emit.reshape(emit.slice(all, SmallVector<int64_t>(shape.size(), 0), shape), outputShape);
}

Value RandomBits::threefry64(ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  Value counter = counters(word(1), size);
  Pair bits = threefry({low(counter), high(counter)}, {low(word(0)), high(word(0))});
  next = {word(0), emit.add(word(1), emit.integer(scalar64(), size))};
  return emit.reshape(join(bits[0], bits[1]), shape);
}

// The counter has 128 bits; with a state of two words its upper ones are the key.
Value RandomBits::philoxBits(ArrayRef<int64_t> shape, bool wide) {
  int64_t size = 1, perBlock = wide ? 2 : 4;
  for (int64_t extent : shape)
    size *= extent;
  int64_t blocks = (size + perBlock - 1) / perBlock;
  Value lower = word(1), upper = words > 2 ? word(2) : word(0);
  auto carry = [&](Value sum, Value first) { return emit.convert(emit.less(sum, first), u64); };
  Value counter = counters(lower, blocks);
  Value top = emit.add(spread(upper, blocks), carry(counter, spread(lower, blocks)));
  Quad bits =
      philox({low(counter), high(counter), low(top), high(top)}, {low(word(0)), high(word(0))});
  Value after = emit.add(lower, emit.integer(scalar64(), blocks));
  next = {word(0), after};
  if (words > 2)
    next.push_back(emit.add(upper, carry(after, lower)));
  SmallVector<Value> columns;
  if (wide)
    columns = {join(bits[0], bits[1]), join(bits[2], bits[3])};
  else
    columns = {bits[0], bits[1], bits[2], bits[3]};
  for (Value &column : columns)
    column = emit.reshape(column, {blocks, 1});
  Value all = emit.reshape(emit.concatenate(columns, 1), {blocks * perBlock});
  return emit.reshape(emit.slice(all, {0}, {size}), shape);
}

/// Narrow elements are the low bits; floats are raw bits.
Value RandomBits::toOutput(Value bits) {
  auto type = emit.typeOf(op.getOutput());
  unsigned width = type.getElementTypeBitWidth();
  if (width < 32)
    bits = emit.convert(
        emit.binary<sh::AndOp>(bits, emit.integerLike(bits, (uint64_t{1} << width) - 1)),
        IntegerType::get(op.getContext(), width, IntegerType::Unsigned));
  return emit.bitcast(bits, type);
}

LogicalResult RandomBits::expand() {
  auto type = emit.typeOf(op.getOutput());
  unsigned width = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  if (width != 8 && width != 16 && width != 32 && width != 64)
    return op.emitOpError() << "makes elements of " << type.getElementType()
                            << ", which is not supported";
  if (failed(readState()))
    return failure();
  bool isThreefry = op.getRngAlgorithm() == sh::RngAlgorithm::THREE_FRY;
  Value bits = !isThreefry   ? philoxBits(type.getShape(), width == 64)
               : width == 64 ? threefry64(type.getShape())
                             : threefry32(type.getShape());
  op.getOutput().replaceAllUsesWith(toOutput(bits));
  op.getOutputState().replaceAllUsesWith(writeState());
  op.erase();
  return success();
}

} // namespace

LogicalResult expandRandomBits(OpBuilder &builder, sh::RngBitGeneratorOp op) {
  return RandomBits(builder, op).expand();
}

} // namespace spokeshave::graph
