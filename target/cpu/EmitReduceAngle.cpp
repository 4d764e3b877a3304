//===- EmitReduceAngle.cpp - large angles modulo pi/2 ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Payne and Hanek's method: of 2/pi only the bits matter whose product with the
// angle is neither a multiple of 4 nor far below the result's last place. One
// function per vector width and module, a loop over lanes in integers.
//
//===----------------------------------------------------------------------===//
#include "kernel/TwoOverPi.h"
#include "target/cpu/EmitKernel.h"
#include "target/cpu/KernelEmitter.h"

using namespace spokeshave;
using namespace spokeshave::cpu;
using spokeshave::kernel::kHalfPiHigh;
using spokeshave::kernel::kHalfPiLow;
using spokeshave::kernel::kTwoOverPi;

namespace {

/// Writes the reduction of one f64.
class ReduceWriter {
public:
  ReduceWriter(llvm::IRBuilder<> &b, llvm::GlobalVariable *table)
      : b(b), table(table), i64(b.getInt64Ty()), i128(b.getInt128Ty()) {}
  struct Result {
    llvm::Value *quadrant, *high, *low;
  };
  Result write(llvm::Value *x);

private:
  llvm::Value *c(uint64_t value) { return b.getInt64(value); }
  llvm::Value *wide(llvm::Value *v) { return b.CreateZExt(v, i128); }
  llvm::Value *multiply(llvm::Value *u, llvm::Value *v) { return b.CreateMul(wide(u), wide(v)); }
  llvm::Value *upper(llvm::Value *v) { return b.CreateTrunc(b.CreateLShr(v, 64), i64); }
  llvm::Value *lower(llvm::Value *v) { return b.CreateTrunc(v, i64); }
  llvm::Value *funnel(llvm::Value *high, llvm::Value *low, llvm::Value *by) {
    return b.CreateIntrinsic(llvm::Intrinsic::fshl, {i64}, {high, low, by});
  }
  /// n * 2^exponent, n unsigned.
  llvm::Value *scaled(llvm::Value *n, llvm::Value *exponent) {
    llvm::Value *bits = b.CreateShl(b.CreateAdd(exponent, c(1023)), 52);
    return b.CreateFMul(b.CreateUIToFP(n, b.getDoubleTy()), b.CreateBitCast(bits, b.getDoubleTy()));
  }

  llvm::IRBuilder<> &b;
  llvm::GlobalVariable *table;
  llvm::Type *i64, *i128;
};

ReduceWriter::Result ReduceWriter::write(llvm::Value *x) {
  llvm::Value *bits = b.CreateBitCast(x, i64);
  llvm::Value *mantissa =
      b.CreateOr(b.CreateAnd(bits, c((uint64_t(1) << 52) - 1)), c(uint64_t(1) << 52));
  llvm::Value *exponent = b.CreateAnd(b.CreateLShr(bits, 52), c(0x7ff)); // x = m 2^(e - 1075)
  // The window of 192 bits that begins where the weight of a bit times 2^(e-1075)
  // is 2: at bit e - 1075 - 2 of 2/pi, 64 zeros before it.
  llvm::Value *at = b.CreateSub(exponent, c(1075 + 2 - 64));
  at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, c(0));
  llvm::Value *word = b.CreateLShr(at, 6), *shift = b.CreateAnd(at, c(63));
  llvm::Value *raw[4], *window[3];
  for (int i = 0; i < 4; ++i)
    raw[i] =
        b.CreateAlignedLoad(i64, b.CreateGEP(i64, table, b.CreateAdd(word, c(i))), llvm::Align(8));
  for (int i = 0; i < 3; ++i)
    window[i] = funnel(raw[i], raw[i + 1], shift);
  // The product modulo 2^192, most significant word r0: in units of 2^-190.
  llvm::Value *p2 = multiply(mantissa, window[2]);
  llvm::Value *p1 = b.CreateAdd(multiply(mantissa, window[1]), wide(upper(p2)));
  llvm::Value *r0 = b.CreateAdd(b.CreateMul(mantissa, window[0]), upper(p1));
  llvm::Value *r1 = lower(p1), *r2 = lower(p2);
  // Two bits of quadrant, then a fraction, taken as signed.
  llvm::Value *quadrant = b.CreateLShr(r0, 62);
  llvm::Value *fractionHigh = funnel(r0, r1, c(2)), *fractionLow = funnel(r1, r2, c(2));
  llvm::Value *negative = b.CreateICmpSLT(fractionHigh, c(0));
  quadrant = b.CreateAdd(quadrant, b.CreateZExt(negative, i64));
  llvm::Value *fraction = b.CreateOr(b.CreateShl(wide(fractionHigh), 64), wide(fractionLow));
  fraction = b.CreateSelect(negative, b.CreateNeg(fraction), fraction);
  llvm::Value *zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {i128}, {fraction, b.getFalse()});
  llvm::Value *normal = b.CreateShl(fraction, zeros);
  // times pi/2: the upper 128 bits of the product.
  llvm::Value *g = upper(normal), *h = lower(normal);
  llvm::Value *product = b.CreateAdd(multiply(g, c(kHalfPiHigh)),
                                     b.CreateAdd(wide(upper(multiply(g, c(kHalfPiLow)))),
                                                 wide(upper(multiply(h, c(kHalfPiHigh))))));
  llvm::Value *more = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {i128}, {product, b.getFalse()});
  product = b.CreateShl(product, more);
  llvm::Value *total = lower(b.CreateAdd(zeros, more));
  // 53 bits, then 64 more: exact, and the rest.
  llvm::Value *top = lower(b.CreateLShr(product, 75));
  llvm::Value *next = upper(b.CreateShl(product, 53));
  llvm::Value *high = scaled(top, b.CreateSub(c(uint64_t(-52)), total));
  llvm::Value *low = scaled(next, b.CreateSub(c(uint64_t(-52 - 64)), total));
  llvm::Value *xNegative = b.CreateICmpSLT(bits, c(0));
  llvm::Value *flip = b.CreateXor(negative, xNegative);
  high = b.CreateSelect(flip, b.CreateFNeg(high), high);
  low = b.CreateSelect(flip, b.CreateFNeg(low), low);
  quadrant = b.CreateAnd(b.CreateSelect(xNegative, b.CreateNeg(quadrant), quadrant), c(3));
  return {b.CreateSIToFP(quadrant, b.getDoubleTy()), high, low};
}

} // namespace

static llvm::GlobalVariable *tableIn(llvm::Module &module) {
  if (auto *known = module.getNamedGlobal("spokeshave.two_over_pi"))
    return known;
  llvm::Constant *data = llvm::ConstantDataArray::get(module.getContext(), kTwoOverPi);
  auto *table =
      new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                               data, "spokeshave.two_over_pi");
  table->setAlignment(llvm::Align(64));
  return table;
}

/// The function for angles of `type` (f64 or a vector of it); its result is the
/// struct { quadrant, high, low }.
static llvm::Function *reduceFunction(llvm::Module &module, llvm::Type *type,
                                      const machine::Machine &machine) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  int64_t lanes = vector ? vector->getNumElements() : 1;
  std::string name = "spokeshave.reduce_angle." + std::to_string(lanes);
  if (llvm::Function *known = module.getFunction(name))
    return known;
  auto *pack = llvm::StructType::get(type, type, type);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(pack, {type}, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  setFunctionAttributes(*function, machine);
  function->addFnAttr(llvm::Attribute::NoInline);
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  llvm::BasicBlock *entry = b.GetInsertBlock(),
                   *body = llvm::BasicBlock::Create(context, "lane", function),
                   *exit = llvm::BasicBlock::Create(context, "exit", function);
  b.CreateBr(body);
  b.SetInsertPoint(body);
  llvm::PHINode *lane = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::PHINode *sums[3];
  for (llvm::PHINode *&sum : sums)
    sum = b.CreatePHI(type, 2);
  llvm::Value *x = function->getArg(0);
  auto result =
      ReduceWriter(b, tableIn(module)).write(vector ? b.CreateExtractElement(x, lane) : x);
  llvm::Value *next = b.CreateAdd(lane, b.getInt64(1));
  llvm::Value *parts[3] = {result.quadrant, result.high, result.low};
  llvm::Value *packed = llvm::PoisonValue::get(pack);
  for (int i = 0; i < 3; ++i) {
    if (vector)
      parts[i] = b.CreateInsertElement(sums[i], parts[i], lane);
    sums[i]->addIncoming(llvm::Constant::getNullValue(type), entry);
    sums[i]->addIncoming(parts[i], body);
    packed = b.CreateInsertValue(packed, parts[i], i);
  }
  lane->addIncoming(b.getInt64(0), entry);
  lane->addIncoming(next, body);
  b.CreateCondBr(b.CreateICmpSLT(next, b.getInt64(lanes)), body, exit);
  b.SetInsertPoint(exit);
  b.CreateRet(packed);
  return function;
}

void KernelEmitter::emitReduceAngle(kernel::ReduceAngleOp op) {
  llvm::Value *angle = get(op.getAngle());
  llvm::Function *callee = reduceFunction(module, angle->getType(), machine);
  llvm::Value *packed = builder.CreateCall(callee, {angle});
  for (unsigned i = 0; i < 3; ++i)
    values[op->getResult(i)] = builder.CreateExtractValue(packed, i);
}
