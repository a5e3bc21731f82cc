/* Reports: each of the twelve has all of its parts, its numbers are those of the JSON, its picture holds to
 * the rules of pictures, and it is the same for the same words. */
#include "svg.h"

#include "ask/ask.h"
#include "report/document.h"
#include "serve/web.h"

#include <unistd.h>

enum { WORDS_MOST = 24, PATHS_MOST = 3 };

/* A question, and paths of numbers of its JSON that its sentence has to tell, each with its unit and
 * digits. */
static const struct {
    const char *line;
    struct { const char *path, *unit; int digits; } tells[PATHS_MOST];
} reports[] = {
    { "brief deepseek-v3 --on gb200-nvl72", { { "lecture/bound_step", "s", 3 },
                                              { "lecture/batch", "1", 9 } } },
    { "step deepseek-v3 --on gb200-nvl72", { { "bound_step", "s", 3 }, { "predicted_tpot", "s", 3 } } },
    { "why bound_step --model deepseek-v3 --on gb200-nvl72", { { "terms/0/term", "s", 3 } } },
    { "curve bound_step batch=1..4096 --model deepseek-v3 --on gb200-nvl72",
      { { "bound_step/values/0", "s", 5 }, { "bound_step/values/-1", "s", 5 } } },
    { "plan qwen3-32b --on h200-sxm --gpus 8", { { "best/speed_per_user", "", 0 },
                                                 { "best/per_gpu", "", 0 } } },
    { "simulate poisson:rate=2,count=500 --model qwen3-32b --on h200-sxm --ttft 1s --tpot 30ms",
      { { "ttft/p50", "s", 3 }, { "ttft/p99", "s", 3 }, { "tpot/p99", "s", 3 } } },
    { "train llama-3.3-70b --on h100-sxm --gpus 64", { { "best/train_mfu", "%", 1 } } },
    { "deduce prices --model claude-opus-4-7", { { NULL, NULL, 0 } } },
    { "tiers deepseek-v3 --on gb200-nvl72", { { "path/0/until", "s", 3 }, { "path/1/until", "s", 3 } } },
    { "bill agent", { { NULL, NULL, 0 } } },
    { "life llama-3.1-8b", { { "overtraining", "1", 3 } } },
    { "check", { { "total/median", "%", 1 }, { "total/p90", "%", 1 } } },
};

static int split(struct arena *arena, const char *line, char **words)
{
    char *rest = arena_print(arena, "chalkline %s", line);
    int count = 0;
    for (char *word; (word = strsep(&rest, " "));)
        words[count++] = word;
    words[count] = NULL;
    return count;
}

/* Write the report that a question asks for. */
static bool writes(struct arena *arena, const char *line, struct error *error)
{
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    char *words[WORDS_MOST];
    const int count = split(arena, line, words);
    return command_read(arena, count, words, &command, error) && command_answer(arena, &command, &answer, error) &&
           report_write(arena, &command, words, &answer, error);
}

static const char *made(struct arena *arena, const char *line)
{
    char path[] = "/tmp/report_test.XXXXXX";
    struct text html;
    struct error error;
    const int file = mkstemp(path);
    if (file < 0 || !writes(arena, arena_print(arena, "--report %s %s", path, line), &error) ||
        !file_read(arena, path, 1 << 20, &html, &error))
        fail_msg("%s: %s; %s", line, error.what, error.hint);
    close(file);
    unlink(path);
    return html.data;
}

/* What stands between two texts. */
static const char *between(struct arena *arena, const char *html, const char *from, const char *to)
{
    const char *begin = strstr(html, from), *end = begin ? strstr(begin, to) : NULL;
    return end ? arena_copy(arena, begin + strlen(from), (size_t)(end - begin) - strlen(from)) : NULL;
}

static const char *without_tags(struct arena *arena, const char *html)
{
    struct buffer out = { .arena = arena };
    bool inside = false;
    for (; *html; html++) {
        inside = *html == '<' || (inside && *html != '>');
        if (!inside && *html != '>')
            buffer_add(&out, html, 1);
    }
    return out.data;
}

static size_t times(const char *html, const char *word)
{
    size_t count = 0;
    for (; (html = strstr(html, word)); html++)
        count++;
    return count;
}

static void has_its_parts(struct arena *arena, const char *line, const char *html)
{
    const char *title = between(arena, html, "<title>", "</title>"),
        *h1 = between(arena, html, "<h1>", "</h1>");
    const char *question = between(arena, html, "<p class=\"question\">", "</p>");
    const char *picture = between(arena, html, "<figure>\n", "</figure>");
    const char *first = between(arena, html, "<div class=\"wide\"><table>", "</table>");
    const char *command = between(arena, html, "<pre><span class=\"n\">chalkline</span> ", "</pre>");
    if (!title || !h1 || !question || !picture || !first || !command)
        fail_msg("%s: without%s%s%s%s%s%s", line, title ? "" : " title", h1 ? "" : " answer",
                 question ? "" : " question",
                 picture ? "" : " picture", first ? "" : " table", command ? "" : " command");
    assert_string_equal(title, h1);
    assert_true(question[strlen(question) - 1] == '?' && strlen(h1) > 20 && strlen(h1) < 260);
    assert_true(h1[0] >= 'A' || (h1[0] >= '0' && h1[0] <= '9'));
    assert_true(strchr(".?", h1[strlen(h1) - 1]) != NULL);
    const size_t rows = times(first, "<tr>"), heads = times(first, "<th");
    if (rows < 2 || rows > 15 || !heads)
        fail_msg("%s: a table of %zu rows", line, rows);
    assert_string_equal(without_tags(arena, command), line);
    assert_non_null(strstr(html, "What it rests on"));
    assert_non_null(strstr(html, "How sure"));
    assert_non_null(strstr(html, "With chalkline " CHALKLINE_VERSION));
    assert_non_null(strstr(html, "counter(pages)"));
    static const char *const never[] = { "<script", "http-equiv", "NaN", ">nan", "undefined", "unknown ",
                                         " ,", " ;" };
    for (size_t i = 0; i < COUNT(never); i++) {
        const char *found = strstr(strstr(html, "<main>"), never[i]);
        if (found)
            fail_msg("%s: has '%s': %.60s", line, never[i], found);
    }
    assert_null(strchr(h1, '['));
    assert_null(strchr(h1, '{'));
    assert_true(strlen(html) < 150000);
}

static void holds_to_the_rules(struct arena *arena, const char *line, const char *html)
{
    static struct seen seen;
    const char *svg = strstr(between(arena, html, "<figure>\n", "</figure>"), "<svg");
    see(svg, &seen);
    check_texts(&seen, line);
    assert_true(seen.frame_count > 0 && seen.width == 567);
    for (size_t i = 0; i < seen.frame_count; i++)
        check_frame(&seen, &seen.frames[i], strstr(line, "tiers") != NULL, line);
}

static const struct doc *at_path(const struct doc *doc, const char *path)
{
    char copy[100], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key; doc && (key = strsep(&rest, "/"));) {
        if (doc->kind == DOC_OBJECT) {
            doc = doc_get(doc, key);
            continue;
        }
        long index = strtol(key, NULL, 10);
        const struct doc *kid = index < 0 ? doc->last : doc->first;
        for (; index > 0 && kid; index--)
            kid = kid->next;
        doc = kid;
    }
    return doc;
}

static const char *written(struct arena *arena, double value, const char *unit, int digits)
{
    struct unit dimension;
    struct error error;
    double scale;
    if (!strcmp(unit, "%"))
        return arena_print(arena, "%.*f", digits, 100 * value);
    if (!*unit)
        return arena_print(arena, "%s", count_text(arena, floor(value + 0.5), 9));
    assert_true(unit_parse(text_of(unit), &dimension, &scale, &error));
    return quantity_text(arena, value, dimension, digits);
}

static void tells_the_numbers(struct arena *arena, size_t index, const char *html)
{
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct error error;
    char *words[WORDS_MOST];
    const int count = split(arena, reports[index].line, words);
    const char *h1 = between(arena, html, "<h1>", "</h1>");
    if (!command_read(arena, count, words, &command, &error) ||
        !command_answer(arena, &command, &answer, &error))
        fail_msg("%s", error.what);
    for (size_t i = 0; i < PATHS_MOST && reports[index].tells[i].path; i++) {
        const struct doc *number = at_path(answer.doc, reports[index].tells[i].path);
        if (!number || number->kind != DOC_NUMBER)
            fail_msg("%s: no number %s", reports[index].line, reports[index].tells[i].path);
        const char *text = written(arena, number->number, reports[index].tells[i].unit,
                                   reports[index].tells[i].digits);
        if (!strstr(h1, text))
            fail_msg("%s: %s is %s; the answer is: %s", reports[index].line, reports[index].tells[i].path,
                     text, h1);
    }
}

static void all_reports(void **state)
{
    (void)state;
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    for (size_t i = 0; i < COUNT(reports); i++) {
        struct arena arena = { 0 };
        const char *html = made(&arena, reports[i].line);
        has_its_parts(&arena, reports[i].line, html);
        holds_to_the_rules(&arena, reports[i].line, html);
        tells_the_numbers(&arena, i, html);
        assert_non_null(strstr(html, "on 2023-11-14."));
        arena_free(&arena);
    }
}

/* A verb has the option where it has a report, and each of these is above. */
static void verbs_with_reports(void **state)
{
    (void)state;
    for (const struct verb *const *verb = verbs; *verb; verb++) {
        const size_t size = strlen((*verb)->name);
        size_t found = 0;
        for (size_t i = 0; i < COUNT(reports); i++)
            found += !strncmp(reports[i].line, (*verb)->name, size) && strchr(" ", reports[i].line[size]);
        if (found != (verb_option(*verb, "report") != NULL))
            fail_msg("%s: %zu reports", (*verb)->name, found);
    }
}

static void same_words_same_bytes(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    const char *first = made(&arena, reports[1].line), *second = made(&arena, reports[1].line);
    assert_string_equal(first, second);
    arena_free(&arena);
}

/* Where nothing fits the answer says so, in words. */
static void nothing_is_an_answer(void **state)
{
    (void)state;
    static const struct { const char *line, *says; } cases[] = {
        { "plan deepseek-v3 --on h100-sxm --gpus 1", "None" },
        { "train llama-3.1-405b --on h100-sxm --gpus 8", "No layout" },
        { "step deepseek-v3 --on h100-sxm --gpus 8 --batch 4096", "It does not fit" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        const char *h1 = between(&arena, made(&arena, cases[i].line), "<h1>", "</h1>");
        if (strncmp(h1, cases[i].says, strlen(cases[i].says)))
            fail_msg("%s: %s", cases[i].line, h1);
        arena_free(&arena);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const struct { const char *line, *what, *hint; } cases[] = {
        { "eval bound_step --report made.html", "not an option of eval", "an option of: brief, step, curve" },
        { "train llama-3.3-70b --on h100-sxm --sweep training_chips=64..128 --report=made.html", "several answers",
          "one answer" },
        { "step deepseek-v9 --on gb200-nvl72 --report made.html", "deepseek-v9", "" },
        { "step deepseek-v3 --on gb200-nvl72 --report /nowhere/made.html", "--report: /nowhere/made.html", "written" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct error error = { .what = "" };
        if (writes(&arena, cases[i].line, &error))
            fail_msg("%s: made", cases[i].line);
        if (!strstr(error.what, cases[i].what) || !strstr(error.hint, cases[i].hint))
            fail_msg("%s: %s; %s", cases[i].line, error.what, error.hint);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_reports),
        cmocka_unit_test(verbs_with_reports),
        cmocka_unit_test(same_words_same_bytes),
        cmocka_unit_test(nothing_is_an_answer),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
