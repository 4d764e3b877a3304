//===- Fft.cpp - the library routine fft -----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FFT, IFFT, RFFT and IRFFT over the trailing dimensions, one axis after the
// other. A real transform is the innermost axis, first or last in turn.
//
//===----------------------------------------------------------------------===//
#include "runtime/library/Fft.h"

#include "runtime/Memory.h"
#include "runtime/library/FftStage.h"
#include "support/Error.h"

#include "llvm/ADT/StringSwitch.h"

namespace spokeshave::runtime {
namespace {

using Shape = llvm::ArrayRef<int64_t>;

int64_t product(Shape shape) {
  int64_t result = 1;
  for (int64_t extent : shape)
    result *= extent;
  return result;
}

class FftCall final : public PreparedCall {
public:
  FftCall(FftKind kind, bool isDouble, Shape input, Shape output, Shape lengths);
  llvm::Error run(void *const *buffers, const CallEnvironment &environment) override;

private:
  std::vector<std::unique_ptr<FftStage>> stages;
  bool empty = false;
  size_t temporaryBytes = 0; ///< what all stages but the last write to, if not 0
};

FftCall::FftCall(FftKind kind, bool isDouble, Shape input, Shape output, Shape lengths) {
  empty = product(output) == 0 || product(input) == 0;
  if (empty)
    return;
  auto rank = static_cast<int64_t>(input.size());
  int64_t first = rank - static_cast<int64_t>(lengths.size());
  bool inverse = kind == FftKind::Inverse || kind == FftKind::RealInverse;
  double scale = inverse ? 1.0 / static_cast<double>(product(lengths)) : 1.0;
  auto add = [&](FftKind stageKind, Shape shape, int64_t axis, double factor) {
    int64_t length = stageKind >= FftKind::Real ? lengths.back() : shape[axis];
    stages.push_back(makeFftStage({stageKind, length, product(shape.take_front(axis)),
                                   product(shape.drop_front(axis + 1)), factor},
                                  isDouble));
  };
  if (kind == FftKind::RealInverse) {
    for (int64_t axis = first; axis + 1 < rank; ++axis)
      add(FftKind::Inverse, input, axis, 1.0);
    if (!stages.empty()) // the input is not ours to overwrite, the output too small
      temporaryBytes = static_cast<size_t>(product(input)) * (isDouble ? 16 : 8);
    add(kind, input, rank - 1, scale);
    return;
  }
  // The last stage scales. Innermost axis first: a real transform must be.
  for (int64_t axis = rank - 1; axis >= first; --axis) {
    bool real = kind == FftKind::Real && axis == rank - 1;
    FftKind complexKind = inverse ? FftKind::Inverse : FftKind::Forward;
    add(real ? kind : complexKind, real ? input : output, axis, axis == first ? scale : 1.0);
  }
}

llvm::Error FftCall::run(void *const *buffers, const CallEnvironment &environment) {
  if (empty)
    return llvm::Error::success();
  llvm::Expected<ScopedMemory> temporary = ScopedMemory::create(temporaryBytes);
  if (!temporary)
    return temporary.takeError();
  const void *from = buffers[0];
  for (const auto &stage : stages) {
    bool last = &stage == &stages.back();
    void *to = !last && temporaryBytes ? temporary->get() : buffers[1];
    if (llvm::Error error = stage->run(from, to, *environment.pool, environment.cancel))
      return error;
    from = to;
  }
  return llvm::Error::success();
}

/// What fft_length says the sides must look like.
bool shapesFit(FftKind kind, Shape input, Shape output, Shape lengths) {
  if (lengths.empty() || lengths.size() > 3 || lengths.size() > input.size() ||
      input.size() != output.size())
    return false;
  size_t first = input.size() - lengths.size();
  if (input.take_front(first) != output.take_front(first))
    return false;
  for (auto [i, length] : llvm::enumerate(lengths)) {
    bool last = i + 1 == lengths.size();
    int64_t half = length == 0 ? 0 : length / 2 + 1;
    if (input[first + i] != (last && kind == FftKind::RealInverse ? half : length) ||
        output[first + i] != (last && kind == FftKind::Real ? half : length))
      return false;
  }
  return true;
}

} // namespace

llvm::Expected<std::unique_ptr<PreparedCall>> prepareFft(const cpu::CallSpec &spec,
                                                         const CallConfig &config) {
  auto invalid = [&](const llvm::Twine &why) {
    return makeError(ErrorCode::InvalidProgram, describe(spec) + " " + why);
  };
  std::string name = config.getEnum("fft_type").value_or("");
  auto kind = llvm::StringSwitch<std::optional<FftKind>>(name)
                  .Case("FFT", FftKind::Forward)
                  .Case("IFFT", FftKind::Inverse)
                  .Case("RFFT", FftKind::Real)
                  .Case("IRFFT", FftKind::RealInverse)
                  .Default(std::nullopt);
  if (!kind)
    return invalid("has no fft_type, or an unknown one: '" + name + "'");
  auto lengths = config.getIntegers("fft_length");
  if (!lengths || spec.inputs.size() != 1 || spec.outputs.size() != 1)
    return invalid("needs fft_length, one operand and one result");
  const cpu::ValueSpec &input = spec.inputs[0], &output = spec.outputs[0];
  if (!shapesFit(*kind, input.shape, output.shape, *lengths))
    return invalid("has shapes that do not fit fft_length");
  bool isDouble = llvm::StringRef(output.elementType).contains("f64");
  std::string real = isDouble ? "f64" : "f32", complex = "complex<" + real + ">";
  if (input.elementType != (*kind == FftKind::Real ? real : complex) ||
      output.elementType != (*kind == FftKind::RealInverse ? real : complex))
    return invalid("has element types that do not fit fft_type: " + input.elementType + " and " +
                   output.elementType);
  return std::make_unique<FftCall>(*kind, isDouble, input.shape, output.shape, *lengths);
}

} // namespace spokeshave::runtime
