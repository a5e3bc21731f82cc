#include "base/base.h"

#include <stdio.h>
#include <string.h>

static void print_plain(char *out, size_t room, const char *format, va_list list)
{
    char raw[sizeof((struct error *)NULL)->what];
    vsnprintf(raw, sizeof raw, format, list);
    *out = 0;
    for (struct text rest = text_of(raw); rest.size;) {
        size_t plain = text_plain(rest, "");
        if (plain)
            snprintf(out, room, "%.*s", (int)plain, rest.data);
        else
            snprintf(out, room, "\\x%02x", (unsigned char)*rest.data);
        size_t added = strlen(out), taken = plain ? plain : 1;
        out += added, room -= added;
        rest.data += taken, rest.size -= taken;
    }
}

bool error_set(struct error *error, const char *format, ...)
{
    va_list list;
    if (!error)
        return false;
    va_start(list, format);
    print_plain(error->what, sizeof error->what, format, list);
    va_end(list);
    error->hint[0] = error->similar[0] = 0;
    error->expected = error->infeasible = false;
    return false;
}

bool error_expected(struct error *error, const char *format, ...)
{
    va_list list;
    if (!error)
        return false;
    va_start(list, format);
    print_plain(error->hint, sizeof error->hint, format, list);
    va_end(list);
    error->similar[0] = 0;
    error->expected = true;
    return false;
}

bool error_suggest(struct error *error, const char *format, ...)
{
    va_list list;
    if (!error)
        return false;
    va_start(list, format);
    print_plain(error->hint, sizeof error->hint, format, list);
    va_end(list);
    error->similar[0] = 0;
    error->expected = false;
    return false;
}

bool error_did_you_mean(struct error *error, const char *name, const char *more)
{
    error_suggest(error, "did you mean '%s'?%s", name, more);
    return error_similar(error, name);
}

bool error_similar(struct error *error, const char *name)
{
    if (!error)
        return false;
    const size_t used = strlen(error->similar), size = strlen(name);
    if (used + size + 2 < sizeof error->similar && text_plain(text_of(name), "") == size)
        snprintf(error->similar + used, sizeof error->similar - used, "%s\n", name);
    return false;
}

bool error_hint_of(struct error *error, const struct error *cause)
{
    if (!error)
        return false;
    memcpy(error->hint, cause->hint, sizeof error->hint);
    memcpy(error->similar, cause->similar, sizeof error->similar);
    error->expected = cause->expected;
    return false;
}

const char *error_label(const struct error *error)
{
    return error->expected ? "expected" : "hint";
}
