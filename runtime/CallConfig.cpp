//===- CallConfig.cpp - the configuration of a call, parsed ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/CallConfig.h"

#include "support/Error.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace spokeshave::runtime {

std::string describe(const cpu::CallSpec &spec) {
  std::string text = (spec.isLibrary ? "library routine '" : "custom call '") + spec.target + "'";
  if (!spec.location.empty())
    text += " (at " + spec.location + ")";
  return text;
}

llvm::Expected<CallConfig> CallConfig::parse(const cpu::CallSpec &spec) {
  CallConfig config;
  config.context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  config.context->allowUnregisteredDialects();
  if (llvm::StringRef(spec.config).trim().empty()) {
    config.dictionary = DictionaryAttr::get(config.context.get());
    return std::move(config);
  }
  DiagnosticCollector diagnostics(config.context.get());
  auto parsed = mlir::parseAttribute(spec.config, config.context.get());
  config.dictionary = dyn_cast_or_null<DictionaryAttr>(parsed);
  if (config.dictionary)
    return std::move(config);
  std::string why =
      takeError(diagnostics.take(ErrorCode::InvalidProgram, "not a dictionary"))->getMessage();
  return makeError(ErrorCode::InvalidProgram,
                   describe(spec) + " has a malformed configuration: " + why);
}

Attribute CallConfig::parseAttribute(llvm::StringRef text) const {
  ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) { return success(); });
  return mlir::parseAttribute(text, context.get());
}

std::optional<bool> CallConfig::getBool(llvm::StringRef name) const {
  auto value = dyn_cast_or_null<BoolAttr>(get(name));
  return value ? std::optional<bool>(value.getValue()) : std::nullopt;
}

std::optional<std::string> CallConfig::getEnum(llvm::StringRef name) const {
  Attribute attribute = get(name);
  if (auto text = dyn_cast_or_null<StringAttr>(attribute))
    return text.str();
  // #stablehlo<fft_type FFT> and #stablehlo<transpose TRANSPOSE>: the last word.
  if (auto opaque = dyn_cast_or_null<OpaqueAttr>(attribute)) {
    llvm::StringRef data = opaque.getAttrData();
    data = data.rtrim("> ");
    return data.substr(data.find_last_of(" <") + 1).str();
  }
  return std::nullopt;
}

std::optional<llvm::SmallVector<int64_t>> integersOf(Attribute attribute) {
  llvm::SmallVector<int64_t> result;
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute)) {
    llvm::append_range(result, array.asArrayRef());
    return result;
  }
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      result.push_back(value.getSExtValue());
    return result;
  }
  auto list = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!list)
    return std::nullopt;
  for (Attribute element : list) {
    auto integer = dyn_cast<IntegerAttr>(element);
    if (!integer)
      return std::nullopt;
    result.push_back(integer.getValue().getSExtValue());
  }
  return result;
}

std::optional<llvm::SmallVector<int64_t>> CallConfig::getIntegers(llvm::StringRef name) const {
  return integersOf(get(name));
}

} // namespace spokeshave::runtime
