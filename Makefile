# Everything runs from a fresh checkout with Python 3.11 or newer and make: `make test`, `make demo`.

VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
# Two tests at a time on two cores: threads inside BLAS only get in each other's way.
export OPENBLAS_NUM_THREADS ?= 1
# Containers often keep Python from caching bytecode: each process would compile 400 modules anew.
export PYTHONDONTWRITEBYTECODE :=
# The first Python that is new enough; `make PYTHON=...` chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

READY := $(VENV)/.ready
DEMO := build/demo

.PHONY: help
help:  ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

.PHONY: venv
venv: $(READY) stubs  ## Create .venv with everything that tests need

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 found; call make PYTHON=/path/to/python3" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

.PHONY: stubs
stubs: $(READY)
	@$(BIN)/python scripts/write_stubs.py

.PHONY: demo
demo: $(READY)  ## Compile a small transformer, run its plan, compare with the reference
	@mkdir -p $(DEMO)
	$(BIN)/ge-compile examples/bert_tiny.onnx -o $(DEMO)/bert_tiny.om --summary $(DEMO)/summary.json
	$(BIN)/ge-run $(DEMO)/bert_tiny.om --inputs examples/bert_tiny.npz --compare examples/bert_tiny.npz

.PHONY: test
test: lint types pytest lit conformance  ## Run all checks and tests

.PHONY: lint
lint: $(READY)  ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: format
format: $(READY)  ## Repair style and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: types
types: stubs  ## Check types
	$(BIN)/pyright

.PHONY: pytest
pytest: $(READY)  ## Run unit and property tests
	$(BIN)/python -m pytest -q -n $(JOBS)

EXAMPLES ?= 4000

.PHONY: fuzz-graphs
fuzz-graphs: $(READY)  ## Compare EXAMPLES random ONNX graphs with onnx.reference
	HYPOTHESIS_PROFILE=explore GE_FUZZ_EXAMPLES=$(EXAMPLES) \
	$(BIN)/python -m pytest -q -n $(JOBS) tests/test_random_onnx.py

PERTURBED ?= 500

.PHONY: perturb
perturb: $(READY)  ## Change PERTURBED exporter graphs, and compare their plans with level 0
	$(BIN)/python -m tests.perturb --count $(PERTURBED)
	$(BIN)/python -m tests.perturb --count $(PERTURBED) --sizes

FUZZ ?= 200000

.PHONY: fuzz
fuzz: $(READY)  ## Mutate FUZZ .om files, and a tenth as many of each other input, and load them
	$(BIN)/python -m tests.fuzz --executions $(FUZZ) --jobs $(JOBS)

.PHONY: netron-shots
netron-shots: $(READY)  ## Screenshots of three plans in Netron, by a headless Chromium
	$(BIN)/python -m tests.netron.shots

.PHONY: lit
lit: $(READY)  ## Run the FileCheck tests
	$(BIN)/lit -q -j$(JOBS) tests/filecheck

.PHONY: conformance
conformance: $(READY)  ## Run ONNX's own tests through the whole pipeline
	$(BIN)/python -m tests.conformance.run --jobs $(JOBS)

.PHONY: zoo
zoo: $(READY)  ## Compile, run and compare every model of the zoo
	$(BIN)/python benchmarks/zoo_table.py
	$(BIN)/python benchmarks/zoo_table.py --level 3 '*-static*'

.PHONY: architectures
architectures: $(READY)  ## Compile, run and compare the architectures that PyTorch exported
	$(BIN)/python -m tests.architectures
	$(BIN)/python -m tests.architectures --quantized

SEEDS ?= 10

.PHONY: zoo-schedules
zoo-schedules: $(READY)  ## The same under every memory policy, in SEEDS orders of three streams
	for policy in conservative balanced throughput; do \
		$(BIN)/python benchmarks/zoo_table.py --streams 3 --seeds $(SEEDS) --policy $$policy || exit 1; \
	done

.PHONY: bench
bench: $(READY) bench-traffic  ## Measure compile time, plans and traffic
	$(BIN)/python benchmarks/run.py

.PHONY: bench-traffic
bench-traffic: $(READY)  ## Compare the HBM traffic of the zoo's models with peers'
	$(BIN)/python benchmarks/traffic.py
	$(BIN)/python benchmarks/traffic.py --real

.PHONY: bench-llama
bench-llama: $(READY)  ## Print the article's table beside what the machine model says
	$(BIN)/python benchmarks/llama.py $(if $(TARGET),--target $(TARGET))

.PHONY: bench-machine
bench-machine: $(READY)  ## Measure the machine model, and compare it with published kernels
	$(BIN)/python benchmarks/simulator.py
	$(BIN)/python -m tests.published_kernels

.PHONY: zoo-streams
zoo-streams: $(READY)  ## Prove and run the zoo's plans on several streams, in ten orders
	$(BIN)/python -m tests.zoo_streams

.PHONY: bench-scaling
bench-scaling: $(READY)  ## Check that passes are linear, and cheap beside a huge constant
	$(BIN)/python benchmarks/scaling.py

.PHONY: bench-memory
bench-memory: $(READY)  ## Measure the address planner
	$(BIN)/python benchmarks/memory.py

.PHONY: docs
docs: $(READY)  ## Regenerate docs/errors.md, docs/dialects.md and docs/library.md
	$(BIN)/python scripts/write_error_docs.py
	$(BIN)/python scripts/write_library_docs.py
	$(BIN)/python scripts/write_dialect_docs.py

.PHONY: clean
clean:  ## Remove what was generated, also .venv
	rm -rf build dist typings $(VENV) .cache .hypothesis .pytest_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
