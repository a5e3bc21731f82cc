/* Reports: the templates of a file beside a verb, and an answer printed by them. */
#include "report/document.h"

#include <assert.h>
#include <string.h>

const char *const document_part_names[DOCUMENT_PARTS] = {
    "question", "answer", "detail", "equation", "caption", "table", "sure",
    "weighed" };

/* The part that a line such as "= answer" begins; DOCUMENT_PARTS: none. */
static int part_of(struct text line)
{
    if (!line.size || line.data[0] != '=')
        return DOCUMENT_PARTS;
    const struct text name = text_trim((struct text){ line.data + 1, line.size - 1 });
    for (int i = 0; i < DOCUMENT_PARTS; i++)
        if (text_is(name, document_part_names[i]))
            return i;
    return -1;
}

/* The lines of a part as a template, whose messages count the lines of the file: comments stand in the
 * place of those before it. */
static bool read_part(struct arena *arena, const char *file, struct text lines, int before,
                      struct template **template, struct error *error)
{
    struct buffer text = { .arena = arena };
    for (int i = 0; i < before; i++)
        buffer_add(&text, "#\n", 2);
    buffer_add(&text, lines.data, lines.size);
    return template_read(arena, file, (struct text){ text.data, text.size }, template, error);
}

bool document_read(struct arena *arena, const char *file, struct text text,
                   struct document_template *templates,
                   struct error *error)
{
    struct text rest = text, lines = { text.data, 0 };
    int part = DOCUMENT_PARTS, begin = 0, line = 0;
    *templates = (struct document_template){ { NULL } };
    for (;;) {
        const struct text before = rest, one = text_line(&rest);
        const int next = before.size ? part_of(one) : DOCUMENT_PARTS;
        line++;
        if (next < 0)
            return error_set(error, "%s:%d: no part of a report: %.*s", file, line, (int)one.size, one.data);
        if (before.size && next == DOCUMENT_PARTS)
            continue;
        lines.size = (size_t)(before.data - lines.data);
        if (part < DOCUMENT_PARTS && templates->parts[part])
            return error_set(error, "%s:%d: a part stands here twice: %s", file, begin,
                             document_part_names[part]);
        if (part < DOCUMENT_PARTS &&
            !read_part(arena, file, lines, begin, &templates->parts[part], error))
            return false;
        if (!before.size)
            break;
        part = next;
        begin = line;
        lines.data = rest.data;
    }
    return (templates->parts[DOCUMENT_QUESTION] && templates->parts[DOCUMENT_ANSWER]) ||
           error_set(error, "%s: a report needs a question and an answer", file);
}

bool document_built_in(struct arena *arena, const char *path, struct document_template *templates)
{
    for (const struct embedded *file = embedded_data; file->path; file++) {
        struct error error;
        if (strcmp(file->path, path))
            continue;
        if (!document_read(arena, path, (struct text){ file->data, file->size }, templates, &error))
            assert(!"a report that is built in reads: tests/unit/report_test.c");
        return true;
    }
    return false;
}

void document_fill(struct arena *arena, const struct document_template *templates,
                   const struct section *figures,
                   struct document *document)
{
    for (int i = 0; i < DOCUMENT_PARTS; i++) {
        struct buffer text = { .arena = arena };
        if (!templates->parts[i])
            continue;
        if (i == DOCUMENT_TABLE) {
            document->table = template_table(templates->parts[i], figures, arena, &document->heads);
            continue;
        }
        buffer_add(&text, "", 0);
        template_print(templates->parts[i], figures, &text);
        document->texts[i] = text.data;
    }
    document->figures = figures;
}
