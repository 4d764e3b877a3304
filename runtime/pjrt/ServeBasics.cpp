//===- ServeBasics.cpp - errors, plugin and events -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Event.h"
#include "runtime/pjrt/Serve.h"

namespace spokeshave::pjrt {

//===-- Errors -------------------------------------------------------------===//

Status serve(Error_Destroy_Args &args) {
  delete args.error;
  return {};
}

Status serve(Error_Message_Args &args) {
  if (args.error)
    giveText(args.error->status.message(), args.message, args.message_size);
  else
    giveText("", args.message, args.message_size);
  return {};
}

Status serve(Error_GetCode_Args &args) {
  args.code = args.error ? args.error->status.code() : StatusCode::Ok;
  return {};
}

// The framework asks after each error; an error from here would recur forever.
Status serve(Error_ForEachPayload_Args &) {
  return {};
}

//===-- Plugin -------------------------------------------------------------===//

Status serve(Plugin_Initialize_Args &) {
  return {};
}

namespace {
NamedValue integers(llvm::StringLiteral name, const int64_t *values, size_t count) {
  NamedValue value{};
  value.struct_size = Layout<NamedValue>::size;
  giveText(name, value.name, value.name_size);
  value.type = NamedValueType::Int64List;
  value.int64_array_value = values;
  value.value_size = count;
  return value;
}
} // namespace

// The framework lowers its programs to `stablehlo_current_version`. 1.17.0 is the
// newest that the oldest supported one knows, so that all send the same operations.
Status serve(Plugin_Attributes_Args &args) {
  static constexpr int64_t current[] = {1, 17, 0}, minimum[] = {0, 9, 0};
  static const NamedValue attributes[] = {
      integers("stablehlo_current_version", current, 3),
      integers("stablehlo_minimum_version", minimum, 3),
      [] {
        NamedValue value{};
        value.struct_size = Layout<NamedValue>::size;
        giveText("xla_version", value.name, value.name_size);
        value.type = NamedValueType::Int64;
        value.int64_value = 2;
        value.value_size = 1;
        return value;
      }(),
  };
  args.attributes = attributes;
  args.num_attributes = std::size(attributes);
  return {};
}

//===-- Events -------------------------------------------------------------===//

Status serve(Event_Destroy_Args &args) {
  delete args.event;
  return {};
}

Status serve(Event_IsReady_Args &args) {
  if (Status status = requireArgument(args.event, "the event"); !status.isOk())
    return status;
  args.is_ready = args.event->completion->isReady();
  return {};
}

Status serve(Event_Error_Args &args) {
  if (Status status = requireArgument(args.event, "the event"); !status.isOk())
    return status;
  if (!args.event->completion->isReady())
    return Status(StatusCode::FailedPrecondition, "the event is not ready yet");
  return args.event->completion->status();
}

Status serve(Event_Await_Args &args) {
  if (Status status = requireArgument(args.event, "the event"); !status.isOk())
    return status;
  // The event may be destroyed by another thread once it is ready.
  CompletionPtr completion = args.event->completion;
  return completion->await();
}

Status serve(Event_OnReady_Args &args) {
  if (Status status = requireArgument(args.event, "the event"); !status.isOk())
    return status;
  auto callback = args.callback;
  void *user = args.user_arg;
  CompletionPtr completion = args.event->completion;
  completion->then([callback, user](const Status &status) { callback(status.release(), user); });
  return {};
}

Status serve(Event_Create_Args &args) {
  args.event = new Event{std::make_shared<Completion>()};
  return {};
}

Status serve(Event_Set_Args &args) {
  if (Status status = requireArgument(args.event, "the event"); !status.isOk())
    return status;
  CompletionPtr completion = args.event->completion;
  Status outcome(args.error_code, llvm::StringRef(args.error_message, args.error_message_size));
  if (!completion->complete(std::move(outcome)))
    return Status(StatusCode::FailedPrecondition, "the event was set before");
  return {};
}

} // namespace spokeshave::pjrt
