/* Completion for bash, zsh and fish: which option belongs to which verb, which words an option
 * takes. All three ask the program itself for names, so that they cannot drift from it. */
#include "cli/cli.h"

#include <string.h>

/* Where the names of an option's value come from: `chalkline list WHAT`; NULL: files. */
static const char *names_of(const char *option)
{
    return !strcmp(option, "model") || !strcmp(option, "own") ? "models"
           : !strcmp(option, "on") || !strcmp(option, "prefill-on") ? "hardware"
           : strstr(option, "precision") ? "formats" : NULL;
}

/* Where the words of a verb come from. */
static const char *words_of(const struct verb *verb)
{
    return strstr(verb->words, "MODEL") ? "models" : strstr(verb->words, "QUANTITY") ||
           strstr(verb->words, "INPUT") ? "rows" : NULL;
}

#define LIST "$(chalkline list %s --csv 2>/dev/null | tail -n +2 | cut -d, -f1)"

/* ---- bash ---------------------------------------------------------------------------------- */

static void bash_values(struct buffer *out, const struct verb *verb)
{
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));) {
        if (!option->choices && (option->kind == OPTION_SWITCH || !names_of(option->name)))
            continue;
        buffer_print(out, "        %s:--%s) values=\"", verb->name, option->name);
        for (size_t i = 0; option->choices && option->choices[i]; i++)
            buffer_print(out, "%s%s", i ? " " : "", option->choices[i]);
        if (!option->choices)
            buffer_print(out, LIST, names_of(option->name));
        buffer_print(out, "\";;\n");
    }
}

static void bash_options(struct buffer *out, const struct verb *verb)
{
    const struct option *option;
    buffer_print(out, "        %s) words=\"", verb->name);
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));)
        buffer_print(out, "--%s ", option->name);
    buffer_print(out, "\"");
    if (words_of(verb)) {
        buffer_print(out, "; names=\"");
        buffer_print(out, LIST, words_of(verb));
        buffer_print(out, "\"");
    }
    buffer_print(out, ";;\n");
}

static void print_bash(struct buffer *out)
{
    buffer_print(out, "# bash completion for chalkline\n_chalkline() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local verb=brief words= names= values= all=\"");
    for (const struct verb *const *verb = cli_verbs; *verb; verb++)
        buffer_print(out, "%s ", (*verb)->name);
    buffer_print(out, "help\"\n    local one\n"
                 "    for one in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                 "        [[ \" $all \" == *\" $one \"* ]] && { verb=$one; break; }\n    done\n"
                 "    case $verb:$before in\n");
    for (const struct verb *const *verb = cli_verbs; *verb; verb++)
        bash_values(out, *verb);
    buffer_print(out, "    esac\n    if [[ $values ]]; then\n"
                 "        COMPREPLY=($(compgen -W \"$values\" -f -- \"$word\")); return\n    fi\n"
                 "    case $verb in\n        help) words=$all;;\n");
    for (const struct verb *const *verb = cli_verbs; *verb; verb++)
        bash_options(out, *verb);
    buffer_print(out, "    esac\n    [[ $COMP_CWORD == 1 ]] && words=\"$all $words\"\n"
                 "    COMPREPLY=($(compgen -W \"$words $names\" -- \"$word\"))\n}\n"
                 "complete -o default -F _chalkline chalkline\n");
}

/* ---- zsh ----------------------------------------------------------------------------------- */

/* Within '...' of an _arguments spec: no quotes, brackets or colons. */
static void zsh_text(struct buffer *out, const char *text)
{
    for (; *text; text++)
        if (!strchr("[]:'", *text))
            buffer_add(out, text, 1);
}

static void zsh_option(struct buffer *out, const struct option *option)
{
    buffer_print(out, " \\\n            '%s--%s[", option->many ? "*" : "", option->name);
    zsh_text(out, option->help);
    buffer_print(out, "]");
    if (option->kind != OPTION_SWITCH) {
        buffer_print(out, ":");
        zsh_text(out, option->argument);
        buffer_print(out, ":");
        if (option->choices) {
            buffer_print(out, "(");
            for (size_t i = 0; option->choices[i]; i++)
                buffer_print(out, "%s%s", i ? " " : "", option->choices[i]);
            buffer_print(out, ")");
        } else if (names_of(option->name)) {
            buffer_print(out, "_chalkline_names %s", names_of(option->name));
        } else {
            buffer_print(out, "%s", option->kind == OPTION_FILE ? "_files" : " ");
        }
    }
    buffer_print(out, "'");
}

static void print_zsh(struct buffer *out)
{
    buffer_print(out, "#compdef chalkline\n# zsh completion for chalkline\n_chalkline_names() {\n"
                 "    compadd -- ${(f)\"$(chalkline list $1 --csv 2>/dev/null | tail -n +2 | cut -d, "
                 "-f1)\"}\n    _files\n}\n_chalkline() {\n    local verb=${words[2]}\n"
                 "    if (( CURRENT == 2 )); then\n        local -a verbs=(\n");
    for (const struct verb *const *verb = cli_verbs; *verb; verb++) {
        buffer_print(out, "            '%s:", (*verb)->name);
        zsh_text(out, (*verb)->summary);
        buffer_print(out, "'\n");
    }
    buffer_print(out, "        )\n        _describe verb verbs\n        _chalkline_names models\n"
                 "        return\n    fi\n    case $verb in\n");
    for (const struct verb *const *verb = cli_verbs; *verb; verb++) {
        const struct option *option;
        buffer_print(out, "        %s) _arguments", (*verb)->name);
        for (struct option_at at = { 0 }; (option = verb_next_option(*verb, &at));)
            zsh_option(out, option);
        if (words_of(*verb))
            buffer_print(out, " \\\n            '*: :_chalkline_names %s'", words_of(*verb));
        else
            buffer_print(out, " \\\n            '*: :_files'");
        buffer_print(out, ";;\n");
    }
    buffer_print(out, "    esac\n}\n_chalkline \"$@\"\n");
}

/* ---- fish ---------------------------------------------------------------------------------- */

static void fish_text(struct buffer *out, const char *text)
{
    for (; *text; text++)
        buffer_print(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void fish_option(struct buffer *out, const struct verb *verb, const struct option *option)
{
    buffer_print(out, "complete -c chalkline -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
                 option->name);
    if (option->kind == OPTION_FILE)
        buffer_print(out, " -r -F");
    else if (option->kind != OPTION_SWITCH)
        buffer_print(out, " -x");
    if (option->choices) {
        buffer_print(out, " -a '");
        for (size_t i = 0; option->choices[i]; i++)
            buffer_print(out, "%s%s", i ? " " : "", option->choices[i]);
        buffer_print(out, "'");
    } else if (option->kind != OPTION_SWITCH && names_of(option->name)) {
        buffer_print(out, " -a '(__chalkline_names %s)'", names_of(option->name));
    }
    buffer_print(out, " -d '");
    fish_text(out, option->help);
    buffer_print(out, "'\n");
}

static void print_fish(struct buffer *out)
{
    buffer_print(out, "# fish completion for chalkline\nfunction __chalkline_names\n"
                 "    chalkline list $argv[1] --csv 2>/dev/null | tail -n +2 | string split -f1 ,\n"
                 "end\n");
    for (const struct verb *const *verb = cli_verbs; *verb; verb++) {
        const struct option *option;
        buffer_print(out, "complete -c chalkline -n __fish_use_subcommand -a %s -d '", (*verb)->name);
        fish_text(out, (*verb)->summary);
        buffer_print(out, "'\n");
        if (words_of(*verb))
            buffer_print(out, "complete -c chalkline -n '__fish_seen_subcommand_from %s' -a "
                         "'(__chalkline_names %s)'\n", (*verb)->name, words_of(*verb));
        for (struct option_at at = { 0 }; (option = verb_next_option(*verb, &at));)
            fish_option(out, *verb, option);
    }
}

bool completion_print(struct buffer *out, const char *shell, struct error *error)
{
    static const struct { const char *name; void (*print)(struct buffer *out); } shells[] = {
        { "bash", print_bash }, { "zsh", print_zsh }, { "fish", print_fish } };
    for (size_t i = 0; shell && i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shell, shells[i].name)) {
            shells[i].print(out);
            return true;
        }
    error_set(error, "completion: %s%s%s", shell ? "not for '" : "no shell given",
              shell ? shell : "", shell ? "'" : "");
    return error_hint(error, "completion bash, zsh or fish");
}
