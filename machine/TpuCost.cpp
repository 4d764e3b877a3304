//===- TpuCost.cpp - closed forms for the time of kernels ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "machine/TpuCost.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace spokeshave;
using namespace spokeshave::machine;

namespace {

double roundUp(double value, double multiple) {
  return std::ceil(value / multiple) * multiple;
}

/// What a core does in a kernel whose operands stream through windows.
struct Pipeline {
  double compute = 0;     ///< cycles of the busiest unit over the whole kernel, of one core
  double loadBytes = 0;   ///< from HBM, of all cores
  double storeBytes = 0;  ///< to HBM, of all cores
  double firstLoad = 0;   ///< bytes of the first windows: work cannot start before
  double lastStore = 0;   ///< bytes of the last window: nothing is left to do meanwhile
  double lastCompute = 0; ///< cycles on the last window
  double steps = 1;       ///< windows
};

/// Cycles in which HBM moves bytes. A written byte costs more than a read one:
/// the memory turns around.
double hbmCycles(const Chip &chip, double loadBytes, double storeBytes) {
  double bytes = loadBytes + storeBytes * chip.cost.writeCost;
  double bandwidth = chip.hbmBandwidthOfDevice() * chip.cost.hbmEfficiency;
  return chip.cycles(bytes / bandwidth);
}

/// Start, then the first windows alone, then loads, work and stores together,
/// then the last window's work and store alone.
KernelTime timeOf(const Chip &chip, const Pipeline &pipeline, int64_t cores) {
  KernelTime time;
  time.cores = cores;
  time.hbmBytes = pipeline.loadBytes + pipeline.storeBytes;
  time.hbm = hbmCycles(chip, pipeline.loadBytes, pipeline.storeBytes);
  time.overhead = chip.cycles(chip.cost.kernelOverhead);
  if (cores > 1)
    time.overhead += chip.cycles(chip.cost.coreSync);
  double alone = hbmCycles(chip, pipeline.firstLoad, pipeline.lastStore);
  double latency = chip.cycles(chip.dma.latency);
  time.exposed = alone + (pipeline.firstLoad > 0 ? latency : 0);
  time.exposed += pipeline.lastStore > 0 ? latency : 0;
  // The middle: what memory still has to move against what is still to compute,
  // the last window's work aside.
  double moving = std::max(0.0, time.hbm - alone);
  double working = std::max(0.0, pipeline.compute - pipeline.lastCompute);
  // Arriving data takes turns at VMEM's ports with the units that work.
  double middle = std::max(moving, working + (1 - chip.cost.overlap) * moving);
  // A step takes its time even where there is little to do.
  middle = std::max(middle, (pipeline.steps - 1) * chip.cycles(chip.cost.stepOverhead));
  time.cycles = time.overhead + time.exposed + middle + pipeline.lastCompute;
  return time;
}

void addKernel(KernelTime &sum, const KernelTime &next) {
  sum.cycles += next.cycles;
  sum.matrix += next.matrix;
  sum.vector += next.vector;
  sum.vmem += next.vmem;
  sum.hbm += next.hbm;
  sum.exposed += next.exposed;
  sum.overhead += next.overhead;
  sum.hbmBytes += next.hbmBytes;
  sum.cores = std::max(sum.cores, next.cores);
}

/// The fastest over the numbers of cores that a device can use.
template <typename Time> KernelTime bestOfCores(const Chip &chip, Time time) {
  KernelTime best = time(int64_t(1));
  if (int64_t all = chip.coresOfDevice(); all > 1) {
    KernelTime split = time(all);
    if (split.cycles < best.cycles)
      best = split;
  }
  return best;
}

MxuType mxuTypeOf(const Chip &chip, const Gemm &gemm) {
  auto native = [&](TpuType type, TpuType wanted, double rate) {
    return type == wanted && gemm.rhs == wanted && rate > 0;
  };
  if (native(gemm.lhs, TpuType::Int8, chip.mxu.int8Rate))
    return MxuType::Int8;
  if (native(gemm.lhs, TpuType::Int4, chip.mxu.int4Rate))
    return MxuType::Int4;
  if (native(gemm.lhs, TpuType::F8, chip.mxu.f8Rate))
    return MxuType::F8;
  return MxuType::Bf16;
}

/// Cycles of a core's matrix units for `rows` rows through `tiles` weight tiles.
double matrixCycles(const Chip &chip, const Gemm &gemm, double rows, double tiles) {
  double rate = chip.mxuRate(mxuTypeOf(chip, gemm));
  double streaming = roundUp(rows, static_cast<double>(chip.mxu.pushRows)) / rate;
  auto loading = static_cast<double>(chip.mxu.weightLoad);
  // With two sets of weights the next tile loads while this one works.
  double perTile = chip.mxu.weightSets > 1 ? std::max(streaming, loading) : streaming + loading;
  // Units share the rows where there are not enough tiles for all.
  double perUnit = tiles / static_cast<double>(chip.mxu.count);
  double passes = gemm.fullPrecision ? static_cast<double>(chip.mxu.f32Passes) : 1;
  return perUnit * perTile * passes / chip.cost.mxuEfficiency;
}

/// ALU operations that turn a register's worth of elements into f32, or back.
/// bf16 and integers take shifts and masks; f16 has subnormals and an exponent
/// of its own, and no unit of these chips knows it.
double unpackOps(const Chip &chip, TpuType type) {
  switch (type) {
  case TpuType::F32:
  case TpuType::Int32:
    return 0;
  case TpuType::F16:
    return chip.cost.f16Unpack;
  default:
    return chip.vector.bf16 && type == TpuType::Bf16 ? 0 : 1;
  }
}

double packOps(const Chip &chip, TpuType type) {
  switch (type) {
  case TpuType::F32:
  case TpuType::Int32:
    return 0;
  case TpuType::F16:
    return chip.cost.f16Pack;
  default:
    return chip.vector.bf16 && type == TpuType::Bf16 ? 0 : 2;
  }
}

struct VectorWork {
  double alu = 0, loads = 0, stores = 0, transcendentals = 0; ///< per 1024 elements, say
};

/// Cycles of a core's vector slots for `registers` f32 registers of elements.
double vectorCycles(const Chip &chip, const VectorWork &work, double registers) {
  double slots = std::max({work.alu / static_cast<double>(chip.vector.alus),
                           work.transcendentals / chip.vector.transcendentalRate});
  return slots * registers / chip.cost.vectorEfficiency;
}

double portCycles(const Chip &chip, const VectorWork &work, double registers) {
  double ports = std::max(work.loads / static_cast<double>(chip.vector.loads),
                          work.stores / static_cast<double>(chip.vector.stores));
  return ports * registers / chip.cost.vmemEfficiency;
}

/// Elements of [rows, columns] as registers hold them: the minor dimension is
/// padded to lanes. The compiler may turn an array around where that pads less.
double paddedElements(const Chip &chip, double rows, double columns) {
  auto lanes = static_cast<double>(chip.vector.lanes);
  auto sublanes = static_cast<double>(chip.vector.sublanes);
  double straight = roundUp(rows, sublanes) * roundUp(columns, lanes);
  double turned = roundUp(rows, lanes) * roundUp(columns, sublanes);
  return std::min(straight, turned);
}

double registersOf(const Chip &chip, double elements) {
  return elements / static_cast<double>(chip.vector.lanes * chip.vector.sublanes);
}

/// Cycles of one reduction across the lanes of a register: a tree of rotations.
double crossLaneCycles(const Chip &chip) {
  double steps = std::log2(static_cast<double>(chip.vector.lanes));
  return steps * static_cast<double>(1 + chip.vector.latency);
}

} // namespace

double machine::bytesOf(TpuType type) {
  switch (type) {
  case TpuType::F32:
  case TpuType::Int32:
    return 4;
  case TpuType::Bf16:
  case TpuType::F16:
    return 2;
  case TpuType::F8:
  case TpuType::Int8:
    return 1;
  case TpuType::Int4:
    return 0.5;
  }
  return 4;
}

llvm::Expected<TpuType> machine::parseTpuType(llvm::StringRef name) {
  auto type = llvm::StringSwitch<std::optional<TpuType>>(name)
                  .Case("f32", TpuType::F32)
                  .Case("bf16", TpuType::Bf16)
                  .Case("f16", TpuType::F16)
                  .Case("f8", TpuType::F8)
                  .Case("int32", TpuType::Int32)
                  .Case("int8", TpuType::Int8)
                  .Case("int4", TpuType::Int4)
                  .Default(std::nullopt);
  if (!type)
    return makeError(ErrorCode::BadOption,
                     "no element type '" + name + "': f32, bf16, f16, f8, int32, int8, int4");
  return *type;
}

llvm::StringRef KernelTime::bound() const {
  std::pair<double, llvm::StringRef> parts[] = {
      {matrix, "matrix"}, {vector, "vector"}, {vmem, "vmem"}, {hbm, "hbm"}};
  auto *most = llvm::max_element(parts);
  // Where no unit is busy half of the time, waiting is what costs.
  return most->first < cycles / 2 ? "latency" : most->second;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

GemmBlocks machine::chooseGemmBlocks(const Chip &chip, const Gemm &gemm) {
  auto size = chip.mxu.size;
  double sa = bytesOf(gemm.lhs), sb = bytesOf(gemm.rhs);
  auto budget = static_cast<double>(chip.cost.window);
  GemmBlocks best{std::min<int64_t>(gemm.m, 8), std::min<int64_t>(gemm.n, size),
                  std::min<int64_t>(gemm.k, size)};
  double least = -1;
  auto candidates = [&](int64_t extent, int64_t unit) {
    llvm::SmallVector<int64_t> sizes;
    for (int64_t block = unit; block < extent; block *= 2)
      sizes.push_back(block);
    sizes.push_back(extent);
    return sizes;
  };
  for (int64_t m : candidates(gemm.m, size))
    for (int64_t n : candidates(gemm.n, size))
      for (int64_t k : candidates(gemm.k, size)) {
        double windows = static_cast<double>(m * k) * sa + static_cast<double>(k * n) * sb;
        double sums = static_cast<double>(m * n) * 4;
        if (2 * windows + sums > budget)
          continue;
        // Each operand is read again for every block of the other's free dimension.
        double traffic = sa / static_cast<double>(n) + sb / static_cast<double>(m);
        // Of equal traffic the longest k: sums are carried less often.
        double key = traffic - 1e-9 * static_cast<double>(k);
        if (least < 0 || key < least) {
          least = key;
          best = {m, n, k};
        }
      }
  return best;
}

KernelTime machine::gemmTime(const Chip &chip, const Gemm &gemm, const GemmBlocks &blocks,
                             int64_t cores) {
  auto size = static_cast<double>(chip.mxu.size);
  auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n),
       k = static_cast<double>(gemm.k), batch = static_cast<double>(gemm.batch);
  double sa = bytesOf(gemm.lhs), sb = bytesOf(gemm.rhs), so = bytesOf(gemm.out);
  auto width = static_cast<double>(cores);

  // Cores share the batch, the rows or the columns, whichever is longest.
  double rows = m, columns = n, products = batch;
  if (batch >= width)
    products = std::ceil(batch / width);
  else if (m >= n)
    rows = std::ceil(m / width);
  else
    columns = std::ceil(n / width);

  Pipeline pipeline;
  double tiles = std::ceil(columns / size) * std::ceil(k / size);
  double matrix = products * matrixCycles(chip, gemm, rows, tiles);
  // Results are popped, converted and stored; the matrix units wait meanwhile.
  double results = registersOf(chip, products * roundUp(rows, 8) * roundUp(columns, 128));
  bool cut = blocks.m < rows || blocks.n < columns || blocks.k < gemm.k;
  double vector = results * (chip.cost.resultCycles + (cut ? chip.cost.carryCycles : 0));
  pipeline.compute = matrix + vector + static_cast<double>(chip.mxu.latency + chip.mxu.weightLoad);

  double rereadA = std::ceil(columns / static_cast<double>(blocks.n));
  double rereadB = std::ceil(rows / static_cast<double>(blocks.m));
  // A block of whole rows stays while the columns pass.
  if (blocks.k >= gemm.k)
    rereadA = 1;
  double bytesA = gemm.lhsInVmem ? 0 : products * width * rows * k * sa * rereadA;
  double bytesB = gemm.rhsInVmem ? 0 : products * width * columns * k * sb * rereadB;
  pipeline.loadBytes = bytesA + bytesB;
  pipeline.storeBytes = gemm.outInVmem ? 0 : batch * m * n * so;
  // Windows are filled before the first product; a share of the work is on the last.
  auto bm = std::min<double>(rows, static_cast<double>(blocks.m)),
       bn = std::min<double>(columns, static_cast<double>(blocks.n)),
       bk = std::min<double>(k, static_cast<double>(blocks.k));
  double window = width * bk * ((gemm.lhsInVmem ? 0 : bm * sa) + (gemm.rhsInVmem ? 0 : bn * sb));
  pipeline.firstLoad = std::min(pipeline.loadBytes, window);
  pipeline.lastStore = std::min(pipeline.storeBytes, width * bm * bn * so);
  pipeline.steps = products * std::ceil(rows / bm) * std::ceil(columns / bn) * std::ceil(k / bk);
  pipeline.lastCompute = pipeline.compute / pipeline.steps;

  KernelTime time = timeOf(chip, pipeline, cores);
  time.matrix = matrix;
  time.vector = vector;
  return time;
}

KernelTime machine::gemmTime(const Chip &chip, const Gemm &gemm) {
  return bestOfCores(chip, [&](int64_t cores) {
    Gemm part = gemm;
    if (gemm.batch < cores)
      (gemm.m >= gemm.n ? part.m : part.n) = llvm::divideCeil(std::max(gemm.m, gemm.n), cores);
    return gemmTime(chip, gemm, chooseGemmBlocks(chip, part), cores);
  });
}

//===----------------------------------------------------------------------===//
// Loops over elements and rows
//===----------------------------------------------------------------------===//

KernelTime machine::elementwiseTime(const Chip &chip, const Elementwise &loop) {
  double elements =
      paddedElements(chip, static_cast<double>(loop.rows), static_cast<double>(loop.columns));
  VectorWork work;
  work.alu = loop.aluOps;
  work.transcendentals = loop.transcendentals;
  double loadBytes = 0, storeBytes = 0;
  for (TpuType type : loop.inputs) {
    work.alu += unpackOps(chip, type);
    work.loads += bytesOf(type) / 4;
    loadBytes += elements * bytesOf(type);
  }
  for (TpuType type : loop.outputs) {
    work.alu += packOps(chip, type);
    work.stores += bytesOf(type) / 4;
    storeBytes += elements * bytesOf(type);
  }
  // Two elements of bf16 in each word where the unit can: half of the operations.
  bool packed = chip.vector.bf16 &&
                llvm::all_of(loop.inputs, [](TpuType type) { return type == TpuType::Bf16; });
  if (packed)
    work.alu /= 2, work.transcendentals /= 2;
  auto time = [&](int64_t cores) {
    double registers = registersOf(chip, elements) / static_cast<double>(cores);
    double vector = vectorCycles(chip, work, registers);
    double vmem = portCycles(chip, work, registers);
    Pipeline pipeline;
    pipeline.compute = std::max(vector, vmem);
    if (!loop.inVmem) {
      pipeline.loadBytes = loadBytes;
      pipeline.storeBytes = storeBytes;
      double window = static_cast<double>(chip.cost.streamWindow * cores);
      pipeline.firstLoad = std::min(loadBytes, window);
      pipeline.lastStore = std::min(storeBytes, window);
      pipeline.lastCompute = pipeline.compute * std::min(1.0, window / std::max(loadBytes, 1.0));
    }
    KernelTime time = timeOf(chip, pipeline, cores);
    time.vector = vector;
    time.vmem = vmem;
    return time;
  };
  // A small loop stays on one core: cutting it is decided by its bytes.
  bool small = loadBytes + storeBytes <= static_cast<double>(chip.cost.window);
  return time(small ? 1 : chip.coresOfDevice());
}

namespace {

/// A kernel over rows of which each is in VMEM as a whole while it is worked on.
struct RowKernel {
  double rows = 0, columns = 0;
  double readBytes = 0, writeBytes = 0; ///< per element
  VectorWork work;                      ///< per element
  double reductions = 0;                ///< across lanes, per row
  bool inVmem = false;
};

KernelTime rowKernelTime(const Chip &chip, const RowKernel &kernel) {
  auto sublanes = static_cast<double>(chip.vector.sublanes);
  auto lanes = static_cast<double>(chip.vector.lanes);
  double rows = roundUp(kernel.rows, sublanes), columns = roundUp(kernel.columns, lanes);
  return bestOfCores(chip, [&](int64_t cores) {
    double own = roundUp(rows / static_cast<double>(cores), sublanes);
    double registers = registersOf(chip, own * columns);
    double vector = vectorCycles(chip, kernel.work, registers);
    // One reduction serves as many rows as a register has; the units take turns.
    double across = own / sublanes * kernel.reductions * crossLaneCycles(chip);
    double vmem = portCycles(chip, kernel.work, registers);
    Pipeline pipeline;
    pipeline.compute = std::max(vector + across, vmem);
    if (!kernel.inVmem) {
      double elements = rows * columns;
      pipeline.loadBytes = elements * kernel.readBytes;
      pipeline.storeBytes = elements * kernel.writeBytes;
      // Windows are whole rows.
      double window = static_cast<double>(cores) * std::min(own, chip.cost.windowRows) * columns;
      pipeline.firstLoad = window * kernel.readBytes;
      pipeline.lastStore = window * kernel.writeBytes;
      pipeline.lastCompute = pipeline.compute * std::min(1.0, chip.cost.windowRows / own);
    }
    KernelTime time = timeOf(chip, pipeline, cores);
    time.vector = vector + across;
    time.vmem = vmem;
    return time;
  });
}

RowKernel rowKernel(int64_t rows, int64_t columns) {
  RowKernel kernel;
  kernel.rows = static_cast<double>(rows);
  kernel.columns = static_cast<double>(columns);
  return kernel;
}

/// A kernel that reads rows of `type`, does `alu` operations on each element and
/// `reductions` on each row, and writes them if `writes`.
RowKernel rowPass(const Chip &chip, int64_t rows, int64_t columns, TpuType type, double alu,
                  double reductions, bool writes) {
  RowKernel kernel = rowKernel(rows, columns);
  kernel.readBytes = bytesOf(type);
  kernel.writeBytes = writes ? bytesOf(type) : 0;
  kernel.work.alu = alu + unpackOps(chip, type) + (writes ? packOps(chip, type) : 0);
  kernel.work.loads = bytesOf(type) / 4;
  kernel.work.stores = kernel.writeBytes / 4;
  kernel.reductions = reductions;
  return kernel;
}

} // namespace

KernelTime machine::rowReductionTime(const Chip &chip, int64_t rows, int64_t columns, TpuType type,
                                     bool inVmem) {
  RowKernel kernel = rowPass(chip, rows, columns, type, 1, 1, false);
  kernel.inVmem = inVmem;
  return rowKernelTime(chip, kernel);
}

KernelTime machine::layerNormTime(const Chip &chip, int64_t rows, int64_t columns, TpuType type,
                                  bool fused) {
  // Mean: a sum. Variance: subtract, square, sum. Then subtract, scale, gain, bias.
  if (fused) {
    RowKernel kernel = rowPass(chip, rows, columns, type, 1 + 3 + 4, 2, true);
    // The second and third pass read VMEM again.
    kernel.work.alu += 2 * unpackOps(chip, type);
    kernel.work.loads *= 3;
    return rowKernelTime(chip, kernel);
  }
  KernelTime time = rowKernelTime(chip, rowPass(chip, rows, columns, type, 1, 1, false));
  addKernel(time, rowKernelTime(chip, rowPass(chip, rows, columns, type, 3, 1, false)));
  addKernel(time, rowKernelTime(chip, rowPass(chip, rows, columns, type, 4, 0, true)));
  return time;
}

KernelTime machine::softmaxTime(const Chip &chip, int64_t rows, int64_t columns, TpuType type,
                                bool fused) {
  // Maximum; subtract, exponential (some multiply-adds besides the unit), sum; scale.
  auto exponential = [](RowKernel kernel) {
    kernel.work.transcendentals = 1;
    return kernel;
  };
  if (fused) {
    RowKernel kernel = exponential(rowPass(chip, rows, columns, type, 1 + 4 + 1, 2, true));
    kernel.work.alu += unpackOps(chip, type);
    kernel.work.loads = 2 * kernel.work.loads + 1;
    kernel.work.stores += 1;
    return rowKernelTime(chip, kernel);
  }
  KernelTime time = rowKernelTime(chip, rowPass(chip, rows, columns, type, 1, 1, false));
  addKernel(time,
            rowKernelTime(chip, exponential(rowPass(chip, rows, columns, type, 4, 1, false))));
  addKernel(time, rowKernelTime(chip, exponential(rowPass(chip, rows, columns, type, 4, 0, true))));
  return time;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

KernelTime machine::attentionTime(const Chip &chip, const Attention &attention) {
  auto queries = static_cast<double>(attention.queries), keys = static_cast<double>(attention.keys),
       dimension = static_cast<double>(attention.dimension);
  double bytes = bytesOf(attention.type);
  // Query heads that share keys go through the matrix units as more rows.
  double group = static_cast<double>(attention.heads) / static_cast<double>(attention.kvHeads);
  double groups = static_cast<double>(attention.batch * attention.kvHeads);
  // Half of the blocks lie above the diagonal and are left out, the diagonal's are whole.
  double share = 1;
  if (attention.causal && attention.queries == attention.keys) {
    constexpr double kBlock = 512;
    double blocks = std::ceil(queries / kBlock);
    share = (blocks + 1) / (2 * blocks);
  }
  return bestOfCores(chip, [&](int64_t cores) {
    auto size = static_cast<double>(chip.mxu.size);
    double own = std::ceil(groups / static_cast<double>(cores));
    double rows = queries * group;
    Gemm product;
    product.lhs = product.rhs = attention.type;
    // Scores, then their product with the values: the same work turned around.
    double tiles = std::ceil(keys / size) * std::ceil(dimension / size) * share;
    double matrix = 2 * own * matrixCycles(chip, product, rows, tiles);
    double registers = registersOf(chip, roundUp(rows, 8) * roundUp(keys, 128)) * own * share;
    VectorWork work;
    // Pop, scale, maximum, subtract, exponential, sum, convert.
    work.alu = chip.cost.attentionOps;
    work.transcendentals = 1;
    double vector = vectorCycles(chip, work, registers);
    // Each row has a maximum and a sum; rows are many, so that throughput counts.
    double reductions = 2 * own * std::ceil(rows / static_cast<double>(chip.vector.sublanes));
    double across = reductions * std::log2(static_cast<double>(chip.vector.lanes)) /
                    static_cast<double>(chip.vector.xlus);
    Pipeline pipeline;
    pipeline.compute = std::max(matrix, vector + across) +
                       (1 - chip.cost.overlap) * std::min(matrix, vector + across);
    double perGroup = bytes * dimension;
    pipeline.loadBytes = groups * perGroup * (rows + 2 * keys);
    pipeline.storeBytes = groups * perGroup * rows;
    double window = chip.cost.windowRows * perGroup * static_cast<double>(cores);
    pipeline.firstLoad = std::min(pipeline.loadBytes, 3 * window);
    pipeline.lastStore = std::min(pipeline.storeBytes, window);
    KernelTime time = timeOf(chip, pipeline, cores);
    time.matrix = matrix;
    time.vector = vector + across;
    return time;
  });
}
