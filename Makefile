# chalkline. `make help` says what there is.
VERSION  := 0.1.0
CC       := gcc
PREFIX   ?= /usr/local
B        := build/$(CC)
WARN     := -Wall -Wextra -Wshadow -Wno-psabi
CFLAGS   ?= -O2 -g
# No contraction to fused operations, ever: same input, same bits.
FLAGS    := -std=gnu17 $(WARN) $(CFLAGS) -ffp-contract=off -fno-math-errno -I. -I$(B) \
            -DCHALKLINE_VERSION='"$(VERSION)"' $(EXTRA)
LIBS     := -ljansson -lm
MACHINE  := $(shell $(CC) -dumpmachine | cut -d- -f1)

CHALK    := $(addprefix formulas/,$(shell cat formulas/order.txt))
DATA     := $(sort $(wildcard data/*.csv))
SETS     := scalar portable $(if $(filter x86_64,$(MACHINE)),avx2 avx512)
SETS_OF_LANES := $(filter-out scalar,$(SETS))
ENGINE   := $(filter-out engine/run_set.c,$(wildcard engine/*.c))
LIBRARY  := $(wildcard base/*.c) $(ENGINE) $(wildcard import/*.c) $(wildcard ask/*.c)
OBJECTS  := $(LIBRARY:%.c=$(B)/%.o) $(SETS:%=$(B)/engine/run_%.o) \
            $(SETS_OF_LANES:%=$(B)/kernels_%.o) $(B)/embedded_formulas.o $(B)/embedded_data.o
CLI      := $(patsubst %.c,$(B)/%.o,$(wildcard cli/*.c))

all: chalkline

chalkline: $(B)/chalkline
	@cp $< $@

$(B)/chalkline: $(CLI) $(B)/libchalkline.a
	$(CC) $(FLAGS) $^ -o $@ $(LIBS)

$(B)/libchalkline.a: $(OBJECTS)
	@rm -f $@
	ar rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -MMD -c $< -o $@

# The interpreter's inner loops, once per instruction set.
set_scalar   := -DSCALAR
set_portable := -DLANES=2
set_avx2     := -DLANES=4 -mavx2
set_avx512   := -DLANES=8 -mavx512f -mavx512dq
$(SETS:%=$(B)/engine/run_%.o): $(B)/engine/run_%.o: engine/run_set.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -MMD $(set_$*) -DSET=$* -c $< -o $@

# The kernels: C written from the rows, then compiled like the rest.
EMIT_OBJECTS := $(patsubst %.c,$(B)/%.o,$(wildcard base/*.c) $(filter-out engine/kernels.c,$(ENGINE))) \
                $(SETS:%=$(B)/engine/run_%.o)
$(B)/emit: tools/emit.c $(EMIT_OBJECTS)
	$(CC) $(FLAGS) $^ -o $@ -lm
$(B)/kernels.c: $(B)/emit formulas/kernels $(CHALK)
	$(B)/emit formulas/kernels $(CHALK) > $@ || { rm -f $@; exit 1; }
$(SETS_OF_LANES:%=$(B)/kernels_%.o): $(B)/kernels_%.o: $(B)/kernels.c engine/kernel.h engine/lanes.h engine/root.h engine/engine.h
	$(CC) $(FLAGS) $(set_$*) -DSET=$* -c $< -o $@

$(B)/embed: tools/embed.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $< -o $@
$(B)/embedded_formulas.c: $(B)/embed $(CHALK) formulas/order.txt
	$(B)/embed embedded_formulas $(CHALK) > $@
$(B)/embedded_data.c: $(B)/embed $(DATA)
	$(B)/embed embedded_data $(DATA) > $@
$(B)/embedded_%.o: $(B)/embedded_%.c
	$(CC) $(FLAGS) -c $< -o $@

clean:
	rm -rf build chalkline

-include $(OBJECTS:.o=.d) $(CLI:.o=.d)
.PHONY: all clean
