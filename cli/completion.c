/* Completion for bash, zsh and fish: which option belongs to which verb, which words an option
 * takes. All three ask the program itself for names, so that they cannot drift from it.
 *
 * Each script looks for the verb as command_read does: options may stand before it, the value of an
 * option is no verb, and a first word that is none means `brief`. */
#include "cli/cli.h"

#include <string.h>

/* What the first word may be beside a verb, and what follows `completion`. */
#define ALONE "help completion man reference page"
#define SHELLS "bash zsh fish"
/* The names of a list of the program, a line each. */
#define LIST(what) "chalkline list " what " --csv 2>/dev/null | tail -n +2 | cut -d, -f1"

/* Where the names of an option's value come from: `chalkline list WHAT`; NULL: no list has them.
 * Where a price list has the models, `--model` is another option. */
static const char *names_of(const struct option *option)
{
    const char *name = option->name;
    return option == model_options.options || !strcmp(name, "own") ? "models"
           : !strcmp(name, "on") || !strcmp(name, "prefill-on") ? "hardware"
           : !strcmp(name, "tier") ? "tiers" : strstr(name, "precision") ? "formats" : NULL;
}

/* NAME=VALUE of a row. */
static bool takes_row(const struct option *option)
{
    return !strcmp(option->name, "set");
}

static bool takes_number(const struct option *option)
{
    return option->kind == OPTION_COUNT || option->kind == OPTION_QUANTITY ||
           option->kind == OPTION_ROW;
}

/* Where the words of a verb come from; NULL: they are files. */
static const char *words_of(const struct verb *verb)
{
    return strstr(verb->words, "MODEL") ? "models" : strstr(verb->words, "QUANTITY") ||
           strstr(verb->words, "INPUT") ? "rows"
           : !strcmp(verb->words, "NAME") ? "models hardware tiers rows" : NULL;
}

/* "models | hardware": the words are these. */
static bool is_choice(const struct verb *verb)
{
    return *verb->words && !strpbrk(verb->words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static void print_words(struct buffer *out, const struct verb *verb)
{
    for (const char *at = verb->words; *at; at++)
        if (*at != '|')
            buffer_add(out, at, 1);
}

static void print_choices(struct buffer *out, const struct option *option)
{
    for (size_t i = 0; option->choices[i]; i++)
        buffer_print(out, "%s%s", i ? " " : "", option->choices[i]);
}

static void print_verbs(struct buffer *out)
{
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++)
        buffer_print(out, "%s ", (*verb)->name);
    buffer_print(out, ALONE);
}

/* "--json -h": by name and letter; as switches do in every verb, those here take no value. */
static void print_options(struct buffer *out, const struct verb *verb, bool switches)
{
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));) {
        if (switches && option->kind != OPTION_SWITCH)
            continue;
        buffer_print(out, "--%s ", option->name);
        if (option->letter)
            buffer_print(out, "-%c ", option->letter);
    }
}

static void print_switches(struct buffer *out)
{
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++)
        print_options(out, *verb, true);
}

/* ---- bash ---------------------------------------------------------------------------------- */

/* What the value of an option may be; without a line here a file. */
static void bash_values(struct buffer *out, const struct verb *verb)
{
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));) {
        const char *names = names_of(option);
        if (!takes_number(option) && !takes_row(option) && !option->choices && !names)
            continue;
        buffer_print(out, "            %s:--%s) ", verb->name, option->name);
        if (option->choices) {
            buffer_print(out, "values=\"");
            print_choices(out, option);
            buffer_print(out, "\" files=");
        } else if (takes_row(option)) {
            buffer_print(out, "values=\"$(_chalkline_names rows | sed 's/$/=/')\" files=; "
                         "compopt -o nospace");
        } else if (names) {
            buffer_print(out, "values=\"$(_chalkline_names %s)\"", names);
        } else {
            buffer_print(out, "files=");
        }
        buffer_print(out, ";;\n");
    }
}

static void bash_verb(struct buffer *out, const struct verb *verb)
{
    buffer_print(out, "        %s) options=\"", verb->name);
    print_options(out, verb, false);
    buffer_print(out, "\"");
    if (words_of(verb))
        buffer_print(out, "; names=\"%s\"", words_of(verb));
    if (is_choice(verb)) {
        buffer_print(out, "; values=\"");
        print_words(out, verb);
        buffer_print(out, "\"");
    }
    buffer_print(out, ";;\n");
}

/* bash parts words at each = too: --name = value. */
static void print_bash(struct buffer *out)
{
    buffer_print(out, "# bash completion for chalkline\n_chalkline_names() {\n    local what\n"
                 "    for what; do " LIST("$what") "; done\n}\n_chalkline() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local verb= options= names= values= files=yes one i\n    local known=\" ");
    print_verbs(out);
    buffer_print(out, " \"\n    local switches=\" ");
    print_switches(out);
    buffer_print(out, "\"\n    if [[ $word == \"=\" || $before == \"=\" ]]; then\n"
                 "        [[ $word == \"=\" ]] && word= || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "        [[ $before == -* ]] || { compopt +o default; return; }\n    fi\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n        one=${COMP_WORDS[i]}\n"
                 "        case $one in\n            =) ((i++));;\n"
                 "            -*) [[ ${COMP_WORDS[i+1]} == \"=\" || $switches == *\" $one \"* ]] || ((i++));;\n"
                 "            *) [[ $known == *\" $one \"* ]] && verb=$one || verb=brief; break;;\n"
                 "        esac\n    done\n"
                 "    if [[ $before == -?* && $switches != *\" $before \"* ]]; then\n"
                 "        case ${verb:-brief}:$before in\n");
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++)
        bash_values(out, *verb);
    buffer_print(out, "        esac\n        [[ $files ]] || compopt +o default\n"
                 "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n        return\n    fi\n"
                 "    case ${verb:-brief} in\n        help) values=$known;;\n"
                 "        completion) values=\"" SHELLS "\";;\n        man|reference|page) compopt +o default;;\n");
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++)
        bash_verb(out, *verb);
    buffer_print(out, "    esac\n    if [[ $word == -* ]]; then\n        values=$options\n"
                 "    elif [[ ! $verb ]]; then\n        values=\"$known $(_chalkline_names models)\"\n"
                 "    elif [[ $names ]]; then\n        values=$(_chalkline_names $names)\n    fi\n"
                 "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n}\n"
                 "complete -o default -F _chalkline chalkline\n");
}

/* ---- zsh ----------------------------------------------------------------------------------- */

/* Within '...', of a list of _describe or of an option of _arguments. */
static void zsh_text(struct buffer *out, const char *text)
{
    for (; *text; text++)
        buffer_print(out, *text == '\'' ? "'\\'%c" : strchr("[]:", *text) ? "\\%c" : "%c", *text);
}

/* "letter" or "--name=", which takes its value as the next word too. */
static void zsh_option(struct buffer *out, const struct option *option, char letter)
{
    buffer_print(out, " \\\n            '%s", option->many ? "*" : "");
    if (letter)
        buffer_print(out, "-%c", letter);
    else
        buffer_print(out, "--%s%s", option->name, option->kind == OPTION_SWITCH ? "" : "=");
    buffer_print(out, "[");
    zsh_text(out, option->help);
    buffer_print(out, "]");
    if (option->kind != OPTION_SWITCH) {
        buffer_print(out, ":");
        zsh_text(out, option->argument);
        buffer_print(out, ":");
        if (option->choices) {
            buffer_print(out, "(");
            print_choices(out, option);
            buffer_print(out, ")");
        } else if (takes_row(option)) {
            buffer_print(out, " _chalkline_rows");
        } else if (names_of(option)) {
            buffer_print(out, " _chalkline_names %s", names_of(option));
        } else {
            buffer_print(out, "%s", takes_number(option) ? " " : "_files");
        }
    }
    buffer_print(out, "'");
}

static void zsh_options(struct buffer *out, const struct verb *verb)
{
    const struct option *option;
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));) {
        zsh_option(out, option, 0);
        if (option->letter)
            zsh_option(out, option, option->letter);
    }
}

static void zsh_verb(struct buffer *out, const struct verb *verb)
{
    buffer_print(out, "        %s) _arguments", verb->name);
    zsh_options(out, verb);
    buffer_print(out, " \\\n            '*: :");
    if (is_choice(verb)) {
        buffer_print(out, "(");
        print_words(out, verb);
        buffer_print(out, ")");
    } else if (words_of(verb)) {
        buffer_print(out, " _chalkline_names %s", words_of(verb));
    } else {
        buffer_print(out, "_files");
    }
    buffer_print(out, "';;\n");
}

static void print_zsh(struct buffer *out)
{
    buffer_print(out, "#compdef chalkline\n# zsh completion for chalkline\n_chalkline_names() {\n"
                 "    local what\n    for what; do compadd -- ${(f)\"$(" LIST("$what") ")\"}; done\n"
                 "    _files\n}\n_chalkline_rows() {\n"
                 "    compset -P '*=' || compadd -S = -- ${(f)\"$(" LIST("rows") ")\"}\n}\n"
                 "_chalkline() {\n    local verb= one i\n    local -a known=(");
    print_verbs(out);
    buffer_print(out, ") switches=(");
    print_switches(out);
    buffer_print(out, ")\n    for ((i = 2; i < CURRENT; i++)); do\n        one=$words[i]\n"
                 "        case $one in\n            --*=*) ;;\n"
                 "            -*) (( $switches[(Ie)$one] )) || ((i++));;\n"
                 "            *) verb=brief; (( $known[(Ie)$one] )) && verb=$one; break;;\n"
                 "        esac\n    done\n    if [[ ! $verb && $words[CURRENT] != -* ]] && ((i <= CURRENT)); then\n"
                 "        local -a verbs=(\n");
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++) {
        buffer_print(out, "            '%s:", (*verb)->name);
        zsh_text(out, (*verb)->summary);
        buffer_print(out, "'\n");
    }
    buffer_print(out, "        )\n        _describe verb verbs\n"
                 "        compadd -- " ALONE "\n        _chalkline_names models\n"
                 "        return\n    fi\n    case ${verb:-brief} in\n"
                 "        help) compadd -- $known;;\n        completion) compadd -- " SHELLS ";;\n"
                 "        man|reference|page) ;;\n");
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++)
        zsh_verb(out, *verb);
    /* From a folder of fpath it is the function's first call; by `source` nothing is completed yet. */
    buffer_print(out, "    esac\n}\nif [[ $funcstack[1] == _chalkline ]]; then\n    _chalkline \"$@\"\n"
                 "else\n    compdef _chalkline chalkline\nfi\n");
}

/* ---- fish ---------------------------------------------------------------------------------- */

static void fish_text(struct buffer *out, const char *text)
{
    for (; *text; text++)
        buffer_print(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void fish_option(struct buffer *out, const struct verb *verb, const struct option *option)
{
    buffer_print(out, "complete -c chalkline -n '__chalkline_is %s' -l %s", verb->name, option->name);
    if (option->letter)
        buffer_print(out, " -s %c", option->letter);
    if (option->kind != OPTION_SWITCH)
        buffer_print(out, takes_number(option) || option->choices || takes_row(option) ? " -x"
                                                                                       : " -r -F");
    if (option->choices) {
        buffer_print(out, " -a '");
        print_choices(out, option);
        buffer_print(out, "'");
    } else if (takes_row(option)) {
        buffer_print(out, " -a '(__chalkline_names rows)='");
    } else if (names_of(option)) {
        buffer_print(out, " -a '(__chalkline_names %s)'", names_of(option));
    }
    buffer_print(out, " -d '");
    fish_text(out, option->help);
    buffer_print(out, "'\n");
}

/* A verb's words and options. */
static void fish_verb(struct buffer *out, const struct verb *verb)
{
    const struct option *option;
    buffer_print(out, "complete -c chalkline -n '__chalkline_is new' -f -a %s -d '", verb->name);
    fish_text(out, verb->summary);
    buffer_print(out, "'\n");
    if (is_choice(verb)) {
        buffer_print(out, "complete -c chalkline -n '__chalkline_is %s' -f -a '", verb->name);
        print_words(out, verb);
        buffer_print(out, "'\n");
    } else if (words_of(verb)) {
        buffer_print(out, "complete -c chalkline -n '__chalkline_is %s' -a '(__chalkline_names %s)'\n",
                     verb->name, words_of(verb));
    }
    for (struct option_at at = { 0 }; (option = verb_next_option(verb, &at));)
        fish_option(out, verb, option);
}

/* __chalkline_is VERB...: is it one of these? `new`: there is none yet, and the options are those of `brief`. */
static void print_fish(struct buffer *out)
{
    buffer_print(out, "# fish completion for chalkline\nfunction __chalkline_names\n"
                 "    for what in $argv\n        " LIST("$what") "\n    end\nend\n"
                 "function __chalkline_is\n    set -l known ");
    print_verbs(out);
    buffer_print(out, "\n    set -l switches ");
    print_switches(out);
    buffer_print(out, "\n    set -l words (commandline -opc)\n    set -l verb new\n    set -l value no\n"
                 "    for one in $words[2..-1]\n        if test $value = yes\n"
                 "            set value no\n            continue\n        end\n"
                 "        switch $one\n            case '--*=*'\n            case '-*'\n"
                 "                contains -- $one $switches; or set value yes\n"
                 "            case '*'\n"
                 "                set verb brief\n"
                 "                contains -- $one $known; and set verb $one\n"
                 "                break\n        end\n    end\n"
                 "    contains $verb $argv; and return 0\n"
                 "    contains $verb new; and contains brief $argv\nend\n"
                 "complete -c chalkline -n '__chalkline_is new' -a '" ALONE " (__chalkline_names models)'\n"
                 "complete -c chalkline -n '__chalkline_is help' -f -a '");
    print_verbs(out);
    buffer_print(out, "'\ncomplete -c chalkline -n '__chalkline_is completion' -f -a '" SHELLS "'\n"
                 "complete -c chalkline -n '__chalkline_is man reference page' -f\n");
    for (const struct verb *const *verb = cli_verbs(); *verb; verb++)
        fish_verb(out, *verb);
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
    error_set(error, "completion: %s%s%s", shell ? "unknown shell '" : "no shell given",
              shell ? shell : "", shell ? "'" : "");
    return error_expected(error, "`chalkline completion bash`, `zsh` or `fish`");
}
