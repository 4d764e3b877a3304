//===- Library.h - routines called instead of generated --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FFT (our own, Fft.cpp) and LAPACK-class routines (Debian's LAPACK, each
// matrix on one thread, batches in parallel). Every call is counted; tests
// assert the counts, so that nothing ends up here unnoticed.
//
// Routines and the `config` of their CallSpec. Enumerations may be strings or
// StableHLO's attributes; lists arrays of i64. All buffers are row-major.
//   fft               fft_type = FFT | IFFT | RFFT | IRFFT, fft_length = [...]
//                     one input, one output; f32 and f64 and their complex types
//   cholesky          lower = bool; f32 f64 c64 c128, batched. The other triangle
//                     is zero. Not positive definite: the matrix is all NaN
//   triangular_solve  left_side, lower, unit_diagonal = bool,
//                     transpose_a = NO_TRANSPOSE | TRANSPOSE | ADJOINT;
//                     inputs a, b; f32 f64 c64 c128, batched
//   all_gather, all_to_all, collective_broadcast
//                     replica_groups = a matrix of devices, numbered replica *
//                     partitions + partition; one input, one output of any type.
//                     all_gather and all_to_all work along the first dimension
//   collective_permute source_target_pairs = a matrix of such pairs
//   replica_id, partition_id
//                     one output, ui32[]
//   send, recv        channel_handle; any number of inputs or outputs
//   infeed, outfeed   the same, between program and host
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/CustomCall.h"

namespace spokeshave::runtime {

/// Does the runtime have `routine`? For the compiler, before it emits a call.
bool hasLibraryRoutine(llvm::StringRef routine);

/// Checks the specification and plans the call (twiddle factors, pivots of
/// memory). Error InvalidProgram or UnsupportedProgram.
llvm::Expected<std::unique_ptr<PreparedCall>> prepareLibraryCall(const cpu::CallSpec &spec);

} // namespace spokeshave::runtime
