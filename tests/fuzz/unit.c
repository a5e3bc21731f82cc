/* Any bytes as a unit and as a quantity. A unit that was read prints as one that reads
 * the same; a quantity is finite, its range in order, and prints as one near it. */
#include "rows/rows.h"

#include <assert.h>
#include <math.h>

static void check_unit(struct arena *arena, struct text text)
{
    struct unit unit, again;
    double scale;
    struct error error;
    struct buffer out = { .arena = arena };
    if (!unit_parse(text, &unit, &scale, &error)) {
        assert(*error.what && *error.hint);
        return;
    }
    unit_print(&out, unit);
    bool small = true;                              /* s^9 is read, s^10 is not */
    for (int i = 0; i < UNIT_COUNT; i++)
        small &= unit.half[i] <= 18 && unit.half[i] >= -18;
    bool read = unit_parse(text_of(out.data), &again, &scale, &error);
    assert(!small || (read && unit_same(unit, again)));
}

static void check_quantity(struct arena *arena, struct text text, struct unit unit)
{
    struct quantity quantity, again;
    struct error error;
    if (!quantity_parse(text, unit, &quantity, &error)) {
        assert(*error.what);
        return;
    }
    assert(isfinite(quantity.value) && isfinite(quantity.low) && isfinite(quantity.high));
    if (quantity.distribution == DISTRIBUTION_RANGE)
        assert(quantity.low <= quantity.value && quantity.value <= quantity.high);
    const char *printed = quantity_text(arena, quantity.value, unit, 15);
    double size = fabs(quantity.value);
    bool read = quantity_parse(text_of(printed), unit, &again, &error);
    assert(size > 1e280 || (read && fabs(again.value - quantity.value) <= 1e-12 * size + 1e-290));
    for (int digits = 1; digits <= 17; digits += 4)
        quantity_text(arena, quantity.value, unit, digits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const units[] = { "1", "s", "B", "B/s", "token", "USD/s", "USD/token",
                                         "FLOP/s", "J/s", "B/token" };
    struct arena arena = { 0 };
    struct text text = { (const char *)data, size };
    check_unit(&arena, text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct unit unit;
        double scale;
        struct error error;
        if (unit_parse(text_of(units[i]), &unit, &scale, &error))
            check_quantity(&arena, text, unit);
    }
    arena_free(&arena);
    return 0;
}
