//===- NearShares.cpp - values in the near memories of several cores -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core's part reaches over everything that its launches touch. That is enough if
// whoever writes into a core's part is that core: whatever a launch writes of the
// value, each core must write all of it that lies in its own part.
//
//===----------------------------------------------------------------------===//
#include "schedule/NearShares.h"

#include "schedule/Views.h"

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

void extend(ByteRange &range, ByteRange by) {
  if (by.isEmpty())
    return;
  range = range.isEmpty() ? by
                          : ByteRange{std::min(range.begin, by.begin), std::max(range.end, by.end)};
}

/// Cores' parts are runs of bytes.
bool isBox(Value value) {
  auto slice = baseOfViews(value).first.getDefiningOp<SliceOp>();
  return slice && slice.getRows() > 1;
}

/// What one access writes, by cores.
using Written = SmallVector<ByteRange>;

class Sharing {
public:
  Sharing(NearCandidate &candidate, NearPieces &pieces, const KernelFacts &facts, int64_t cores)
      : candidate(candidate), pieces(pieces), facts(facts), cores(cores) {}
  bool run();

private:
  void touch(LaunchOp launch);
  bool isCopiedWhole(CopyOp copy);
  bool writesOwnParts(const Written &written) const;
  bool holdsAll() const;

  NearCandidate &candidate;
  NearPieces &pieces;
  const KernelFacts &facts;
  int64_t cores;
  std::vector<Written> writes;
};

void Sharing::touch(LaunchOp launch) {
  Written written(cores);
  for (auto [i, buffer] : llvm::enumerate(launch.getBuffers())) {
    if (pieces.pieceOf(buffer) != candidate.piece)
      continue;
    int64_t offset = baseOfViews(buffer).second; // where in its piece it begins
    for (int64_t core = 0; core < cores; ++core) {
      ByteRange range = facts.touches(launch, i, core);
      range.begin += offset, range.end += offset;
      extend(candidate.parts[core], range);
      if (int64_t(i) >= int64_t(launch.getNumInputs()))
        extend(written[core], range);
    }
  }
  writes.push_back(std::move(written));
}

bool Sharing::isCopiedWhole(CopyOp copy) {
  for (Value buffer : {copy.getSource(), copy.getTarget()})
    if (isBox(buffer) || (pieces.pieceOf(buffer) == candidate.piece &&
                          byteSizeOf(cast<MemRefType>(buffer.getType())) != candidate.piece->bytes))
      return false;
  return !candidate.needsFill();
}

/// Where what cores write overlaps, its runs lie between each other.
bool Sharing::writesOwnParts(const Written &written) const {
  for (size_t i = 0; i < written.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (written[i].begin < written[j].end && written[j].begin < written[i].end)
        return false;
  ByteRange all;
  for (ByteRange range : written)
    extend(all, range);
  for (auto [part, own] : llvm::zip_equal(candidate.parts, written)) {
    ByteRange common{std::max(part.begin, all.begin), std::min(part.end, all.end)};
    if (!common.isEmpty() && !own.holds(common))
      return false;
  }
  return true;
}

bool Sharing::holdsAll() const {
  int64_t at = 0;
  for (ByteRange part : candidate.parts)
    if (part.begin <= at)
      at = std::max(at, part.end);
  return at >= candidate.piece->bytes;
}

bool Sharing::run() {
  candidate.parts.assign(cores, {});
  bool leaves = candidate.needsWriteBack();
  for (const NearAccess &access : candidate.accesses) {
    if (auto launch = dyn_cast<LaunchOp>(access.op)) {
      touch(launch);
      continue;
    }
    auto copy = dyn_cast<CopyOp>(access.op);
    if (!copy || !isCopiedWhole(copy))
      return false;
    leaves |= access.reads;
  }
  return llvm::all_of(writes, [&](const Written &w) { return writesOwnParts(w); }) &&
         (!leaves || holdsAll());
}

} // namespace

bool spokeshave::schedule::findParts(NearCandidate &candidate, NearPieces &pieces,
                                     const KernelFacts &facts, int64_t cores) {
  return cores < 2 || Sharing(candidate, pieces, facts, cores).run();
}

void spokeshave::schedule::findPartsRead(NearCandidate &candidate, const KernelFacts &facts,
                                         int64_t cores) {
  if (cores < 2)
    return;
  candidate.parts.assign(cores, {});
  for (OpOperand *operand : candidate.operands)
    for (int64_t core = 0; core < cores; ++core)
      extend(candidate.parts[core],
             facts.touches(cast<LaunchOp>(operand->getOwner()), operand->getOperandNumber(), core));
}

SmallVector<ByteRange> spokeshave::schedule::partsWithin(ArrayRef<ByteRange> parts, int64_t offset,
                                                         int64_t bytes) {
  SmallVector<ByteRange> within;
  for (ByteRange part : parts)
    within.push_back({std::clamp<int64_t>(part.begin - offset, 0, bytes),
                      std::clamp<int64_t>(part.end - offset, 0, bytes)});
  return within;
}

SmallVector<ByteRange> spokeshave::schedule::partsBack(ArrayRef<ByteRange> parts) {
  SmallVector<ByteRange> back;
  int64_t at = 0;
  for (ByteRange part : parts) {
    back.push_back({std::max(part.begin, std::min(at, part.end)), part.end});
    at = std::max(at, part.end);
  }
  return back;
}

DenseI64ArrayAttr spokeshave::schedule::partsAttr(MLIRContext *context, ArrayRef<ByteRange> parts) {
  if (parts.empty())
    return nullptr;
  SmallVector<int64_t> bounds;
  for (ByteRange part : parts)
    bounds.append({part.begin, part.end});
  return DenseI64ArrayAttr::get(context, bounds);
}
