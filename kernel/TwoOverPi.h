//===- TwoOverPi.h - the digits that large angles need ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace spokeshave::kernel {

/// 64 zeros, then the bits of 2/pi.
inline constexpr uint64_t kTwoOverPi[] = {0,
                                          0xa2f9836e4e441529,
                                          0xfc2757d1f534ddc0,
                                          0xdb6295993c439041,
                                          0xfe5163abdebbc561,
                                          0xb7246e3a424dd2e0,
                                          0x06492eea09d1921c,
                                          0xfe1deb1cb129a73e,
                                          0xe88235f52ebb4484,
                                          0xe99c7026b45f7e41,
                                          0x3991d639835339f4,
                                          0x9c845f8bbdf9283b,
                                          0x1ff897ffde05980f,
                                          0xef2f118b5a0a6d1f,
                                          0x6d367ecf27cb09b7,
                                          0x4f463f669e5fea2d,
                                          0x7527bac7ebe5f17b,
                                          0x3d0739f78a5292ea,
                                          0x6bfb5fb11f8d5d08,
                                          0x56033046fc7b6bab,
                                          0xf0cfbc209af4361d,
                                          0xa9e391615ee61b08,
                                          0x6599855f14a06840,
                                          0x8dffd8804d732731};
/// pi/2 * 2^63, in two words.
inline constexpr uint64_t kHalfPiHigh = 0xc90fdaa22168c234, kHalfPiLow = 0xc4c6628b80dc1cd1;

} // namespace spokeshave::kernel
