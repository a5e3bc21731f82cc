/* Help, completion, man page: written from ask.def and option.def. */
#include "cli/cli.h"

#include <string.h>

/* Of one verb, or all with NULL. */
static void print_options(struct buffer *out, const char *verb)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (verb && !option_fits(i, verb))
            continue;
        const char *argument = options[i].argument ? options[i].argument : "";
        buffer_print(out, "  --%s %s%*s%s\n", options[i].name, argument,
                     (int)(22 - strlen(options[i].name) - strlen(argument)), "", options[i].help);
    }
}

void help_print(struct buffer *out, const char *name)
{
    bool all = !name;
    if (all)
        buffer_print(out, "chalkline -- the lines nobody serving or training a large language "
                     "model can cross\n\n  chalkline MODEL --on HARDWARE   is the main job, "
                     "`brief`\n\n");
    for (const struct verb *verb = verbs; verb->name; verb++) {
        if (all)
            buffer_print(out, "  %-7s %s\n", verb->name, verb->summary);
        else if (!strcmp(verb->name, name))
            buffer_print(out, "chalkline %s %s\n  %s\n\n  %s\n", verb->name, verb->words,
                         verb->summary, verb->example);
    }
    buffer_print(out, "\n");
    print_options(out, name);
    buffer_print(out, "\nValues carry units: 20ms, 8TB/s, 192GB, 2USD/h; ranges 1..2; "
                 "distributions\nnormal(mean, deviation), lognormal(median, factor), "
                 "uniform(low, high).\n");
    if (all)
        buffer_print(out, "`chalkline help VERB`, `chalkline reference`, `chalkline man`, "
                     "`chalkline completion bash`.\n");
}

static void print_completion(struct buffer *out)
{
    buffer_print(out, "# bash completion for chalkline\n_chalkline() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    case $before in\n"
                 "    --on) COMPREPLY=($(compgen -W \"$(chalkline list hardware --csv | "
                 "cut -d, -f1)\" -- \"$word\")); return;;\n"
                 "    --model|brief|step) COMPREPLY=($(compgen -W \"$(chalkline list models "
                 "--csv | cut -d, -f1)\" -f -- \"$word\")); return;;\n"
                 "    why|eval|curve|solve) COMPREPLY=($(compgen -W \"$(chalkline list rows "
                 "--csv | cut -d, -f1)\" -- \"$word\")); return;;\n"
                 "    esac\n    COMPREPLY=($(compgen -W \"");
    for (const struct verb *verb = verbs; verb->name; verb++)
        buffer_print(out, "%s ", verb->name);
    for (int i = 0; i < OPTION_COUNT; i++)
        buffer_print(out, "--%s ", options[i].name);
    buffer_print(out, "\" -- \"$word\"))\n}\ncomplete -o default -F _chalkline chalkline\n");
}

static void print_man(struct buffer *out)
{
    buffer_print(out, ".TH CHALKLINE 1\n.SH NAME\nchalkline \\- how fast, how big, how many at "
                 "once, at what price: large language models on real machines\n"
                 ".SH SYNOPSIS\n.B chalkline\nMODEL \\-\\-on HARDWARE\n.br\n.B chalkline\n"
                 "VERB [WORDS] [OPTIONS]\n.SH VERBS\n");
    for (const struct verb *verb = verbs; verb->name; verb++)
        buffer_print(out, ".TP\n.B %s %s\n%s. Example: %s\n", verb->name, verb->words,
                     verb->summary, verb->example);
    buffer_print(out, ".SH OPTIONS\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        buffer_print(out, ".TP\n.B \\-\\-%s %s\n%s\n", options[i].name,
                     options[i].argument ? options[i].argument : "", options[i].help);
    buffer_print(out, ".SH EXIT STATUS\n0 an answer, 1 nothing feasible, 2 wrong usage or "
                 "input.\n");
}

static bool verb_known(struct arena *arena, const char *name, struct error *error)
{
    struct buffer all = { .arena = arena };
    for (const struct verb *verb = verbs; verb->name; verb++) {
        if (!strcmp(verb->name, name))
            return true;
        buffer_print(&all, "%s%s", all.size ? ", " : "", verb->name);
    }
    error_set(error, "help: no verb is called '%.60s'", name);
    return error_hint(error, "one of: %s", all.data);
}

/* What stands after these would be ignored. */
static bool no_more(int count, char **words, int most, struct error *error)
{
    if (count - 1 <= most)
        return true;
    error_set(error, "%s: '%.60s' means nothing here", words[1], words[most + 1]);
    return error_hint(error, "chalkline %s%s%s", words[1], most > 1 ? " " : "",
                      most > 1 ? words[2] : "");
}

static bool completion_known(const char *shell, struct error *error)
{
    if (shell && !strcmp(shell, "bash"))
        return true;
    error_set(error, "completion: %s%s%s", shell ? "not for '" : "no shell given",
              shell ? shell : "", shell ? "'" : "");
    return error_hint(error, "completion bash");
}

bool help_answers(struct arena *arena, int count, char **words, struct buffer *out,
                  struct error *error)
{
    const char *first = count > 1 ? words[1] : "help";
    const char *second = count > 2 ? words[2] : NULL;
    if (!strcmp(first, "help") || (count == 2 && !strcmp(first, "--help"))) {
        if (no_more(count, words, 2, error) && (!second || verb_known(arena, second, error)))
            help_print(out, second);
    } else if (!strcmp(first, "completion")) {
        if (completion_known(second, error) && no_more(count, words, 2, error))
            print_completion(out);
    } else if (!strcmp(first, "--version")) {
        if (no_more(count, words, 1, error))
            buffer_print(out, "chalkline %s\n", CHALKLINE_VERSION);
    } else if (!strcmp(first, "man")) {
        if (no_more(count, words, 1, error))
            print_man(out);
    } else {
        return false;
    }
    return true;
}
