/* Options: which verb has which, and what they say as numbers. */
#include "scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int option_find(const char *name, size_t size)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == size && !memcmp(options[i].name, name, size))
            return i;
    return -1;
}

bool option_fits(enum option option, const char *verb)
{
    const char *list = options[option].verbs;
    size_t size = strlen(verb);
    for (const char *at = list; at && (at = strstr(at, verb)); at += size)
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || !at[size]))
            return true;
    return !list;
}

bool option_count(const struct question *question, enum option option, size_t *value,
                    struct error *error)
{
    enum { MOST = 1000000000 };
    const char *text = question->option[option];
    struct quantity quantity;
    struct unit one;
    if (!text)
        return true;
    unit_parse(text_of("1"), &one, &(double){ 0 }, error);
    if (quantity_parse(text_of(text), one, &quantity, error) && quantity.spread == SPREAD_NONE &&
        quantity.value >= 1 && quantity.value <= MOST && quantity.value == floor(quantity.value)) {
        *value = (size_t)quantity.value;
        return true;
    }
    error_set(error, "--%s: '%.60s' is no count", options[option].name, text);
    return error_hint(error, "a whole number from 1 to %d", MOST);
}

bool option_read_quantity(const char *label, const char *text, const char *unit, double *value,
                          struct error *error)
{
    struct unit wanted;
    struct quantity quantity;
    struct error inner;
    unit_parse(text_of(unit), &wanted, &(double){ 0 }, &inner);
    if (quantity_parse(text_of(text), wanted, &quantity, &inner) &&
        quantity.spread == SPREAD_NONE && quantity.value >= 0) {
        *value = quantity.value;
        return true;
    }
    error_set(error, "%s: '%.60s' is no %s", label, text,
              !strcmp(unit, "s") ? "time" : !strcmp(unit, "1") ? "number" : "quantity");
    if (!strcmp(unit, "s"))
        return error_hint(error, "0s or more: 300ms, 5s, 2min, 1h");
    return error_hint(error, "a number, 0 or more%s%s", strcmp(unit, "1") ? ", in " : "",
                      strcmp(unit, "1") ? unit : "");
}

bool option_quantity(const struct question *question, enum option option, const char *unit,
                     double *value, struct error *error)
{
    char label[32];
    snprintf(label, sizeof label, "--%s", options[option].name);
    return !question->option[option] ||
           option_read_quantity(label, question->option[option], unit, value, error);
}
