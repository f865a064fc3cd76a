# The one interface: everything that people and CI run is a target here. `make help` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TESTED := $(VENV)/.tested
SUITE := .cache/json-schema-suite-4.26.0
TORCH_VENV := .venv-torch
BENCH_VENV := .venv-bench
WHEEL_VENV := .venv-wheel
RUST_SOURCES := $(shell find crates/*/src crates/*/data crates/*/Cargo.toml crates/*/build.rs -type f 2>/dev/null) Cargo.toml Cargo.lock
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
HOST ?= 127.0.0.1
PORT ?= 8000
BENCH ?=
ENGINES ?=
CLIENTS ?=
AGENTS ?=
# What the build of a wheel is told; on Linux it links against an old C library, so that the wheel runs everywhere.
WHEEL ?= $(if $(filter Linux,$(shell uname)),--zig --compatibility manylinux2014)

.PHONY: help run capi test-capi test test-long test-part check slice test-format lint lint-rust lint-python crates fuzz exactness sanitize bench tags docs format suite test-rust test-python test-torch test-engines test-clients test-agents test-inspector test-js wasm test-vllm response-templates verdicts wheel check-wheel train build clean toolchain site

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

toolchain:
	@command -v cargo >/dev/null || { echo "syntagma needs a Rust toolchain: install it from https://rustup.rs, then run make again"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "syntagma needs Python 3.11 or newer: set PYTHON=/path/to/python3.11"; exit 1; }

$(BIN)/python: | toolchain
	@echo "1/3 an environment in $(VENV): seconds"
	$(PYTHON) -m venv $(VENV)
	$(PIP) "pip>=25.1"

# What serving needs.
$(STAMP): pyproject.toml $(RUST_SOURCES) | $(BIN)/python
	@echo "2/3 the extension, and what serving needs: one to three minutes"
	$(PIP) --editable ".[serve]"
	@touch $@

# What the tests, lint and other environments need beside it.
$(TESTED): pyproject.toml $(STAMP)
	$(PIP) --group test --group lint --group engines "maturin>=1.9,<2" "syntagma[standard]"
	@touch $@

$(SUITE): tests/grammars/schema_suite.py | $(TESTED)
	$(BIN)/python -m tests.grammars.schema_suite --fetch
	@touch $@

suite: $(SUITE)

build: $(TESTED) ## build the extension and install the package (editable) into .venv, with what tests and lint need

run: $(STAMP) ## start the server on the model that ships with the package
	@echo "3/3 the server: seconds. When it listens, ask it from another terminal:"
	@echo "  curl http://$(HOST):$(PORT)/v1/chat/completions -H 'content-type: application/json' -d '{\"messages\": [{\"role\": \"user\", \"content\": \"How is Oslo?\"}]}'"
	$(BIN)/syntagma serve --model embedded --host $(HOST) --port $(PORT)

test: test-rust test-python ## every law, on inputs that cover what there is (minutes)

test-long: test-rust build suite ## every law, on all formats, families and drawn inputs
	$(PYTEST) -m "not torch"

test-part: build suite
	$(PYTEST) -m long --part $(PART)

check: build suite ## the tests of the packages that the change touches, and the style of its files (under a minute)
	$(BIN)/python -m tests.check

# The part of the long tests, of fuzzing, engines, clients and agents that belongs to HEAD; PART=0 to 7: another.
slice: build suite ## what CI runs for HEAD beside test and lint
	@commands=$$($(BIN)/python -m tests.slice $(PART)) && echo "$$commands" \
	| while read -r command; do echo "$$command"; eval "$$command" </dev/null || exit 1; done

test-rust: toolchain
	cargo test --workspace --quiet

test-format: build ## check one format against its cases and its grammar: make test-format NAME=…
	@test -n "$(NAME)" || { echo "which format? make test-format NAME=…"; exit 1; }
	$(BIN)/python docs/generate.py
	$(BIN)/python -m pytest -q -m "not torch" tests/formats tests/constraints/test_agreement.py -k "$(NAME)"

PYTEST = $(BIN)/python -m pytest -q --numprocesses auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

test-python: build suite
	$(PYTEST)

# Seconds for each target; a finding stops the run and says which file it is.
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 0
FUZZ_FORMATS ?= 1000
FUZZ_COMPLETIONS ?= 20000
FUZZ_RUST := $(addprefix fuzz-,regex schema tokens ebnf gbnf lark)
.PHONY: $(FUZZ_RUST) fuzz-memory fuzz-formats fuzz-completions

fuzz: $(FUZZ_RUST) fuzz-formats fuzz-completions ## look for crashes and broken promises with random input

$(FUZZ_RUST): toolchain
	cargo run --release --quiet --package syntagma-fuzz -- $(@:fuzz-%=%) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

fuzz-schema: fuzz-memory

fuzz-memory: toolchain
	cargo test --release --quiet --package syntagma-grammar --test random_schemas

fuzz-formats: build
	$(BIN)/python -m tests.formats.format_laws $(FUZZ_FORMATS) --from $(FUZZ_SEED)0000

fuzz-completions: build
	$(BIN)/python -m tests.openchatml.damage $(FUZZ_COMPLETIONS) --seed $(FUZZ_SEED)

exactness: toolchain ## 10,000 random grammars against naive recognisers (minutes)
	cargo test --release --quiet --package syntagma-engine --test laws exactness -- --ignored --nocapture

# What the pinned toolchain cannot run is named, with the reason.
sanitize: build ## threads in every order under loom, unsafe code under valgrind (minutes)
	RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3 cargo test --quiet --target-dir target/loom --package syntagma-engine --lib loom_tests
	@if command -v valgrind >/dev/null; then \
		PYTHONMALLOC=malloc valgrind --quiet --undef-value-errors=no --error-exitcode=9 --suppressions=tests/decoding/valgrind.supp $(BIN)/python -m pytest -q -p no:cacheprovider tests/decoding/test_bitmask.py; \
		VALGRIND=1 cargo test --quiet --package syntagma-capi --test c; \
	else echo "skipped: valgrind is not installed; it checks the unsafe code of the extension and of the C library"; fi
	@echo "skipped: miri, and the thread sanitizer with a standard library built for it, need a nightly toolchain; loom runs the threads"

lint: lint-rust lint-python site ## check style, types, stubs, layers of imports, and the documentation's links

lint-rust: toolchain
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy --package syntagma-python --no-default-features --quiet -- -D warnings
	PYO3_CONFIG_FILE=$(CURDIR)/crates/python/free-threaded.pyo3-config cargo clippy --package syntagma-python --quiet -- -D warnings
	@oldest=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	found=$$(rustup toolchain list 2>/dev/null | sed -n "s/^\($$oldest[.-][^ ]*\).*/\1/p" | head -1); \
	if [ -n "$$found" ]; then cargo "+$$found" check --workspace --quiet --target-dir target/oldest; \
	else echo "skipped: Rust $$oldest is not installed; it builds what Cargo.toml promises"; fi

# The two core crates, as a registry would take them: each builds from its own package, and is documented without a warning.
crates: toolchain ## check that the core crates can be published
	cargo publish --dry-run --quiet --allow-dirty --package syntagma-grammar --package syntagma-engine
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --package syntagma-grammar --package syntagma-engine
	@! grep -rlE "(foldhash|indexmap|smallvec|rustc_hash|regex_syntax)::" target/doc/syntagma_grammar target/doc/syntagma_engine

lint-python: build
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest syntagma._engine
	$(BIN)/lint-imports

$(BIN)/ruff: pyproject.toml | $(BIN)/python
	$(PIP) --group lint
	@touch $@

format: toolchain $(BIN)/ruff ## format the sources
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: build ## write the generated pages of docs/
	$(BIN)/python docs/generate.py

$(VENV)/.documented: pyproject.toml $(TESTED)
	$(PIP) --group docs
	@touch $@

site: $(VENV)/.documented ## build the documentation as a site, into site/ (open site/index.html); a broken link is an error
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto -c docs/site -b html . site

# Environments beside the main one: what they need, and the same editable package.
$(BENCH_VENV)/.installed: benchmarks/requirements.txt $(STAMP)
	$(PYTHON) -m venv $(BENCH_VENV)
	grep -v '^#' benchmarks/requirements.txt | while read -r peer; do \
		$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check "$$peer" \
		|| echo "$$peer is left out of the benchmarks: it does not install here"; \
	done
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[standard]"
	@touch $@

$(TORCH_VENV)/.installed: training/requirements.txt $(STAMP)
	$(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r training/requirements.txt pytest
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[standard]"
	@touch $@

bench: $(BENCH_VENV)/.installed ## measure, beside the peers; writes benchmarks/RESULTS.md (BENCH="--quick masks parse": less)
	$(BENCH_VENV)/bin/python benchmarks/run.py $(BENCH)

tags: $(BENCH_VENV)/.installed ## compare the structural tags of all formats with xgrammar's reading; writes a page of docs/
	$(BENCH_VENV)/bin/python -m tests.compat.tag_verdicts

test-torch: $(TORCH_VENV)/.installed ## the tests of the training, in an environment that has torch
	$(TORCH_VENV)/bin/python -m pytest -m torch tests/torch

test-engines: build ## the tests with other engines, an environment an engine (ENGINES="transformers mlx": only these)
	$(BIN)/python -m tests.engines.run $(ENGINES)

test-clients: build ## the server with other clients, an environment a client (CLIENTS="litellm ai_sdk": only these)
	$(BIN)/python -m tests.clients.run $(CLIENTS)

test-agents: build ## whole agent programs at the server, with scripted models, an environment a program (AGENTS="codex pi": only these)
	$(BIN)/python -m tests.agents.run $(AGENTS)

test-inspector: build ## the inspector in Chromium, if the system has it
	$(BIN)/python -m tests.inspector.run $(INSPECTOR)

wasm: | toolchain ## build the engine for browsers and node, js/dist/syntagma.wasm (minutes; names what it needs)
	$(PYTHON) js/build.py

test-js: build ## build it, and run the tests of the npm package in node; skipped by name where either cannot be had
	$(BIN)/python -m tests.javascript.run

test-vllm: build ## a real server of vLLM on the CPU with our parsers and grammars (6 GB, minutes)
	$(BIN)/python -m tests.engines.run vllmcpu

response-templates: build ## what transformers, vLLM and SGLang read with our response templates; writes a page of docs/
	$(BIN)/python -m tests.engines.run --install transformers vllm sglang
	for engine in transformers vllm sglang; do $(VENV)-engines-$$engine/bin/python -m tests.engines.response_templates; done

verdicts: build ## compare exported grammars with what other engines make of them; writes a page of docs/
	$(BIN)/python -m tests.engines.run --install grammars
	$(VENV)-engines-grammars/bin/python -m tests.engines.verdicts

$(WHEEL_VENV)/.installed: | toolchain
	$(PYTHON) -m venv $(WHEEL_VENV)
	$(WHEEL_VENV)/bin/python -m pip install --quiet --disable-pip-version-check "maturin[zig]>=1.9,<2"
	@touch $@

wheel: $(WHEEL_VENV)/.installed ## build the wheel and the source distribution into dist/
	rm -rf dist
	PATH="$(CURDIR)/$(WHEEL_VENV)/bin:$$PATH" maturin build --release --out dist $(WHEEL)
	$(WHEEL_VENV)/bin/maturin sdist --out dist

# One folder with the header, the libraries and what pkg-config reads; it may be moved.
BUILT := $(or $(CARGO_TARGET_DIR),target)
CAPI := target/capi
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

capi: toolchain ## build the C library into target/capi, and write its header (docs/c.md)
	SYNTAGMA_WRITE_HEADER=1 cargo test --quiet --package syntagma-capi --test header
	cargo build --release --package syntagma-capi
	mkdir -p $(CAPI)/include $(CAPI)/lib/pkgconfig
	cp crates/capi/include/*.h $(CAPI)/include
	cp $(BUILT)/release/libsyntagma.a $(CAPI)/lib
	test ! -f $(BUILT)/release/libsyntagma.dylib || cp $(BUILT)/release/libsyntagma.dylib $(CAPI)/lib
	test ! -f $(BUILT)/release/libsyntagma.so || { cp $(BUILT)/release/libsyntagma.so $(CAPI)/lib/libsyntagma.so.0 && ln -sf libsyntagma.so.0 $(CAPI)/lib/libsyntagma.so; }
	sed 's/@VERSION@/$(VERSION)/' crates/capi/syntagma.pc.in > $(CAPI)/lib/pkgconfig/syntagma.pc

test-capi: toolchain ## the C library: its header, and programs in C, under valgrind if there is one
	$$(command -v valgrind >/dev/null && echo env VALGRIND=1) cargo test --quiet --package syntagma-capi

check-wheel: ## install the wheel where there is nothing but Python, and run the README and the demonstration there
	test -n "$$(ls dist/*.whl 2>/dev/null)" || $(MAKE) wheel
	$(PYTHON) -m tests.packaging.check_wheel

train: $(TORCH_VENV)/.installed ## train the shipped model (resumes; hours)
	$(TORCH_VENV)/bin/python training/train.py

clean: ## remove what the targets made
	rm -rf site docs/reference/api $(VENV) $(VENV)-engines-* $(VENV)-clients-* $(VENV)-agents-* $(VENV)-javascript $(TORCH_VENV) $(BENCH_VENV) $(WHEEL_VENV) target build dist js/dist
