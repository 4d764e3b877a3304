//===- Collectives.cpp - moving bytes between devices ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/library/Collectives.h"

#include "runtime/Exchange.h"
#include "support/Error.h"

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>
#include <cstring>

namespace spokeshave::runtime {

namespace {

llvm::Error invalid(const cpu::CallSpec &spec, const llvm::Twine &why) {
  return makeError(ErrorCode::InvalidProgram, describe(spec) + " " + why);
}

/// "all_gather (at model.py:3)"
std::string shortName(const cpu::CallSpec &spec) {
  return spec.location.empty() ? spec.target : spec.target + " (at " + spec.location + ")";
}

/// The text of #stablehlo.channel_handle<handle = N, type = M>, for keys.
std::string channelText(const CallConfig &config) {
  auto channel = llvm::dyn_cast_or_null<mlir::OpaqueAttr>(config.get("channel_handle"));
  return channel ? channel.getAttrData().str() : "";
}

/// Its handle.
int64_t channelNumber(const CallConfig &config) {
  std::string text = channelText(config);
  llvm::StringRef rest = llvm::StringRef(text).split("handle = ").second;
  int64_t number = 0;
  rest.consumeInteger(10, number);
  return number;
}

using Rows = std::vector<std::vector<int64_t>>;

/// The rows of a matrix of devices.
std::optional<Rows> rowsOf(mlir::Attribute attribute) {
  auto matrix = llvm::dyn_cast_or_null<mlir::DenseIntElementsAttr>(attribute);
  if (!matrix || matrix.getType().getRank() != 2)
    return std::nullopt;
  std::optional<llvm::SmallVector<int64_t>> ids = integersOf(attribute);
  Rows rows(matrix.getType().getDimSize(0));
  int64_t columns = matrix.getType().getDimSize(1);
  for (size_t row = 0; row < rows.size(); ++row)
    rows[row].assign(ids->begin() + row * columns, ids->begin() + (row + 1) * columns);
  return rows;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

class CollectiveCall final : public PreparedCall {
public:
  enum class Kind { Gather, Exchange, Broadcast, Permute };

  CollectiveCall(Kind kind, Rows rows, const cpu::CallSpec &spec, const std::string &channel)
      : kind(kind), rows(std::move(rows)), key(spec.target + channel), what(shortName(spec)),
        inputBytes(spec.inputs[0].byteSize), outputBytes(spec.outputs[0].byteSize) {
    // In a permute a device may send in one pair and receive in another: all
    // devices of all pairs meet.
    if (kind == Kind::Permute) {
      for (const std::vector<int64_t> &pair : this->rows)
        for (int64_t device : pair)
          if (!llvm::is_contained(everyone, device))
            everyone.push_back(device);
      std::sort(everyone.begin(), everyone.end());
    }
  }

  llvm::Error run(void *const *buffers, const CallEnvironment &environment) override {
    if (!environment.exchange)
      return makeError(ErrorCode::BadArgument, what + " needs an execution on several devices");
    const std::vector<int64_t> *members = membersFor(environment.device);
    if (!members) {
      if (kind == Kind::Gather || kind == Kind::Exchange)
        return makeError(ErrorCode::BadArgument,
                         what + " has no group with device " + llvm::Twine(environment.device));
      std::memset(buffers[1], 0, outputBytes);
      return llvm::Error::success();
    }
    return environment.exchange->meet(
        environment.device, {key, what, *members, buffers[0], inputBytes}, environment.cancel,
        [&](llvm::ArrayRef<const void *> operands) {
          take(environment.device, *members, operands, static_cast<char *>(buffers[1]));
        });
  }

private:
  const std::vector<int64_t> *membersFor(int64_t device) const {
    if (kind == Kind::Permute)
      return llvm::is_contained(everyone, device) ? &everyone : nullptr;
    for (const std::vector<int64_t> &row : rows)
      if (llvm::is_contained(row, device))
        return &row;
    return nullptr;
  }

  void take(int64_t self, const std::vector<int64_t> &members,
            llvm::ArrayRef<const void *> operands, char *to) const {
    int64_t place = llvm::find(members, self) - members.begin(), count = members.size();
    auto from = [&](int64_t member) { return static_cast<const char *>(operands[member]); };
    switch (kind) {
    case Kind::Gather:
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * inputBytes, from(i), inputBytes);
      return;
    case Kind::Exchange:
      for (int64_t i = 0, part = inputBytes / count; i < count; ++i)
        std::memcpy(to + i * part, from(i) + place * part, part);
      return;
    case Kind::Broadcast:
      std::memcpy(to, from(0), inputBytes);
      return;
    case Kind::Permute:
      for (const std::vector<int64_t> &pair : rows)
        if (pair[1] == self) {
          std::memcpy(to, from(llvm::find(members, pair[0]) - members.begin()), inputBytes);
          return;
        }
      std::memset(to, 0, outputBytes);
      return;
    }
  }

  Kind kind;
  Rows rows;
  std::vector<int64_t> everyone;
  std::string key, what;
  int64_t inputBytes, outputBytes;
};

//===----------------------------------------------------------------------===//
// Numbers of the device
//===----------------------------------------------------------------------===//

class DeviceNumberCall final : public PreparedCall {
public:
  explicit DeviceNumberCall(bool isReplica) : isReplica(isReplica) {}

  llvm::Error run(void *const *buffers, const CallEnvironment &environment) override {
    uint32_t number = 0;
    if (const Exchange *exchange = environment.exchange)
      number = isReplica ? environment.device / exchange->partitions
                         : environment.device % exchange->partitions;
    std::memcpy(buffers[0], &number, sizeof number);
    return llvm::Error::success();
  }

private:
  bool isReplica;
};

//===----------------------------------------------------------------------===//
// Channels and the host
//===----------------------------------------------------------------------===//

class TransferCall final : public PreparedCall {
public:
  TransferCall(const cpu::CallSpec &spec, int64_t channel)
      : operation(spec.target), what(shortName(spec)), channel(channel) {
    for (const cpu::ValueSpec &input : spec.inputs)
      inputBytes.push_back(input.byteSize);
    for (const cpu::ValueSpec &output : spec.outputs)
      outputBytes.push_back(output.byteSize);
    if (operation == "recv")
      what += " on channel " + std::to_string(channel);
  }

  llvm::Error run(void *const *buffers, const CallEnvironment &environment) override {
    Exchange *exchange = environment.exchange;
    if (!exchange)
      return makeError(ErrorCode::UnsupportedProgram,
                       what + ": the program runs where nobody is at its other end");
    Exchange::Values values;
    for (size_t i = 0; i < inputBytes.size(); ++i)
      values.emplace_back(static_cast<const char *>(buffers[i]), inputBytes[i]);
    if (operation == "send")
      exchange->send(channel, std::move(values));
    else if (operation == "outfeed")
      exchange->putOut(std::move(values));
    else
      return takeIn(*exchange, buffers + inputBytes.size(), environment);
    return llvm::Error::success();
  }

private:
  llvm::Error takeIn(Exchange &exchange, void *const *outputs, const CallEnvironment &environment) {
    Exchange::Values values;
    if (operation == "infeed") {
      std::optional<Exchange::Values> fed = exchange.takeFed();
      if (!fed)
        return makeError(ErrorCode::BadArgument, what + " reads past the end of the infeed");
      values = std::move(*fed);
    } else if (llvm::Error error = exchange.receive(environment.device, channel, what,
                                                    environment.cancel, values)) {
      return error;
    }
    if (values.size() != outputBytes.size())
      return makeError(ErrorCode::DevicesApart, what + " gets another number of values");
    for (size_t i = 0; i < values.size(); ++i) {
      if (static_cast<int64_t>(values[i].size()) != outputBytes[i])
        return makeError(ErrorCode::DevicesApart, what + " gets a value of another size");
      std::memcpy(outputs[i], values[i].data(), values[i].size());
    }
    return llvm::Error::success();
  }

  std::string operation, what;
  int64_t channel;
  std::vector<int64_t> inputBytes, outputBytes;
};

} // namespace

llvm::Expected<std::unique_ptr<PreparedCall>> prepareCollective(const cpu::CallSpec &spec,
                                                                const CallConfig &config) {
  using Kind = CollectiveCall::Kind;
  Kind kind = llvm::StringSwitch<Kind>(spec.target)
                  .Case("all_gather", Kind::Gather)
                  .Case("all_to_all", Kind::Exchange)
                  .Case("collective_broadcast", Kind::Broadcast)
                  .Default(Kind::Permute);
  if (spec.inputs.size() != 1 || spec.outputs.size() != 1)
    return invalid(spec, "needs one operand and one result");
  std::optional<Rows> rows =
      rowsOf(config.get(kind == Kind::Permute ? "source_target_pairs" : "replica_groups"));
  if (!rows || rows->empty() || rows->front().empty())
    return invalid(spec, "needs a matrix of devices");
  size_t columns = rows->front().size();
  int64_t in = spec.inputs[0].byteSize, out = spec.outputs[0].byteSize;
  int64_t members = static_cast<int64_t>(columns);
  bool fits = kind == Kind::Gather ? out == in * members : out == in;
  if (!fits || (kind == Kind::Exchange && in % members != 0) ||
      (kind == Kind::Permute && columns != 2))
    return invalid(spec, "has a result that does not fit its operand and groups");
  return std::make_unique<CollectiveCall>(kind, std::move(*rows), spec, channelText(config));
}

llvm::Expected<std::unique_ptr<PreparedCall>> prepareDeviceNumber(const cpu::CallSpec &spec,
                                                                  const CallConfig &) {
  if (!spec.inputs.empty() || spec.outputs.size() != 1 || spec.outputs[0].byteSize != 4)
    return invalid(spec, "needs one result, a ui32");
  return std::make_unique<DeviceNumberCall>(spec.target == "replica_id");
}

llvm::Expected<std::unique_ptr<PreparedCall>> prepareTransfer(const cpu::CallSpec &spec,
                                                              const CallConfig &config) {
  return std::make_unique<TransferCall>(spec, channelNumber(config));
}

} // namespace spokeshave::runtime
