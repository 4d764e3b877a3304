//===- ServeExecutable.cpp - compiling, executing, describing --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Executable.h"
#include "runtime/pjrt/Serve.h"

#include <cstring>

namespace spokeshave::pjrt {

struct ExecuteContext {};

namespace {
Status checkProgram(const Program *program) {
  if (!program || (!program->code && program->code_size != 0))
    return invalidArgument("the program is null");
  return {};
}

Status compile(const Backend &backend, const Program *program, const char *options,
               size_t optionsSize, BodyPtr &body) {
  if (Status status = checkProgram(program); !status.isOk())
    return status;
  return compileProgram(backend, llvm::StringRef(program->format, program->format_size),
                        llvm::StringRef(program->code, program->code_size),
                        llvm::StringRef(options, optionsSize), body);
}

Status load(Client *client, BodyPtr body, LoadedExecutable *&executable) {
  if (Status status = checkDevices(*client, *body); !status.isOk())
    return status;
  executable = new LoadedExecutable(client, std::move(body));
  return {};
}

Status liveBody(LoadedExecutable *executable, BodyPtr &body) {
  if (Status status = requireArgument(executable, "the executable"); !status.isOk())
    return status;
  body = executable->body();
  return body ? Status() : invalidArgument("the executable was deleted");
}
} // namespace

//===-- Making executables -------------------------------------------------===//

Status serve(Client_Compile_Args &args) {
  BodyPtr body;
  Client *client = args.client;
  if (Status status = compile(client->backend, args.program, args.compile_options,
                              args.compile_options_size, body);
      !status.isOk())
    return status;
  return load(client, std::move(body), args.executable);
}

Status serve(Compile_Args &args) {
  BodyPtr body;
  if (Status status = compile(currentBackend(), args.program, args.compile_options,
                              args.compile_options_size, body);
      !status.isOk())
    return status;
  args.executable = new Executable{std::move(body)};
  return {};
}

Status serve(Client_Load_Args &args) {
  if (Status status = requireArgument(args.executable, "the executable"); !status.isOk())
    return status;
  return load(args.client, args.executable->body, args.loaded_executable);
}

Status serve(Executable_Serialize_Args &args) {
  std::string bytes;
  if (Status status = serializeBody(*args.executable->body, bytes); !status.isOk())
    return status;
  giveBytes(std::move(bytes), args.serialized_bytes, args.serialized_bytes_size,
            args.serialized_executable, args.serialized_executable_deleter);
  return {};
}

Status serve(Executable_DeserializeAndLoad_Args &args) {
  BodyPtr body;
  if (Status status = deserializeBody(
          args.client->backend,
          llvm::StringRef(args.serialized_executable, args.serialized_executable_size), body);
      !status.isOk())
    return status;
  return load(args.client, std::move(body), args.loaded_executable);
}

//===-- Loaded executables -------------------------------------------------===//

Status serve(LoadedExecutable_Destroy_Args &args) {
  delete args.executable;
  return {};
}

Status serve(LoadedExecutable_GetExecutable_Args &args) {
  BodyPtr body;
  if (Status status = liveBody(args.loaded_executable, body); !status.isOk())
    return status;
  args.executable = new Executable{std::move(body)};
  return {};
}

Status serve(LoadedExecutable_AddressableDevices_Args &args) {
  args.addressable_devices = args.executable->devices.data();
  args.num_addressable_devices = args.executable->devices.size();
  return {};
}

Status serve(LoadedExecutable_AddressableDeviceLogicalIds_Args &args) {
  args.addressable_device_logical_ids = args.executable->logicalIds.data();
  args.num_addressable_device_logical_ids = args.executable->logicalIds.size();
  return {};
}

Status serve(LoadedExecutable_GetDeviceAssignment_Args &args) {
  BodyPtr body;
  if (Status status = liveBody(args.executable, body); !status.isOk())
    return status;
  giveBytes(body->framework.deviceAssignment, args.serialized_bytes, args.serialized_bytes_size,
            args.serialized_device_assignment, args.serialized_device_assignment_deleter);
  return {};
}

Status serve(LoadedExecutable_Delete_Args &args) {
  args.executable->remove();
  return {};
}

Status serve(LoadedExecutable_IsDeleted_Args &args) {
  args.is_deleted = !args.executable->body();
  return {};
}

Status serve(LoadedExecutable_Fingerprint_Args &args) {
  // Owned by the body, which the executable keeps unless it is deleted.
  BodyPtr body;
  if (Status status = liveBody(args.executable, body); !status.isOk())
    return status;
  giveText(body->fingerprint, args.executable_fingerprint, args.executable_fingerprint_size);
  return {};
}

Status serve(LoadedExecutable_Execute_Args &args) {
  LoadedExecutable &executable = *args.executable;
  if (args.num_devices != executable.devices.size())
    return statusOf(ErrorCode::BadArgument, "an execution on " + llvm::Twine(args.num_devices) +
                                                " devices of a program for " +
                                                llvm::Twine(executable.devices.size()));
  if (Status status = requireArgument(args.options, "the execute options"); !status.isOk())
    return status;
  const ExecuteOptions &options = *args.options;
  if (options.struct_size < minimumSize<ExecuteOptions>)
    return invalidArgument("the execute options are of too old a framework");
  if (options.num_send_ops != 0 || options.num_recv_ops != 0)
    return unimplemented("send and recv callbacks of an execution");
  llvm::SmallVector<ExecuteRequest, 1> requests;
  for (size_t i = 0; i < args.num_devices; ++i)
    requests.push_back(
        {llvm::ArrayRef(args.num_args ? args.argument_lists[i] : nullptr, args.num_args),
         args.output_lists[i], executable.devices[i]});
  // A program for one device may be told where to run.
  if (requests.size() == 1 && SPOKESHAVE_PJRT_HAS(args, execute_device) && args.execute_device)
    requests[0].device = args.execute_device;
  CompletionPtr done;
  if (Status status = execute(executable, requests,
                              llvm::ArrayRef(options.non_donatable_input_indices,
                                             options.num_non_donatable_input_indices),
                              done);
      !status.isOk())
    return status;
  for (size_t i = 0; args.device_complete_events && i < args.num_devices; ++i)
    args.device_complete_events[i] = new Event{done};
  return {};
}

Status serve(ExecuteContext_Create_Args &args) {
  args.context = new ExecuteContext;
  return {};
}

Status serve(ExecuteContext_Destroy_Args &args) {
  delete args.context;
  return {};
}

//===-- What an executable is ----------------------------------------------===//

Status serve(Executable_Destroy_Args &args) {
  delete args.executable;
  return {};
}

Status serve(Executable_Name_Args &args) {
  giveText(args.executable->body->program->name, args.executable_name, args.executable_name_size);
  return {};
}

Status serve(Executable_NumReplicas_Args &args) {
  args.num_replicas = args.executable->body->framework.replicas;
  return {};
}

Status serve(Executable_NumPartitions_Args &args) {
  args.num_partitions = args.executable->body->framework.partitions;
  return {};
}

Status serve(Executable_NumOutputs_Args &args) {
  args.num_outputs = args.executable->body->results.size();
  return {};
}

Status serve(Executable_OutputElementTypes_Args &args) {
  args.output_types = args.executable->body->resultTypes.data();
  args.num_output_types = args.executable->body->resultTypes.size();
  return {};
}

Status serve(Executable_OutputDimensions_Args &args) {
  args.num_outputs = args.executable->body->resultRanks.size();
  args.dims = args.executable->body->resultDims.data();
  args.dim_sizes = args.executable->body->resultRanks.data();
  return {};
}

Status serve(Executable_OutputMemoryKinds_Args &args) {
  const CompiledBody &body = *args.executable->body;
  args.num_outputs = body.results.size();
  args.memory_kinds = body.memoryKinds.data();
  args.memory_kind_sizes = body.memoryKindSizes.data();
  return {};
}

Status serve(Executable_ParameterMemoryKinds_Args &args) {
  const CompiledBody &body = *args.executable->body;
  args.num_parameters = body.arguments.size();
  args.memory_kinds = body.memoryKinds.data();
  args.memory_kind_sizes = body.memoryKindSizes.data();
  return {};
}

Status serve(Executable_Fingerprint_Args &args) {
  giveText(args.executable->body->fingerprint, args.executable_fingerprint,
           args.executable_fingerprint_size);
  return {};
}

Status serve(Executable_GetCompileOptions_Args &args) {
  giveBytes(args.executable->body->compileOptions, args.serialized_bytes,
            args.serialized_bytes_size, args.serialized_compile_options,
            args.serialized_compile_options_deleter);
  return {};
}

Status serve(Executable_SizeOfGeneratedCodeInBytes_Args &args) {
  args.size_in_bytes = args.executable->body->program->codeBytes();
  return {};
}

Status serve(Executable_GetCostAnalysis_Args &args) {
  args.properties = args.executable->body->costs.data();
  args.num_properties = args.executable->body->costs.size();
  return {};
}

Status serve(Executable_GetCompiledMemoryStats_Args &args) {
  const CompiledBody &body = *args.executable->body;
  const cpu::CompileStats &stats = body.program->stats;
  int64_t arguments = 0, results = 0, aliased = 0;
  for (const Shape &shape : body.arguments)
    arguments += shape.bytes;
  for (size_t i = 0; i < body.results.size(); ++i) {
    results += body.results[i].bytes;
    if (body.program->results[i].alias >= 0)
      aliased += body.results[i].bytes;
  }
  int64_t temporaries = stats.arenaBytes + stats.scratchBytes;
  args.generated_code_size_in_bytes = body.program->codeBytes();
  args.argument_size_in_bytes = arguments;
  args.output_size_in_bytes = results;
  args.alias_size_in_bytes = aliased;
  args.temp_size_in_bytes = temporaries;
  // The device's memory is the host's; it is counted once.
  args.host_generated_code_size_in_bytes = args.host_argument_size_in_bytes =
      args.host_output_size_in_bytes = args.host_alias_size_in_bytes =
          args.host_temp_size_in_bytes = 0;
  int64_t peak = arguments + results - aliased + temporaries;
  if (SPOKESHAVE_PJRT_HAS(args, peak_memory_in_bytes))
    args.peak_memory_in_bytes = peak;
  if (SPOKESHAVE_PJRT_HAS(args, total_size_in_bytes))
    args.total_size_in_bytes = peak + args.generated_code_size_in_bytes;
  if (SPOKESHAVE_PJRT_HAS(args, total_allocation_bytes))
    args.total_allocation_bytes = peak;
  if (SPOKESHAVE_PJRT_HAS(args, indefinite_allocations))
    args.indefinite_allocations = 0;
  if (SPOKESHAVE_PJRT_HAS(args, peak_unpadded_heap_bytes))
    args.peak_unpadded_heap_bytes = temporaries;
  return {};
}

// Called twice: for the size, and to fill the caller's memory.
Status serve(Executable_OptimizedProgram_Args &args) {
  static constexpr llvm::StringLiteral format = "mlir";
  if (Status status = requireArgument(args.program, "the program to fill"); !status.isOk())
    return status;
  const std::string &source = args.executable->body->source;
  giveText(format, args.program->format, args.program->format_size);
  if (args.program->code) {
    if (args.program->code_size < source.size())
      return invalidArgument("the memory for the program is too small");
    std::memcpy(args.program->code, source.data(), source.size());
  }
  args.program->code_size = source.size();
  return {};
}

} // namespace spokeshave::pjrt
