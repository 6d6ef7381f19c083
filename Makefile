# Every command installs and builds what it needs: `make run`, `make run FILE=x.toy ARGS='…'`, `make test`, `make check`, `make bench`.
BUILD := build/release
FILE ?= examples/tour.toy
ARGS ?=

.PHONY: build package run test check nightly bench fuzz mutants setup clean

setup:
	@scripts/install-packages

build: setup
	@test -f $(BUILD)/build.ninja || cmake --preset release >/dev/null
	@cmake --build $(BUILD) -- --quiet >&2

run: build
	@$(BUILD)/toy $(FILE) $(ARGS)

test: build
	@/usr/bin/python3 tests/run.py --build=$(BUILD) $(if $(filter command line,$(origin FILE)),$(FILE)) $(ARGS)

# What is too long for every day: 20,000 programs with declared sizes, more of all random programs and each in every setting, every size in every mode,
# every precision and kind of graph on a device.
nightly: build
	@/usr/bin/python3 tests/run.py --build=$(BUILD) -m nightly $(ARGS)

# A Debian package in build/.
package: build
	@cd $(BUILD) && cpack >/dev/null && mv toy-*.deb .. && ls ../toy-*.deb

# The same tests with AddressSanitizer, LeakSanitizer and UBSan (support/SanitizerOptions.cpp).
check: setup
	@test -f build/asan/build.ninja || cmake --preset asan >/dev/null
	@cmake --build build/asan -- --quiet
	@/usr/bin/python3 tests/run.py --build=build/asan $(ARGS)

# Ten minutes of damaged files for every reader, and then mutated programs at the prompt, under sanitizers.
fuzz: setup
	@test -f build/asan/build.ninja || cmake --preset asan >/dev/null
	@cmake --build build/asan --target fuzz-files fuzz-prompt -- --quiet
	@build/asan/fuzz-files $(or $(ARGS),600)
	@cd build/asan && ./fuzz-prompt 20000 1 $(CURDIR)/examples/*.toy $(CURDIR)/tests/e2e/*.toy $(CURDIR)/tests/errors/*.toy

# Whether the tests notice a recognizer, or a device's runtime, that is wrong in one place (ARGS: recognition or device).
mutants: setup
	@/usr/bin/python3 tests/mutants.py $(ARGS)

bench: build
	@bench/run $(BUILD)/toy

clean:
	@rm -rf build
