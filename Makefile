# Every command installs and builds what it needs: `make run`, `make run FILE=x.toy ARGS='…'`, `make test`, `make check`, `make bench`.
BUILD := build/release
FILE ?= examples/tour.toy
ARGS ?=

.PHONY: build package device-bundle run test check nightly bench fuzz mutants format reference pictures tidy setup clean

setup:
	@scripts/install-packages

# $(call build,PRESET,TARGETS): configures the first time, then builds what is not up to date and shows how far it is.
define build
	@test -f build/$(1)/build.ninja || { echo "configuring build/$(1)" >&2; cmake --preset $(1) >/dev/null; }
	@ninja -C build/$(1) -n $(2) | grep -q 'no work to do' || ninja -C build/$(1) $(2) >&2
endef

build: setup
	$(call build,release,all)

run: setup
	$(call build,release,toy)
	@$(BUILD)/toy $(FILE) $(ARGS)

test: build
	@/usr/bin/python3 tests/run.py --build=$(BUILD) $(if $(filter command line,$(origin FILE)),$(FILE)) $(ARGS)

# What is too long for every day: 10,000 programs with declared sizes, more of all random programs and each in every setting, every size in every mode,
# every precision and kind of graph on a device.
nightly: build
	@/usr/bin/python3 tests/run.py --build=$(BUILD) -m nightly $(ARGS)

# A Debian package in build/.
package: build
	@cd $(BUILD) && cpack >/dev/null && mv toy-*.deb .. && ls ../toy-*.deb

# build/toy-device.tar.xz: the program with all it needs, tests and benches, for a machine with a CUDA device alone (scripts/gpu-check).
device-bundle: build
	@scripts/device-bundle --build=$(BUILD)

# The same tests with AddressSanitizer, LeakSanitizer and UBSan (support/SanitizerOptions.cpp).
check: setup
	$(call build,asan,$(or $(TARGETS),all))
	@/usr/bin/python3 tests/run.py --build=build/asan $(ARGS)

# Ten minutes of damaged files for every reader, and then mutated programs at the prompt, under sanitizers.
fuzz: setup
	$(call build,asan,fuzz-files fuzz-prompt)
	@build/asan/fuzz-files $(or $(ARGS),600)
	@cd build/asan && ./fuzz-prompt 20000 1 $(CURDIR)/examples/*.toy $(CURDIR)/tests/e2e/*.toy $(CURDIR)/tests/errors/*.toy

# Whether the tests notice what is wrong in one place (ARGS: a kind, as sizes or device; docs/testing.md).
mutants: build
	@/usr/bin/python3 tests/mutants.py '$(ARGS)'

# Brings all sources into the form that the tests want.
format: setup
	@git ls-files '*.cpp' '*.h' '*.cu' | xargs clang-format-22 -i
	@git ls-files '*.py' | xargs /usr/bin/black --quiet

# The page of all built-in functions, from the program's tables.
reference: build
	@scripts/functions-reference $(BUILD)/toy > docs/reference/functions.md

# docs/pictures and docs/course/pictures, which tests compare.
pictures: build
	@scripts/pictures $(BUILD)/toy
	@scripts/course-pictures $(BUILD)/toy

# What clang-tidy finds in the sources: tests/test_tidy.py, its nightly half too.
tidy: build
	@/usr/bin/python3 tests/run.py --build=$(BUILD) -m "nightly or not nightly" -k test_tidy

bench: build
	@bench/run $(BUILD)/toy

clean:
	@rm -rf build
