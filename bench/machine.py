# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine that figures were measured on."""

import dataclasses
import importlib.metadata
import os
import platform
from typing import Any

import spokeshave


@dataclasses.dataclass(frozen=True)
class Rates:
    """What the machine reaches at best, by Spokeshave's own small loops."""

    threads: int
    fma_gflops: float
    bf16_gflops: float
    int8_gops: float
    read_gb_per_s: float
    copy_gb_per_s: float

    def peak(self, dtypes: set[str]) -> float:
        """1e9 operations a second on products of the narrowest of `dtypes`."""
        if "int8" in dtypes and self.int8_gops:
            return self.int8_gops
        if "bfloat16" in dtypes and self.bf16_gflops:
            return self.bf16_gflops
        return self.fma_gflops

    @property
    def memory(self) -> float:
        """1e9 bytes a second."""
        return max(self.read_gb_per_s, self.copy_gb_per_s)


@dataclasses.dataclass(frozen=True)
class Machine:
    """Facts, versions, and rates on one thread and on all that are used."""

    facts: dict[str, Any]
    versions: dict[str, str]
    rates: tuple[Rates, ...]

    @staticmethod
    def from_figures(figures: dict[str, Any]) -> "Machine":
        """The machine that dataclasses.asdict() made `figures` of, maybe through JSON."""
        rates = tuple(Rates(**one) for one in figures["rates"])
        return Machine(figures["facts"], figures["versions"], rates)

    @property
    def best(self) -> Rates:
        """The rates of all threads."""
        return self.rates[-1]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def describe() -> Machine:
    """Asks the library, which also measures (about a second)."""
    facts = spokeshave.machine(measure=True)
    rates = tuple(Rates(**one) for one in facts.pop("rates"))
    versions = {
        "Spokeshave": spokeshave.version(),
        "JAX": _version("jax"),
        "jaxlib": _version("jaxlib"),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
    }
    facts["load"] = round(os.getloadavg()[0], 2)
    return Machine(facts, versions, rates)


def paragraphs(machine: Machine) -> list[str]:
    """The machine for people, one item a line."""
    facts = machine.facts
    lines = [
        f"- {facts['model']}, instruction set {facts['isa']} ({facts['vector_bits']}-bit vectors)",
        f"- {facts['threads_available']} cores, {facts['threads_used']} threads used by Spokeshave;"
        " XLA takes as many as there are cores",
        f"- caches: L1 {facts['l1_bytes'] >> 10} KiB, L2 {facts['l2_bytes'] >> 10} KiB a core,"
        f" L3 {facts['l3_bytes'] >> 20} MiB; memory {facts['memory_bytes'] >> 30} GiB",
    ]
    for rates in machine.rates:
        narrow = ""
        if rates.bf16_gflops:
            narrow += f", bf16 {rates.bf16_gflops:.0f} GFLOP/s"
        if rates.int8_gops:
            narrow += f", int8 {rates.int8_gops:.0f} Gop/s"
        lines.append(
            f"- at best on {rates.threads} thread{'s'[: rates.threads > 1]}: f32 multiply-add"
            f" {rates.fma_gflops:.0f} GFLOP/s{narrow}; memory read {rates.read_gb_per_s:.1f} GB/s,"
            f" copy {rates.copy_gb_per_s:.1f} GB/s"
        )
    lines.append(
        f"- load average when it began: {facts['load']}; a quiet machine has less than 1, and only"
        " there are times, rates and compile times what the machine can do"
    )
    lines.append("- " + ", ".join(f"{name} {value}" for name, value in machine.versions.items()))
    return lines
