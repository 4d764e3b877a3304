//===- StablehloText.h - pieces of the dialect's text form ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsers and printers that the declarations of attributes and operations name.
// The text is the one that other StableHLO tools print and read.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

namespace spokeshave::stablehlo {

using Dims = ::llvm::SmallVector<int64_t>;

/// `[0, 1]`
::mlir::FailureOr<Dims> parseDims(::mlir::AsmParser &parser);
void printDims(::mlir::AsmPrinter &printer, ::llvm::ArrayRef<int64_t> dims);

/// `[3, ?]`: bounds of dimensions, of which some are unknown.
::mlir::ParseResult parseBounds(::mlir::AsmParser &parser, Dims &bounds);
void printBounds(::mlir::AsmPrinter &printer, ::llvm::ArrayRef<int64_t> bounds);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
::mlir::ParseResult parseConvolutionDimensions(::mlir::AsmParser &parser,
                                               ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(::mlir::AsmPrinter &printer, ConvDimensionNumbersAttr numbers);
/// False if the numbers are no permutation and so have no text of that form.
bool isPrintable(ConvDimensionNumbersAttr numbers);

} // namespace spokeshave::stablehlo
