//===- MathCoefficients.h - polynomials of Math*.cpp -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by kernel/fit_polynomials.py: lowest power first.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace spokeshave::kernel {

// (exp(r) - 1 - r) / r^2, |r| <= ln2/2; error 6.5e-08
inline constexpr double kExp32[] = {0x1.0000000000000p-1, 0x1.5554dd04e58bep-3,
                                    0x1.55551933893e6p-5, 0x1.120b616c43f75p-7,
                                    0x1.6d10fc65baf1cp-10};
// the same for f64; error 1.4e-18
inline constexpr double kExp64[] = {
    0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100dfp-7,
    0x1.6c16c16c162d6p-10, 0x1.a01a01abe62ddp-13, 0x1.a01a01a6d7808p-16, 0x1.71de02375656cp-19,
    0x1.27e4db67b4303p-22, 0x1.af4ddd84882fep-26, 0x1.1f72fc730b4ffp-29};
// (log(1+f) - f + f^2/2) / f^3, 1+f in [sqrt(1/2), sqrt(2)]; error 2.9e-08
inline constexpr double kLog32[] = {
    0x1.555553e3660dap-2,  -0x1.fffffbeac287ap-3, 0x1.999d5a430bf46p-3,
    -0x1.555b4994ad12bp-3, 0x1.23d2196ef7977p-3,  -0x1.fcf4c673064efp-4,
    0x1.dea28241d30a8p-4,  -0x1.d635bbe618494p-4, 0x1.1d8ea50b3f8a0p-4};
// (log((1+s)/(1-s))/s - 2) / z, z = s^2; error 2.1e-18
inline constexpr double kLog64[] = {
    0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476cccp-2, 0x1.c71c720159177p-3,
    0x1.745cf9048dd95p-3, 0x1.3b1c355a8f7a2p-3, 0x1.0fbe95d716020p-3, 0x1.0c039c49989c6p-3};
// the same beyond its first term, 2/3; error 1.9e-18
inline constexpr double kLogTail64[] = {
    0x1.999999999999ap-2, 0x1.2492492492521p-2, 0x1.c71c71c6eaa8dp-3, 0x1.745d177a8f200p-3,
    0x1.3b1395d4f9e5fp-3, 0x1.1118c74823a2ep-3, 0x1.df7ce9a6bcccbp-4, 0x1.e02d197c00c78p-4};
// (sin(x)/x - 1) / z, z = x^2, |x| <= pi/4; error 3.0e-11
inline constexpr double kSin32[] = {-0x1.5555555449b31p-3, 0x1.11110dbe3b0f5p-7,
                                    -0x1.a0136620178ebp-13, 0x1.6da90670ff07dp-19};
// (cos(x) - 1 + z/2) / z^2; error 2.5e-12
inline constexpr double kCos32[] = {0x1.55555554fc04fp-5, -0x1.6c16bf343891fp-10,
                                    0x1.a01598c9e9400p-16, -0x1.2516475194de7p-22};
// as kSin32, for f64; error 1.3e-20
inline constexpr double kSin64[] = {
    -0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019881p-13, 0x1.71de3a544a89fp-19,
    -0x1.ae6453ecdcd92p-26, 0x1.6121614ce309ep-33, -0x1.ab0677caffaf3p-41};
// as kCos32, for f64; error 7.4e-22
inline constexpr double kCos64[] = {
    0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019cb9p-16, -0x1.27e4fb7709081p-22,
    0x1.1eed8ddabb3c0p-29, -0x1.93949f9713b1ap-37, 0x1.ab68e984a643fp-45};
// (tanh(x)/x - 1) / z, z = x^2 <= 0.4; error 1.8e-09
inline constexpr double kTanh32[] = {-0x1.55555535babd1p-2, 0x1.1110e4860cf8ep-3,
                                     -0x1.ba071881093dep-5, 0x1.648e8d9109a21p-6,
                                     -0x1.10bbf41b5db9dp-7, 0x1.2977d705fcc95p-9};
// the same for f64, z <= 0.55^2; error 6.4e-21
inline constexpr double kTanh64[] = {
    -0x1.5555555555555p-2,  0x1.1111111111111p-3,  -0x1.ba1ba1ba1b95bp-5,  0x1.664f4882ba306p-6,
    -0x1.226e355c62325p-7,  0x1.d6d3d028aad5bp-9,  -0x1.7da34f4c64329p-10, 0x1.3556886ef1283p-11,
    -0x1.f5520c3b9ff15p-13, 0x1.94e894340e4b0p-14, -0x1.3f58d7db175f6p-15, 0x1.bfb8722b58696p-17,
    -0x1.93edec43fd5a2p-19};
// (atan(t)/t - 1) / z, z = t^2, |t| <= tan(pi/8); error 4.3e-20
inline constexpr double kAtan64[] = {
    -0x1.5555555555555p-2, 0x1.9999999999997p-3, -0x1.24924924920acp-3, 0x1.c71c71c6dda8cp-4,
    -0x1.745d17355fb40p-4, 0x1.3b13aea92b800p-4, -0x1.1110ced7ae904p-4, 0x1.e1d8e7e3671b7p-5,
    -0x1.aebd0d9afbb7ap-5, 0x1.829c6fefc6aacp-5, -0x1.503a72dea3f41p-5, 0x1.f5e70778c399ap-6,
    -0x1.c80183a6f4d8cp-7};
// erf(x)/x - 1, z = x^2 <= 1; error 1.2e-09
inline constexpr double kErf32[] = {
    0x1.06eba7f673903p-3, -0x1.81273e7a02443p-2,  0x1.ce2d10ed44e09p-4, -0x1.b7faba961c85ap-6,
    0x1.541270c79ca2cp-8, -0x1.a45087f1a200ap-11, 0x1.4a5690869d13fp-14};
// log(erfc(x)), 1 <= x <= 4; error 1.7e-08
inline constexpr double kErfcLog32[] = {
    0x1.4fb06741d39a1p-12, -0x1.2156fa777dfb0p+0,  -0x1.437eb4486a325p-1,
    -0x1.c2e355434c642p-4, 0x1.b0e246c451d48p-6,   -0x1.37ecc66bf73f2p-8,
    0x1.38e5e5277d407p-11, -0x1.825ce4bea3989p-15, 0x1.b7783044b6881p-20};
// erf(x)/x - 1, z = x^2 <= 0.36; error 6.6e-21
inline constexpr double kErf64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042bbep-4,  -0x1.b82ce3128731bp-6,
    0x1.565bcd0de399cp-8,  -0x1.c02db3c98a215p-11, 0x1.f9a3191be2994p-14, -0x1.f4d0197e55b67p-17,
    0x1.b9a9ff3b5208dp-20, -0x1.5b772b79d4e8dp-23, 0x1.aff453ef9be36p-27};
// (1 + x) exp(x^2) erfc(x), u = (x - 2) / (x + 2), 0 <= x <= 28; error 3.2e-17
inline constexpr double kErfcx64[] = {
    0x1.8849aa8fc2b31p-1,   -0x1.0a36d7faca083p-2,  0x1.35c57e12ea285p-5,   0x1.5c7530c104ed8p-5,
    -0x1.9d972407eec1fp-6,  -0x1.0fb9eadce5a96p-11, 0x1.02109236e3566p-8,   0x1.2f6b0252a570bp-13,
    -0x1.727a21f407b87p-11, -0x1.25947ef61d8f2p-13, 0x1.ea803b7d6d9aap-14,  0x1.02e9c26b94d96p-14,
    -0x1.0352da23913a1p-17, -0x1.25dbab8c1056fp-16, -0x1.487b156da5b99p-18, 0x1.48e3494fcc1b5p-19,
    0x1.49a2101e9897ap-19,  0x1.11a8cd778a952p-21,  -0x1.07d0ab3c217abp-21, -0x1.b274f5fbbe637p-22,
    -0x1.82ae818625680p-26, 0x1.c81af2cea7d17p-24,  0x1.2ae579ce5c420p-25,  -0x1.82e7885f2542dp-27,
    -0x1.883d268f1d659p-28};

} // namespace spokeshave::kernel
