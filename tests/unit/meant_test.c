/* data/meant.csv: the names that it proposes exist, the words that it explains are no names of ours, and the commands in
 * its hints are verbs. */
#include "test.h"

#include "ask/ask.h"
#include "catalog/catalog.h"
#include "catalog/formats.h"
#include "catalog/meant.h"
#include "catalog/sheet.h"
#include "import/import.h"

#include <string.h>

static bool is_option(const char *name)
{
    bool any = false;
    for (size_t i = 0; verbs[i]; i++)
        any |= verb_option(verbs[i], name) != NULL;
    return any;
}

/* Is it a name of this kind? */
static bool known(struct arena *arena, const char *kind, const char *name)
{
    const struct catalog *catalog = catalog_built_in();
    struct formats formats = *formats_built_in();
    if (!strcmp(kind, "model"))
        return catalog_known(catalog, CATALOG_MODEL, name);
    if (!strcmp(kind, "machine"))
        return catalog_known(catalog, CATALOG_MACHINE, name);
    if (!strcmp(kind, "engine"))
        return catalog_known(catalog, CATALOG_ENGINE, name);
    if (!strcmp(kind, "format"))
        return formats_find(&formats, name) || file_type_find(arena, name);
    if (!strcmp(kind, "command"))
        return verb_named(verbs, name) || !strcmp(name, "measure");
    if (!strcmp(kind, "option"))
        return is_option(name);
    if (!strcmp(kind, "list"))
        return text_has_word("models hardware machines tiers prices rows formats", name);
    fail_msg("data/meant.csv: no kind is called '%s'", kind);
    return false;
}

static void check_commands(const char *hint)
{
    static const char begin[] = "`chalkline ";
    for (const char *at = hint; (at = strstr(at, begin));) {
        char verb[32];
        at += strlen(begin);
        snprintf(verb, sizeof verb, "%.*s", (int)strcspn(at, " `"), at);
        if (*verb != '-' && strcmp(verb, "help") && strcmp(verb, "measure") && !verb_named(verbs, verb))
            fail_msg("data/meant.csv: '%s' is no command: %s", verb, hint);
    }
}

static void proposals_exist(void **state)
{
    (void)state;
    const struct csv *csv = csv_built_in("data/meant.csv");
    const int kind_at = csv_column(csv, "kind"), name_at = csv_column(csv, "name"), hint_at = csv_column(csv, "hint");
    for (size_t row = 0; row < csv->rows; row++) {
        struct arena arena = { 0 };
        const char *kind = csv_cell(csv, row, kind_at), *name = csv_cell(csv, row, name_at);
        char one[64];
        size_t count = 0;
        for (; meant_name((int)row, count, one); count++)
            if (!known(&arena, kind, one))
                fail_msg("data/meant.csv: %s '%s' proposes '%s', which is none", kind, name, one);
        if (!count && !*csv_cell(csv, row, hint_at))
            fail_msg("data/meant.csv: %s '%s' proposes nothing", kind, name);
        if (strcmp(kind, "option") && known(&arena, kind, name))
            fail_msg("data/meant.csv: %s '%s' is a name", kind, name);
        check_commands(csv_cell(csv, row, hint_at));
        arena_free(&arena);
    }
    assert_true(csv->rows > 100);
}

static void words_are_found(void **state)
{
    (void)state;
    struct error error;
    error_set(&error, "unknown model 'x'");
    assert_false(meant_explain("model", "llama-3.1-8c", &error));
    assert_string_equal(error.what, "unknown model 'x'");
    assert_true(meant_explain("model", "GPT-5.4-mini", &error));
    assert_non_null(strstr(error.what, "OpenAI has published no configuration"));
    assert_true(meant_explain("machine", "cpu", &error));
    assert_non_null(strstr(error.similar, "epyc-9654\n"));
    assert_true(meant_row("machine", "model") < 0 && meant_row("option", "tensor_parallel_size") >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(proposals_exist), cmocka_unit_test(words_are_found) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
