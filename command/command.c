/* command: words to typed values.
 *
 * 1. Find the verb. Options may stand before it, so whether an option takes a value must not
 *    depend on the verb; a test holds all declarations of one name to that.
 * 2. Put each option of the verb into the command, parsed by its kind.
 * 3. See whether they go together. */
#include "command/command.h"

#include "base/output.h"
#include "build/row_names.h"
#include "catalog/meant.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- declarations -------------------------------------------------------------------------- */

const struct option *verb_next_option(const struct verb *verb, struct option_at *at)
{
    while (at->group < VERB_GROUPS && verb->groups[at->group]) {
        const struct option *option = &verb->groups[at->group]->options[at->option++];
        if (option->name)
            return option;
        *at = (struct option_at){ at->group + 1, 0 };
    }
    return NULL;
}

const struct option *verb_option(const struct verb *verb, const char *name)
{
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));)
        if (!strcmp(option->name, name))
            return option;
    return NULL;
}

const struct verb *verb_named(const struct verb *const *verbs, const char *name)
{
    while (*verbs && strcmp((*verbs)->name, name) &&
           !((*verbs)->also && !strcmp((*verbs)->also, name)))
        verbs++;
    return *verbs;
}

const char *verbs_with(struct arena *arena, const struct verb *const *verbs, const char *name)
{
    struct buffer all = { .arena = arena };
    buffer_add(&all, "", 0);
    for (; *verbs; verbs++)
        if (verb_option(*verbs, name))
            buffer_print(&all, "%s%s", all.size ? ", " : "", (*verbs)->name);
    return all.data;
}

struct unit option_unit(const struct option *option)
{
    struct unit unit = { { 0 } };
    struct error ignored;
    if (option->kind == OPTION_QUANTITY)
        unit_parse(text_of(option->unit), &unit, &(double){ 0 }, &ignored);
    return unit;
}

double option_default(const struct option *option)
{
    struct quantity quantity;
    struct error error;
    if (!option->fallback)
        return NAN;
    bool good = quantity_parse(text_of(option->fallback), option_unit(option), &quantity, &error);
    assert(good);
    return good ? quantity.value : NAN;
}

/* The option's row, if it sets one. */
static const struct row *option_row(const struct option *option)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    return option->row ? formulas_row(formulas, formulas_find(formulas, option->row)) : NULL;
}

const char *option_bare(const struct option *option)
{
    const struct row *row = option_row(option);
    return option->bare ? option->bare
         : option->kind == OPTION_QUANTITY && strcmp(option->unit, "1") ? option->unit
         : row && !unit_counts(row->unit) ? row_unit_text(row) : NULL;
}

static double highest(const struct option *option)
{
    return option->high > 0 ? option->high : option->kind == OPTION_COUNT ? 1e9 : INFINITY;
}

const char *option_range(struct arena *arena, const struct option *option)
{
    struct unit unit = option_unit(option);
    const char *dots = option->plausible ? strstr(option->plausible, "..") : NULL;
    if (dots)
        return arena_print(arena, "%.*s to %s", (int)(dots - option->plausible), option->plausible, dots + 2);
    if (option->kind != OPTION_COUNT && option->kind != OPTION_QUANTITY)
        return "";
    static const double least = 1e-9;       /* a bound so low stands for all that is not 0 */
    const char *low = option->low > 0 && option->low <= least
                      ? "above 0" : quantity_text(arena, option->low, unit, 4);
    if (isinf(highest(option)) && option->low > 0 && option->low <= least)
        return low;
    if (isinf(highest(option)))
        return arena_print(arena, "%s or more", low);
    return arena_print(arena, "%s to %s", low, quantity_text(arena, highest(option), unit, 6));
}

/* ---- one value ----------------------------------------------------------------------------- */

static const char *kind_name(const struct option *option)
{
    if (option->kind == OPTION_COUNT)
        return "count";
    return !strcmp(option->unit, "s") ? "time" : !strcmp(option->unit, "1") ? "number" : "quantity";
}

static bool wrong_value(const struct option *option, const char *text, struct error *error)
{
    struct arena arena = { 0 };
    error_set(error, "--%s: invalid %s '%.60s'", option->name, kind_name(option), text);
    const char *wanted = option->kind == OPTION_COUNT ? "a whole number" : !strcmp(option->unit, "1") ? "a number"
                       : unit_example(&arena, option_unit(option));
    error_expected(error, "%s, %s%s%s", wanted, option_range(&arena, option),
                   option->fallback ? "; the default is " : "",
                   option->fallback ? option->fallback : "");
    arena_free(&arena);
    return false;
}

static bool within(const struct option *option, double number)
{
    return number >= option->low && number <= highest(option) &&
           (option->kind != OPTION_COUNT || number == floor(number));
}

static bool parse_number(const struct option *option, struct value *value, struct error *error)
{
    struct error ignored;
    return (quantity_parse(text_of(value->text), option_unit(option), &value->quantity, &ignored) &&
            value->quantity.distribution == DISTRIBUTION_NONE &&
                within(option, value->quantity.value)) ||
           wrong_value(option, value->text, error);
}

static bool parse_choice(const struct option *option, struct value *value, struct error *error)
{
    size_t count = 0;
    for (; option->choices[count]; count++)
        if (!strcmp(option->choices[count], value->text)) {
            value->choice = (int)count;
            return true;
        }
    struct arena arena = { 0 };
    struct buffer all = { .arena = &arena };
    for (size_t i = 0; i < count; i++)
        buffer_print(&all, "%s%s", i ? ", " : "", option->choices[i]);
    error_set(error, "--%s: unknown value '%.60s'", option->name, value->text);
    error_expected(error, "one of: %s", all.data);
    arena_free(&arena);
    return false;
}

/* "15T" for 15: the largest plausible count of these digits. */
static const char *in_thousands(struct arena *arena, const char *given, struct unit unit, const struct quantity *wanted)
{
    struct quantity count;
    struct error ignored;
    const char *text = given;
    for (const char *suffix = "TBMk"; *suffix; suffix++) {
        text = arena_print(arena, "%s%c", given, *suffix);
        if (quantity_parse(text_of(text), unit, &count, &ignored) && count.value <= wanted->high)
            break;
    }
    return text;
}

/* Is a number within what a person means by the option? A bare time that is plausible in seconds too, and nearer to the
 * middle of the range there, is ambiguous: `--ttft 2`. The messages propose the same digits with a unit. */
static bool plausible(const struct option *option, const struct value *value, struct error *error)
{
    struct unit unit;
    struct error ignored;
    struct quantity wanted, got, other = { 0 };
    const struct row *row = option_row(option);
    if (!option->bare)
        unit = row ? row->unit : option_unit(option);
    if (!option->plausible || (option->bare && !unit_parse(text_of(option->bare), &unit, &(double){ 0 }, &ignored)) ||
        !quantity_parse(text_of(option->plausible), unit, &wanted, &ignored) ||
        !quantity_parse(text_of(value->text), unit, &got, &ignored) || got.distribution > DISTRIBUTION_RANGE)
        return true;
    struct arena arena = { 0 };
    const char *range = option_range(&arena, option), *given = value->bare ? value->bare : value->text;
    const int digits = (int)(value->bare ? strlen(given) : strspn(given, "0123456789.,_"));
    const char *in_bare = option->bare ? arena_print(&arena, "%.*s%s", digits, given, option->bare)
                                       : given[digits] ? "" : in_thousands(&arena, given, unit, &wanted);
    const char *in_base = arena_print(&arena, "%.*s%s", digits, given, unit_name(&arena, unit));
    const double middle = sqrt(wanted.low * wanted.high);
    const bool inside = got.low >= wanted.low && got.high <= wanted.high;
    const bool base = unit_same(unit, unit_second) && got.distribution == DISTRIBUTION_NONE &&
                      quantity_parse(text_of(in_base), unit, &other, &ignored) &&
                      other.value >= wanted.low && other.value <= wanted.high;
    const bool ambiguous = inside && value->bare && base &&
                           fabs(log(other.value / middle)) < fabs(log(got.value / middle));
    if (ambiguous) {
        error_set(error, "--%s: '%.60s' has no unit", option->name, given);
        error_did_you_mean(error, in_base, arena_print(&arena, " Or %s?", in_bare));
        error_similar(error, in_bare);
    } else if (!inside) {
        const char *anyway = row && got.low >= row->low && got.high <= row->high
                           ? arena_print(&arena, "; to set it anyway: --set %s=%s", option->row, value->text) : "";
        const bool bare = !value->bare && quantity_parse(text_of(in_bare), unit, &other, &ignored) &&
                          got.distribution == DISTRIBUTION_NONE && other.value >= wanted.low && other.value <= wanted.high;
        error_set(error, "--%s: '%.60s' is read as %s, which is implausible", option->name, given,
                  value->bare ? value->text : quantity_text(&arena, got.value, unit, 4));
        if (bare || base)
            error_did_you_mean(error, bare ? in_bare : in_base,
                               arena_print(&arena, " --%s takes %s%s", option->name, range, anyway));
        else
            error_expected(error, "%s%s", range, anyway);
    }
    arena_free(&arena);
    return inside && !ambiguous;
}

static bool keep_value(struct arena *arena, struct command *command, const struct value *value,
                       struct error *error)
{
    if (!value->option->many && command_given(command, value->option->name)) {
        error_set(error, "--%s is set twice", value->option->name);
        if (value->option->twice)
            return error_suggest(error, "%s", value->option->twice);
        return error_expected(error, "--%s once", value->option->name);
    }
    *(struct value *)arena_push(arena, &command->values, &command->value_count,
                                &command->value_room, sizeof *value) = *value;
    return true;
}

/* A word for a value of the row, or the root of its value. */
static bool parse_named(struct arena *arena, const struct option *option, struct value *value, struct error *error)
{
    const struct row *row = option_row(option);
    struct quantity root;
    struct error ignored;
    struct buffer all = { .arena = arena };
    for (size_t i = 0; option->named[i]; i += 2) {
        if (!strcmp(option->named[i], value->text))
            value->row_text = option->named[i + 1];
        buffer_print(&all, "%s, ", option->named[i]);
    }
    if (value->row_text)
        return true;
    if (quantity_parse(text_of(value->text), row->unit, &root, &ignored) && root.distribution == DISTRIBUTION_NONE &&
        root.value >= 0 && root.value * root.value <= row->high) {
        value->row_text = arena_print(arena, "%.17g", root.value * root.value);
        return true;
    }
    error_set(error, "--%s: unknown value '%.60s'", option->name, value->text);
    return error_expected(error, "%sor a number up to %.9g: %s", all.data, sqrt(row->high), option->help);
}

/* "p95", behind the "@" of a limit. */
static bool parse_percentile(const char *text, struct value *value, struct error *error)
{
    enum { LEAST = 50 };
    const double most = 99.99;
    double number;
    if (*text == 'p' && text_number(text_of(text + 1), &number) && number >= LEAST && number <= most) {
        value->percentile = number / 100;
        return true;
    }
    error_set(error, "--%s: invalid percentile '@%.60s'", value->option->name, text);
    return error_expected(error, "p%d to p%g: 2s@p95; a limit without @ is one of the mean", LEAST, most);
}

/* "1M tokens" of "1M tokens/day" for --tokens-per-day, "$2/h" of "$2/GPU/h", "2 USD per hour" of "2 USD per GPU hour". */
static const char *without_per(struct arena *arena, const struct option *option, const char *text)
{
    for (const char *at = option->per ? text : ""; *at; at++) {
        const size_t mark = *at == '/' ? 1 : starts_with(at, " per ") ? strlen(" per ") : 0;
        const char *word = at + mark + strspn(at + mark, " "), *end = word + strcspn(word, "/ ");
        const bool hour = *end == ' ' && end[1] != '/' && !starts_with(end, " per ");
        if (mark && text_has_word(option->per, arena_copy(arena, word, (size_t)(end - word))))
            return arena_print(arena, "%.*s%s", (int)((hour ? word : at) - text), text, end + hour);
    }
    return text;
}

bool option_parse(struct arena *arena, const struct option *option, const char *text, struct value *value,
                  struct error *error)
{
    const char *at = option->percentile ? strchr(text, '@') : NULL;
    if (at) {
        if (!option_parse(arena, option, arena_copy(arena, text, (size_t)(at - text)), value, error))
            return false;
        value->row_text = value->text;
        value->text = arena_print(arena, "%s%s", value->text, at);
        return parse_percentile(at + 1, value, error);
    }
    double number;
    if (option->written && text_number(text_of(text), &number)) {
        error_set(error, "--%s: '%.60s' is a number, not the name of a file", option->name, text);
        return error_expected(error, "--%s %s: %s", option->name, option->argument, option->help);
    }
    text = without_per(arena, option, text);
    const char *whole = option->bare ? quantity_with_unit(arena, text, option->bare) : NULL;
    *value = (struct value){ .option = option, .text = whole ? whole : text, .bare = whole ? text : NULL };
    if (option->kind == OPTION_CHOICE)
        return parse_choice(option, value, error);
    if (option->named)
        return parse_named(arena, option, value, error);
    return plausible(option, value, error) &&
           ((option->kind != OPTION_COUNT && option->kind != OPTION_QUANTITY) || parse_number(option, value, error));
}

static const struct option *known_option(const struct command *command, const char *name)
{
    const struct option *option = verb_option(command->verb, name);
    assert(option);
    return option;
}

bool command_put(struct arena *arena, struct command *command, const struct option *option,
                 const char *text, struct error *error)
{
    struct value value;
    if (!option_parse(arena, option, text, &value, error))
        return false;
    if (option->now) {
        value.was = option->name;
        value.option = known_option(command, option->now);
    }
    return keep_value(arena, command, &value, error);
}

void command_put_word(struct arena *arena, struct command *command, const char *word)
{
    if (command->verb && command->verb->words_are) {
        command_set(arena, command, command->verb->words_are, word);
        return;
    }
    *(const char **)arena_push(arena, &command->words, &command->word_count, &command->word_room,
                               sizeof *command->words) = word;
}

void command_set(struct arena *arena, struct command *command, const char *name, const char *text)
{
    struct error error;
    bool good = command_put(arena, command, known_option(command, name), text, &error);
    assert(good);
    (void)good;
}

void command_set_number(struct arena *arena, struct command *command, const char *name,
                        double number)
{
    const struct option *option = known_option(command, name);
    const struct value value = { .option = option, .quantity = { number, number, number, DISTRIBUTION_NONE },
        .text = arena_print(arena, "%.17g%s", number, option->bare ? unit_name(arena, option_unit(option)) : "") };
    struct error error;
    const bool good = within(option, number) && keep_value(arena, command, &value, &error);
    assert(good);
    (void)good;
}

struct command *command_only(struct arena *arena, const struct command *command,
                             bool (*kept)(const struct option *option))
{
    struct command *only = arena_alloc(arena, sizeof *only);
    *only = *command;
    only->values = arena_array(arena, command->value_count + 1, sizeof *only->values);
    only->value_count = 0;
    only->value_room = command->value_count + 1;
    for (size_t i = 0; i < command->value_count; i++)
        if (kept(command->values[i].option))
            only->values[only->value_count++] = command->values[i];
    return only;
}

/* ---- what was given ------------------------------------------------------------------------ */

const struct value *command_value(const struct command *command, const char *name)
{
    for (size_t i = command->value_count; i-- > 0;)
        if (!strcmp(command->values[i].option->name, name))
            return &command->values[i];
    return NULL;
}

bool command_given(const struct command *command, const char *name)
{
    return command_value(command, name) != NULL;
}

bool names_this(const char *on, size_t *at)
{
    static const char name[] = "this";
    for (*at = 0; on[*at]; *at += strcspn(on + *at, ",") + (on[*at + strcspn(on + *at, ",")] == ','))
        if (starts_with(on + *at, name) && (!on[*at + strlen(name)] || on[*at + strlen(name)] == ','))
            return true;
    return false;
}

bool command_asks_here(const struct command *command)
{
    return command->verb->here && !command_given(command, "on") && command->word_count + command_given(command, "model") <= 1;
}

const char *command_text(const struct command *command, const char *name)
{
    const struct value *value = command_value(command, name);
    return value ? value->text : NULL;
}

double command_number(const struct command *command, const char *name)
{
    const struct value *value = command_value(command, name);
    if (value)
        return value->quantity.value;
    const struct option *option = command->verb ? verb_option(command->verb, name) : NULL;
    return option ? option_default(option) : NAN;
}

size_t command_count(const struct command *command, const char *name)
{
    double number = command_number(command, name);
    return number > 0 ? (size_t)number : 0;
}

int command_choice(const struct command *command, const char *name)
{
    const struct value *value = command_value(command, name);
    if (value)
        return value->choice;
    const struct option *option = command->verb ? verb_option(command->verb, name) : NULL;
    for (int i = 0; option && option->fallback && option->choices[i]; i++)
        if (!strcmp(option->choices[i], option->fallback))
            return i;
    return -1;
}

size_t command_texts(struct arena *arena, const struct command *command, const char *name,
                     const char *const **texts)
{
    const char **list = arena_array(arena, command->value_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < command->value_count; i++)
        if (!strcmp(command->values[i].option->name, name))
            list[count++] = command->values[i].text;
    *texts = list;
    return count;
}

void command_take(const struct command *command, const char *name, double *value)
{
    if (command_given(command, name))
        *value = command_number(command, name);
}

void command_take_count(const struct command *command, const char *name, size_t *value)
{
    if (command_given(command, name))
        *value = command_count(command, name);
}

/* ---- words --------------------------------------------------------------------------------- */

/* Starts with - and is neither "-" nor "--". */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] && !(word[1] == '-' && !word[2]);
}

static const struct option *option_by_letter(const struct verb *verb, char letter)
{
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));)
        if (option->letter == letter)
            return option;
    return NULL;
}

/* The option that "--name", "--name=value" or "-l" names; NULL: the verb has none. */
static const struct option *option_of(const struct verb *verb, const char *word,
                                      const char **value)
{
    char name[64];
    const char *equals = strchr(word, '=');
    *value = NULL;
    if (word[1] != '-')
        return word[2] ? NULL : option_by_letter(verb, word[1]);
    if (equals)
        *value = equals + 1;
    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - word - 2 : 60), word + 2);
    return verb_option(verb, name);
}

/* Find an option of any verb. */
static const struct option *any_option(const struct verb *const *verbs, const char *word,
                                       const char **value)
{
    for (; *verbs; verbs++) {
        const struct option *option = option_of(*verbs, word, value);
        if (option)
            return option;
    }
    return NULL;
}

/* The nearest name of an option of these verbs; NULL: none is near. */
static const char *option_near(struct arena *arena, const struct verb *const *verbs, size_t most, const char *name)
{
    const char **names = NULL;
    size_t count = 0, room = 0;
    const struct option *option;
    for (size_t i = 0; i < most && verbs[i]; i++)
        for (struct option_at at = { 0 }; (option = verb_next_option(verbs[i], &at));)
            *(const char **)arena_push(arena, &names, &count, &room, sizeof *names) = option->name;
    return name_nearest(name, names, count);
}

static bool takes(const struct verb *verb, const char *name, bool (*has)(const struct option *))
{
    const struct option *option = verb_option(verb, name);
    return option && (!has || has(option));
}

const char *verb_option_meant(const struct verb *verb, const char *name, bool (*has)(const struct option *), char meant[64])
{
    const int row = meant_row("option", name);
    for (size_t i = 0; row >= 0 && meant_name(row, i, meant); i++)
        if (takes(verb, meant, has))
            return meant;
    return NULL;
}

const char *verb_option_hint(const struct verb *verb, const char *name, bool (*has)(const struct option *))
{
    const int row = meant_row("option", name);
    const char *hint = row < 0 ? "" : meant_hint(row);
    char named[64];
    for (const char *at = hint; (at = strstr(at, "--"));) {
        at += strlen("--");
        snprintf(named, sizeof named, "%.*s", (int)strspn(at, "abcdefghijklmnopqrstuvwxyz-"), at);
        if (!takes(verb, named, has))
            return "";
    }
    return hint;
}

/* "did you mean --tp?": an option that is called so in another program, or spelled like it, of the verb or else of
 * another; "" for none. */
static const char *option_meant(struct arena *arena, const struct command *command, const char *name)
{
    const int row = meant_row("option", name);
    const char *hint = verb_option_hint(command->verb, name, NULL), *owner = "";
    char meant[64];
    const char *near = verb_option_meant(command->verb, name, NULL, meant);
    if (!near && row < 0)
        near = verb_option(command->verb, name) ? name : option_near(arena, &command->verb, 1, name);
    if (!near && !*hint && (row < 0 || meant_name(row, 0, meant))) {
        near = row >= 0 ? meant : option_near(arena, command->verbs, SIZE_MAX, name);
        owner = near ? verbs_with(arena, command->verbs, near) : "";
    }
    return arena_print(arena, "%s%s%s%s%s%s%s", near ? "did you mean --" : "", near ? near : "", *owner ? ", an option of: " : "",
                       owner, near ? "? " : "", hint, *hint ? "; " : "");
}

static bool option_unknown(const struct command *command, const char *word, struct error *error)
{
    struct arena arena = { 0 };
    const char *value, *verb = command->verb->name;
    const int size = (int)strcspn(word, "=");
    const bool dashes = word[1] == '-';
    const char *name = arena_copy(&arena, word + 1 + dashes, (size_t)size - 1 - dashes);
    const struct option *known = any_option(command->verbs, word, &value);
    const struct instead *instead = command->verb->instead;
    while (instead && instead->option && (!known || strcmp(instead->option, known->name)))
        instead++;
    if (known && (dashes || meant_row("option", name) < 0)) {
        const char *hint = verb_option_hint(command->verb, name, NULL);
        char meant[64];
        error_set(error, "%.*s is not an option of %s", size, word, verb);
        if (instead && instead->option)
            error_suggest(error, "%s", instead->hint);
        else if (verb_option_meant(command->verb, name, NULL, meant))
            error_suggest(error, "did you mean --%s?%s%s", meant, *hint ? " " : "", hint);
        else
            error_suggest(error, "it is an option of: %s%s%s", verbs_with(&arena, command->verbs, known->name),
                          *hint ? "; " : "", hint);
    } else {
        error_set(error, "unknown option '%.60s'", word);
        error_suggest(error, "%s`chalkline help %s` lists the options%s", option_meant(&arena, command, name), verb,
                      dashes ? "" : "; write -- before words that start with -");
    }
    arena_free(&arena);
    return false;
}

static bool read_option(struct arena *arena, struct command *command, int count, char **words,
                        int *at, struct error *error)
{
    const char *value;
    const struct option *option = option_of(command->verb, words[*at], &value);
    if (!option)
        return option_unknown(command, words[*at], error);
    const bool alone = option->kind == OPTION_SWITCH;
    if (alone && value) {
        error_set(error, "--%s takes no value", option->name);
        return error_expected(error, "--%s alone", option->name);
    }
    const char *ignored;
    const char *text = alone ? "" : value ? value : *at + 1 < count ? words[*at + 1] : NULL;
    if (!alone && (!text || (!*text && !option->many) ||
                   (!value && text[0] == '-' && text[1] == '-' && option_of(command->verb, text, &ignored)))) {
        error_set(error, "--%s needs a value", option->name);
        return error_expected(error, "--%s %s: %s", option->name, option->argument, option->help);
    }
    *at += !alone && !value;
    return command_put(arena, command, option, text, error);
}

/* The first word that is no option's value, which may be a verb; NULL: there is none. */
static const char *find_verb(int count, char **words, struct command *command)
{
    for (int i = 1; i < count && strcmp(words[i], "--"); i++) {
        const char *value = NULL;
        if (!is_option(words[i])) {
            command->verb = verb_named(command->verbs, words[i]);
            return words[i];
        }
        const struct option *option = any_option(command->verbs, words[i], &value);
        i += option && option->kind != OPTION_SWITCH && !value;
    }
    return NULL;
}

/* A command of other programs, whose options are theirs too. */
static bool verb_foreign(const char *word, struct error *error)
{
    error_set(error, "unknown command '%.60s'", word);
    return meant_explain("command", word, error);
}

/* Without a verb the words are a model's name, unless the first is spelled like a verb and stands without --on or before
 * other words. */
static bool verb_meant(const struct command *command, struct error *error)
{
    const char *names[64] = { "help", "reference", "completion", "man", "page" }, *word = command->words[0];
    size_t count = 5;
    error_set(error, "unknown command '%.60s'", word);
    for (const struct verb *const *verb = command->verbs; *verb && count < 64; verb++)
        names[count++] = (*verb)->name;
    if (command->word_count == 1 && command_given(command, "on"))
        return true;
    const char *near = name_nearest(word, names, count);
    if (!near)
        return true;
    if (command->word_count > 1)
        return error_did_you_mean(error, near, " `chalkline help` lists the commands");
    return error_did_you_mean(error, near, " A model needs a machine: MODEL --on HARDWARE");
}

/* A verb without words: a word may be the model that an option names. */
static bool options_only(const struct command *command, struct error *error)
{
    const struct verb *verb = command->verb;
    if (*verb->words || !command->word_count)
        return true;
    error_set(error, "%s takes options only, not '%.60s'", verb->name, command->words[0]);
    const bool model = verb_option(verb, "model") != NULL;
    return error_expected(error, "options, as in `%s%s%.60s`", verb->examples[0], model ? " --model " : "",
                          model ? command->words[0] : "");
}

bool command_complete(const struct command *command, struct error *error)
{
    if (!options_only(command, error))
        return false;
    if (command_given(command, "version")) {
        error_set(error, "--version takes no other words");
        return error_expected(error, "chalkline --version");
    }
    if (command_given(command, "json") && command_given(command, "csv")) {
        error_set(error, "--json and --csv exclude each other");
        return error_expected(error, "one of them");
    }
    return true;
}

/* Does a word name the file that is written, or the folder of a model's files with it? */
static bool names_file(struct arena *arena, const char *word, const char *written)
{
    const char *slash = strrchr(written, '/'), *name = slash ? slash + 1 : written;
    return output_same(arena, written, word) ||
           ((ends_with(name, ".json") || ends_with(name, ".gguf") || ends_with(name, ".safetensors")) &&
            output_same(arena, written, arena_print(arena, "%s/%s", word, name)));
}

/* Does a text name it, as a whole or in one of its parts, as in "poisson:lengths=FILE"? */
static bool text_names(struct arena *arena, const char *text, const char *written)
{
    static const char marks[] = ",:;=()";
    bool named = names_file(arena, text, written);
    for (const char *at = text + strspn(text, marks); !named && *at; at += strspn(at, marks)) {
        const size_t size = strcspn(at, marks);
        named = names_file(arena, arena_copy(arena, at, size), written);
        at += size;
    }
    return named;
}

/* No file that the command writes may be one that it also reads, or writes for another option. */
static bool outputs_apart(struct arena *arena, const struct command *command, struct error *error)
{
    if (!command->value_count)
        return true;                                /* `values` may be NULL */
    const struct value *end = command->values + command->value_count;
    for (const struct value *one = command->values; one < end; one++) {
        const char *as = NULL, *how = "read";
        if (!one->option->written || !strcmp(one->text, "-"))
            continue;
        for (size_t i = 0; i < command->word_count && !as; i++)
            if (text_names(arena, command->words[i], one->text))
                as = arena_print(arena, "'%.100s'", command->words[i]);
        for (const struct value *other = command->values; other < end && !as; other++) {
            const bool goes_on = one->option->goes_on && !strcmp(other->option->name, "calibration");
            const bool named = !goes_on && (other->option->kind == OPTION_TEXT || other->option->kind == OPTION_FILE);
            if (other->option->written ? other < one && output_same(arena, one->text, other->text)
                                       : named && text_names(arena, other->text, one->text))
                as = arena_print(arena, "--%s '%.100s'", other->option->name, other->text);
            how = as && other->option->written ? "written" : how;
        }
        if (as) {
            error_set(error, "--%s: '%.100s' is also %s, as %s", one->option->name, one->text, how, as);
            return error_expected(error, "the name of another file");
        }
    }
    return true;
}

bool command_read(struct arena *arena, int count, char **words, struct command *command,
                  struct error *error)
{
    for (int i = 1; i < count; i++)
        if (!text_check(text_of(words[i]), "the command line", error))
            return false;
    const char *first = find_verb(count, words, command);
    bool words_only = false, implied = !command->verb;
    if (implied && first && verb_foreign(first, error))
        return false;
    if (implied)
        command->verb = command->verbs[0];
    for (int i = 1; i < count; i++) {
        if (!words_only && (starts_with(words[i], "\u2013") || starts_with(words[i], "\u2014")))
            return error_set(error, "'%.60s' begins with a dash", words[i]) ||
                   error_suggest(error, "options begin with two hyphens: --%.60s", words[i] + strlen("\u2014"));
        if (!words_only && !strcmp(words[i], "--"))
            words_only = true;
        else if (!words_only && is_option(words[i])) {
            if (!read_option(arena, command, count, words, &i, error))
                return false;
        } else if (!implied && words[i] == first) {
            first = NULL;
        } else {
            command_put_word(arena, command, words[i]);
        }
    }
    return command_complete(command, error) && outputs_apart(arena, command, error) &&
           (!implied || !command->word_count || verb_meant(command, error));
}
