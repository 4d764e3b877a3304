//===- SelectValues.cpp - arith, math and vector to instructions -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line per operation. Splat constants become immediates where an instruction
// has room for one; others are made where they are used, so that they do not
// occupy registers over long stretches.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Selector.h"
#include "target/tpu/Simplify.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

ElementType Selector::elementOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIndex())
    return ElementType::I64;
  if (type.isF64())
    return ElementType::F64;
  if (type.isF32())
    return ElementType::F32;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF16())
    return ElementType::F16;
  if (isa<Float8E4M3FNType>(type))
    return ElementType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return ElementType::F8E5M2;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits == 1    ? ElementType::I1
         : bits <= 2  ? ElementType::I2
         : bits <= 4  ? ElementType::I4
         : bits <= 8  ? ElementType::I8
         : bits <= 16 ? ElementType::I16
         : bits <= 32 ? ElementType::I32
                      : ElementType::I64;
}

uint16_t Selector::lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

Reg Selector::newReg(Type type) {
  bool vector = isa<VectorType>(type);
  bool predicate = getElementTypeOrSelf(type).isInteger(1);
  return newReg(!vector ? File::Scalar : predicate ? File::Mask : File::Vector);
}

Instruction &Selector::emit(Opcode op, Type type, Reg dst, Reg a, Reg b, Reg c) {
  Instruction instruction;
  instruction.op = op;
  instruction.type = instruction.from = elementOf(type);
  instruction.lanes = lanesOf(type);
  instruction.dst = dst, instruction.a = a, instruction.b = b, instruction.c = c;
  instruction.location = location;
  return kernel.blocks.back().instructions.emplace_back(instruction);
}

Instruction &Selector::emitScalar(Opcode op, Reg dst, Reg a, Reg b) {
  return emit(op, IndexType::get(source.getContext()), dst, a, b);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static int64_t bitsOfAttribute(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt().getZExtValue();
  APInt integer = cast<IntegerAttr>(value).getValue();
  return integer.getBitWidth() >= 64 ? integer.getSExtValue() : int64_t(integer.getZExtValue());
}

std::optional<int64_t> Selector::immediateOf(Value value) {
  auto op = value.getDefiningOp<arith::ConstantOp>();
  if (!op)
    return std::nullopt;
  if (auto elements = dyn_cast<DenseElementsAttr>(op.getValue())) {
    if (!elements.isSplat())
      return std::nullopt;
    return bitsOfAttribute(elements.getSplatValue<Attribute>());
  }
  return bitsOfAttribute(op.getValue());
}

Reg Selector::scalarConstant(int64_t value) {
  Reg reg = newReg(File::Scalar);
  emitScalar(Opcode::Constant, reg).imm = value;
  return reg;
}

/// What is there already is not added again.
int64_t Selector::addData(std::vector<char> bytes) {
  for (const auto &[offset, data] : kernel.data)
    if (data == bytes)
      return offset;
  int64_t offset = llvm::alignTo(kernel.vmemBytes, 512);
  kernel.vmemBytes = llvm::alignTo(offset + bytes.size(), 512);
  kernel.data.push_back({offset, std::move(bytes)});
  return offset;
}

Reg Selector::constant(Attribute value, Type type) {
  Reg reg = newReg(type);
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements || elements.isSplat()) {
    Attribute scalar = elements ? elements.getSplatValue<Attribute>() : value;
    emit(Opcode::Constant, type, reg).imm = bitsOfAttribute(scalar);
    return reg;
  }
  SmallVector<int64_t> lanes;
  for (Attribute lane : elements.getValues<Attribute>())
    lanes.push_back(bitsOfAttribute(lane));
  int64_t step = lanes[1] - lanes[0];
  bool isIota = isa<IntegerType>(elements.getElementType()) && reg.file == File::Vector;
  for (size_t i = 1; i < lanes.size(); ++i)
    isIota &= lanes[i] - lanes[i - 1] == step;
  if (isIota) {
    Instruction &iota = emit(Opcode::Iota, type, reg);
    iota.imm = lanes[0], iota.stride = step;
    return reg;
  }
  if (reg.file == File::Mask) {
    // The first lanes on: a comparison; another pattern is loaded.
    size_t on = std::find(lanes.begin(), lanes.end(), 0) - lanes.begin();
    bool prefix = std::all_of(lanes.begin() + on, lanes.end(), [](int64_t l) { return l == 0; });
    auto wide = VectorType::get({int64_t(lanes.size())}, IntegerType::get(type.getContext(), 32));
    Reg numbers = newReg(File::Vector);
    if (prefix) {
      emit(Opcode::Iota, wide, numbers).stride = 1;
    } else {
      std::vector<char> bytes(lanes.begin(), lanes.end());
      Instruction &load = emit(Opcode::Load, wide, numbers);
      load.type = ElementType::I8, load.stride = 1, load.imm = addData(std::move(bytes));
      load.object = kConstantObject;
    }
    Instruction &compare = emit(Opcode::CompareI, wide, reg, numbers);
    compare.predicate = uint8_t(prefix ? IntPredicate::Slt : IntPredicate::Ne);
    compare.immediate = 2, compare.imm = prefix ? int64_t(on) : 0;
    return reg;
  }
  int64_t bytesEach = std::max<int64_t>(1, tpu::bitsOf(elementOf(type)) / 8);
  std::vector<char> bytes;
  for (int64_t lane : lanes)
    bytes.insert(bytes.end(), reinterpret_cast<char *>(&lane),
                 reinterpret_cast<char *>(&lane) + bytesEach);
  Instruction &load = emit(Opcode::Load, type, reg);
  load.stride = bytesEach, load.imm = addData(std::move(bytes));
  load.object = kConstantObject;
  return reg;
}

Reg Selector::get(Value value) {
  if (auto op = value.getDefiningOp<arith::ConstantOp>())
    return constant(op.getValue(), op.getType());
  Reg reg = values.lookup(value);
  assert(reg && "a value has no register");
  return reg;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

std::optional<Opcode> Selector::opcodeOf(Operation &op) {
  using O = Opcode;
  return TypeSwitch<Operation *, std::optional<Opcode>>(&op)
      .Case<arith::AddIOp>([](auto) { return O::Add; })
      .Case<arith::SubIOp>([](auto) { return O::Sub; })
      .Case<arith::MulIOp>([](auto) { return O::Mul; })
      .Case<arith::DivSIOp>([](auto) { return O::DivS; })
      .Case<arith::DivUIOp>([](auto) { return O::DivU; })
      .Case<arith::RemSIOp>([](auto) { return O::RemS; })
      .Case<arith::RemUIOp>([](auto) { return O::RemU; })
      .Case<arith::AndIOp>([](auto) { return O::And; })
      .Case<arith::OrIOp>([](auto) { return O::Or; })
      .Case<arith::XOrIOp>([](auto) { return O::Xor; })
      .Case<arith::ShLIOp>([](auto) { return O::Shl; })
      .Case<arith::ShRSIOp>([](auto) { return O::ShrS; })
      .Case<arith::ShRUIOp>([](auto) { return O::ShrU; })
      .Case<arith::MaxSIOp>([](auto) { return O::MaxS; })
      .Case<arith::MinSIOp>([](auto) { return O::MinS; })
      .Case<arith::MaxUIOp>([](auto) { return O::MaxU; })
      .Case<arith::MinUIOp>([](auto) { return O::MinU; })
      .Case<arith::CmpIOp>([](auto) { return O::CompareI; })
      .Case<math::CtPopOp>([](auto) { return O::PopCount; })
      .Case<math::CountLeadingZerosOp>([](auto) { return O::CountLeadingZeros; })
      .Case<math::CountTrailingZerosOp>([](auto) { return O::CountTrailingZeros; })
      .Case<arith::AddFOp>([](auto) { return O::AddF; })
      .Case<arith::SubFOp>([](auto) { return O::SubF; })
      .Case<arith::MulFOp>([](auto) { return O::MulF; })
      .Case<arith::DivFOp>([](auto) { return O::DivF; })
      .Case<arith::NegFOp>([](auto) { return O::NegF; })
      .Case<arith::MaximumFOp>([](auto) { return O::MaxF; })
      .Case<arith::MinimumFOp>([](auto) { return O::MinF; })
      .Case<arith::CmpFOp>([](auto) { return O::CompareF; })
      .Case<math::SqrtOp>([](auto) { return O::SqrtF; })
      .Case<math::Exp2Op>([](auto) { return O::Exp2; })
      .Case<math::Log2Op>([](auto) { return O::Log2; })
      .Case<math::TanhOp>([](auto) { return O::Tanh; })
      .Case<math::RsqrtOp>([](auto) { return O::Rsqrt; })
      .Case<math::AbsFOp>([](auto) { return O::AbsF; })
      .Case<math::CopySignOp>([](auto) { return O::CopySignF; })
      .Case<math::FloorOp>([](auto) { return O::FloorF; })
      .Case<math::CeilOp>([](auto) { return O::CeilF; })
      .Case<math::TruncOp>([](auto) { return O::TruncF; })
      .Case<math::RoundEvenOp>([](auto) { return O::RoundF; })
      .Case<math::FmaOp, vector::FMAOp>([](auto) { return O::FmaF; })
      .Case<arith::SelectOp>([](auto) { return O::Select; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<Opcode> conversionOf(Operation &op) {
  using O = Opcode;
  return TypeSwitch<Operation *, std::optional<Opcode>>(&op)
      .Case<arith::ExtSIOp, arith::IndexCastOp>([](auto) { return O::ExtendS; })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([](auto) { return O::ExtendU; })
      .Case<arith::TruncIOp>([](auto) { return O::Truncate; })
      .Case<arith::SIToFPOp>([](auto) { return O::SignedToFloat; })
      .Case<arith::UIToFPOp>([](auto) { return O::UnsignedToFloat; })
      .Case<arith::FPToSIOp>([](auto) { return O::FloatToSigned; })
      .Case<arith::FPToUIOp>([](auto) { return O::FloatToUnsigned; })
      .Case<arith::ExtFOp, arith::TruncFOp>([](auto) { return O::ConvertF; })
      .Case<arith::BitcastOp, vector::BitCastOp>([](auto) { return O::Move; })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult Selector::selectArithmetic(Operation &op, Opcode opcode) {
  // 1 / x: the unit's reciprocal is rounded correctly, as a quotient is.
  auto division = dyn_cast<arith::DivFOp>(op);
  if (division && getElementTypeOrSelf(division.getType()).isF32() &&
      immediateOf(division.getLhs()) == 0x3f800000) {
    Reg dst = newReg(division.getType());
    emit(Opcode::Reciprocal, division.getType(), dst, get(division.getRhs()));
    values[division.getResult()] = dst;
    return success();
  }
  // select's condition comes first; in the instruction it is c.
  SmallVector<Value, 3> operands(op.getOperands());
  if (opcode == Opcode::Select)
    std::rotate(operands.begin(), operands.begin() + 1, operands.end());
  uint8_t immediate = 0;
  int64_t bits = 0;
  bool mayHaveImmediate = opcode != Opcode::Select || !op.getResult(0).getType().isInteger(1);
  for (unsigned i = operands.size(); mayHaveImmediate && operands.size() > 1 && i-- > 0;) {
    bool isCondition = opcode == Opcode::Select && i == 2;
    if (isCondition)
      continue;
    if (std::optional<int64_t> value = immediateOf(operands[i])) {
      immediate = i + 1, bits = *value;
      break;
    }
  }
  Reg sources[3];
  for (auto [i, operand] : llvm::enumerate(operands))
    if (i + 1 != immediate)
      sources[i] = get(operand);
  Reg dst = newReg(op.getResult(0).getType());
  Type type = opcode == Opcode::CompareI || opcode == Opcode::CompareF ? operands[0].getType()
                                                                       : op.getResult(0).getType();
  Instruction &made = emit(opcode, type, dst, sources[0], sources[1], sources[2]);
  made.immediate = immediate, made.imm = bits;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    made.predicate = uint8_t(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    made.predicate = uint8_t(compare.getPredicate());
  values[op.getResult(0)] = dst;
  return success();
}

LogicalResult Selector::selectConversion(Operation &op, Opcode opcode) {
  Type to = op.getResult(0).getType(), from = op.getOperand(0).getType();
  if (lanesOf(to) != lanesOf(from))
    return op.emitOpError("changes the number of lanes, which the chip cannot do");
  Reg source = get(op.getOperand(0));
  if (isHalf(to, from) && !op.hasAttr(kernel::kOfProductAttr)) {
    bool unpacks = getElementTypeOrSelf(to).isF32();
    values[op.getResult(0)] = unpacks ? unpackHalf(to, source) : packHalf(from, source);
    return success();
  }
  Reg dst = newReg(to);
  if (opcode == Opcode::Move && dst.file == source.file && dst.file != File::Mask) {
    values[op.getResult(0)] = source; // the same bits
    return success();
  }
  // A bit becomes a predicate by comparing it.
  if (opcode == Opcode::Truncate && dst.file == File::Mask) {
    Reg low = newReg(File::Vector);
    Instruction &bit = emit(Opcode::And, from, low, source);
    bit.immediate = 2, bit.imm = 1;
    Instruction &compare = emit(Opcode::CompareI, from, dst, low);
    compare.predicate = uint8_t(IntPredicate::Ne), compare.immediate = 2;
  } else {
    Instruction &made = emit(opcode, to, dst, source);
    made.from = elementOf(from);
    if (auto carried = op.getAttrOfType<BoolAttr>(kernel::kOfProductAttr))
      made.predicate = carried.getValue();
  }
  values[op.getResult(0)] = dst;
  return success();
}

LogicalResult Selector::selectValue(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return success(); // made where it is used
  if (isa<spokeshave::kernel::ReduceAngleOp>(op)) {
    Reg angle = get(op.getOperand(0));
    for (OpResult result : op.getResults()) {
      Reg part = newReg(result.getType());
      emit(Opcode::ReduceAngle, result.getType(), part, angle).predicate = result.getResultNumber();
      values[result] = part;
    }
    return success();
  }
  if (op.getNumResults() == 1) {
    if (std::optional<Opcode> opcode = opcodeOf(op))
      return selectArithmetic(op, *opcode);
    if (std::optional<Opcode> opcode = conversionOf(op))
      return selectConversion(op, *opcode);
  }
  return selectVector(op);
}

//===----------------------------------------------------------------------===//
// Across lanes
//===----------------------------------------------------------------------===//

LogicalResult Selector::selectShuffle(vector::ShuffleOp op) {
  SmallVector<int64_t> order;
  for (Attribute lane : op.getMask())
    order.push_back(cast<IntegerAttr>(lane).getInt());
  int64_t lanes = order.size(), given = lanesOf(op.getV1().getType());
  Reg a = get(op.getV1()), b = op.getV1() == op.getV2() ? a : get(op.getV2());
  Reg dst = newReg(op.getType());
  values[op.getResult()] = dst;
  bool rotates = given == lanes;
  for (int64_t l = 0; l < lanes; ++l)
    rotates &= order[l] < given && order[l] == (order[0] + l) % lanes;
  if (rotates) {
    emit(Opcode::Rotate, op.getType(), dst, a).imm = order[0];
    return success();
  }
  bool rotatesRows = given == lanes && lanes == kRegisterLanes && order[0] < kLanes;
  for (int64_t l = 0; rotatesRows && l < lanes; ++l)
    rotatesRows = order[l] == l / kLanes * kLanes + (order[0] + l) % kLanes;
  if (rotatesRows) {
    emit(Opcode::RotateLanes, op.getType(), dst, a).imm = order[0];
    return success();
  }
  std::vector<uint16_t> table;
  for (int64_t from : order) // sources of b begin at a whole register
    table.push_back(from < given ? from : from - given + kRegisterLanes);
  auto known = llvm::find(kernel.tables, table);
  int64_t number = known - kernel.tables.begin();
  if (known == kernel.tables.end())
    kernel.tables.push_back(std::move(table));
  emit(Opcode::Permute, op.getType(), dst, a, b).imm = number;
  return success();
}

LogicalResult Selector::selectVector(Operation &op) {
  auto done = [&](Reg dst) {
    values[op.getResult(0)] = dst;
    return success();
  };
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op))
    return selectShuffle(shuffle);
  if (isa<vector::BroadcastOp, vector::SplatOp>(op)) {
    Type type = op.getResult(0).getType();
    if (isa<VectorType>(op.getOperand(0).getType()))
      return op.emitOpError("of a vector has no instruction");
    Reg scalar = get(op.getOperand(0));
    Reg dst = newReg(type);
    emit(Opcode::Splat, type, dst, scalar);
    return done(dst);
  }
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    Reg from = get(extract.getVector());
    Reg at = extract.getDynamicPosition().empty() ? Reg() : get(extract.getDynamicPosition()[0]);
    Reg dst = newReg(File::Scalar);
    Instruction &made = emit(Opcode::Extract, extract.getType(), dst, from, at);
    made.imm = at ? 0 : extract.getStaticPosition()[0];
    made.lanes = lanesOf(extract.getVector().getType());
    return done(dst);
  }
  if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    if (!insert.getDynamicPosition().empty())
      return op.emitOpError("at a position known at run time has no instruction");
    Reg into = get(insert.getDest()), scalar = get(insert.getSource());
    Reg dst = newReg(insert.getType());
    emit(Opcode::Insert, insert.getType(), dst, into, scalar).imm = insert.getStaticPosition()[0];
    return done(dst);
  }
  if (auto reduction = dyn_cast<vector::ReductionOp>(op)) {
    if (reduction.getAcc() || isa<FloatType>(reduction.getType()))
      return op.emitOpError("of floats has no instruction: its order must be written down");
    using K = vector::CombiningKind;
    static const std::pair<K, ReduceKind> kinds[] = {
        {K::ADD, ReduceKind::Add},    {K::MUL, ReduceKind::Mul},    {K::AND, ReduceKind::And},
        {K::OR, ReduceKind::Or},      {K::XOR, ReduceKind::Xor},    {K::MINSI, ReduceKind::MinS},
        {K::MAXSI, ReduceKind::MaxS}, {K::MINUI, ReduceKind::MinU}, {K::MAXUI, ReduceKind::MaxU}};
    auto *kind = llvm::find_if(kinds, [&](auto &k) { return k.first == reduction.getKind(); });
    if (kind == std::end(kinds))
      return op.emitOpError("of this kind has no instruction");
    Type type = reduction.getVector().getType();
    Reg from = get(reduction.getVector());
    Reg dst = newReg(File::Scalar);
    Instruction &made =
        emit(from.file == File::Mask ? Opcode::AnyLane : Opcode::ReduceI, type, dst, from);
    if (from.file == File::Mask && kind->second != ReduceKind::Or)
      return op.emitOpError("of predicates has no instruction but for `or`");
    made.predicate = uint8_t(kind->second);
    return done(dst);
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    int64_t begin = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    Reg from = get(slice.getVector());
    Reg dst = newReg(slice.getType());
    Instruction &made = emit(Opcode::Rotate, slice.getVector().getType(), dst, from);
    made.imm = begin;
    return done(dst);
  }
  return op.emitOpError("has no instruction on this chip");
}
