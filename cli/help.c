/* Help and the man page, generated from the declarations of verbs and options.
 *
 * The default and the range of an option that sets a row are the row's own. Groups with the same
 * title are printed together. Text is wrapped to the width of the terminal. Words that would have
 * no effect beside --help are refused, so that a mistyped command does not silently print help. */
#include "cli/cli.h"
#include "catalog/meant.h"

#include "report/fit.h"

#include <string.h>
#include <unistd.h>

enum { WIDTH = 80, COLUMN = 28, MAN_WIDTH = 64 };

size_t help_width(void)
{
    const size_t columns = terminal_columns(STDOUT_FILENO);
    return columns ? columns : WIDTH;
}

/* ---- text that fits ------------------------------------------------------------------------ */

void help_wrap(struct buffer *out, const char *text, size_t at, size_t indent, size_t width)
{
    struct text rest = text_of(text);
    do {
        const struct text part = text_part(rest, width > at ? width - at : 1, &rest);
        buffer_print(out, "%.*s\n%*s", (int)part.size, part.data, rest.size ? (int)indent : 0, "");
        at = indent;
    } while (rest.size);
}

/* A command as a line, or as several that can be pasted. */
static void print_example(struct buffer *out, size_t indent, const char *example, size_t width)
{
    text_fit(out, text_of(arena_print(out->arena, "%*s%s\n", (int)indent, "", example)), width);
}

/* ---- options ------------------------------------------------------------------------------- */

/* For an option that sets a row, the row's default; "" where nothing needs to be said. */
static const char *default_text(struct arena *arena, const struct formulas *formulas,
                                const struct option *option)
{
    const int row = option->row ? formulas_find(formulas, option->row) : -1;
    if (option->otherwise)
        return arena_print(arena, "%s%s%s", option->otherwise, option->fallback ? ", else " : "",
                           option->fallback ? option->fallback : "");
    if (option->fallback)
        return option->fallback;
    return row >= 0 && !row_expr(formulas_row(formulas, row))
           ? quantity_text(arena, formulas_row(formulas, row)->value, formulas_row(formulas, row)->unit, 6) : "";
}

static void print_option(struct arena *arena, struct buffer *out, const struct formulas *formulas,
                         const struct option *option, size_t width)
{
    struct buffer head = { .arena = arena }, text = { .arena = arena };
    const char *fallback = default_text(arena, formulas, option);
    const char *range = option->plausible || option->high > 0 ? option_range(arena, option) : "";
    buffer_print(&head, "  %s%c%s--%s%s%s", option->letter ? "-" : "", option->letter ? option->letter : ' ',
                 option->letter ? ", " : "   ", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
    buffer_print(&text, "%s", option->help);
    if (option->choices) {
        buffer_print(&text, ":");
        for (size_t i = 0; option->choices[i]; i++)
            buffer_print(&text, "%s %s", i ? "," : "", option->choices[i]);
    }
    if (option_bare(option))
        buffer_print(&text, "; a bare number is in %s", option_bare(option));
    if (option->row)
        buffer_print(&text, "; sets %s", option->row);
    if (option->many)
        buffer_print(&text, "; may be given more than once");
    if (*range || *fallback)
        buffer_print(&text, " (%s%s%s%s)", range, *range && *fallback ? "; " : "",
                     *fallback ? "default: " : "", fallback);
    buffer_print(out, "%s", head.data);
    size_t at = head.size;
    if (at + 2 > COLUMN) {
        buffer_print(out, "\n");
        at = 0;
    }
    buffer_print(out, "%*s", (int)(COLUMN - at), "");
    help_wrap(out, text.data, COLUMN, COLUMN, width);
}

/* Is this the first group of its title? */
static bool title_first(const struct verb *verb, size_t group)
{
    for (size_t i = 0; i < group; i++)
        if (!strcmp(verb->groups[i]->title, verb->groups[group]->title))
            return false;
    return true;
}

static void print_groups(struct arena *arena, struct buffer *out, const struct formulas *formulas,
                         const struct verb *verb, size_t width)
{
    for (size_t g = 0; g < VERB_GROUPS && verb->groups[g]; g++) {
        if (!title_first(verb, g))
            continue;
        buffer_print(out, "\n%s\n", verb->groups[g]->title);
        for (size_t k = g; k < VERB_GROUPS && verb->groups[k]; k++)
            for (const struct option *option = verb->groups[k]->options;
                 !strcmp(verb->groups[k]->title, verb->groups[g]->title) && option->name; option++)
                print_option(arena, out, formulas, option, width);
    }
}

/* The keys of the verb's word, with what each accepts. */
static void print_keys(struct arena *arena, struct buffer *out, const struct verb *verb, size_t width)
{
    struct option key;
    if (!verb->key)
        return;
    buffer_print(out, "\n%s\n", verb->key_title);
    for (size_t i = 0; verb->key(i, &key); i++) {
        buffer_print(out, "      %-22s", arena_print(arena, "%s=", key.name));
        help_wrap(out, arena_print(arena, "%s (%s%s%s)", key.help, key.argument,
                                       key.fallback ? "; default: " : "", key.fallback ? key.fallback : ""),
                      COLUMN, COLUMN, width);
    }
}

/* One line a title: the names alone. */
static void print_names(struct arena *arena, struct buffer *out, const struct verb *verb,
                        size_t width)
{
    for (size_t g = 0; g < VERB_GROUPS && verb->groups[g]; g++) {
        struct buffer names = { .arena = arena };
        if (!title_first(verb, g))
            continue;
        for (size_t k = g; k < VERB_GROUPS && verb->groups[k]; k++)
            for (const struct option *option = verb->groups[k]->options;
                 !strcmp(verb->groups[k]->title, verb->groups[g]->title) && option->name; option++)
                buffer_print(&names, "%s--%s%s%s", names.size ? " " : "", option->name,
                             option->argument ? "=" : "", option->argument ? option->argument : "");
        buffer_print(out, "  %-18s ", verb->groups[g]->title);
        help_wrap(out, names.data, 21, 21, width);
    }
}

/* ---- verbs --------------------------------------------------------------------------------- */

static void print_head(struct buffer *out, const struct verb *verb, size_t width)
{
    buffer_print(out, "chalkline %s %s%s%s\n  ", verb->name, verb->words, verb->also ? "   also: " : "",
                 verb->also ? verb->also : "");
    help_wrap(out, verb->summary, 2, 2, width);
    buffer_print(out, "\n");
    for (size_t i = 0; i < VERB_EXAMPLES && verb->examples[i]; i++)
        print_example(out, 2, verb->examples[i], width);
}

void help_verb(struct arena *arena, struct buffer *out, const struct verb *verb, bool whole,
               size_t width)
{
    print_head(out, verb, width);
    if (!whole) {
        buffer_print(out, "\n");
        print_names(arena, out, verb, width);
        buffer_print(out, "\n`chalkline %s --help` says what each does.\n", verb->name);
        return;
    }
    print_groups(arena, out, formulas_built_in(FORMULAS_ALL), verb, width);
    print_keys(arena, out, verb, width);
    buffer_print(out, "\n");
    help_wrap(out, arena_print(arena, "Values carry units: 20ms, 8TB/s, 192GB, 2USD/h; options that set a row also take "
                                      "%sexpressions over rows.", verb->ranges ? "ranges 1..2, distributions normal(mean, deviation), "
                                      "lognormal(median, factor), uniform(low, high), and " : ""), 0, 0, width);
}

/* The table of verbs.def, with a line for each title; the others are cli_verbs() in their order. */
struct listed_verb {
    const char *title, *question, *example;
};
static const struct listed_verb places[] = {
#define GROUP(title) { title, NULL, NULL },
#define VERB(name, question, example) { NULL, question, example },
#define TOOL(name, question, example) { NULL, question, example },
#include "ask/verbs.def"
#undef VERB
};
enum { PLACES = sizeof places / sizeof *places };

void help_all(struct buffer *out, size_t width)
{
    help_wrap(out, "chalkline -- speed, memory, concurrency and cost of serving and training large language models", 0, 2,
              width);
    const struct verb *const *verb = cli_verbs();
    for (size_t i = 0; i < PLACES; i++) {
        if (places[i].title) {
            buffer_print(out, "\n%s\n", places[i].title);
            continue;
        }
        buffer_print(out, "  %-9s ", (*verb++)->name);
        help_wrap(out, places[i].question, 12, 12, width);
        print_example(out, 12, places[i].example, width);
    }
    buffer_print(out, "\n");
    help_wrap(out, "The examples work as they are, unless they name a file or a server of yours. `chalkline help VERB` "
                   "explains a verb and its options, `chalkline VERB -h` lists them. `--report FILE` writes an answer as "
                   "a document to share. `chalkline reference` has every row, `chalkline man | man -l -` shows the man page, `chalkline completion bash`, `zsh` or `fish` prints completions "
                   "for a shell.", 0, 0, width);
}

/* ---- man page ------------------------------------------------------------------------------ */

static void print_man_option(struct arena *arena, struct buffer *out, const struct formulas *formulas,
                             const struct option *option)
{
    const char *fallback = default_text(arena, formulas, option);
    const char *bare = option_bare(option);
    buffer_print(out, ".TP\n.B \\-\\-%s %s\n%s%s%s%s%s.\n", option->name,
                 option->argument ? option->argument : "", option->help, bare ? "; a bare number is in " : "",
                 bare ? bare : "", *fallback ? "; default: " : "", fallback);
}

static void print_man_keys(struct buffer *out, const struct verb *verb)
{
    struct option key;
    if (verb->key)
        buffer_print(out, ".PP\n%s\n", verb->key_title);
    for (size_t i = 0; verb->key && verb->key(i, &key); i++)
        buffer_print(out, ".TP\n.B %s=\n%s (%s%s%s).\n", key.name, key.help, key.argument,
                     key.fallback ? "; default: " : "", key.fallback ? key.fallback : "");
}

/* A question of the table of verbs, and the command that answers it, whose dashes are those of ASCII. */
static void print_man_examples(struct arena *arena, struct buffer *out)
{
    buffer_print(out, ".SH EXAMPLES\n");
    for (size_t i = 0; i < PLACES; i++) {
        struct buffer lines = { .arena = arena };
        if (places[i].title) {
            buffer_print(out, ".SS %s\n", places[i].title);
            continue;
        }
        print_example(&lines, 0, places[i].example, MAN_WIDTH);
        buffer_print(out, ".TP\n%s\n.nf\n", places[i].question);
        for (const char *at = lines.data; *at; at++)
            buffer_print(out, *at == '-' ? "\\-" : *at == '\\' ? "\\e" : "%c", *at);
        buffer_print(out, ".fi\n");
    }
}

static void man_print(struct arena *arena, struct buffer *out)
{
    buffer_print(out, ".TH CHALKLINE 1\n.SH NAME\nchalkline \\- speed, memory, concurrency and "
                 "cost of serving and training large language models\n"
                 ".SH SYNOPSIS\n.B chalkline\nMODEL \\-\\-on HARDWARE\n.br\n.B chalkline\n"
                 "VERB [WORDS] [OPTIONS]\n.SH VERBS\n");
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++) {
        const struct option *option;
        buffer_print(out, ".SS %s %s\n%s Example:\n.PP\n%s\n", (*verb)->name, (*verb)->words,
                     (*verb)->summary, (*verb)->examples[0]);
        for (struct option_at at = { 0 }; (option = verb_next_option(*verb, &at));)
            print_man_option(arena, out, formulas_built_in(FORMULAS_ALL), option);
        print_man_keys(out, *verb);
    }
    print_man_examples(arena, out);
    buffer_print(out, ".SH EXIT STATUS\n0 an answer, 1 nothing feasible, found or answered, 2 wrong usage or input.\n");
}

/* What the first words do that are no verbs; NULL: no such word. */
static const char *tool_explained(const char *name)
{
    static const char *const tools[][2] = {
        { "man", "`chalkline man` prints the man page as roff. `chalkline man | man -l -` shows it, and "
          "`chalkline man | nroff -man` where man does not take -l." },
        { "completion", "`chalkline completion bash`, `zsh` or `fish` prints completions for that shell, which "
          "`source <(chalkline completion bash)` loads." },
        { "reference", "`chalkline reference` prints every row: formula, unit, meaning and source. `chalkline reference "
          "openapi` describes every verb, option and answer for programs." },
        { "page", "`chalkline page -o FILE` writes the web page to a file, which a browser shows without a server." },
        { "help", "`chalkline help` lists the verbs, `chalkline help VERB` explains a verb and its options." } };
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (!strcmp(name, tools[i][0]))
            return tools[i][1];
    return NULL;
}

/* ---- words --------------------------------------------------------------------------------- */

static bool no_verb(struct arena *arena, const char *name, struct error *error)
{
    struct buffer all = { .arena = arena };
    const char **names = NULL;
    size_t count = 0, room = 0;
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++) {
        buffer_print(&all, "%s%s", all.size ? ", " : "", (*verb)->name);
        *(const char **)arena_push(arena, &names, &count, &room, sizeof *names) = (*verb)->name;
    }
    const char *near = name_nearest(name, names, count);
    error_set(error, "help: unknown command '%.60s'", name);
    if (meant_explain("command", name, error))
        return false;
    return near ? error_did_you_mean(error, near, arena_print(arena, " The commands are: %s", all.data))
                : error_expected(error, "one of: %s", all.data);
}

/* What stands after these would be ignored. */
static bool no_more(int count, char **words, int most, struct error *error)
{
    if (count - 1 <= most)
        return true;
    error_set(error, "%s: unexpected word '%.60s'", words[1], words[most + 1]);
    return error_expected(error, "chalkline %s%s%s", words[1], most > 1 ? " " : "",
                          most > 1 ? words[2] : "");
}

/* -h and --help beside other words: the verb among them, or all. */
static bool help_asked(int count, char **words, bool *whole, const struct verb **verb)
{
    bool asked = false;
    *verb = NULL;
    for (int i = 1; i < count && strcmp(words[i], "--"); i++) {
        if (!strcmp(words[i], "-h") || !strcmp(words[i], "--help")) {
            *whole = words[i][1] == '-';
            asked = true;
        } else if (!*verb) {
            *verb = verb_named(cli_verbs(), words[i]);
        }
    }
    return asked;
}

bool help_answers(struct arena *arena, int count, char **words, struct buffer *out,
                  struct error *error)
{
    const char *first = count > 1 ? words[1] : "help";
    const char *second = count > 2 ? words[2] : NULL;
    const struct verb *verb = second ? verb_named(cli_verbs(), second) : NULL;
    bool whole = true;
    const char *tool = second ? tool_explained(second) : NULL;
    if (!strcmp(first, "help") && count == 3 && tool) {
        help_wrap(out, tool, 0, 0, help_width());
    } else if (!strcmp(first, "help")) {
        if (!no_more(count, words, 2, error) || (second && !verb && !no_verb(arena, second, error)))
            return true;
        if (verb)
            help_verb(arena, out, verb, true, help_width());
        else
            help_all(out, help_width());
    } else if (help_asked(count, words, &whole, &verb)) {
        if (verb)
            help_verb(arena, out, verb, whole, help_width());
        else
            help_all(out, help_width());
    } else if (!strcmp(first, "completion")) {
        if (completion_print(out, second, error))
            no_more(count, words, 2, error);
    } else if (!strcmp(first, "--version") || !strcmp(first, "-V")) {
        if (no_more(count, words, 1, error))
            buffer_print(out, "chalkline %s\n", CHALKLINE_VERSION);
    } else if (!strcmp(first, "man")) {
        if (no_more(count, words, 1, error))
            man_print(arena, out);
    } else {
        return false;
    }
    return true;
}
