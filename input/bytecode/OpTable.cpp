//===- OpTable.cpp - how serialized operations become operations -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables. Attributes are listed in the order of bytecode, which is that of
// their names, as `name`, `name:conversion`, `name=default`; a `?` after the
// name marks one that may be absent. The words are those of the enumerations
// in OpTable.h.
//
// A new version of an operation is one more row.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/OpTable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace spokeshave::bytecode {

namespace {

struct Row {
  StringLiteral name;
  StringLiteral properties = "";
  Structure structure = Structure::None;
};

// Version 2 of the transcendental functions.
constexpr StringLiteral accuracy("result_accuracy=accuracy");

constexpr StringLiteral convolutionV1(
    "batch_group_count feature_group_count input_batch_dimension:part "
    "input_feature_dimension:part input_spatial_dimensions:part "
    "kernel_input_feature_dimension:part kernel_output_feature_dimension:part "
    "kernel_spatial_dimensions:part lhs_dilation:integers=ones output_batch_dimension:part "
    "output_feature_dimension:part output_spatial_dimensions:part padding=zeros "
    "precision_config=precision rhs_dilation:integers=ones window_reversal:bools=zeros "
    "window_strides:integers=ones");
// The padding of dynamic_conv is an operand; version 1 also had an attribute
// that meant nothing.
constexpr StringLiteral dynamicConvV1(
    "batch_group_count feature_group_count input_batch_dimension:part "
    "input_feature_dimension:part input_spatial_dimensions:part "
    "kernel_input_feature_dimension:part kernel_output_feature_dimension:part "
    "kernel_spatial_dimensions:part lhs_dilation:integers=ones output_batch_dimension:part "
    "output_feature_dimension:part output_spatial_dimensions:part padding:nothing "
    "precision_config=precision rhs_dilation:integers=ones window_reversal:bools=zeros "
    "window_strides:integers=ones");
constexpr StringLiteral dynamicConvV2(
    "batch_group_count feature_group_count input_batch_dimension:part "
    "input_feature_dimension:part input_spatial_dimensions:part "
    "kernel_input_feature_dimension:part kernel_output_feature_dimension:part "
    "kernel_spatial_dimensions:part lhs_dilation:integers=ones output_batch_dimension:part "
    "output_feature_dimension:part output_spatial_dimensions:part "
    "precision_config=precision rhs_dilation:integers=ones window_reversal:bools=zeros "
    "window_strides:integers=ones");

constexpr Row vhloRows[] = {
    {"abs_v1"},
    {"add_v1"},
    {"after_all_v1"},
    {"all_gather_v1", "all_gather_dim channel_id:channel=zero replica_groups "
                      "use_global_device_ids:flag"},
    {"all_gather_v2", "all_gather_dim channel_id:channel=zero replica_groups "
                      "use_global_device_ids:flag"},
    {"all_reduce_v1", "channel_id:channel=zero replica_groups use_global_device_ids:flag"},
    {"all_reduce_v2", "channel_id:channel=zero replica_groups use_global_device_ids:flag"},
    {"all_to_all_v1", "channel_id:channel=zero concat_dimension replica_groups split_count "
                      "split_dimension"},
    {"all_to_all_v2", "channel_id:channel=zero concat_dimension replica_groups split_count "
                      "split_dimension"},
    {"and_v1"},
    {"async_done_v1"},
    {"async_start_v1"},
    {"atan2_v1"},
    {"batch_norm_grad_v1", "epsilon feature_index"},
    {"batch_norm_inference_v1", "epsilon feature_index"},
    {"batch_norm_training_v1", "epsilon feature_index"},
    {"bitcast_convert_v1"},
    {"broadcast_in_dim_v1", "broadcast_dimensions:integers"},
    {"broadcast_v1", "broadcast_sizes:integers"},
    {"call_v1", "callee:symbol"},
    {"case_v1"},
    {"cbrt_v1"},
    {"cbrt_v2", accuracy},
    {"ceil_v1"},
    {"cholesky_v1", "lower=false"},
    {"clamp_v1"},
    {"collective_broadcast_v1", "channel_id:channel=zero replica_groups"},
    {"collective_broadcast_v2", "channel_id:channel=zero has_dynamic_root:flag replica_groups"},
    {"collective_permute_v1", "channel_id:channel=zero source_target_pairs"},
    {"collective_reduce_v1", "channel_id:channel=zero has_dynamic_root:flag replica_groups "
                             "use_global_device_ids:flag"},
    {"compare_v1", "compare_type=notype comparison_direction"},
    {"complex_v1"},
    {"composite_v1", "composite_attributes=empty decomposition:symbol name version=zero"},
    {"composite_v2", "composite_attributes=empty decomposition:symbol name version=zero"},
    {"concatenate_v1", "dimension"},
    {"constant_v1", "value:constant"},
    {"convert_v1"},
    {"convolution_v1", convolutionV1, Structure::Convolution},
    {"cosine_v1"},
    {"cosine_v2", accuracy},
    {"count_leading_zeros_v1"},
    {"create_token_v1"},
    {"custom_call_v1",
     "api_version=original backend_config=empty call_target_name "
     "called_computations:symbols=empty has_side_effect=false operand_layouts "
     "output_operand_aliases=empty result_layouts",
     Structure::CustomCall},
    {"custom_call_v2",
     "api_version=original backend_config=empty call_target_name "
     "called_computations:symbols=empty has_side_effect=false operand_layouts "
     "output_operand_aliases=empty result_layouts result_tilings=empty",
     Structure::CustomCall},
    {"divide_v1"},
    {"dot_general_v1",
     "lhs_batching_dimensions:part lhs_contracting_dimensions:part precision_config=precision "
     "rhs_batching_dimensions:part rhs_contracting_dimensions:part",
     Structure::Dot},
    {"dot_general_v2",
     "accumulation_type:part allow_imprecise_accumulation:part lhs_batching_dimensions:part "
     "lhs_component_count:part lhs_contracting_dimensions:part lhs_precision_type:part "
     "num_primitive_operations:part precision_config=precision rhs_batching_dimensions:part "
     "rhs_component_count:part rhs_contracting_dimensions:part rhs_precision_type:part",
     Structure::Dot},
    {"dot_v1", "precision_config=precision"},
    {"dynamic_broadcast_in_dim_v1",
     "broadcast_dimensions:integers known_expanding_dimensions:integers=empty "
     "known_nonexpanding_dimensions:integers=empty"},
    {"dynamic_conv_v1", dynamicConvV1, Structure::Convolution},
    {"dynamic_conv_v2", dynamicConvV2, Structure::Convolution},
    {"dynamic_gather_v1",
     "collapsed_slice_dims:part index_vector_dim:part indices_are_sorted=false offset_dims:part "
     "start_index_map:part",
     Structure::Gather},
    {"dynamic_gather_v2",
     "collapsed_slice_dims:part index_vector_dim:part indices_are_sorted=false offset_dims:part "
     "operand_batching_dims:part start_index_map:part start_indices_batching_dims:part",
     Structure::Gather},
    {"dynamic_iota_v1", "iota_dimension"},
    {"dynamic_pad_v1"},
    {"dynamic_reshape_v1"},
    {"dynamic_slice_v1", "slice_sizes:integers"},
    {"dynamic_update_slice_v1"},
    {"einsum_v1", "einsum_config"},
    {"exponential_minus_one_v1"},
    {"exponential_minus_one_v2", accuracy},
    {"exponential_v1"},
    {"exponential_v2", accuracy},
    {"fft_v1", "fft_length:integers fft_type"},
    {"floor_v1"},
    {"func_v1", "arg_attrs=nodicts function_type res_attrs=nodicts sym_name sym_visibility=empty"},
    {"gather_v1",
     "collapsed_slice_dims:part index_vector_dim:part indices_are_sorted=false offset_dims:part "
     "slice_sizes:integers start_index_map:part",
     Structure::Gather},
    {"gather_v2",
     "collapsed_slice_dims:part index_vector_dim:part indices_are_sorted=false offset_dims:part "
     "operand_batching_dims:part slice_sizes:integers start_index_map:part "
     "start_indices_batching_dims:part",
     Structure::Gather},
    {"get_dimension_size_v1", "dimension"},
    {"get_tuple_element_v1", "index"},
    {"if_v1"},
    {"imag_v1"},
    {"infeed_v1", "infeed_config=empty layout=empty"},
    {"iota_v1", "iota_dimension"},
    {"is_finite_v1"},
    {"log_plus_one_v1"},
    {"log_plus_one_v2", accuracy},
    {"log_v1"},
    {"log_v2", accuracy},
    {"logistic_v1"},
    {"logistic_v2", accuracy},
    {"map_v1", "dimensions:integers"},
    {"maximum_v1"},
    {"minimum_v1"},
    {"multiply_v1"},
    {"negate_v1"},
    {"not_v1"},
    {"optimization_barrier_v1"},
    {"or_v1"},
    {"outfeed_v1", "outfeed_config=empty"},
    {"pad_v1", "edge_padding_high:integers edge_padding_low:integers interior_padding:integers"},
    {"partition_id_v1"},
    {"popcnt_v1"},
    {"power_v1"},
    {"real_dynamic_slice_v1"},
    {"real_v1"},
    {"recv_v1", "channel_id:part channel_type:part is_host_transfer=false", Structure::Channel},
    {"recv_v2",
     "channel_id:part channel_type:part is_host_transfer=false source_target_pairs=empty",
     Structure::Channel},
    {"reduce_precision_v1", "exponent_bits mantissa_bits"},
    {"reduce_scatter_v1", "channel_id:channel=zero replica_groups scatter_dimension "
                          "use_global_device_ids:flag"},
    {"reduce_v1", "dimensions:integers"},
    {"reduce_window_v1",
     "base_dilations:integers=ones padding=zeros window_dilations:integers=ones "
     "window_dimensions:integers window_strides:integers=ones"},
    {"remainder_v1"},
    {"replica_id_v1"},
    {"reshape_v1"},
    {"return_v1"},
    {"reverse_v1", "dimensions:integers"},
    {"rng_bit_generator_v1", "rng_algorithm"},
    {"rng_v1", "rng_distribution"},
    {"round_nearest_afz_v1"},
    {"round_nearest_even_v1"},
    {"rsqrt_v1"},
    {"rsqrt_v2", accuracy},
    {"scatter_v1",
     "index_vector_dim:part indices_are_sorted=false inserted_window_dims:part "
     "scatter_dims_to_operand_dims:part unique_indices=false update_window_dims:part",
     Structure::Scatter},
    {"scatter_v2",
     "index_vector_dim:part indices_are_sorted=false input_batching_dims:part "
     "inserted_window_dims:part scatter_dims_to_operand_dims:part "
     "scatter_indices_batching_dims:part unique_indices=false update_window_dims:part",
     Structure::Scatter},
    {"select_and_scatter_v1",
     "padding=zeros window_dimensions:integers window_strides:integers=ones"},
    {"select_v1"},
    {"send_v1", "channel_id:part channel_type:part is_host_transfer=false", Structure::Channel},
    {"send_v2",
     "channel_id:part channel_type:part is_host_transfer=false source_target_pairs=empty",
     Structure::Channel},
    {"set_dimension_size_v1", "dimension"},
    {"shift_left_v1"},
    {"shift_right_arithmetic_v1"},
    {"shift_right_logical_v1"},
    {"sign_v1"},
    {"sine_v1"},
    {"sine_v2", accuracy},
    {"slice_v1", "limit_indices:integers start_indices:integers strides:integers"},
    {"sort_v1", "dimension=minusone is_stable=false"},
    {"sqrt_v1"},
    {"sqrt_v2", accuracy},
    {"subtract_v1"},
    {"tan_v1"},
    {"tan_v2", accuracy},
    {"tanh_v1"},
    {"tanh_v2", accuracy},
    {"torch_index_select_v1", "batch_dims dim"},
    {"transpose_v1", "permutation:integers"},
    {"triangular_solve_v1", "left_side lower transpose_a unit_diagonal"},
    {"tuple_v1"},
    {"unary_einsum_v1", "einsum_config"},
    {"uniform_dequantize_v1"},
    {"uniform_quantize_v1"},
    {"while_v1"},
    {"xor_v1"},
};

// What programs contain. Collectives of sdy are made by Shardy's own passes only.
constexpr Row sdyRows[] = {
    {"manual_computation", "in_shardings manual_axes out_shardings"},
    {"mesh", "mesh sym_name"},
    {"named_computation", "in_shardings? name out_shardings?"},
    {"propagation_barrier", "allowed_direction"},
    {"reshard", "sharding"},
    {"return"},
    {"sharding_constraint", "sharding"},
    {"sharding_group", "group_id"},
};

constexpr Row builtinRows[] = {
    {"module", "sym_name? sym_visibility?"},
    {"unrealized_conversion_cast"},
};

Conversion parseConversion(StringRef word) {
  return llvm::StringSwitch<Conversion>(word)
      .Case("integers", Conversion::Integers)
      .Case("bools", Conversion::Bools)
      .Case("symbol", Conversion::Symbol)
      .Case("symbols", Conversion::Symbols)
      .Case("channel", Conversion::Channel)
      .Case("flag", Conversion::Flag)
      .Case("constant", Conversion::Constant)
      .Case("part", Conversion::Part)
      .Case("nothing", Conversion::Nothing)
      .Default(Conversion::Same);
}

Default parseDefault(StringRef word) {
  return llvm::StringSwitch<Default>(word)
      .Case("false", Default::False)
      .Case("zero", Default::Zero)
      .Case("minusone", Default::MinusOne)
      .Case("nodicts", Default::NoDicts)
      .Case("empty", Default::Empty)
      .Case("ones", Default::Ones)
      .Case("zeros", Default::Zeros)
      .Case("precision", Default::Precision)
      .Case("accuracy", Default::Accuracy)
      .Case("notype", Default::NoType)
      .Case("original", Default::Original)
      .Default(Default::None);
}

/// VHLO's functions are those of the func dialect; its return is decided by
/// what it returns from.
std::string builtName(StringRef dialect, StringRef name) {
  if (dialect != "vhlo")
    return (dialect + "." + name).str();
  StringRef base = name.take_front(name.rfind("_v"));
  bool isFunc = base == "func" || base == "call";
  return ((isFunc ? "func." : "stablehlo.") + base).str();
}

OpSpec parseRow(StringRef dialect, const Row &row) {
  OpSpec spec{builtName(dialect, row.name), row.structure, {}};
  SmallVector<StringRef> words;
  StringRef(row.properties).split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [rest, defaultValue] = word.split('=');
    auto [name, conversion] = rest.split(':');
    bool isOptional = name.consume_back("?");
    spec.properties.push_back(
        {name, parseConversion(conversion), parseDefault(defaultValue), isOptional});
  }
  return spec;
}

template <typename Visit> void forEachRow(Visit visit) {
  for (const Row &row : vhloRows)
    visit("vhlo", row);
  for (const Row &row : sdyRows)
    visit("sdy", row);
  for (const Row &row : builtinRows)
    visit("builtin", row);
}

std::string keyOf(StringRef dialect, StringRef name) {
  return (dialect + "." + name).str();
}

} // namespace

std::optional<OpSpec> lookUpOp(StringRef dialect, StringRef name) {
  static const llvm::StringMap<const Row *> rows = [] {
    llvm::StringMap<const Row *> map;
    forEachRow([&](StringRef dialect, const Row &row) { map[keyOf(dialect, row.name)] = &row; });
    return map;
  }();
  auto it = rows.find(keyOf(dialect, name));
  if (it == rows.end())
    return std::nullopt;
  return parseRow(dialect, *it->second);
}

SmallVector<std::string> allSerializedOps() {
  SmallVector<std::string> names;
  forEachRow([&](StringRef dialect, const Row &row) { names.push_back(keyOf(dialect, row.name)); });
  return names;
}

} // namespace spokeshave::bytecode
