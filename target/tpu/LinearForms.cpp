//===- LinearForms.cpp - addresses as sums of registers ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/LinearForms.h"

namespace spokeshave::tpu {

LinearForms::Form LinearForms::newLeaf() {
  Form leaf;
  leaf.terms.push_back({leaves++, 1});
  return leaf;
}

LinearForms::Form LinearForms::get(Reg reg) {
  if (!reg)
    return {};
  if (auto known = present.find(reg.number); known != present.end())
    return known->second;
  entryLeaves[reg.number] = leaves;
  return present[reg.number] = newLeaf();
}

/// a + factor * b
LinearForms::Form LinearForms::sum(const Form &a, const Form &b, int64_t factor) {
  Form result;
  result.constant = a.constant + factor * b.constant;
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    bool both = left != a.terms.end() && right != b.terms.end() && left->first == right->first;
    bool fromLeft =
        right == b.terms.end() || (left != a.terms.end() && left->first <= right->first);
    uint32_t leaf = fromLeft ? left->first : right->first;
    int64_t coefficient = fromLeft ? left->second : factor * right->second;
    if (both)
      coefficient += factor * right->second;
    if (fromLeft)
      ++left;
    if (!fromLeft || both)
      ++right;
    if (coefficient != 0)
      result.terms.push_back({leaf, coefficient});
  }
  return result;
}

LinearForms::Form LinearForms::scaled(Form form, int64_t factor) {
  return sum({}, form, factor);
}

LinearForms::Form LinearForms::valueOf(const Instruction &here) {
  if (here.op == Opcode::Move && here.a.file == File::Scalar)
    return get(here.a);
  if (here.type != ElementType::I64)
    return newLeaf();
  bool fixed = here.immediate == 2;
  Form constant;
  constant.constant = here.imm;
  switch (here.op) {
  case Opcode::Constant:
    return constant;
  case Opcode::Add:
    if (here.immediate == 1)
      return sum(get(here.b), constant, 1);
    return sum(get(here.a), fixed ? constant : get(here.b), 1);
  case Opcode::Sub:
    if (here.immediate == 1)
      return sum(constant, get(here.b), -1);
    return sum(get(here.a), fixed ? constant : get(here.b), -1);
  case Opcode::Mul:
    if (fixed)
      return scaled(get(here.a), here.imm);
    return newLeaf();
  case Opcode::Shl:
    if (fixed && here.imm >= 0 && here.imm < 62)
      return scaled(get(here.a), int64_t(1) << here.imm);
    return newLeaf();
  default:
    return newLeaf();
  }
}

LinearForms::LinearForms(llvm::ArrayRef<Instruction> code) : addresses(code.size()) {
  std::map<uint32_t, std::vector<std::pair<uint32_t, int64_t>>> termsOf;
  for (auto [number, here] : llvm::enumerate(code)) {
    Unit unit = unitOf(here);
    if (unit == Unit::VectorLoad || unit == Unit::VectorStore) {
      Form form = get(here.a);
      std::vector<std::pair<uint32_t, int64_t>> terms(form.terms.begin(), form.terms.end());
      auto [known, isNew] = numbers.try_emplace(std::move(terms), numbers.size());
      addresses[number].terms = known->second;
      addresses[number].constant = form.constant + here.imm;
    }
    if (here.dst.file == File::Scalar) {
      Form made = valueOf(here);
      present[here.dst.number] = std::move(made);
    }
  }
  findSlopes(code);
}

void LinearForms::findSlopes(llvm::ArrayRef<Instruction> code) {
  // A register grows by a constant if at the end it holds what it held, plus that.
  llvm::DenseMap<uint32_t, int64_t> slopes;
  for (auto [reg, leaf] : entryLeaves) {
    const Form &last = present[reg];
    if (last.terms.size() == 1 && last.terms[0] == std::pair(leaf, int64_t(1)))
      slopes[leaf] = last.constant;
  }
  std::vector<std::optional<int64_t>> ofTerms(numbers.size());
  for (const auto &[terms, number] : numbers) {
    std::optional<int64_t> slope = 0;
    for (auto [leaf, factor] : terms) {
      auto known = slopes.find(leaf);
      if (known == slopes.end())
        slope.reset();
      if (!slope)
        break;
      *slope += factor * known->second;
    }
    ofTerms[number] = slope;
  }
  for (auto [number, here] : llvm::enumerate(code))
    if (Unit unit = unitOf(here); unit == Unit::VectorLoad || unit == Unit::VectorStore)
      addresses[number].slope = ofTerms[addresses[number].terms];
}

} // namespace spokeshave::tpu
