//===- TpuCost.h - what a kernel costs on a TPU-class chip -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closed forms for whole kernels, in cycles of the core's clock: products,
// elementwise chains, row reductions, normalisations, attention. The compiler
// chooses blocks with them and timing without values uses them, so that both
// believe the same. Each follows the machine (docs/tpu-machine.md): what the
// matrix, vector and memory units need, what of that overlaps in a pipeline of
// windows, and what a kernel costs besides. The few figures that nobody
// publishes stand in Chip::Cost.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Chip.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace spokeshave::machine {

/// Element types as the chip stores them.
enum class TpuType { F32, Bf16, F16, F8, Int32, Int8, Int4 };
double bytesOf(TpuType type);
llvm::Expected<TpuType> parseTpuType(llvm::StringRef name);

/// The time of a kernel and what it is made of. The parts overlap: they do not
/// add up to the whole.
struct KernelTime {
  double cycles = 0;   ///< from the kernel's start to its end
  double matrix = 0;   ///< cycles in which matrix units work, of one core
  double vector = 0;   ///< cycles of vector slots, of one core
  double vmem = 0;     ///< cycles of VMEM ports, of one core
  double hbm = 0;      ///< cycles in which HBM moves data
  double exposed = 0;  ///< cycles of loads and stores that nothing overlaps
  double overhead = 0; ///< start, end and meeting of cores
  double hbmBytes = 0;
  int64_t cores = 1; ///< that work on it
  /// What a faster kernel needs first: "matrix", "vector", "vmem", "hbm" or "latency".
  llvm::StringRef bound() const;
};

/// A product, batch x [m,k] x [k,n].
struct Gemm {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  TpuType lhs = TpuType::Bf16, rhs = TpuType::Bf16, out = TpuType::Bf16;
  /// Operands that are in VMEM already, and a result that may stay there.
  bool lhsInVmem = false, rhsInVmem = false, outInVmem = false;
  bool fullPrecision = false; ///< f32 operands in several bf16 passes
};

/// How a product is cut for one core: a window of each operand is in VMEM.
struct GemmBlocks {
  int64_t m = 0, n = 0, k = 0;
};

/// The largest blocks whose windows, doubled, fit the chip's window budget.
GemmBlocks chooseGemmBlocks(const Chip &chip, const Gemm &gemm);
/// With blocks and number of cores chosen by the model.
KernelTime gemmTime(const Chip &chip, const Gemm &gemm);
/// With the caller's blocks on `cores` cores.
KernelTime gemmTime(const Chip &chip, const Gemm &gemm, const GemmBlocks &blocks, int64_t cores);

/// A loop over a [rows, columns] index space.
struct Elementwise {
  int64_t rows = 1, columns = 0;
  llvm::SmallVector<TpuType, 4> inputs, outputs;
  double aluOps = 1;          ///< per element, in f32
  double transcendentals = 0; ///< per element
  bool inVmem = false;        ///< operands and results are and stay there
};
KernelTime elementwiseTime(const Chip &chip, const Elementwise &loop);

/// Sum, maximum and the like over the columns of [rows, columns].
KernelTime rowReductionTime(const Chip &chip, int64_t rows, int64_t columns, TpuType type,
                            bool inVmem = false);
/// Over the columns of [rows, columns]. `fused` reads the input once; otherwise
/// mean, variance and normalisation are kernels of their own.
KernelTime layerNormTime(const Chip &chip, int64_t rows, int64_t columns, TpuType type, bool fused);
KernelTime softmaxTime(const Chip &chip, int64_t rows, int64_t columns, TpuType type, bool fused);

/// Attention in one pass over the keys: scores never leave the core.
struct Attention {
  int64_t batch = 1, heads = 1, kvHeads = 1, queries = 0, keys = 0, dimension = 0;
  TpuType type = TpuType::Bf16;
  bool causal = false;
};
KernelTime attentionTime(const Chip &chip, const Attention &attention);

} // namespace spokeshave::machine
