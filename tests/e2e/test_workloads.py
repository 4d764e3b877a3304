# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bench's workloads at small sizes: right results, and compiled as they should be.

docs/equality.md has the tolerances and their reasons, docs/counters.md the counters.
"""

import pytest
from spokeshave.bench import compare, equality, functions
from spokeshave.bench.workloads import WORKLOADS

NAMES = list(WORKLOADS)
QUICK = {"mlp_train_step", "llm_decode_f32", "sort_1e6", "batched_cholesky_8x8"}

# Bytes that one iteration of a workload's loops copies, or moves by kernels that
# compute nothing, at the reduced size; 0 for all that are not named. Weights and
# caches in a stack are read where they lie, and no carried value moves back to its
# place but small ones. What is left:
#   llm_decode: the token's keys and values go into the cache
#   lstm_forward: the step's hidden state goes into the stack of results
#   lstm_grad: what the backward pass needs goes into stacks (3072); two carried states
#     of 384 bytes cost less to copy than their loop's 17 launches to double
#   hmc_logistic: the sample goes into the stack of samples (24); three carried values of
#     52 bytes together move back to their places
MOST_MOVED = {
    "llm_decode_f32": 512,
    "llm_decode_bf16": 256,
    "lstm_forward": 384,
    "lstm_grad": 768 + 3072,
    "hmc_logistic": 24 + 52,
}


def assert_accepted(found: compare.Difference) -> None:
    assert found.accepted, (
        f"{found.dtype} results differ by {found.error:.1e}, allowed {found.tolerance:.1e}"
    )


def assert_compiled_as_stated(workload, counts) -> None:
    """No call but the stated ones; each stated form of kernel; no barrier or copy too many."""
    assert counts["calls"] == dict(workload.calls)
    assert counts["called"] == (sum(workload.calls.values()), 0)
    assert workload.kinds <= set(counts["kernel_kinds"])
    assert counts["instructions"]["after"] <= 2 * counts["instructions"]["before"]
    loops = counts["loops"]
    if not loops and not workload.calls:
        assert counts["structure"]["regions"] == 1
        assert counts["structure"]["copies"] == 0
    for loop, following in zip(loops, [*loops[1:], {"depth": 0}]):
        if following["depth"] <= loop["depth"]:  # the innermost
            assert loop["regions"] <= 1
        assert loop["copied_bytes"] + loop["moved_bytes"] <= MOST_MOVED.get(workload.name, 0)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.quick] * (n in QUICK)) for n in NAMES]
)
def test_equals_the_stock_cpu(name):
    workload = WORKLOADS[name]
    found, counts = equality.against_stock(workload)
    assert_accepted(found)
    assert_compiled_as_stated(workload, counts)


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_stock_cpu_in_64_bits(name, x64):
    workload = WORKLOADS[name]
    found, counts = equality.against_stock(workload, wide=True)
    assert_accepted(found)
    assert counts["calls"] == dict(workload.calls)


@pytest.mark.parametrize("name", NAMES)
def test_equals_the_interpreter(name):
    assert_accepted(equality.against_interpreter(WORKLOADS[name]))


@pytest.mark.parametrize(
    "function", [f for group in functions.GROUPS.values() for f in group], ids=lambda f: f.name
)
def test_single_functions(function):
    found = functions.measure(function)
    assert found.accepted(function), f"{found}, allowed are {function.most_ulp}"
