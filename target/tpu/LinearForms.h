//===- LinearForms.h - addresses as sums of registers -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Isa.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>

namespace spokeshave::tpu {

/// The addresses of the accesses to VMEM in straight-line code: a sum of leaves
/// with factors, and a constant. Leaves are what scalar registers hold at the start
/// of the code, and results of what is not additive.
class LinearForms {
public:
  struct Address {
    uint32_t terms = 0; ///< equal numbers: equal sums but for the constant
    int64_t constant = 0;
    /// How much it grows from one iteration to the next, if the code is a loop's
    /// body; nothing where that is not a constant.
    std::optional<int64_t> slope;
  };

  explicit LinearForms(llvm::ArrayRef<Instruction> code);
  /// Of instruction `number`, which accesses VMEM.
  const Address &of(uint32_t number) const { return addresses[number]; }

private:
  struct Form {
    llvm::SmallVector<std::pair<uint32_t, int64_t>, 2> terms; ///< leaf and factor, by leaf
    int64_t constant = 0;
  };
  Form newLeaf();
  Form get(Reg reg);
  Form valueOf(const Instruction &instruction);
  static Form sum(const Form &a, const Form &b, int64_t factor);
  static Form scaled(Form form, int64_t factor);
  void findSlopes(llvm::ArrayRef<Instruction> code);

  std::vector<Address> addresses;
  llvm::DenseMap<uint32_t, Form> present; ///< of scalar registers
  llvm::DenseMap<uint32_t, uint32_t> entryLeaves;
  std::map<std::vector<std::pair<uint32_t, int64_t>>, uint32_t> numbers; ///< of terms
  uint32_t leaves = 0;
};

} // namespace spokeshave::tpu
