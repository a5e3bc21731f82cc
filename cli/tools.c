/* What the command line does with questions: write one as a report. */
#include "base/embedded.h"
#include "cli/cli.h"
#include "serve/web.h"

#include <stdio.h>
#include <string.h>

bool tool_misplaced(const struct command *command, struct error *error)
{
    error_set(error, "'%s' must be the first word", command->verb->name);
    return error_expected(error, "%s", command->verb->examples[0]);
}

/* ---- report -------------------------------------------------------------------------------- */

/* Takes --output FILE, --output=FILE or -o FILE out of the words. */
static bool take_output(int *count, char **words, const char **path, struct error *error)
{
    static const char name[] = "--output";
    const size_t size = sizeof name - 1;
    int kept = 0;
    *path = NULL;
    for (int i = 0; i < *count; i++) {
        bool whole = !strcmp(words[i], name) || !strcmp(words[i], "-o");
        bool joined = !strncmp(words[i], name, size) && words[i][size] == '=';
        if (!whole && !joined) {
            words[kept++] = words[i];
        } else if (*path || (whole && i + 1 == *count)) {
            error_set(error, *path ? "--output is set twice" : "--output needs a value");
            return error_expected(error, "--output FILE, once");
        } else {
            *path = joined ? words[i] + size + 1 : words[++i];
        }
    }
    *count = kept;
    if (*path)
        return true;
    error_set(error, "report needs a file to write");
    return error_expected(error, "%s", verb_report.examples[0]);
}

/* Takes --page out of the words. */
static bool take_page(int *count, char **words)
{
    int kept = 0, taken = 0;
    for (int i = 0; i < *count; i++)
        if (strcmp(words[i], "--page"))
            words[kept++] = words[i];
        else
            taken++;
    *count = kept;
    return taken > 0;
}

static bool make_report(struct arena *arena, int count, char **words, struct buffer *out,
                        struct error *error)
{
    struct buffer html = { .arena = arena };
    const bool page = take_page(&count, words);
    const char *path, *live = NULL;
    if (!take_output(&count, words, &path, error) ||
        (page && !report_live(arena, embedded_page, count, words, &live, error)) ||
        !report_html(arena, count, words, live, &html, error) || !file_write(arena, "--output", path, (struct text){ html.data, html.size }, error))
        return false;
    buffer_print(out, "%s: %zu kB\n", path, html.size / 1000);
    return true;
}

bool report_answers(struct arena *arena, int count, char **words, struct buffer *out,
                    struct error *error)
{
    if (count < 2 || strcmp(words[1], "report"))
        return false;
    for (int i = 2; i < count; i++)
        if (!strcmp(words[i], "--help"))
            return false;
    make_report(arena, count - 1, words + 1, out, error);   /* `report` in the program's place */
    return true;
}

static const struct option report_list[] = {
    { "output", "FILE", OPTION_FILE, .letter = 'o', .help = "the file to write" },
    { "page", NULL, OPTION_SWITCH, .help = "bring the live page along, behind a link in the foot" },
    { 0 } };
static const struct option_group report_options = { "Report", report_list };

const struct verb verb_report = {
    "report", "VERB WORDS...", "Write an answer as a document: one HTML file, which prints to A4.",
    { "chalkline report step deepseek-v3 --on gb200-nvl72 --output report.html",
      "chalkline report plan qwen3-32b --on h200-sxm --gpus 32 -o plan.html" },
    { &report_options, &output_options }, .ask = NULL };
