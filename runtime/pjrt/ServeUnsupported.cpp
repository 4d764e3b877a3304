//===- ServeUnsupported.cpp - the slots that say what they cannot do -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A null slot would crash the framework; each of these returns an error with the
// slot's name and the reason.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Serve.h"

namespace spokeshave::pjrt {

#define SPOKESHAVE_UNSUPPORTED(slot, reason)                                                       \
  Status serve(slot##_Args &) {                                                                    \
    return unimplemented("PJRT_" #slot " is not supported: " reason);                              \
  }

// Streams serve programs with recv operations, which are not compiled here.
SPOKESHAVE_UNSUPPORTED(CopyToDeviceStream_Destroy, "programs have no recv operations")
SPOKESHAVE_UNSUPPORTED(CopyToDeviceStream_AddChunk, "programs have no recv operations")
SPOKESHAVE_UNSUPPORTED(CopyToDeviceStream_TotalBytes, "programs have no recv operations")
SPOKESHAVE_UNSUPPORTED(CopyToDeviceStream_GranuleSize, "programs have no recv operations")
SPOKESHAVE_UNSUPPORTED(CopyToDeviceStream_CurrentBytes, "programs have no recv operations")

SPOKESHAVE_UNSUPPORTED(Client_DmaMap, "the device is the host, no memory needs mapping")
SPOKESHAVE_UNSUPPORTED(Client_DmaUnmap, "the device is the host, no memory needs mapping")

SPOKESHAVE_UNSUPPORTED(Device_PoisonExecution, "executions have no launch ids on one device")
SPOKESHAVE_UNSUPPORTED(Device_CreateAsyncTrackingEvent, "there is no tracker of asynchronous work")
SPOKESHAVE_UNSUPPORTED(AsyncTrackingEvent_Destroy, "there is no tracker of asynchronous work")
SPOKESHAVE_UNSUPPORTED(Device_ClearMemoryStats, "statistics are of the process and only grow")

SPOKESHAVE_UNSUPPORTED(TopologyDescription_MakeCanonicalShapeForMemorySpace,
                       "every array is row-major in the one memory")

#undef SPOKESHAVE_UNSUPPORTED

} // namespace spokeshave::pjrt
