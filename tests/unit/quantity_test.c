/* The printers of numbers over all doubles: the bits of each are drawn, so that every exponent is as likely as
 * another, and special values have a share of their own. CHALKLINE_LONG=500 draws 10^8.
 *
 * What is printed is read by a reader of the test's own, in long double: number, unit_scale of the unit. It must
 * be the value to half a unit of the last of the digits that were asked for. */
#include "tests/unit/test.h"

#include "report/picture_parts.h"
#include "report/report.h"
#include "rows/rows.h"

#include <float.h>
#include <math.h>

static const double special[] = { 0, DBL_MAX, DBL_MIN, DBL_TRUE_MIN, DBL_MIN - DBL_TRUE_MIN, DBL_EPSILON, 1, 1e9, 1e-4,
                                  999999999.5, 9.9995e-5, 999.5, 0.9995, 59.999, 119.9999999, 3600, 1e15, 1e18, 1e21,
                                  1e306, 1.8e306, 2e306, INFINITY, NAN };

static double any_double(uint64_t *random)
{
    const uint64_t bits = draw_bits(random);
    double value;
    if (bits % 64 == 0) {
        value = special[(bits >> 8) % COUNT(special)];
        return bits >> 63 ? -value : value;
    }
    if (bits % 4 == 1)                                  /* what answers have */
        return pow(10, draw_in(random, -25, 25)) * (bits >> 63 ? -1 : 1);
    const uint64_t drawn = draw_bits(random);
    memcpy(&value, &drawn, sizeof value);
    return value;
}

/* The units of all rows, each base unit, and products of powers of them that no row has. */
static size_t all_units(struct unit *units, size_t most)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    uint64_t random = 5;
    size_t count = 0;
    for (size_t i = 0; i < formulas->count; i++) {
        size_t k = 0;
        while (k < count && !unit_same(units[k], formulas_row(formulas, i)->unit))
            k++;
        assert_true(count < most);
        if (k == count)
            units[count++] = formulas_row(formulas, i)->unit;
    }
    assert_true(count + UNIT_COUNT + 20 <= most);
    for (int i = 0; i < UNIT_COUNT; i++)
        (units[count++] = unit_one).half[i] = 2;
    for (int i = 0; i < 20; i++, count++)
        for (int k = 0; k < UNIT_COUNT; k++)
            units[count].half[k] = (int8_t)draw_in(&random, -20, 21);
    return count;
}

static bool has_letters_of_none(const char *text)
{
    return strstr(text, "inf") || strstr(text, "nan") || strstr(text, "unknown");
}

/* "-1,234.5 ms" -> -1.2345 and the size of half a unit of its last digit, of `digits` at least. */
static long double read_back(const char *text, int digits, long double *half)
{
    char number[96];
    size_t size = 0;
    const size_t end = strcspn(text, " ");
    double scale = 1;
    assert_true(end < sizeof number);
    for (size_t i = 0; i < end; i++)
        if (text[i] != ',')
            number[size++] = text[i];
    number[size] = 0;
    if (text[end] && !unit_scale(text + end + 1, &scale))
        fail_msg("'%s': its unit cannot be read", text);
    char *rest;
    const long double value = strtold(number, &rest);
    if (*rest)
        fail_msg("'%s': its number cannot be read", text);
    snprintf(number, sizeof number, "%.17Le", value);
    *half = 0.5L * powl(10, atoi(strchr(number, 'e') + 1) - digits + 1) * scale;
    return value * scale;
}

static void check_quantity(struct buffer *out, double value, struct unit unit, int digits)
{
    enum { NUMBER_MOST = 32, UNIT_MOST = 96 };
    long double half;
    out->size = 0;
    quantity_print(out, value, unit, digits);
    if (!isfinite(value)) {
        assert_string_equal(out->data, isnan(value) ? "unknown" : value > 0 ? "infinite" : "-infinite");
        return;
    }
    if (has_letters_of_none(out->data) || strcspn(out->data, " ") > NUMBER_MOST ||
        out->size > NUMBER_MOST + UNIT_MOST)
        fail_msg("%.17g is printed as '%s'", value, out->data);
    const long double got = read_back(out->data, digits, &half);
    if (value == 0) {
        assert_true(got == 0 && *out->data != '-');
        return;
    }
    /* The value in the printed unit is a double: it may be off by a bit, and a subnormal by its last one. */
    const long double allowed = half * (1 + 1e-9L) + 4 * DBL_EPSILON * fabsl(value) + DBL_TRUE_MIN;
    if (fabsl(got - value) > allowed)
        fail_msg("%.17g with %d digits is printed as '%s'", value, digits, out->data);
}

static void check_others(struct arena *arena, struct buffer *out, double value, double other, struct unit unit)
{
    const char *texts[] = { quantity_range(arena, value, other, unit, 4), count_text(arena, value, 9),
                            large_text(arena, value), picture_number(arena, value) };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (strlen(texts[i]) > 256 || (isfinite(value) && isfinite(other) && has_letters_of_none(texts[i])))
            fail_msg("%.17g and %.17g are printed as '%s'", value, other, texts[i]);
    for (int decimals = 0; decimals < 4; decimals++) {
        long double half;
        out->size = 0;
        decimal_print(out, value, decimals);
        if (isfinite(value) && (has_letters_of_none(out->data) || out->size > 64 ||
                                (fabs(value) < 1e9 && fabsl(read_back(out->data, 17, &half) - value) >
                                 0.5L * powl(10, -decimals) * (1 + 1e-9L))))
            fail_msg("%.17g with %d decimals is printed as '%s'", value, decimals, out->data);
        out->size = 0;
        share_print(out, value, decimals);
        if (out->size > 64 || (isfinite(value) && has_letters_of_none(out->data)))
            fail_msg("the share %.17g is printed as '%s'", value, out->data);
    }
    out->size = 0;
    buffer_number(out, value);
    if (isfinite(value) ? strtod(out->data, NULL) != value : strcmp(out->data, "null"))
        fail_msg("%.17g is '%s' in JSON", value, out->data);
}

/* A price has one unit, whatever its size: of tokens it is per million, of memory per GB, of time per hour. */
static void prices_have_one_unit(void **state)
{
    (void)state;
    static const struct { int per; const char *name; } parts[] = {
        { UNIT_TOKEN, "/Mtoken" }, { UNIT_B, "/GB" }, { UNIT_S, "/h" } };
    static struct unit units[512];
    const size_t count = all_units(units, COUNT(units)) - UNIT_COUNT - 20;
    size_t prices = 0;
    struct arena arena = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (units[i].half[UNIT_USD] <= 0 || units[i].half[UNIT_J])
            continue;
        const char *usual = strchr(quantity_text(&arena, 1, units[i], 3), ' ');
        for (double value = 1e-18; value < 1e12; value *= 10)
            assert_string_equal(strchr(quantity_text(&arena, value, units[i], 3), ' '), usual);
        for (size_t k = 0; k < COUNT(parts); k++)
            if (units[i].half[parts[k].per] < 0 && !strstr(usual, parts[k].name))
                fail_msg("a price is in%s", usual);
        prices++;
    }
    assert_true(prices >= 6);
    arena_free(&arena);
}

static void every_double_is_printed(void **state)
{
    (void)state;
    static struct unit units[512];
    const size_t count = all_units(units, COUNT(units));
    struct arena arena = { 0 }, scratch = { 0 };
    struct buffer out = { .arena = &arena };
    uint64_t random = 17;
    for (size_t u = 0; u < count; u++)
        for (size_t i = 0; i < COUNT(special); i++)
            for (int sign = -1; sign <= 1; sign += 2)
                for (int digits = 1; digits <= 17; digits++)
                    check_quantity(&out, sign * special[i], units[u], digits);
    for (size_t i = 0; i < COUNT(special); i++)
        for (size_t k = 0; k < COUNT(special); k++)
            check_others(&scratch, &out, special[i], -special[k], units[k % count]);
    for (int i = 0, last = rounds(200000); i < last; i++) {
        const double value = any_double(&random);
        const struct unit unit = units[draw_bits(&random) % count];
        check_quantity(&out, value, unit, 1 + (int)(draw_bits(&random) % 17));
        if (i % 64 == 0)
            check_others(&scratch, &out, value, any_double(&random), unit);
        if (i % 65536 == 0)
            arena_free(&scratch);
    }
    print_message("%d doubles in %zu units\n", rounds(200000), count);
    arena_free(&scratch);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(prices_have_one_unit), cmocka_unit_test(every_double_is_printed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
