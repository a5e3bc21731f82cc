/* A report: an answer with its figures and its picture, as a document of its own. */
#include "base/embedded.h"
#include "report/document.h"
#include "serve/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef CHALKLINE_COMMIT
#define CHALKLINE_COMMIT ""
#endif

/* The file beside the verb that ends in "/step.report": those that have the option have one. */
static const char *path_of(struct arena *arena, const struct verb *verb)
{
    const char *name = arena_print(arena, "/%s.report", verb->name);
    const struct embedded *file = embedded_data;
    while (!ends_with(file->path, name))
        file++;
    return file->path;
}

/* The word as a shell takes it. */
static void add_word(struct buffer *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        buffer_print(out, " %s", word);
        return;
    }
    buffer_print(out, " '");
    for (; *word; word++)
        buffer_print(out, *word == '\'' ? "'\\''" : "%c", *word);
    buffer_print(out, "'");
}

static const char *command_of(struct arena *arena, char **words)
{
    struct buffer out = { .arena = arena };
    buffer_print(&out, "chalkline");
    while (*++words)
        add_word(&out, *words);
    return out.data;
}

/* The words without --report FILE, --report=FILE and --report-page; their number. */
static int question_of(struct arena *arena, char **words, char ***question)
{
    int count = 0;
    bool words_only = false;
    while (words[count])
        count++;
    char **kept = *question = arena_array(arena, (size_t)count + 1, sizeof *kept);
    for (; *words; words++) {
        words_only |= !strcmp(*words, "--");
        if (words_only || !starts_with(*words, "--report"))
            *kept++ = *words;
        else
            words += !strcmp(*words, "--report");
    }
    *kept = NULL;
    return (int)(kept - *question);
}

/* Today, or the day of SOURCE_DATE_EPOCH for reports that are compared. A page has no environment. */
static const char *date_of(struct arena *arena)
{
#ifdef __wasm__
    const char *given = NULL;
#else
    const char *given = getenv("SOURCE_DATE_EPOCH");
#endif
    const time_t now = given ? (time_t)strtoll(given, NULL, 10) : time(NULL);
    struct tm day;
    if (!gmtime_r(&now, &day))
        return "";
    return arena_print(arena, "%d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

bool report_html(struct arena *arena, const struct command *command, char **words, const struct answer *answer,
                 const char *live, struct buffer *html, struct error *error)
{
    struct document document = { .live = live, .date = date_of(arena), .picture = answer->picture,
        .command = command_of(arena, words),
        .version = *CHALKLINE_COMMIT ? CHALKLINE_VERSION " (" CHALKLINE_COMMIT ")" : CHALKLINE_VERSION };
    struct document_template templates;
    if (!answer->section) {
        error_set(error, "--report: '%s' was asked for several answers", command->verb->name);
        return error_expected(error, "a question with one answer: no --sweep, --emit or the like");
    }
    document_built_in(arena, path_of(arena, command->verb), &templates);
    document_fill(arena, &templates, answer->section, &document);
    document_html(&document, html);
    return true;
}

bool report_write(struct arena *arena, const struct command *command, char **words, const struct answer *answer,
                  struct error *error)
{
    struct buffer html = { .arena = arena };
    const char *live = NULL;
    const int count = question_of(arena, words, &words);
    return (!command_given(command, "report-page") || report_live(arena, embedded_page, count, words, &live, error)) &&
           report_html(arena, command, words, answer, live, &html, error) &&
           file_write(arena, "--report", command_text(command, "report"), (struct text){ html.data, html.size }, error);
}
