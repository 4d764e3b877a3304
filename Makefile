# Spokeshave's everyday commands. Each sets up what it needs; README.md explains.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: help demo demo-tpu test nightly check bench setup build package unit lit e2e lint format clean clean-all

JOBS ?= $(shell nproc)
PRESET ?= release
BUILD := build/$(PRESET)
TIMES := $(CURDIR)/build/compile_times.txt
WHEEL_DIR := build/wheel

help:
	@echo "make demo     set everything up and run the main job"
	@echo "make demo-tpu a transformer block on two simulated TPU-class chips, reports and a sweep"
	@echo "make test     set everything up and pass all tests"
	@echo "make check    quick tests of the build tree (under a minute after an edit)"
	@echo "make nightly  the suites that take hours; the report carries the commit's hash"
	@echo "make bench    times 39 programs beside JAX's stock CPU; writes docs/performance.md, docs/equality.md"
	@echo "make build    the C++ build; PRESET=release|dev|debug|asan+ubsan"
	@echo "make lint     formatting, ruff, direction of includes;  make format mends"
	@echo "PYTHON=...    the Python to use instead of the newest that works"

demo: package
	@set -e; venv=$$(scripts/make_venv.sh "$$(scripts/find_pythons.sh)"); \
	scripts/install_package.sh $$venv $(WHEEL_DIR); \
	$$venv/bin/python demo/run.py --output demo-output

demo-tpu: package
	@set -e; venv=$$(scripts/make_venv.sh "$$(scripts/find_pythons.sh)"); \
	scripts/install_package.sh $$venv $(WHEEL_DIR); \
	$$venv/bin/python demo/tpu.py --output demo-output

test: setup lint package
	scripts/run_tests.sh $(BUILD) $(WHEEL_DIR)

# What takes hours; the report carries the commit's hash.
nightly: package
	@set -e; venv=$$(scripts/make_venv.sh "$$(scripts/find_pythons.sh)"); \
	scripts/install_package.sh $$venv $(WHEEL_DIR)
	scripts/nightly.sh $(BUILD)

# Ten quiet minutes: anything else that runs meanwhile is in the figures.
bench: package
	@set -e; venv=$$(scripts/make_venv.sh "$$(scripts/find_pythons.sh)"); \
	scripts/install_package.sh $$venv $(WHEEL_DIR); \
	$$venv/bin/python -m spokeshave.bench.equality --out docs/equality.md; \
	$$venv/bin/python -m spokeshave.bench --against cpu --processes 2 --seconds 4 --out docs/performance.md

# The quick tier: builds what changed, then unit tests, lit and a few programs through JAX.
check: build
	scripts/run_tests.sh --quick $(BUILD)

setup:
	scripts/install_packages.sh

$(BUILD)/build.ninja: CMakePresets.json | setup
	cmake --preset $(PRESET)

build: $(BUILD)/build.ninja
	mkdir -p build && rm -f $(TIMES)
	SPOKESHAVE_COMPILE_TIMES=$(TIMES) cmake --build $(BUILD) -j $(JOBS)

# One wheel for every Python: nothing in the library depends on Python's ABI.
package: build
	scripts/build_wheel.sh $(BUILD) $(WHEEL_DIR)

lint: setup
	scripts/lint.sh

format: setup
	scripts/lint.sh --fix

clean:
	rm -rf build demo-output

clean-all: clean
	rm -rf .venv-*
