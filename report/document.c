/* Reports as HTML: A4 on paper, a column on a screen, light and dark. */
#include "report/document.h"

#include <math.h>
#include <string.h>

enum { PICTURE_WIDTH = 567,        /* px: 150 mm */
       INPUTS_MOST = 8, INPUTS_LEAST = 5 };         /* rows of what moves the answer */
static const double small_elasticity = 0.05;

static const char page_style[] =
    "@page{size:A4;margin:18mm 16mm 20mm;@bottom-left{content:\"chalkline %s, %s\";%s}"
    "@bottom-right{content:\"page \" counter(page) \" of \" counter(pages);%s}}\n";
static const char foot_style[] = "font:9pt ui-sans-serif,system-ui,sans-serif;color:#5f5b54";
static const char style[] =
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:11pt/1.45 \"STIX Two Text\",Charter,\"Iowan Old Style\",Georgia,Cambria,serif;"
    "font-variant-numeric:lining-nums}\n"
    "main{max-width:178mm;margin:0 auto;padding:28px 20px}\n"
    ".question{margin:0;color:var(--soft);font-size:13pt;line-height:1.35}\n"
    "h1{margin:8px 0 10px;font-size:22pt;line-height:1.18;font-weight:400;text-wrap:pretty}\n"
    "h2{margin:22px 0 4px;font-size:13pt;line-height:1.3;font-weight:400}\n"
    "p{margin:0 0 7px;max-width:76ch}\n"
    "figure{margin:16px 0 6px;break-inside:avoid}"
    "figure svg{display:block;width:150mm;max-width:100%;height:auto}\n"
    "table{border-collapse:collapse;margin:4px 0;font:9pt/1.36 Inter,ui-sans-serif,system-ui,sans-serif;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;padding-bottom:4px}\n"
    "th{font-weight:400;color:var(--soft);text-align:left;vertical-align:bottom}\n"
    "th,td{padding:1.5px 12px 1.5px 0}th:last-child,td:last-child{padding-right:0}"
    "thead tr:last-child th{border-bottom:1px solid var(--soft)}td{border-bottom:1px solid var(--grid);"
    "vertical-align:top}\n"
    ".r{text-align:right}td.r,.n,.rests th{white-space:nowrap}.rests td:first-child{width:38%}"
    ".rests{width:100%}.wide{overflow-x:auto}\n"
    "ul{margin:6px 0;padding-left:16px}li{margin:1px 0}\n"
    "small,.small{font:9.3pt/1.45 Inter,ui-sans-serif,system-ui,sans-serif;color:var(--soft)}\n"
    "pre{margin:4px 0;white-space:pre-wrap;overflow-wrap:anywhere;"
    "font:9.3pt/1.45 ui-monospace,Menlo,Consolas,monospace}\n"
    "pre.equation{font:11pt/1.5 \"STIX Two Text\",Georgia,Cambria,serif;font-variant-numeric:tabular-nums}\n"
    "footer{margin-top:26px;padding-top:8px;border-top:1px solid var(--rule)}\n"
    "a{color:inherit}\n"
    "table,tr,li,pre,section.whole{break-inside:avoid}table.rests{break-inside:auto}"
    "h2{break-after:avoid}p{orphans:3;widows:3}\n"
    "@media print{:root,:root[data-theme]{--paper:#fff}.wide{overflow:visible}"
    "main{padding:0;max-width:none}footer{display:none}}\n";

/* ---- texts --------------------------------------------------------------------------------------- */

/* Add a text in which a per cent sign is never parted from its number. */
static void add_text(struct buffer *out, struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == ' ' && i + 1 < text.size && text.data[i + 1] == '%')
            buffer_print(out, "\u00a0");
        else switch (text.data[i]) {
        case '&': buffer_add(out, "&amp;", 5); break;
        case '<': buffer_add(out, "&lt;", 4); break;
        case '>': buffer_add(out, "&gt;", 4); break;
        case '"': buffer_add(out, "&quot;", 6); break;
        case '`': break;                        /* of names in sources */
        default:  buffer_add(out, text.data + i, 1);
        }
}

static void add_words(struct buffer *out, const char *text)
{
    add_text(out, text_of(text));
}

/* The lines of a paragraph as one sentence, which begins with a capital. */
static const char *one_line(struct arena *arena, const char *text)
{
    struct buffer out = { .arena = arena };
    struct text rest = text_of(text);
    buffer_add(&out, "", 0);
    while (rest.size) {
        const struct text line = text_trim(text_line(&rest));
        if (line.size)
            buffer_print(&out, "%s%.*s", out.size && !strchr(",;:.", line.data[0]) ? " " : "", (int)line.size,
                         line.data);
    }
    if (*out.data >= 'a' && *out.data <= 'z')
        *out.data = (char)(*out.data - 'a' + 'A');
    return out.data;
}

static bool has_text(const char *text)
{
    return text && text_trim(text_of(text)).size;
}

/* Paragraphs are divided by empty lines. */
static void add_paragraphs(struct buffer *out, const char *text)
{
    struct buffer paragraph = { .arena = out->arena };
    struct text rest = text_of(text);
    bool more = true;
    buffer_add(&paragraph, "", 0);
    while (more) {
        more = rest.size > 0;
        const struct text line = text_trim(text_line(&rest));
        if (line.size) {
            buffer_print(&paragraph, "%s%.*s", paragraph.size ? " " : "", (int)line.size, line.data);
            continue;
        }
        if (paragraph.size) {
            buffer_print(out, "<p>");
            add_words(out, paragraph.data);
            buffer_print(out, "</p>\n");
        }
        paragraph.size = 0;
    }
}

/* ---- tables ---------------------------------------------------------------------------------------- */

static void add_cell(struct buffer *out, bool head, bool right, const char *text)
{
    const char *tag = head ? "th" : "td";
    buffer_print(out, "<%s%s>", tag, right ? " class=\"r\"" : "");
    add_words(out, text);
    buffer_print(out, "</%s>", tag);
}

static void add_table(struct buffer *out, const struct table *table, size_t heads, const char *caption)
{
    const size_t rows = table->columns ? table->count / table->columns : 0;
    buffer_print(out, "<div class=\"wide\"><table>");
    if (has_text(caption)) {
        buffer_print(out, "<caption>");
        add_words(out, one_line(out->arena, caption));
        buffer_print(out, "</caption>");
    }
    buffer_print(out, heads ? "<thead>\n" : "<tbody>\n");
    for (size_t i = 0; i < rows; i++) {
        if (i && i == heads)
            buffer_print(out, "</thead><tbody>\n");
        buffer_print(out, "<tr>");
        for (size_t k = 0; k < table->columns; k++)
            add_cell(out, i < heads, table->left[k] == 'r', table->cells[i * table->columns + k]);
        buffer_print(out, "</tr>\n");
    }
    buffer_print(out, rows <= heads ? "</thead></table></div>\n" : "</tbody></table></div>\n");
}

/* "data/hardware.csv:68: SemiAnalysis ..., 2026-04-03": the place, what stands there, and its date. */
static void split_source(const char *source, struct text *said, struct text *date)
{
    enum { DATE = 10 };
    const char *colon = strstr(source, ": ");
    const size_t size = strlen(source);
    *said = text_of(colon ? colon + 2 : source);
    *date = (struct text){ "", 0 };
    if (size < DATE + 2 || source[size - DATE + 4] != '-' || source[size - DATE + 7] != '-')
        return;
    *date = (struct text){ source + size - DATE, DATE };
    said->size = (size_t)(date->data - said->data);
    while (said->size && strchr(" ,", said->data[said->size - 1]))
        said->size--;
}

static const char *origin_words(const char *origin)
{
    static const struct { const char *origin, *words; } names[] = {
        { "given", "given" }, { "sheet", "from the catalog" }, { "model", "from the model" },
        { "fitted", "fitted" }, { "default", "assumed" }, { "chosen", "chosen" }, { "derived", "derived" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].origin, origin))
            return names[i].words;
    return origin;
}

static const char *word_of(const struct section *section, const char *name)
{
    const struct figure *figure = section_find(section, name);
    return figure && figure->word ? figure->word : "";
}

static const char *value_words(struct arena *arena, const struct section *input)
{
    const struct figure *value = section_find(input, "value");
    return value ? quantity_text(arena, value->value, value->unit, 4) : "";
}

/* A meaning without its details: "arrival rate; 0: none" becomes "arrival rate". */
static struct text short_meaning(const char *meaning)
{
    const char *end = meaning + strlen(meaning);
    static const char *const stops[] = { "; ", ": ", " (", ", whose" };
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        const char *stop = strstr(meaning, stops[i]);
        if (stop && stop < end && stop > meaning)
            end = stop;
    }
    return (struct text){ meaning, (size_t)(end - meaning) };
}

static bool is_model(const struct section *input)
{
    return !strcmp(word_of(input, "origin"), "model");
}

static void add_input(struct buffer *out, const struct section *input)
{
    struct arena *arena = out->arena;
    struct text said, date;
    const bool model = is_model(input);
    split_source(word_of(input, "source"), &said, &date);
    buffer_print(out, "<tr><td>");
    if (model) {
        buffer_print(out, "the shape of the model");
        said = text_of(word_of(input, "source"));
    } else {
        add_text(out, short_meaning(word_of(input, "meaning")));
        buffer_print(out, " <small>");
        add_words(out, word_of(input, "input"));
        buffer_print(out, "</small>");
    }
    buffer_print(out, "</td>");
    add_cell(out, false, true, model ? "" : value_words(arena, input));
    add_cell(out, false, false, origin_words(word_of(input, "origin")));
    buffer_print(out, "<td>");
    add_text(out, said);
    if (date.size) {
        buffer_print(out, ", <span class=\"n\">");
        add_text(out, date);
        buffer_print(out, "</span>");
    }
    buffer_print(out, "</td>");
    add_cell(out, false, true, arena_print(arena, "%+.2g %%", section_value(input, "elasticity")));
    buffer_print(out, "</tr>\n");
}

/* Which output the inputs are weighed by: the first of the words that has any; "" where none does, and then
 * the strongest of each input counts. */
static const char *weighed_output(struct arena *arena, const struct section *inputs, const char *words)
{
    char *rest = arena_copy(arena, words ? words : "", words ? strlen(words) : 0);
    for (char *word = strtok_r(rest, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
        for (size_t i = 0; i < inputs->inside_count; i++)
            if (!strcmp(word_of(inputs->inside[i], "output"), word))
                return word;
    return "";
}

/* Has it a line already? The shape of a model is one line, and so is each input. */
static bool is_listed(const struct section *const *shown, size_t count, const struct section *input)
{
    for (size_t i = 0; i < count; i++)
        if ((is_model(shown[i]) && is_model(input)) || !strcmp(word_of(shown[i], "input"),
                                                               word_of(input, "input")))
            return true;
    return false;
}

/* List the inputs that move the answer; of the others say only how many there are. */
static void add_inputs(struct buffer *out, const struct section *inputs, const char *words)
{
    const char *output = weighed_output(out->arena, inputs, words);
    const struct section **kept = arena_array(out->arena, inputs->inside_count + 1, sizeof *kept);
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < inputs->inside_count; i++)           /* the strongest first */
        if ((!*output || !strcmp(word_of(inputs->inside[i], "output"), output)) &&
            !is_listed(kept, count, inputs->inside[i]))
            kept[count++] = inputs->inside[i];
    while (shown < count && shown < INPUTS_MOST &&
           (shown < INPUTS_LEAST || fabs(section_value(kept[shown], "elasticity")) >= small_elasticity))
        shown++;
    if (*output) {
        buffer_print(out, "<p>The last column is the change of <small>");
        add_words(out, output);
        buffer_print(out, "</small> for 1 %% more of the input.</p>\n");
    }
    buffer_print(out, "<div class=\"wide\"><table class=\"rests\"><thead><tr><th>what</th>"
                 "<th class=\"r\">value</th>"
                 "<th>it is</th><th>source</th><th class=\"r\">1 %% more</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < shown; i++)
        add_input(out, kept[i]);
    buffer_print(out, "</tbody></table></div>\n");
    if (count > shown)
        buffer_print(out, "<p class=\"small\">%zu other%s move%s it less.</p>\n", count - shown,
                     count > shown + 1 ? "s" : "", count > shown + 1 ? "" : "s");
}

static void add_notes(struct buffer *out, const struct section *notes)
{
    buffer_print(out, "<ul class=\"small\">\n");
    for (size_t i = 0; i < notes->count; i++) {
        const char *text = notes->figures[i].word;
        const bool goes_on = i + 1 < notes->count && !strncmp(notes->figures[i + 1].word, "  ", 2);
        buffer_print(out, "<li>");
        add_words(out, text);
        if (goes_on)
            add_words(out, arena_print(out->arena, " %s", notes->figures[++i].word + 2));
        buffer_print(out, "</li>\n");
    }
    buffer_print(out, "</ul>\n");
}

/* Add a command whose lines break only between words. */
static void add_command(struct buffer *out, const char *command)
{
    while (*command) {
        const size_t size = strcspn(command, " ");
        buffer_print(out, "<span class=\"n\">");
        add_text(out, (struct text){ command, size });
        buffer_print(out, "</span>");
        command += size;
        for (; *command == ' '; command++)
            buffer_print(out, " ");
    }
}

/* ---- the page ------------------------------------------------------------------------------------------ */

static void add_head(struct buffer *out, const struct document *document, const char *title)
{
    buffer_print(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    add_words(out, title);
    buffer_print(out, "</title>\n<style>\n");
    picture_style(out, PICTURE_PAGE);
    buffer_print(out, "\n:root{color-scheme:light dark}\n");
    buffer_print(out, page_style, document->version, document->date, foot_style, foot_style);
    buffer_print(out, "%s</style>\n</head>\n", style);
}

static void add_basis(struct buffer *out, const struct document *document)
{
    const struct section *inputs = section_inside(document->figures, "inputs");
    const struct section *noted = section_inside(document->figures, "noted");
    const bool listed = inputs && inputs->inside_count, told = noted && noted->count;
    if (!listed && !told)
        return;
    buffer_print(out, "<h2>What it rests on</h2>\n");
    if (listed)
        add_inputs(out, inputs, document->texts[DOCUMENT_WEIGHED]);
    if (told)
        add_notes(out, noted);
}

static void add_sure(struct buffer *out, const struct document *document)
{
    const double fitted = section_value(document->figures, "fitted_constants");
    const bool told = has_text(document->texts[DOCUMENT_SURE]);
    if (!told && !(fitted > 0))
        return;
    buffer_print(out, "<section class=\"whole\"><h2>How sure</h2>\n");
    if (told)
        add_paragraphs(out, document->texts[DOCUMENT_SURE]);
    if (fitted > 0)
        buffer_print(out, "<p>%.0f constant%s of it %s fitted to published measurements "
                     "(data/efficiency.csv); all else is arithmetic on the inputs below.</p>\n", fitted,
                     fitted > 1 ? "s" : "", fitted > 1 ? "were" : "was");
    buffer_print(out, "</section>\n");
}

void document_html(const struct document *document, struct buffer *out)
{
    const char *const *texts = document->texts;
    const char *answer = one_line(out->arena, texts[DOCUMENT_ANSWER]);
    add_head(out, document, answer);
    buffer_print(out, "<body>\n<main>\n<p class=\"question\">");
    add_words(out, one_line(out->arena, texts[DOCUMENT_QUESTION]));
    buffer_print(out, "</p>\n<h1>");
    add_words(out, answer);
    buffer_print(out, "</h1>\n");
    if (has_text(texts[DOCUMENT_DETAIL]))
        add_paragraphs(out, texts[DOCUMENT_DETAIL]);
    if (has_text(texts[DOCUMENT_EQUATION])) {
        buffer_print(out, "<pre class=\"equation\">");
        add_words(out, texts[DOCUMENT_EQUATION]);
        buffer_print(out, "</pre>\n");
    }
    if (document->picture) {
        buffer_print(out, "<figure>\n");
        picture_svg(out, document->picture, PICTURE_WIDTH, 0, PICTURE_PAGE);
        buffer_print(out, "</figure>\n");
    }
    if (document->table)
        add_table(out, document->table, document->heads, texts[DOCUMENT_CAPTION]);
    add_sure(out, document);
    add_basis(out, document);
    buffer_print(out, "<section class=\"whole\"><h2>To repeat it</h2>\n<pre>");
    add_command(out, document->command);
    buffer_print(out, "</pre>\n<p class=\"small\">");
    add_words(out, arena_print(out->arena, "With chalkline %s, on %s.", document->version, document->date));
    buffer_print(out, "</p></section>\n");
    if (document->live)
        buffer_print(out, "<footer class=\"small\"><a href=\"#live\" id=\"live\">This answer, live</a>"
                     "</footer>\n%s",
                     document->live);
    buffer_print(out, "</main>\n</body>\n</html>\n");
}
