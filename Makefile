# chalkline. `make help` says what there is.
VERSION  := 0.1.0
CC       := gcc
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
B        := build/$(CC)
# Programs that run while a build is made: those of another build, where this one is for another machine (check-machines).
HOST     := $(B)
WARN     := -Wall -Wextra -Wshadow -Wno-psabi $(WERROR)
CFLAGS   ?= -O2 -g
# Searches of `simulate` run side by side where the compiler has OpenMP.
OPENMP   := $(shell echo 'int main(void){return 0;}' | $(CC) -fopenmp -x c - -o /dev/null 2>/dev/null && echo -fopenmp)
# Against attacks (docs/build.md): overflows end the program, tables of addresses cannot be written. Those flags that the
# compiler knows, and none beside a sanitizer, which checks more. HARDENING= builds without them.
HARDENING := -fstack-protector-strong -fstack-clash-protection -fcf-protection
FORTIFY   = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=
probe     = $(shell printf '\043include <stdio.h>\nint main(void){return 0;}' | $(CC) $(CFLAGS) -Werror $(1) -x c - -o /dev/null 2>/dev/null && echo '$(1)')
ifneq ($(and $(HARDENING),$(if $(findstring sanitize,$(CFLAGS)),,no)),)
HARDEN   := $(foreach flag,$(HARDENING),$(call probe,$(flag))) $(or $(call probe,$(FORTIFY)3),$(call probe,$(FORTIFY)2))
SEALED   := -Wl,-z,relro,-z,now
PIE      := -pie
endif
# No contraction to fused operations, ever: same input, same bits. No tables for unwinding, which C does not need
# (debuggers have their own): a thirtieth of the binary. The same objects make the shared library, where only the names of
# its header can be seen.
FLAGS    := -std=gnu17 $(WARN) $(CFLAGS) $(HARDEN) -ffp-contract=off -fno-math-errno -fno-asynchronous-unwind-tables -fPIC -fvisibility=hidden $(or $(OPENMP),-Wno-unknown-pragmas) -I. \
            -DCHALKLINE_VERSION='"$(VERSION)"'
# Relocations packed to a bit each, where linker and libc know how: they are read at every start.
RELR     := $(shell echo 'int main(void){return 0;}' | $(CC) -x c - -Wl,--fatal-warnings,-z,pack-relative-relocs -o /dev/null 2>/dev/null && echo -Wl,-z,pack-relative-relocs)
# The C library first: most names are found there, and all are looked up at the start.
LIBS     := $(LDFLAGS) -lc -ljansson -lz -lzstd -lm $(RELR) $(SEALED)
PRIVATE  := $(filter-out -Wl%,$(LIBS)) $(if $(OPENMP),$(if $(findstring clang,$(CC)),-lomp,-lgomp) -lpthread)   # what libchalkline.a needs
SERVER   := -lmicrohttpd        # only for what serves
CLIENT   := -lcurl              # only for what calls
# Published files that are no part of the tree, SHARED=DIR: more tests, `fit`, `accuracy`.
export CHALKLINE_SHARED = $(SHARED)
MACHINE  := $(or $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1),$(shell uname -m))
# As many jobs as cores, unless you say how many.
JOBS      = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

CHALK    := $(addprefix formulas/,$(shell cat formulas/order.txt))
TABLES   := $(sort $(wildcard data/*.csv))
# Built in as they are: what is read with the same readers as a user's, and the layouts of answers.
TEXTS    := data/prices.csv $(sort $(wildcard data/prices/*.csv)) data/families.csv data/built_like.csv data/file_types.csv data/tensor_classes.csv $(sort $(wildcard data/workloads/*.workload data/layouts/*.layout) $(shell find ask deploy lecture meter lab -name '*.template' -o -name '*.report'))
LANES    := portable $(if $(filter x86_64,$(MACHINE)),avx2 avx512)
SETS     := scalar $(LANES)
# X_page.c stands in the place of X.c in the page.
sources   = $(filter-out %_page.c,$(wildcard $(1)/*.c))
ROWS     := $(filter-out rows/run_set.c,$(wildcard rows/*.c))
BASE     := $(filter-out base/ranks_mpi.c base/door.c,$(call sources,base))
# The server's; the page has files of its own in web/.
WEB      := $(addprefix serve/,respond.c request.c route.c openapi.c schema.c metrics.c handout.c report.c report_live.c \
              worker.c confine.c remembered.c http_server.c serve_options.c) base/door.c
# Every room of the library; lab/fit is a program of its own.
ROOMS    := report catalog search infer import command scenario score $(shell find sim ask deploy lecture -type d) meter/calibrate lab/check
# Rooms that only the command line has: the page neither listens nor calls.
WIRE     := $(wildcard serve/live/*.c meter/watch/*.c) $(filter-out meter/measure/kernels_set.c,$(wildcard meter/measure/*.c))
# What other programs call, over all of these.
CALLS    := $(wildcard library/*.c)
LIBRARY  := $(BASE) $(ROWS) $(foreach room,$(ROOMS),$(call sources,$(room))) $(WEB) $(WIRE) $(CALLS)
OBJECTS  := $(LIBRARY:%.c=$(B)/%.o) $(SETS:%=$(B)/rows/run_%.o) $(LANES:%=$(B)/meter/measure/kernels_%.o) \
            $(B)/built_in_formulas.o $(B)/built_in_sheets.o $(B)/embedded_data.o $(B)/embedded_page.o $(B)/embedded_words.o
# The command line, twice: without and with what listens or calls.
BOTH     := $(patsubst %.c,$(B)/%.o,$(filter-out cli/companion.c cli/net.c,$(wildcard cli/*.c)))
CLI      := $(BOTH) $(B)/cli/companion.o
NET      := $(BOTH) $(B)/cli/net.o
# Short cuts of the simulator's core, the long way: tests/check_worlds.sh.
PLAIN    := $(patsubst %.c,$(B)/%.o,$(wildcard tests/plain/*.c))
TESTS    := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/*_test.c))
BENCH    := $(B)/bench/bench

all: chalkline tools/convert    ## build ./chalkline (CC=clang: the other compiler; MPI=1: for mpirun too)

# A new file takes the place of the old one, which may be running.
chalkline: $(B)/chalkline$(MPI:1=-mpi) $(B)/chalkline-net
	@cp $< $@.new && mv -f $@.new $@
	@cp $(B)/chalkline-net $@-net.new && mv -f $@-net.new $@-net

# A sheet of measurements in other columns, written in ours: tools/convert FILE > OUT.csv
tools/convert: $(B)/tools/convert.o $(B)/objects.a
	@echo link $@; $(CC) $(FLAGS) $(PIE) $^ -o $@ $(LIBS)

$(B)/chalkline: $(CLI) $(B)/objects.a | $(B)/chalkline-net
	@echo link $@; $(CC) $(FLAGS) $(PIE) $^ -o $@ $(LIBS)
$(B)/chalkline-net: $(NET) $(B)/objects.a
	@echo link $@; $(CC) $(FLAGS) $(PIE) $^ -o $@ $(SERVER) $(CLIENT) $(LIBS)

$(B)/chalkline-plain: $(CLI) $(PLAIN) $(B)/objects.a
	@echo link $@; $(CC) $(FLAGS) $^ -o $@ $(LIBS)

# Ranks of mpirun (MPI=1): one object in the place of the archive's.
$(B)/chalkline-mpi: $(CLI) $(B)/base/ranks_mpi.o $(B)/objects.a
	@echo link $@; $(CC) $(FLAGS) $(PIE) $^ -o $@ $(LIBS) $$(mpicc --showme:link)
$(B)/base/ranks_mpi.o: base/ranks_mpi.c $(B)/flags
	@mkdir -p $(@D)
	@echo $(CC) $<; $(CC) $(FLAGS) $$(mpicc --showme:compile) -MMD -MP -c $< -o $@

$(B)/objects.a: $(OBJECTS)
	@rm -f $@; ar rcs $@ $^

# The library, of what library/ needs. Its objects are those of the program; only the names of library/chalkline.h can be
# seen from outside, of which the static one is a single object for that reason.
$(B)/libchalkline.so.0: $(CALLS:%.c=$(B)/%.o) $(B)/objects.a
	@echo link $@; $(CC) $(FLAGS) -shared -Wl,-soname,$(@F)$(if $(findstring sanitize,$(CFLAGS)),,$(comma)-z$(comma)defs) $^ -o $@ $(LIBS)
$(B)/libchalkline.so: $(B)/libchalkline.so.0
	@ln -sf $(<F) $@
$(B)/libchalkline.a: $(CALLS:%.c=$(B)/%.o) $(B)/objects.a
	@echo link $@; rm -f $@; $(CC) -r -nostdlib $^ -o $(@:.a=.o) && objcopy --localize-hidden $(@:.a=.o) && ar rcs $@ $(@:.a=.o)
$(B)/chalkline.pc: always
	@mkdir -p $(@D); printf 'prefix=$(PREFIX)\nName: chalkline\nDescription: bounds of large language models on real machines\nVersion: $(VERSION)\nCflags: -I$${prefix}/include\nLibs: -L$(LIBDIR:$(PREFIX)/%=$${prefix}/%) -lchalkline\nLibs.private: $(PRIVATE)\n' > $@
SHARE    := $(addprefix $(B)/,libchalkline.so libchalkline.a chalkline.pc)

# Other flags, other objects: all depend on what they were compiled with.
$(B)/flags: always
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@

$(B)/%.o: %.c $(B)/flags | build/row_names.h
	@mkdir -p $(@D)
	@echo $(CC) $<; $(CC) $(FLAGS) -MMD -MP -c $< -o $@

# The commit stands in reports: one object is made again when it changes.
$(B)/commit: always
	@mkdir -p $(@D)
	@git rev-parse --short HEAD 2>/dev/null | cmp -s - $@ || git rev-parse --short HEAD > $@ 2>/dev/null || :
$(B)/serve/report.o: $(B)/commit
$(B)/serve/report.o: FLAGS += -DCHALKLINE_COMMIT='"$(shell git rev-parse --short HEAD 2>/dev/null)"'

# ---- once per instruction set: the interpreter's inner loops ---------------------------------
set_scalar   := -DSCALAR
set_portable := -DLANES=2
set_avx2     := -DLANES=4 -mavx2
set_avx512   := -DLANES=8 -mavx512f -mavx512dq
$(SETS:%=$(B)/rows/run_%.o): $(B)/rows/run_%.o: rows/run_set.c $(B)/flags
	@mkdir -p $(@D)
	@echo $(CC) $< for $*; $(CC) $(FLAGS) -MMD -MP $(set_$*) -DSET=$* -c $< -o $@

# What `measure` times; fused operations are what is measured here.
$(LANES:%=$(B)/meter/measure/kernels_%.o): $(B)/meter/measure/kernels_%.o: meter/measure/kernels_set.c $(B)/flags
	@mkdir -p $(@D)
	@echo $(CC) $< for $*; $(CC) $(FLAGS) -ffp-contract=fast -MMD -MP $(set_$*) $(if $(filter avx%,$*),-mfma) -DSET=$* -c $< -o $@

# ---- the names of rows, for C ------------------------------------------------------------------
# NAME_chips is "chips", ROW_chips its number in reading order: a misspelt row does not compile.
build/row_names.h: tools/row_names.sh formulas/order.txt $(CHALK)
	@mkdir -p $(@D); sh tools/row_names.sh $(CHALK) > $@.new && mv $@.new $@

# ---- formulas and data inside the binary, as the build has read them ---------------------------
READERS  := $(patsubst %.c,$(B)/%.o,$(filter-out base/json.c,$(BASE)) $(ROWS)) $(SETS:%=$(B)/rows/run_%.o) $(B)/embedded_words.o
$(B)/formulas: tools/formulas.c $(READERS)
	@$(CC) $(FLAGS) $^ -o $@ -lm
$(B)/built_in_formulas.c: $(HOST)/formulas $(CHALK) formulas/order.txt
	@echo write $@; $(HOST)/formulas $(CHALK) > $@ || { rm -f $@; exit 1; }
$(B)/sheets: tools/sheets.c $(READERS) $(B)/built_in_formulas.o $(B)/catalog/catalog.o $(B)/catalog/device_name.o $(B)/catalog/instance.o $(B)/catalog/devices.o $(B)/catalog/formats.o
	@$(CC) $(FLAGS) $^ -o $@ -lm
$(B)/built_in_sheets.c: $(HOST)/sheets $(TABLES)
	@echo write $@; $(HOST)/sheets $(TABLES) > $@ || { rm -f $@; exit 1; }
$(B)/built_in_%.o: $(B)/built_in_%.c $(B)/flags
	@$(CC) $(FLAGS) -c $< -o $@
$(B)/embed: tools/embed.c
	@mkdir -p $(@D); $(CC) $(FLAGS) $< -o $@
$(B)/embedded_words.c: $(HOST)/embed formulas/synonyms.txt
	@$(HOST)/embed embedded_words formulas/synonyms.txt > $@
$(B)/embedded_data.c: $(HOST)/embed $(TEXTS)
	@$(HOST)/embed embedded_data $(TEXTS) > $@
# The same, packed for the page, without tables that it never reads.
$(B)/packed: tools/packed.c $(READERS) $(B)/built_in_formulas.o $(B)/built_in_sheets.o $(B)/catalog/packed.o $(B)/catalog/devices.o
	@$(CC) $(FLAGS) $^ -o $@ -lm
$(B)/packed.c: $(B)/packed $(TABLES)
	@echo write $@; $(B)/packed $(filter-out $(TEXTS) data/grids.csv data/caching.csv data/priors.csv data/targets.csv data/metrics.csv \
		data/finetunes.csv data/loss_laws.csv data/slips.csv data/instances.csv data/shapes.csv data/ollama.csv \
		data/tuned.csv data/name_words.csv data/disclosures.csv data/disclosure_kinds.csv data/triggers.csv data/market.csv data/earlier_prices.csv,$(TABLES)) \
		--without formulas/lecture/design.chalk \
		--without formulas/prices/priors.chalk \
		--without formulas/prices/bill.chalk \
		--without formulas/prices/market.chalk \
		--without formulas/serving/peers.chalk \
		--without formulas/serving/watch.chalk \
		--without formulas/prices/ownership.chalk > $@ || { rm -f $@; exit 1; }
# The page that `make page` has built, if it has; other pages, another object.
PAGE     := $(wildcard build/page/chalkline.html.gz)
$(B)/page: always
	@mkdir -p $(@D)
	@echo '$(PAGE)' | cmp -s - $@ || echo '$(PAGE)' > $@
$(B)/embedded_page.c: $(HOST)/embed $(B)/page $(PAGE)
	@$(HOST)/embed embedded_page $(PAGE) > $@
$(B)/embedded_%.o: $(B)/embedded_%.c $(B)/flags
	@$(CC) $(FLAGS) -c $< -o $@

# ---- system, demo ------------------------------------------------------------------------------
setup:                          ## install what tools/packages.txt lists (GROUPS="core check bench")
	@tools/setup.sh $(or $(GROUPS),core check bench)

DEMO     := plan deepseek-v3 --on h200-sxm --gpus 8 --isl 8000 --osl 1000 --draft 1 --speed 50
demo:                           ## on a fresh machine: set up, build, plan a server of DeepSeek-V3 on eight H200
	@tools/setup.sh core
	@tools/steps.sh compile $(words $(OBJECTS) $(CLI)) $(MAKE) --no-print-directory $(JOBS) chalkline
	@echo; echo '$$ ./chalkline $(DEMO)'; ./chalkline $(DEMO)
	@echo; echo 'Next: docs/first.md, a first task. Its examples need chalkline on your PATH: export PATH=$$PWD:$$PATH'
	@[ -n "$(PAGE)" ] || echo 'make page adds the web page that ./chalkline serve shows; for that it installs clang and Node.'

# ---- tests -----------------------------------------------------------------------------------------
$(B)/tests/%: tests/unit/%.c $(B)/objects.a
	@mkdir -p $(@D)
	@echo $(CC) $<; $(CC) $(FLAGS) -MMD -MP $(filter %.c %.o %.a,$^) -o $@ $(if $(filter serve_test,$*),$(SERVER)) $(LIBS) -lcmocka $(wrap_$*)
wrap_library_test := -Wl,--wrap=malloc,--wrap=calloc,--wrap=free -lpthread
$(B)/tests/scheduler_test: tests/unit/sample_scheduler.c

# For tests/check_engine.sh a real engine, where its library has a binary and npm is there. Where npm cannot fetch it, the
# check is skipped, and gives npm's reason.
NPM_CI   := npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
ENGINE   := $(if $(and $(filter Linux-x86_64,$(shell uname -s)-$(MACHINE)),$(shell command -v npm)),$(B)/tests/model tests/engine/node_modules/.package-lock.json)
$(B)/tests/model: tests/engine/model.c
	@mkdir -p $(@D)
	@echo $(CC) $<; $(CC) $(FLAGS) $< -o $@
tests/engine/node_modules/.package-lock.json: tests/engine/package-lock.json
	@cd $(<D) && { $(NPM_CI) --omit=optional >npm.log 2>&1 && touch node_modules/.package-lock.json || cat npm.log; }

# Schemas of what --emit writes, for tests/check_emit.sh.
SCHEMAS  := $(if $(shell command -v npm),tests/emit/node_modules/.package-lock.json)
tests/emit/node_modules/.package-lock.json: tests/emit/package-lock.json
	@cd $(<D) && { $(NPM_CI) >npm.log 2>&1 && touch node_modules/.package-lock.json || cat npm.log; }

# Programs for tests/check_ranks.sh, where there is MPI, and cminpack.
FITS     := $(if $(wildcard /usr/include/cminpack-1/cminpack.h),$(B)/fit $(B)/fit-mpi)
RANKED   := $(if $(shell command -v mpicc),$(B)/chalkline-mpi $(FITS))
# Scripts whose head says "Long:" run in tests-long alone.
tests: $(B)/chalkline $(B)/chalkline-plain $(if $(filter build/gcc,$(B)),tools/convert,$(B)/tools/convert.o) $(SHARE) $(TESTS) $(RANKED) $(if $(and $(filter build/gcc,$(B)),$(shell command -v python3)),python)  ## build and run the tests, without setting up
	@CHALKLINE=$(B)/chalkline tests/run.sh $(TESTS)
tests-long: $(B)/chalkline $(B)/chalkline-plain $(ENGINE) $(SCHEMAS)
	@CHALKLINE=$(B)/chalkline SCRIPTS="$$(grep -l '^# Long:' tests/check_*.sh | tr '\n' ' ')" tests/run.sh

# What the second compiler makes of floating point, of threads and of processes, a few tests tell.
FEW      := alike built_in engine lanes replay simulate
tests-clang:
	@SCRIPTS="tests/check_threads.sh tests/check_serve.sh" CHALKLINE_SHORT=$${CHALKLINE_SHORT:-1} $(MAKE) --no-print-directory tests CC=clang \
	    TESTS='$(FEW:%=build/clang/tests/%_test)'

check:                          ## set up, build, run the tests that need a C compiler (SHARED=DIR: published files too)
	@tools/setup.sh core check
	@$(MAKE) --no-print-directory $(JOBS) tests

check-long:                     ## every test: also an engine, schemas, clang, sanitizers, fuzzers (SECONDS=5), the page, bare Debian; LONG=10
	@tools/setup.sh core check clang long page-tests
	@MAKEFLAGS=-j$(shell nproc) tests/all.sh $(or $(SECONDS),5) $(or $(LONG),10)

check-fresh:                    ## `make demo` and `make check` on bare Debian 12 and 13, npm out of reach (root, debootstrap)
	@tools/fresh.sh $(RELEASES)

asan:                           ## the tests under address and undefined sanitizers
	@tools/setup.sh core check
	@ASAN_OPTIONS=detect_leaks=1 CHALKLINE_SHORT=$${CHALKLINE_SHORT:-1} $(MAKE) --no-print-directory tests B=build/asan \
	    CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"

check-machines: chalkline       ## answers of aarch64 and s390x beside this machine's, by qemu (Debian's cross compilers)
	@tools/setup.sh core machines
	@tests/machines.sh

# Counts of what ran, in a build of its own; what its own tools ran while it was made does not count. tests/coverage/exit.c
# lets children that end by _exit count too. Scripts that kill programs are left out: one that is killed while it writes its
# counts leaves a half, to which no other can add; mpirun kills ranks.
COVERED  := B=build/coverage HARDENING= CFLAGS="-O1 -g --coverage -fprofile-update=atomic" LDFLAGS="-Wl,--wrap=_exit build/coverage/exit.o"
coverage:                       ## lines and branches that the tests run, by file (python3)
	@tools/setup.sh core check
	@mkdir -p build/coverage; $(CC) -O1 -c tests/coverage/exit.c -o build/coverage/exit.o
	@$(MAKE) --no-print-directory $(JOBS) $(COVERED) build/coverage/chalkline $(TESTS:$(B)/%=build/coverage/%)
	@find build/coverage -name '*.gcda' -delete
	@SCRIPTS="$(patsubst %,tests/check_%.sh,docs questions serve watch lecture find help this beside threads terminal training_rows)" CHALKLINE_SHORT=1 \
	    $(MAKE) --no-print-directory $(JOBS) $(COVERED) tests || echo 'coverage: some tests failed, and what they ran counts'
	@tools/coverage.py build/coverage

hardening: chalkline $(SHARE)    ## what the programs and libraries have against attacks, read from their files
	@tests/check_hardening.sh

# OpenMP has one thread here, whose runtime the sanitizer does not know; what runs at once are the test's own.
tsan: $(B)/chalkline            ## calls of the library from several threads, under the thread sanitizer
	@$(MAKE) --no-print-directory B=build/tsan WERROR= CFLAGS="-O1 -g -fsanitize=thread" build/tsan/tests/library_test
	@OMP_NUM_THREADS=1 CHALKLINE_SHORT=$${CHALKLINE_SHORT:-1} CHALKLINE=$(B)/chalkline build/tsan/tests/library_test
	@echo "1 passed, 0 failed"

# ---- bench -----------------------------------------------------------------------------------------
$(LANES:%=$(B)/bench/hand_%.o): $(B)/bench/hand_%.o: bench/hand.c
	@mkdir -p $(@D)
	@$(CC) $(FLAGS) $(set_$*) -DSET=$* -c $< -o $@
$(BENCH): bench/bench.c $(LANES:%=$(B)/bench/hand_%.o) $(B)/objects.a
	@$(CC) $(FLAGS) $^ -o $@ $(LIBS)

BENCHES  := $(addprefix $(B)/bench/,simulate plan train deduce)
$(BENCHES): $(B)/bench/%: bench/%.c $(B)/objects.a
	@mkdir -p $(@D)
	@$(CC) $(FLAGS) $^ -o $@ $(LIBS)

bench:                          ## speeds as ratios: rows and the same by hand, start-up
	@tools/setup.sh core bench
	@$(MAKE) --no-print-directory -s $(BENCH) $(BENCHES) chalkline
	@set -e; for one in $(BENCH) $(BENCHES) bench/start.sh; do $$one; done
	@[ ! -f build/page/chalkline.html ] || { tools/setup.sh page-tests; node web/page/test/bench.mjs; }

instructions: chalkline         ## the instructions of common commands, beside those that bench/instructions.csv allows
	@tools/setup.sh instructions
	@bench/instructions.sh

# ---- docs, install -----------------------------------------------------------------------------------
docs: chalkline                 ## build/docs: the reference of all rows, the man pages of the program and the library
	@mkdir -p build/docs
	@./chalkline reference > build/docs/reference.md; ./chalkline man > build/docs/chalkline.1
	@awk -v version=$(VERSION) -f tools/manual.awk library/chalkline.h > build/docs/chalkline.3
	@echo build/docs/reference.md build/docs/chalkline.1 build/docs/chalkline.3

install: chalkline docs $(SHARE)  ## binary, man pages, completion, library, its header, pkg-config (PREFIX, DESTDIR)
	install -D -m 755 chalkline $(DESTDIR)$(PREFIX)/bin/chalkline
	install -D -m 755 chalkline-net $(DESTDIR)$(PREFIX)/bin/chalkline-net
	install -D -m 644 build/docs/chalkline.1 $(DESTDIR)$(PREFIX)/share/man/man1/chalkline.1
	install -D -m 644 build/docs/chalkline.3 $(DESTDIR)$(PREFIX)/share/man/man3/chalkline.3
	echo '.so man1/chalkline.1' > $(DESTDIR)$(PREFIX)/share/man/man1/chalkline-net.1
	install -D -m 644 build/docs/reference.md $(DESTDIR)$(PREFIX)/share/doc/chalkline/reference.md
	for to in bash-completion/completions/chalkline zsh/site-functions/_chalkline fish/vendor_completions.d/chalkline.fish; do \
	    ./chalkline completion $${to%%[-/]*} > build/docs/completion; install -D -m 644 build/docs/completion $(DESTDIR)$(PREFIX)/share/$$to; done
	install -D -m 644 library/chalkline.h $(DESTDIR)$(PREFIX)/include/chalkline.h
	install -D -m 644 $(B)/libchalkline.a $(DESTDIR)$(LIBDIR)/libchalkline.a
	install -D -m 755 $(B)/libchalkline.so.0 $(DESTDIR)$(LIBDIR)/libchalkline.so.0
	ln -sf libchalkline.so.0 $(DESTDIR)$(LIBDIR)/libchalkline.so
	install -D -m 644 $(B)/chalkline.pc $(DESTDIR)$(LIBDIR)/pkgconfig/chalkline.pc

clean:                          ## remove what was built
	rm -rf build chalkline

help:                           ## this list
	@cat Makefile $(PARTS) | sed -n 's/^\([a-z-]*\):.*## /\1|/p' | while IFS='|' read -r n t; do printf '  make %-11s %s\n' "$$n" "$$t"; done

PARTS := tests/fuzz/Makefile lab/fit/Makefile web/page/Makefile packaging/Makefile python/Makefile
include $(PARTS)
-include $(shell find build -path build/deb -prune -o -type f -name '*.d' -print 2>/dev/null)
.PHONY: all always setup demo tests tests-long tests-clang check check-long check-fresh check-machines coverage asan tsan hardening fuzz bench instructions docs install clean help
