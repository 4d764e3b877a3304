#include "kernel/Attention.h"
using namespace mlir;
using namespace spokeshave::kernel;
LogicalResult spokeshave::kernel::lowerUnitAttention(FusionLowering &lowering, AttentionView &,
                                                     ElementEmitter &) {
  return lowering.fusion.emitOpError("is not supported on matrix units yet");
}
