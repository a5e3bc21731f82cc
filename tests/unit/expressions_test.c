/* Expressions over rows that stand in C: each parses, against the built-in rows.
 *
 * A string of the product's C, its parts and NAME_x put together as the compiler does, counts as an
 * expression when it is made of names, numbers and operators alone, and a row stands beside an
 * operator with spaces around it or an operator that is a word opens a list ("AT(", "max("). What an
 * AT changes ("batch = 1, context = 2") is read inside of one. Texts with a format, and pieces that a
 * macro puts together, are no whole expressions and are left out. */
#include "test.h"

#include "rows/rows.h"

#include <ctype.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct reading {
    struct arena arena;
    struct formulas formulas;
    struct buffer text;             /* of the string so far; .data NULL: none is open */
    const char *file;
    size_t found;
    struct buffer wrong;            /* a line for each that does not parse */
};

/* Labels of answers. */
static const char *const labels[] = { "batch / crossover", "context / crossover" };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Its parentheses close. */
static bool is_whole(const char *text)
{
    int open = 0;
    for (; *text && open >= 0; text++)
        open += (*text == '(') - (*text == ')');
    return !open;
}

static bool is_row(struct reading *reading, const char *begin, const char *end)
{
    return formulas_find(&reading->formulas,
                         arena_copy(&reading->arena, begin, (size_t)(end - begin))) >= 0;
}

/* A row beside " * " and the like. */
static bool has_operator(struct reading *reading, const char *text)
{
    for (const char *at = text; (at = strchr(at, ' ')); at++) {
        const char *begin = at, *end = at + 3;
        if (!at[1] || !strchr("+-*/<>", at[1]) || at[2] != ' ')
            continue;
        while (begin > text && is_word(begin[-1]))
            begin--;
        while (is_word(*end))
            end++;
        if (is_row(reading, begin, at) || is_row(reading, at + 3, end))
            return true;
    }
    return false;
}

/* AT(, SUM(, max( and so on, with a row somewhere inside. */
static bool has_call(struct reading *reading, const char *text)
{
    static const char *const calls[] = { "AT", "SUM", "LEAST", "MOST", "ROOT",
#define OPERATOR(name, spelling, arguments) spelling,
#include "rows/operators.def"
#undef OPERATOR
    };
    bool call = false, row = false;
    for (const char *at = text, *end; *at; at = end) {
        for (end = at; is_word(*end);)
            end++;
        if (end == at) {
            end++;
            continue;
        }
        for (size_t i = 0; i < COUNT(calls); i++)
            call = call || (*end == '(' && strlen(calls[i]) == (size_t)(end - at) &&
                            !memcmp(calls[i], at, (size_t)(end - at)));
        row = row || is_row(reading, at, end);
    }
    return call && row;
}

static void close_string(struct reading *reading)
{
    const char *text = reading->text.data;
    for (size_t i = 0; text && i < COUNT(labels); i++)
        if (!strcmp(text, labels[i]))
            text = NULL;
    reading->text = (struct buffer){ .arena = &reading->arena };
    if (!text || text[strspn(text, LETTERS "0123456789_ .,()[]+-*/<>=")] || !is_whole(text) ||
        (!has_operator(reading, text) && !has_call(reading, text)))
        return;
    const struct expr *expr;
    struct error error;
    const char *given = text;
    if (!strncmp(text + strspn(text, LETTERS "_"), " = ", 3))       /* what an AT changes */
        given = arena_print(&reading->arena, "AT(chips, %s)", text);
    if (!expr_parse(&reading->formulas, reading->file, 1, text_of(given), &expr, &error))
        buffer_print(&reading->wrong, "%s: \"%s\": %s\n", reading->file, text, error.what);
    reading->found++;
}

/* The token that begins here; its end. Strings and NAME_x go on with the string that is open. */
static const char *read_token(struct reading *reading, const char *at)
{
    if (isspace((unsigned char)*at))
        return at + 1;
    if (at[0] == '/' && at[1] == '*')
        return strstr(at + 2, "*/") + 2;
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (*at == '"') {
        const char *begin = ++at;
        while (*at != '"')
            at += at[0] == '\\' ? 2 : 1;
        buffer_add(&reading->text, begin, (size_t)(at - begin));
        return at + 1;
    }
    const char *end = at + 1;
    if (is_word(*at)) {
        while (is_word(*end))
            end++;
        if (!strncmp(at, "NAME_", 5)) {
            buffer_add(&reading->text, at + 5, (size_t)(end - at) - 5);
            return end;
        }
    } else if (*at == '\'') {
        while (*end != '\'')
            end += end[0] == '\\' ? 2 : 1;
        end++;
    }
    close_string(reading);
    return end;
}

static void reading_open(struct reading *reading)
{
    *reading = (struct reading){ .text.arena = &reading->arena, .wrong.arena = &reading->arena };
    formulas_copy(&reading->formulas, &reading->arena, formulas_built_in(FORMULAS_ALL));
}

static void read_source(struct reading *reading, const char *file, const char *source)
{
    reading->file = file;
    while (*source)
        source = read_token(reading, source);
    close_string(reading);
}

static void what_counts(void **state)
{
    (void)state;
    static const struct { const char *source; size_t found, wrong; } cases[] = {
        { "f(\"batch * 2\");", 1, 0 },
        { "f(\"batch * 2\", \"2 / context\");", 2, 0 },
        { "x = \"AT(bound_step, \" /* at */ NAME_batch \" = 1)\";", 1, 0 },
        { "x = \"batch = 2 * chips, context = 1\";", 1, 0 },
        { "x = \"batch * \" NAME_contexts;", 1, 1 },
        { "x = \"max(batch, context\" \"s)\";", 1, 1 },
        { "x = '\"'; y = \"batch - chipss\";", 1, 1 },
        { "/* \"batch * 2s\" */ \"a batch-2 step\", \"%s * batch\", \"AT(batch, \" X", 0, 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct reading reading;
        reading_open(&reading);
        read_source(&reading, "case", cases[i].source);
        if (reading.found != cases[i].found || (reading.wrong.size > 0) != cases[i].wrong)
            fail_msg("%s: %zu found, wrong: %s", cases[i].source, reading.found,
                     reading.wrong.size ? reading.wrong.data : "none");
        arena_free(&reading.arena);
    }
}

static void expressions_in_c_parse(void **state)
{
    (void)state;
    static const char sources[] =
        "find . \\( -name '.?*' -o -name build -o -name node_modules -o -path ./tests -o -path ./tools "
        "-o -path ./bench \\) -prune -o \\( -name '*.[ch]' -o -name '*.def' \\) -print";
    struct reading reading;
    char path[512];
    size_t files = 0;
    reading_open(&reading);
    FILE *list = popen(sources, "r");
    assert_non_null(list);
    for (; fgets(path, sizeof path, list); files++) {
        struct error error;
        struct text text;
        path[strcspn(path, "\n")] = 0;
        if (!file_read(&reading.arena, path, 1 << 22, &text, &error))
            fail_msg("%s", error.what);
        read_source(&reading, path, arena_copy(&reading.arena, text.data, text.size));
    }
    assert_int_equal(pclose(list), 0);
    if (reading.wrong.size)
        fail_msg("%s", reading.wrong.data);
    print_message("%zu expressions in %zu files\n", reading.found, files);
    assert_true(files > 200 && reading.found);
    arena_free(&reading.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_counts),
        cmocka_unit_test(expressions_in_c_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
