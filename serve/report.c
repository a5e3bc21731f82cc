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

/* The file beside the verb that ends in "/step.report"; NULL: the verb has none. */
static const char *path_of(struct arena *arena, const struct verb *verb)
{
    const char *name = arena_print(arena, "/%s.report", verb->name);
    for (const struct embedded *file = embedded_data; file->path; file++)
        if (ends_with(file->path, name))
            return file->path;
    return NULL;
}

static bool no_report(struct arena *arena, const struct verb *verb, struct error *error)
{
    struct buffer all = { .arena = arena };
    for (const struct verb *const *one = verbs; *one; one++)
        if (path_of(arena, *one))
            buffer_print(&all, "%s%s", all.size ? ", " : "", (*one)->name);
    error_set(error, "report: '%s' has none", verb->name);
    return error_expected(error, "one of %s", all.data);
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

static const char *command_of(struct arena *arena, int count, char **words)
{
    struct buffer out = { .arena = arena };
    buffer_print(&out, "chalkline");
    for (int i = 1; i < count; i++)
        add_word(&out, words[i]);
    return out.data;
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

bool report_html(struct arena *arena, int count, char **words, const char *live, struct buffer *html,
                 struct error *error)
{
    struct command command = { .verbs = verbs, .report = true };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena, .csv.arena = arena };
    struct document document = { .live = live, .date = date_of(arena),
        .version = *CHALKLINE_COMMIT ? CHALKLINE_VERSION " (" CHALKLINE_COMMIT ")" : CHALKLINE_VERSION };
    struct document_template templates;
    if (!command_read(arena, count, words, &command, error))
        return false;
    const char *path = path_of(arena, command.verb);
    if (!path)
        return no_report(arena, command.verb, error);
    if (!command_answer(arena, &command, &answer, error))
        return false;
    if (!answer.section) {
        error_set(error, "report: '%s' was asked for several answers", command.verb->name);
        return error_expected(error, "a question with one answer: no --sweep, --emit or the like");
    }
    document_built_in(arena, path, &templates);
    document_fill(arena, &templates, answer.section, &document);
    document.picture = answer.picture;
    document.command = command_of(arena, count, words);
    document_html(&document, html);
    return true;
}
