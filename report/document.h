/* document -- a report of an answer as one page of HTML, for a screen and for paper.
 *
 *     question, answer in a sentence, picture, table, what it rests on, how sure, the command
 *
 * The sentences and the table are those of a file beside the verb, ask/step.report: templates
 * (template.h), each behind a line "= PART". A part may be left out, but for the question and the answer:
 *
 *     = question     in a sentence, with what was given
 *     = answer       in a sentence; it is the title
 *     = detail       what the sentence leaves out
 *     = equation     lines of an equation, as they stand
 *     = caption      of the table
 *     = table        a list of records whose lines begin with |
 *     = sure         intervals, what was fitted, what was found
 *     = weighed      rows of the answer: the inputs are those that move the first of them which has any
 *
 * The file has no script, no font and no request in it, unless it is given a live page to bring along. */
#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H

#include "report/picture.h"
#include "report/template.h"

enum document_part {
    DOCUMENT_QUESTION, DOCUMENT_ANSWER, DOCUMENT_DETAIL, DOCUMENT_EQUATION, DOCUMENT_CAPTION, DOCUMENT_TABLE,
    DOCUMENT_SURE, DOCUMENT_WEIGHED, DOCUMENT_PARTS
};
extern const char *const document_part_names[DOCUMENT_PARTS];

/* The templates of a report; NULL: the part is left out. */
struct document_template {
    struct template *parts[DOCUMENT_PARTS];
};

struct document {
    const char *texts[DOCUMENT_PARTS];      /* as printed; that of the table is NULL */
    const struct table *table;              /* NULL: none; the first `heads` of its rows are heads */
    size_t heads;
    const struct picture *picture;          /* NULL: none */
    const struct section *figures;          /* "inputs" and "noted", as figures_notes writes them */
    const char *command;                    /* that gives the answer again */
    const char *version, *date;
    const char *live;                       /* HTML at the end of the body; NULL: none */
};

bool document_read(struct arena *arena, const char *file, struct text text,
                   struct document_template *templates,
                   struct error *error);
/* The built-in file of this path; false: there is none. */
bool document_built_in(struct arena *arena, const char *path, struct document_template *templates);
/* Texts and table of an answer. */
void document_fill(struct arena *arena, const struct document_template *templates,
                   const struct section *figures,
                   struct document *document);
void document_html(const struct document *document, struct buffer *html);

#endif
