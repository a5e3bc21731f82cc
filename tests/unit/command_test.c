/* Commands: what every verb declares, and what words become.
 *
 * Declarations are held to what help, completion and the API take for granted. Words are read in
 * each of the ways one may write them; numbers as text and as JSON; texts at random. */
#include "test.h"

#include "ask/ask.h"
#include "catalog/sheet.h"
#include "serve/web.h"

#include <math.h>

enum { HELP_MOST = 72, WORDS_MOST = 64, VERBS_MOST = 64 };

/* Questions, and the server; NULL ends it. */
static const struct verb *const *all_verbs(void)
{
    static const struct verb *all[VERBS_MOST];
    size_t count = 0;
    for (; verbs[count]; count++)
        all[count] = verbs[count];
    all[count] = &verb_serve;
    assert_true(count + 1 < VERBS_MOST);
    return all;
}

/* Every option of every verb: `verb` and `option` name the present one. */
#define EACH_OPTION(verb, option)                                                               \
    for (const struct verb *const *each = all_verbs(), *verb; (verb = *each); each++)           \
        for (struct option_at at = { 0 }, *once = &at; once; once = NULL)                       \
            for (const struct option *option; (option = verb_next_option(verb, once));)

static bool is_number(const struct option *option)
{
    return option->kind == OPTION_COUNT || option->kind == OPTION_QUANTITY;
}

static bool in_bounds(const struct option *option, double number)
{
    const double most = option->high > 0 ? option->high
                      : option->kind == OPTION_COUNT ? 1e9 : INFINITY;
    return isfinite(number) && number >= option->low && number <= most &&
           (option->kind != OPTION_COUNT || number == floor(number));
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void check_help(const struct verb *verb, const struct option *option)
{
    if (!option->help || !*option->help || strlen(option->help) > HELP_MOST)
        fail_msg("%s --%s: %zu characters of help", verb->name, option->name,
                 option->help ? strlen(option->help) : 0);
    if (strstr(option->help, "default") || strchr(option->help, '\n'))
        fail_msg("%s --%s: help '%s'", verb->name, option->name, option->help);
    if (option->otherwise && (!*option->otherwise || strstr(option->otherwise, "default")))
        fail_msg("%s --%s: otherwise '%s'", verb->name, option->name, option->otherwise);
}

/* What a kind needs is there, and what it has no use for is not. */
static void check_kind(const struct verb *verb, const struct option *option)
{
    const enum option_kind kind = option->kind;
    if ((option->argument != NULL) != (kind != OPTION_SWITCH) ||
        (option->choices != NULL) != (kind == OPTION_CHOICE) ||
        (option->unit != NULL) != (kind == OPTION_QUANTITY) ||
        (option->row != NULL) != (kind == OPTION_ROW) ||
        ((option->low != 0 || option->high != 0) && !is_number(option)) ||
        (option->fallback && (kind == OPTION_SWITCH || kind == OPTION_ROW)))
        fail_msg("%s --%s: not as its kind is", verb->name, option->name);
    if (option->high != 0 && option->high < option->low)
        fail_msg("%s --%s: no number lies within its bounds", verb->name, option->name);
    if (option->choices && !option->choices[0])
        fail_msg("%s --%s: no choice", verb->name, option->name);
    if (option->row && formulas_find(formulas_built_in(FORMULAS_ALL), option->row) < 0)
        fail_msg("%s --%s: no row is called '%s'", verb->name, option->name, option->row);
    if (strlen(option->help) > 60 || strstr(option->help, "default:"))
        fail_msg("%s --%s: help of %zu letters: '%s'", verb->name, option->name,
                 strlen(option->help), option->help);
}

static void check_unit(const struct verb *verb, const struct option *option)
{
    struct unit unit;
    struct error error;
    double scale;
    if (option->unit && (!unit_parse(text_of(option->unit), &unit, &scale, &error) || scale != 1))
        fail_msg("%s --%s: '%s' is no base unit", verb->name, option->name, option->unit);
}

static void check_fallback(const struct verb *verb, const struct option *option)
{
    struct arena arena = { 0 };
    struct value value;
    struct error error;
    if (option->fallback && !option_parse(&arena, option, option->fallback, &value, &error))
        fail_msg("%s --%s: its default: %s (%s)", verb->name, option->name, error.what, error.hint);
    if (option->fallback && is_number(option) && value.quantity.value != option_default(option))
        fail_msg("%s --%s: its default reads %g and %g", verb->name, option->name,
                 value.quantity.value, option_default(option));
    arena_free(&arena);
}

static void declarations_hold(void **state)
{
    (void)state;
    size_t count = 0;
    EACH_OPTION(verb, option) {
        check_help(verb, option);
        check_kind(verb, option);
        check_unit(verb, option);
        check_fallback(verb, option);
        count++;
    }
    assert_true(count > 300);       /* all verbs were seen */
}

/* Within a verb a name or a letter means one thing. */
static void names_and_letters_are_unique(void **state)
{
    (void)state;
    EACH_OPTION(verb, option) {
        const struct option *other;
        for (struct option_at from = { 0 }; (other = verb_next_option(verb, &from)) != option;) {
            if (!strcmp(option->name, other->name))
                fail_msg("%s has two --%s", verb->name, option->name);
            if (option->letter && option->letter == other->letter)
                fail_msg("%s: -%c is --%s and --%s", verb->name, option->letter, other->name,
                         option->name);
        }
    }
}

/* command_read looks for the verb before it knows whose an option is. */
static void switches_are_switches_everywhere(void **state)
{
    (void)state;
    EACH_OPTION(verb, option) {
        for (const struct verb *const *also = all_verbs(); *also; also++) {
            const struct option *other = verb_option(*also, option->name);
            if (other && (other->kind == OPTION_SWITCH) != (option->kind == OPTION_SWITCH))
                fail_msg("--%s takes a value in one of %s and %s", option->name, verb->name,
                         (*also)->name);
            for (struct option_at from = { 0 }; (other = verb_next_option(*also, &from));)
                if (option->letter && option->letter == other->letter &&
                    (other->kind == OPTION_SWITCH) != (option->kind == OPTION_SWITCH))
                    fail_msg("-%c takes a value in one of %s and %s", option->letter, verb->name,
                             (*also)->name);
        }
    }
}

static void verbs_and_groups_say_what_they_are(void **state)
{
    (void)state;
    for (const struct verb *const *verb = all_verbs(); *verb; verb++) {
        assert_true((*verb)->words && (*verb)->summary && *(*verb)->summary);
        assert_ptr_equal(verb_named(all_verbs(), (*verb)->name), *verb);
        assert_true((*verb)->groups[0]);
        for (size_t i = 0; i < VERB_GROUPS && (*verb)->groups[i]; i++)
            if (!(*verb)->groups[i]->title || !*(*verb)->groups[i]->title ||
                !(*verb)->groups[i]->options[0].name)
                fail_msg("%s: group %zu has no title, or no option", (*verb)->name, i);
        assert_true(verb_option(*verb, "json") && verb_option(*verb, "help"));
    }
}

/* ---- examples ---------------------------------------------------------------------------------- */

/* Words as a shell takes them, with '...' and "..."; their number. */
static int split(struct arena *arena, const char *line, char **words)
{
    int count = 0;
    while (*(line += strspn(line, " "))) {
        struct buffer word = { .arena = arena };
        buffer_add(&word, "", 0);
        while (*line && *line != ' ') {
            const char quote = *line == '\'' || *line == '"' ? *line : 0;
            if (!quote) {
                buffer_add(&word, line++, 1);
                continue;
            }
            const char *end = strchr(++line, quote);
            assert_non_null(end);
            buffer_add(&word, line, (size_t)(end - line));
            line = end + 1;
        }
        assert_true(count < WORDS_MOST);
        words[count++] = word.data;
    }
    return count;
}

/* What sets a row is a number of its unit, or an expression. */
static bool row_value_reads(const struct option *option, const char *text, struct error *error)
{
    struct arena arena = { 0 };
    struct formulas formulas;
    struct quantity quantity;
    const struct expr *expr;
    formulas_copy(&formulas, &arena, formulas_built_in(FORMULAS_ALL));
    const struct row *row = formulas_row(&formulas, formulas_find(&formulas, option->row));
    bool reads = quantity_parse(text_of(text), row->unit, &quantity, error) ||
                 expr_parse(&formulas, "the example", 1, text_of(text), &expr, error);
    arena_free(&arena);
    return reads;
}

static void examples_are_commands(void **state)
{
    (void)state;
    for (const struct verb *const *verb = all_verbs(); *verb; verb++) {
        assert_non_null((*verb)->examples[1]);          /* two at least */
        for (size_t i = 0; i < VERB_EXAMPLES && (*verb)->examples[i]; i++) {
            struct arena arena = { 0 };
            struct command command = { .verbs = all_verbs() };
            struct error error;
            char *words[WORDS_MOST];
            int count = split(&arena, (*verb)->examples[i], words);
            assert_string_equal(words[0], "chalkline");
            if (!command_read(&arena, count, words, &command, &error))
                fail_msg("%s: %s (%s)", (*verb)->examples[i], error.what, error.hint);
            assert_ptr_equal(command.verb, *verb);
            for (size_t k = 0; k < command.value_count; k++)
                if (command.values[k].option->row &&
                    !command.values[k].row_text && !row_value_reads(command.values[k].option, command.values[k].text, &error))
                    fail_msg("%s: %s (%s)", (*verb)->examples[i], error.what, error.hint);
            arena_free(&arena);
        }
    }
}

/* ---- words --------------------------------------------------------------------------------------- */

/* Some value that the option takes. */
static const char *some_value(struct arena *arena, const struct option *option)
{
    if (option->kind == OPTION_CHOICE)
        return option->choices[0];
    if (option->named)
        return option->named[0];
    if (option->plausible)
        return strstr(option->plausible, "..") + 2;
    if (!is_number(option))
        return "x=1";
    return arena_print(arena, "%.17g", option->high > 0 ? option->high : option->low + 2);
}

/* The option itself, or the one that it is an old name of. */
static const struct option *set_by(const struct verb *verb, const struct option *option)
{
    return option->now ? verb_option(verb, option->now) : option;
}

static const char no_word[] = "";       /* left out of the words that are read */

static bool read_words(struct arena *arena, struct command *command, struct error *error,
                       const char *const *words)
{
    char *copies[WORDS_MOST] = { arena_copy(arena, "chalkline", 9) };
    int count = 1;
    for (; *words; words++)
        if (*words != no_word)
            copies[count++] = arena_copy(arena, *words, strlen(*words));
    *command = (struct command){ .verbs = all_verbs() };
    *error = (struct error){ .what = "" };
    return command_read(arena, count, copies, command, error);
}

#define READ(arena, command, error, ...) \
    read_words(arena, command, error, (const char *const[]){ __VA_ARGS__, NULL })

static bool same_values(const struct command *a, const struct command *b)
{
    bool same = a->verb == b->verb && a->value_count == b->value_count &&
                a->word_count == b->word_count;
    for (size_t i = 0; same && i < a->value_count; i++)
        same = a->values[i].option == b->values[i].option &&
               !strcmp(a->values[i].text, b->values[i].text) &&
               same_bits(a->values[i].quantity.value, b->values[i].quantity.value) &&
               a->values[i].choice == b->values[i].choice;
    for (size_t i = 0; same && i < a->word_count; i++)
        same = !strcmp(a->words[i], b->words[i]);
    return same;
}

/* --version is no question's: it stands alone. */
static bool stands_alone(const struct option *option)
{
    return !strcmp(option->name, "version");
}

static void all_ways_to_write_an_option_agree(void **state)
{
    (void)state;
    EACH_OPTION(verb, option) {
        struct arena arena = { 0 };
        struct command after, before, joined;
        struct error error;
        const char *name = arena_print(&arena, "--%s", option->name), *value = NULL;
        const char *whole = name, *word = *verb->words ? "word" : no_word;
        if (option->kind != OPTION_SWITCH) {
            value = some_value(&arena, option);
            whole = arena_print(&arena, "%s=%s", name, value);
        }
        if (verb->words_are) {
            arena_free(&arena);
            continue;
        }
        if (stands_alone(option)) {
            assert_false(READ(&arena, &after, &error, verb->name, name));
            assert_string_equal(error.what, "--version takes no other words");
            arena_free(&arena);
            continue;
        }
        bool good = value ? READ(&arena, &after, &error, verb->name, word, name, value)
                          : READ(&arena, &after, &error, verb->name, word, name);
        good = good && (value ? READ(&arena, &before, &error, name, value, verb->name, word)
                              : READ(&arena, &before, &error, name, verb->name, word));
        if (!good || !READ(&arena, &joined, &error, verb->name, whole, word))
            fail_msg("%s %s: %s (%s)", verb->name, whole, error.what, error.hint);
        assert_ptr_equal(after.verb, verb);
        assert_true(after.value_count == 1 && after.values[0].option == set_by(verb, option));
        assert_true(after.word_count == (word != no_word) && (!after.word_count || !strcmp(after.words[0], word)));
        if (!same_values(&after, &before) || !same_values(&after, &joined))
            fail_msg("%s %s: the ways to write it differ", verb->name, whole);
        if (option->letter) {
            char letter[] = { '-', option->letter, 0 };
            assert_true(value ? READ(&arena, &joined, &error, verb->name, word, letter, value)
                              : READ(&arena, &joined, &error, verb->name, word, letter));
            assert_true(same_values(&after, &joined));
        }
        arena_free(&arena);
    }
}

static void twice_is_refused_or_both_kept(void **state)
{
    (void)state;
    EACH_OPTION(verb, option) {
        struct arena arena = { 0 };
        struct command command;
        struct error error;
        const char *const *texts;
        const bool alone = option->kind == OPTION_SWITCH;
        const char *whole = alone ? arena_print(&arena, "--%s", option->name)
                          : arena_print(&arena, "--%s=%s", option->name, some_value(&arena, option));
        bool good = READ(&arena, &command, &error, verb->name, whole, whole);
        if (good != option->many)
            fail_msg("%s %s twice is %s", verb->name, whole, good ? "taken" : error.what);
        if (good)
            assert_int_equal(command_texts(&arena, &command, option->name, &texts), 2);
        else
            assert_string_equal(error.what, arena_print(&arena, "--%s is set twice", set_by(verb, option)->name));
        arena_free(&arena);
    }
}

/* A value that is missing, one too many, and one that is no choice. */
static void wrong_values_are_refused(void **state)
{
    (void)state;
    EACH_OPTION(verb, option) {
        struct arena arena = { 0 };
        struct command command;
        struct error error;
        const char *name = arena_print(&arena, "--%s", option->name);
        if (option->kind == OPTION_SWITCH)
            assert_false(READ(&arena, &command, &error, verb->name,
                              arena_print(&arena, "%s=1", name)));
        else
            assert_false(READ(&arena, &command, &error, verb->name, name));
        if (!strstr(error.what, name) || !*error.hint)
            fail_msg("%s %s: %s (%s)", verb->name, name, error.what, error.hint);
        if (option->kind == OPTION_CHOICE) {
            assert_false(READ(&arena, &command, &error, verb->name, name, "no-such-choice"));
            for (size_t i = 0; option->choices[i]; i++)
                if (!strstr(error.hint, option->choices[i]))
                    fail_msg("%s %s: %s (%s)", verb->name, name, error.what, error.hint);
        }
        arena_free(&arena);
    }
}

/* An option of another verb is called that, with what the verb takes instead, what the name means elsewhere, or the verbs that
 * have it. */
static void unknown_options_name_their_owners(void **state)
{
    (void)state;
    EACH_OPTION(verb, option) {
        for (const struct verb *const *other = all_verbs(); *other; other++) {
            struct arena arena = { 0 };
            struct command command;
            struct error error;
            if (!verb_option(*other, option->name)) {
                const char *name = arena_print(&arena, "--%s", option->name);
                assert_false(READ(&arena, &command, &error, (*other)->name, name, "x"));
                assert_string_equal(error.what, arena_print(&arena, "%s is not an option of %s",
                                                            name, (*other)->name));
                const char *owners = verbs_with(&arena, all_verbs(), option->name);
                assert_non_null(strstr(owners, verb->name));
                const struct instead *instead = (*other)->instead;
                while (instead && instead->option && strcmp(instead->option, option->name))
                    instead++;
                char meant[64];
                const char *hint = instead && instead->option ? instead->hint
                                 : verb_option_meant(*other, option->name, NULL, meant) ? arena_print(&arena, "did you mean --%s?", meant)
                                 : arena_print(&arena, "it is an option of: %s", owners);
                assert_true(starts_with(error.hint, hint));
            }
            arena_free(&arena);
        }
    }
}

/* A hint names options of the verb only. */
static void hints_are_of_the_verb(void **state)
{
    (void)state;
    const struct csv *csv = csv_built_in("data/meant.csv");
    for (size_t row = 0; row < csv->rows; row++)
        for (const struct verb *const *verb = all_verbs(); *verb; verb++) {
            const char *hint = !strcmp(csv_cell(csv, row, 0), "option") ? verb_option_hint(*verb, csv_cell(csv, row, 1), NULL) : "";
            char name[64];
            for (const char *at = hint; (at = strstr(at, "--")); at += strlen("--"))
                if (sscanf(at, "--%63[a-z-]", name) != 1 || !verb_option(*verb, name))
                    fail_msg("%s --%s: %s", (*verb)->name, csv_cell(csv, row, 1), hint);
        }
    assert_string_equal(verb_option_hint(&verb_step, "rpm", NULL), "the unit stands behind the number: --rate 300/min");
    assert_string_equal(verb_option_hint(&verb_can, "rpm", NULL), "");
}

static void words_by_hand(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct command command;
    struct error error;
    /* -- ends the options, also where a verb is looked for. */
    assert_true(READ(&arena, &command, &error, "eval", "--", "--json", "-1"));
    assert_true(command.verb == &verb_eval && command.word_count == 2 && !command.value_count);
    assert_string_equal(command.words[0], "--json");
    assert_true(READ(&arena, &command, &error, "--on", "x", "--", "m", "--", "eval"));
    assert_true(command.verb == &verb_brief && command.word_count == 3);
    /* A verb's name is a word after the first, and an option's value anywhere. */
    assert_true(READ(&arena, &command, &error, "show", "show"));
    assert_true(command.verb == &verb_show && command.word_count == 1);
    assert_true(READ(&arena, &command, &error, "--model", "plan", "step"));
    assert_true(command.verb == &verb_step && !command.word_count);
    assert_string_equal(command_text(&command, "model"), "plan");
    /* A switch before the verb does not take it for its value. */
    assert_true(READ(&arena, &command, &error, "--json", "step"));
    assert_true(command.verb == &verb_step && command_given(&command, "json"));
    /* Only the first = parts name and value; a value may be empty or begin with -. */
    assert_true(READ(&arena, &command, &error, "eval", "--set=batch=64", "--set", "-x"));
    assert_string_equal(command.values[0].text, "batch=64");
    assert_string_equal(command.values[1].text, "-x");
    assert_true(READ(&arena, &command, &error, "eval", "--set="));
    assert_string_equal(command.values[0].text, "");
    /* A verb's words may be values of an option; an option's value is missing where it is empty, or an option. */
    assert_true(READ(&arena, &command, &error, "check", "a.csv", "--measured", "b.csv", "c.csv"));
    assert_true(!command.word_count && command.value_count == 3);
    assert_string_equal(command.values[2].text, "c.csv");
    assert_string_equal(command.values[2].option->name, "measured");
    assert_false(READ(&arena, &command, &error, "step", "--model=", "--on", "h100-sxm"));
    assert_false(READ(&arena, &command, &error, "step", "--model", "--on", "h100-sxm"));
    assert_string_equal(error.what, "--model needs a value");
    assert_false(READ(&arena, &command, &error, "step", "m", "\u2013on", "h100-sxm"));
    assert_string_equal(error.hint, "options begin with two hyphens: --on");
    assert_false(READ(&arena, &command, &error, "step", "m", "-tp", "2"));
    assert_non_null(strstr(error.hint, "did you mean --tp?"));
    assert_false(READ(&arena, &command, &error, "step", "m", "--pp-size", "2"));
    assert_false(READ(&arena, &command, &error, "compare", "a", "b"));
    assert_string_equal(error.what, "unknown command 'compare'");
    /* No verb has it. */
    assert_false(READ(&arena, &command, &error, "step", "--modle", "x"));
    assert_string_equal(error.what, "unknown option '--modle'");
    assert_non_null(strstr(error.hint, "did you mean --model?"));
    assert_false(READ(&arena, &command, &error, "step", "-x"));
    assert_false(READ(&arena, &command, &error, "step", "-hV"));
    assert_false(READ(&arena, &command, &error, "step", "--json", "--csv"));
    assert_false(READ(&arena, &command, &error, "eval", "x", "--json", "--json"));
    arena_free(&arena);
}

/* ---- numbers ------------------------------------------------------------------------------------- */

/* In bounds mostly, of all sizes; sometimes beyond them. */
static double some_number(uint64_t *seed, const struct option *option)
{
    const double low = fmax(option->low, 1e-3);
    const double high = option->high > 0 ? option->high : fmax(low, 1) * 1e9;
    double number = low * pow(2 * high / low, draw(seed)) * (draw(seed) < 0.1 ? -1 : 1);
    if (option->kind == OPTION_COUNT && draw(seed) < 0.9)
        number = floor(number);
    return draw(seed) < 0.02 ? option->low : draw(seed) < 0.02 ? option->high : number;
}

/* A number has the unit that the option declares, or its base unit; bounds are in base units. */
static void numbers_are_read_in_the_unit_of_their_option(void **state)
{
    (void)state;
    uint64_t seed = 1;
    size_t taken = 0, refused = 0;
    EACH_OPTION(verb, option) {
        double scale = 1;
        assert_true(!option->bare || unit_scale(option->bare, &scale));
        for (int i = 0; is_number(option) && !option->plausible && i < rounds(100); i++) {
            struct arena arena = { 0 };
            struct command command = { .verb = verb };
            struct error error = { .what = "" };
            const double number = some_number(&seed, option);
            const char *text = arena_print(&arena, "%.17g", number);
            const bool good = command_put(&arena, &command, option, text, &error);
            if (good != in_bounds(option, number * scale) || (good && command_number(&command, set_by(verb, option)->name) != number * scale))
                fail_msg("%s --%s %s reads %.17g: %s", verb->name, option->name, text,
                         good ? command_number(&command, set_by(verb, option)->name) : NAN, error.what);
            good ? taken++ : refused++;
            arena_free(&arena);
        }
    }
    assert_true(taken > 1000 && refused > 100);
}

/* What an option with a unit of its own makes of a text; NULL: it is refused, and a hint says what may be meant. */
static void bare_numbers_and_implausible_ones(void **state)
{
    (void)state;
    static const struct { const char *option, *given, *text, *similar; } cases[] = {
        { "tpot", "30", "30ms", "" }, { "tpot", "30 ms", "30 ms", "" }, { "tpot", " 30 ", "30ms", "" }, { "tpot", "20..40", "20..40ms", "" },
        { "tpot", "normal(30, 5)", "normal(30, 5ms)", "" }, { "tpot", "lognormal(30, 1.5)", "lognormal(30ms, 1.5)", "" },
        { "tpot", "2 * ttft_limit", "2 * ttft_limit", "" }, { "ttft", "300", "300ms", "" }, { "ttft", "2s", "2s", "" },
        { "price", "1.0", "1.0USD/h", "" }, { "price", "$2/h", "$2/h", "" }, { "budget", "5000", "5000USD/month", "" },
        { "tpot", "30s", NULL, "30ms" }, { "tpot", "0.03", NULL, "0.03s\n0.03ms" }, { "tpot", "0.5", "0.5ms", "" }, { "tpot", "1us", "1us", "" }, { "ttft", "3ms", "3ms", "" },
        { "ttft", "20ms", "20ms", "" }, { "ttft", "50", "50ms", "" }, { "price", "0.02", "0.02USD/h", "" }, { "ttft", "2", NULL, "2s" },
        { "ttft", "3e5", "3e5ms", "" }, { "ttft", "2e0", NULL, "2e0s" },
        { "ttft", "2000s", NULL, "2000ms" }, { "price", "3600USD/h", NULL, "" }, { "price", "0.0005", NULL, "" },
        { "tpot", "1..30s", NULL, "" }, { "budget", "5USD/month", NULL, "" }, { "budget", "0.01", NULL, "" } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct command command = { .verb = &verb_plan };
        struct error error = { .what = "" };
        const struct option *option = verb_option(&verb_plan, cases[i].option);
        const bool good = command_put(&arena, &command, option, cases[i].given, &error);
        if (good != (cases[i].text != NULL) ||
            (good && (strcmp(command.values->text, cases[i].text) ||
                      (command.values->bare == NULL) != !strcmp(cases[i].given, cases[i].text))))
            fail_msg("--%s '%s': '%s', %s", cases[i].option, cases[i].given, good ? command.values->text : "", error.what);
        if (!good && strncmp(error.similar, cases[i].similar, strlen(cases[i].similar)))
            fail_msg("--%s '%s': %s", cases[i].option, cases[i].given, error.hint);
        arena_free(&arena);
    }
}

/* What the option is per may stand behind its value, and nothing else: `--ttft` is of no token. */
static void what_an_option_is_per(void **state)
{
    (void)state;
    static const struct { const char *option, *given, *text; } cases[] = {
        { "tpot", "30 ms/token", "30 ms" }, { "tpot", "30/tok", "30ms" }, { "tpot", "30 ms per token", "30 ms" },
        { "tpot", "30 ms / token@p95", "30 ms @p95" }, { "price", "2USD/h/GPU", "2USD/h" }, { "speed", "30 tok/s/user", "30 tok/s" },
        { "speed", "30 tokens per second per user", "30 tokens per second" }, { "tokens-per-day", "1M tokens/day", "1M tokens" },
        { "tokens-per-day", "1M per day", "1M" }, { "rate", "5 req/s", "5 req/s" }, { "ttft", "1s/token", "1s/token" },
        { "speed", "30 tok/s/GPU", "30 tok/s/GPU" }, { "price", "$2/GPU/h", "$2/h" }, { "price", "2 USD per GPU hour", "2 USD per hour" },
        { "price", "2 USD per GPU per hour", "2 USD per hour" }, { "price", "2 USD per GPU-hour", "2 USD per GPU-hour" } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct command command = { .verb = &verb_plan };
        struct error error = { .what = "" };
        if (!command_put(&arena, &command, verb_option(&verb_plan, cases[i].option), cases[i].given, &error) ||
            strcmp(command.values->text, cases[i].text))
            fail_msg("--%s '%s': '%s', %s", cases[i].option, cases[i].given, command.values ? command.values->text : "", error.what);
        arena_free(&arena);
    }
}

/* Pieces of numbers, units, ranges and distributions, put together anyhow. */
static const char *some_text(struct arena *arena, uint64_t *seed)
{
    static const char *const pieces[] = {
        "0", "1", "2", "9", "17", "1000", "0.5", ".", "-", "+", "e", "e3", "1e400", "k", "M", "T",
        "ms", "s", "us", "min", "GB", "GB/s", "TB/s", "USD", "token/s", "%", " ", "..", ",", "(",
        ")", "normal(", "uniform(1, 2)", "lognormal(1, 2)", "inf", "nan", "0x10", "x", "batch", "*",
        "/", "\xc3\xa9", "\x01", "=" };
    struct buffer text = { .arena = arena };
    const int count = 1 + (int)(draw(seed) * 5);
    buffer_add(&text, "", 0);
    for (int i = 0; i < count; i++) {
        const char *piece = pieces[(size_t)(draw(seed) * COUNT(pieces))];
        buffer_add(&text, piece, strlen(piece));
    }
    return text.data;
}

static void any_text_is_a_number_or_an_error(void **state)
{
    (void)state;
    uint64_t seed = 2;
    size_t taken = 0;
    EACH_OPTION(verb, option) {
        struct arena arena = { 0 };
        for (int i = 0; is_number(option) && i < rounds(2000); i++) {
            struct value value;
            struct error error = { .what = "" };
            const char *text = some_text(&arena, &seed);
            bool good = option_parse(&arena, option, text, &value, &error);
            if (good ? !in_bounds(option, value.quantity.value) : !*error.what || !*error.hint)
                fail_msg("%s --%s '%s': %g, '%s' (%s)", verb->name, option->name, text,
                         good ? value.quantity.value : NAN, error.what, error.hint);
            taken += good;
        }
        arena_free(&arena);
    }
    assert_true(taken > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_hold),
        cmocka_unit_test(names_and_letters_are_unique),
        cmocka_unit_test(switches_are_switches_everywhere),
        cmocka_unit_test(verbs_and_groups_say_what_they_are),
        cmocka_unit_test(examples_are_commands),
        cmocka_unit_test(all_ways_to_write_an_option_agree),
        cmocka_unit_test(twice_is_refused_or_both_kept),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(unknown_options_name_their_owners),
        cmocka_unit_test(hints_are_of_the_verb), cmocka_unit_test(words_by_hand),
        cmocka_unit_test(numbers_are_read_in_the_unit_of_their_option),
        cmocka_unit_test(bare_numbers_and_implausible_ones),
        cmocka_unit_test(what_an_option_is_per),
        cmocka_unit_test(any_text_is_a_number_or_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
