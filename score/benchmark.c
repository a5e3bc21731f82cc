/* A benchmark file: its kind by its first characters, its records, the layout that knows its names, and what
 * is given for what it does not say (benchmark.h). */
#include "score/benchmark.h"

#include "build/row_names.h"
#include "catalog/catalog.h"
#include "score/benchmark_parts.h"
#include "score/layout.h"
#include "score/measured.h"

#include <math.h>
#include <string.h>

struct opening {
    struct arena *arena;
    const char *path;
    const struct benchmark_facts *given;
    struct records records;
    struct docs {                   /* of a text of documents */
        struct doc **docs;
        size_t count, room;
    } docs;
    struct error *error;
};

/* ---- kinds of text ---------------------------------------------------------------------------------- */

enum text_kind { TEXT_CSV, TEXT_JSON, TEXT_LOG, TEXT_YAML, TEXT_MARKDOWN, TEXT_SQL, TEXT_LABELS, TEXT_METRICS,
                 TEXT_REFUSED };

/* Files that are told, and not read. */
static const struct { const char *begins, *what, *expected; } refusals[] = {
    { "# HELP", "metrics of a live server", "a benchmark's result" },
    { "# TYPE", "metrics of a live server", "a benchmark's result" },
    { ":::MLLOG", "the detailed log of MLPerf's load generator", "mlperf_log_summary.txt of the same run" },
    { "Run Info,", "GuideLLM's CSV, which leaves out the names of its percentiles",
      "its JSON or YAML report" },
    { "Concurrency,Inferences", "perf_analyzer's CSV, which counts inferences and not tokens",
      "genai-perf's profile_export_genai_perf.json" },
    { "Request Rate,Inferences", "perf_analyzer's CSV, which counts inferences and not tokens",
      "genai-perf's profile_export_genai_perf.json" },
};

/* The first line that is neither empty nor a comment. */
static struct text first_line(struct text text)
{
    while (text.size) {
        const struct text line = text_trim(text_line(&text));
        if (line.size && line.data[0] != '#')
            return line;
    }
    return (struct text){ "", 0 };
}

static bool has_line(struct text text, const char *first)
{
    while (text.size) {
        const struct text line = text_line(&text);
        if (line.size && strchr(first, line.data[0]) && line.data[0])
            return true;
    }
    return false;
}

static bool is_key(struct text line)
{
    size_t size = 0;
    while (size < line.size && (line.data[size] == '_' || (line.data[size] >= 'a' && line.data[size] <= 'z')))
        size++;
    return size && size < line.size && line.data[size] == ':';
}

static enum text_kind kind_of(struct text text)
{
    const struct text start = text_trim(text), line = first_line(text);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (text_starts_with(start, refusals[i].begins))
            return TEXT_REFUSED;
    if (text_starts_with(start, "{") || text_starts_with(start, "["))
        return TEXT_JSON;
    if (text_starts_with(line, "|"))
        return TEXT_MARKDOWN;
    if (text_starts_with(line, "CREATE TABLE") || text_starts_with(line, "INSERT INTO"))
        return TEXT_SQL;
    if (text_starts_with(line, "Metric,"))
        return TEXT_METRICS;
    if (text_starts_with(line, "==========") && !memchr(line.data, ',', line.size))
        return TEXT_LABELS;
    if (memchr(line.data, ',', line.size))
        return TEXT_CSV;
    if (has_line(text, "{["))
        return TEXT_LOG;
    if (has_line(text, "|"))
        return TEXT_MARKDOWN;
    return is_key(line) || text_starts_with(line, "---") || text_starts_with(line, "- ") ? TEXT_YAML : TEXT_CSV;
}

static bool refuse_kind(struct opening *opening, struct text text)
{
    size_t i = 0;
    while (!text_starts_with(text_trim(text), refusals[i].begins))
        i++;
    error_set(opening->error, "%s: %s", opening->path, refusals[i].what);
    return error_expected(opening->error, "%s", refusals[i].expected);
}

/* ---- documents as records --------------------------------------------------------------------------- */

static void add_doc(struct opening *opening, struct docs *docs, struct doc *doc)
{
    if (doc->kind != DOC_ARRAY) {
        *(struct doc **)arena_push(opening->arena, &docs->docs, &docs->count, &docs->room, sizeof doc) = doc;
        return;
    }
    for (struct doc *kid = doc->first; kid; kid = kid->next)
        *(struct doc **)arena_push(opening->arena, &docs->docs, &docs->count, &docs->room, sizeof kid) = kid;
}

/* In a log, what stands before the first line that begins as JSON, and what follows its end, is no part. */
static bool read_json(struct opening *opening, struct text text, bool log, struct docs *docs)
{
    int line = 1;
    struct text rest = text;
    while (log && rest.size && *rest.data != '{' && *rest.data != '[')
        text_line(&rest), line++;
    while (rest.size) {
        struct doc *doc;
        if (!json_next(opening->arena, opening->path, &rest, &line, &doc, opening->error))
            return false;
        if (!doc)
            return true;
        add_doc(opening, docs, doc);
        const struct text after = text_trim(rest);
        if (log && !text_starts_with(after, "{") && !text_starts_with(after, "["))
            return true;
    }
    return true;
}

/* A report of several runs has a record for each, with what is said of all. */
static const struct doc *runs_of(const struct doc *doc, const char **key)
{
    static const char *const keys[] = { "benchmarks", "results" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct doc *runs = doc_get(doc, *key = keys[i]);
        if (runs && runs->kind == DOC_ARRAY && runs->first && runs->first->kind == DOC_OBJECT)
            return runs;
    }
    return NULL;
}

static int line_of(const struct doc *doc)
{
    return doc->kind == DOC_OBJECT ? (int)doc->number : 0;
}

static void add_runs(struct opening *opening, const struct doc *doc, const struct doc *runs, const char *key)
{
    struct doc rest = { .kind = DOC_OBJECT };
    for (const struct doc *kid = doc->first; kid; kid = kid->next)
        if (kid != runs) {
            struct doc *copy = doc_new(opening->arena, DOC_NULL);
            *copy = *kid;
            copy->next = NULL;
            doc_put(&rest, kid->key, copy);
        }
    for (const struct doc *run = runs->first; run; run = run->next) {
        record_add(&opening->records, line_of(run));
        record_flatten(&opening->records, key, run);
        record_flatten(&opening->records, "", &rest);
    }
}

static bool add_docs(struct opening *opening, const struct docs *docs)
{
    if (!docs->count)
        return error_set(opening->error, "%s: no record", opening->path) ||
               error_expected(opening->error, "one JSON object at least");
    if (requests_told(docs->docs[0]))
        return requests_read(opening->path, docs->docs, docs->count, &opening->records, opening->error);
    for (size_t i = 0; i < docs->count; i++) {
        const char *key;
        const struct doc *doc = docs->docs[i], *runs = runs_of(doc, &key);
        if (runs) {
            add_runs(opening, doc, runs, key);
            continue;
        }
        record_add(&opening->records, line_of(doc));
        record_flatten(&opening->records, "", doc);
        if (!requests_beside(opening->path, doc, &opening->records, opening->error))
            return false;
    }
    return true;
}

static bool read_documents(struct opening *opening, struct text text, enum text_kind kind)
{
    struct docs *docs = &opening->docs;
    if (kind == TEXT_YAML) {
        struct doc *doc;
        if (!yaml_read(opening->arena, opening->path, text, &doc, opening->error))
            return false;
        add_doc(opening, docs, doc);
    } else if (!read_json(opening, text, kind == TEXT_LOG, docs)) {
        return false;
    }
    return add_docs(opening, docs);
}

static bool read_records(struct opening *opening, struct text text)
{
    const enum text_kind kind = kind_of(text);
    struct records *records = &opening->records;
    switch (kind) {
    case TEXT_REFUSED:  return refuse_kind(opening, text);
    case TEXT_MARKDOWN: return markdown_read(text, opening->path, records, opening->error);
    case TEXT_SQL:      return sql_read(text, opening->path, records, opening->error);
    case TEXT_METRICS:  return metrics_read(text, opening->path, records, opening->error);
    case TEXT_LABELS:   labels_read(text, records); return true;
    default:            return read_documents(opening, text, kind);
    }
}

/* ---- the schema -------------------------------------------------------------------------------------- */

/* Layouts may use what is given, as "given.COLUMN", and the number of records, as "file.records". */
static bool add_given(struct opening *opening, struct csv *sheet)
{
    struct records records = { .arena = opening->arena };
    const struct benchmark_facts *given = opening->given;
    for (size_t row = 0; row < sheet->rows; row++) {
        record_add(&records, sheet->lines[row]);
        for (size_t at = 0; at < sheet->columns; at++)
            record_set(&records, csv_header(sheet, at), csv_cell(sheet, row, (int)at));
        record_number(&records, "file.records", (double)sheet->rows);
        for (size_t i = 0; given && i < given->count; i++)
            record_set(&records, arena_print(opening->arena, "given.%s", given->facts[i].column),
                       given->facts[i].text);
    }
    return records_sheet(&records, sheet->file, sheet, opening->error);
}

static bool apply(struct opening *opening, struct file_layout *layout, const struct csv *sheet, struct csv *out)
{
    struct buffer converted = { .arena = opening->arena };
    return layout_apply(opening->arena, layout, sheet, &converted, opening->error) &&
           csv_read_groups(opening->arena, opening->path, (struct text){ converted.data, converted.size }, out,
                    opening->error);
}

/* ---- results inside others ---------------------------------------------------------------------------- */

/* The objects under a key of each document, or the elements of an array there. */
static struct docs docs_under(struct opening *opening, const struct docs *docs, const char *key)
{
    struct docs under = { 0 };
    for (size_t i = 0; i < docs->count; i++) {
        struct doc *kid = docs->docs[i]->kind == DOC_OBJECT ? (struct doc *)doc_get(docs->docs[i], key) : NULL;
        const bool list = kid && kid->kind == DOC_ARRAY && kid->first && kid->first->kind == DOC_OBJECT;
        if (list || (kid && kid->kind == DOC_OBJECT))
            add_doc(opening, &under, kid);
    }
    return under;
}

/* Finds a tool's result under a key of another program's JSON: the first key whose contents have a layout. */
static struct file_layout *unwrap(struct opening *opening, const struct docs *docs, int depth, struct csv *sheet)
{
    enum { DEEPEST = 3 };
    const struct doc *first = docs->count && docs->docs[0]->kind == DOC_OBJECT ? docs->docs[0]->first : NULL;
    for (const struct doc *kid = depth < DEEPEST ? first : NULL; kid; kid = kid->next) {
        const struct docs under = docs_under(opening, docs, kid->key);
        struct error ignored, *error = opening->error;
        struct file_layout *layout = NULL;
        if (!under.count)
            continue;
        opening->records = (struct records){ .arena = opening->arena };
        opening->error = &ignored;
        if (add_docs(opening, &under) && records_sheet(&opening->records, opening->path, sheet, &ignored))
            layout = layout_of(opening->arena, sheet);
        layout = layout ? layout : unwrap(opening, &under, depth + 1, sheet);
        opening->error = error;
        if (layout)
            return layout;
    }
    return NULL;
}

static bool unknown(struct opening *opening, const struct csv *sheet)
{
    const char *missing, *tool = layout_closest(opening->arena, sheet, &missing);
    if (tool) {
        error_set(opening->error, "%s: looks like a result of %s, but has no %s", opening->path, tool, missing);
        return error_expected(opening->error, "all columns of that result, or a table of rows and inputs (docs/formats.md, Measurements)");
    }
    error_set(opening->error, "%s: unknown benchmark format", opening->path);
    return error_expected(opening->error, "what one of these writes: %s", layout_tools(opening->arena));
}

/* ---- what is given ------------------------------------------------------------------------------------ */

struct filling {
    struct opening *opening;
    const struct csv *csv;
    size_t row;
    struct catalog catalog;
    struct records out;
};

/* The cell and whether it is the source's own. */
static const char *stated(const struct filling *filling, const char *column, bool *own)
{
    struct arena *arena = filling->opening->arena;
    const int at = csv_column(filling->csv, column);
    const int from = csv_column(filling->csv, arena_print(arena, "%s_from", column));
    *own = !*csv_cell(filling->csv, filling->row, from);
    return csv_cell(filling->csv, filling->row, at);
}

/* Of a model or a machine: does the catalog know both names, and as different entries? */
static bool entries_differ(const struct filling *filling, const char *column, const char *one,
                           const char *other, bool *same)
{
    const enum catalog_kind kind = strcmp(column, "model") ? CATALOG_MACHINE : CATALOG_MODEL;
    const struct catalog_entry *a = catalog_find(&filling->catalog, kind, one, NULL);
    const struct catalog_entry *b = catalog_find(&filling->catalog, kind, other, NULL);
    *same = a && a == b;
    return a && b && a != b;
}

static bool is_named(const char *column)
{
    return !strcmp(column, "model") || !strcmp(column, "machine");
}

/* Two texts of a cell that say different things. */
static bool contradicts(const struct filling *filling, const struct benchmark_fact *fact, const char *cell,
                        bool *same)
{
    double one, other;
    if (is_named(fact->column))
        return entries_differ(filling, fact->column, cell, fact->text, same);
    if (text_number(text_of(cell), &one) && text_number(text_of(fact->text), &other))
        *same = one == other;
    else
        *same = name_same(cell, fact->text);
    return !*same;
}

static bool fill_column(struct filling *filling, const struct benchmark_fact *fact)
{
    struct opening *opening = filling->opening;
    struct arena *arena = opening->arena;
    bool own, same = false;
    const char *cell = stated(filling, fact->column, &own);
    if (*cell && own && contradicts(filling, fact, cell, &same)) {
        error_set(opening->error, "%s:%d: %s is %s in the file, not %s", opening->path,
                  filling->csv->lines[filling->row], fact->column, cell, fact->text);
        return error_suggest(opening->error, "without --%s, what the file says holds", fact->option);
    }
    if (same)
        return true;
    record_set(&filling->out, fact->column, fact->text);
    record_set(&filling->out, arena_print(arena, "%s_from", fact->column),
               *cell && own ? arena_print(arena, "given by --%s, where the file says %s", fact->option, cell)
                            : arena_print(arena, "given by --%s", fact->option));
    return true;
}

static const char *given_text(const struct benchmark_facts *given, const char *column)
{
    for (size_t i = 0; given && i < given->count; i++)
        if (!strcmp(given->facts[i].column, column))
            return given->facts[i].text;
    return NULL;
}

static double given_number(const struct benchmark_facts *given, const char *column, double otherwise)
{
    const char *text = given_text(given, column);
    double number;
    return text && text_number(text_of(text), &number) && number > 0 ? number : otherwise;
}

/* The schema has chips and attention ranks; --tp says one by the other: what it leaves of the chips are
 * ranks. */
static bool fill_layout(struct filling *filling)
{
    const struct benchmark_facts *given = filling->opening->given;
    const double share = given_number(given, NAME_tensor_parallel, NAN) *
                         given_number(given, NAME_pipeline_parallel, 1);
    bool own;
    double chips = NAN;
    const char *cell = stated(filling, NAME_chips, &own);
    if (isnan(share))
        return true;
    chips = own && text_number(text_of(cell), &chips) ? chips : given_number(given, NAME_chips, NAN);
    const double ranks = given_number(given, NAME_attention_dp, chips > share ? chips / share : 1);
    struct buffer all = { .arena = filling->opening->arena }, rank = all;
    buffer_number(&all, share * ranks);
    buffer_number(&rank, ranks);
    return (given_text(given, NAME_chips) ||
            fill_column(filling, &(struct benchmark_fact){ NAME_chips, all.data, "tp" })) &&
           (given_text(given, NAME_attention_dp) ||
            fill_column(filling, &(struct benchmark_fact){ NAME_attention_dp, rank.data, "tp" }));
}

static bool fill_row(struct filling *filling)
{
    const struct benchmark_facts *given = filling->opening->given;
    record_add(&filling->out, filling->csv->lines[filling->row]);
    for (size_t i = 0; given && i < given->count; i++)
        if (strcmp(given->facts[i].column, NAME_tensor_parallel) && !fill_column(filling, &given->facts[i]))
            return false;
    if (!fill_layout(filling))
        return false;
    for (size_t at = 0; at < filling->csv->columns; at++)
        record_set(&filling->out, csv_header(filling->csv, at),
                   csv_cell(filling->csv, filling->row, (int)at));
    return true;
}

/* What a prediction needs and nothing says. */
static const struct { const char *column, *what, *option; } asked[] = {
    { "model", "model", "--model NAME" },
    { "machine", "machine", "--on NAME" },
    { NAME_chips, "number of chips", "--gpus N, or --tp N" },
    { "concurrency or arrival_rate", "load", "--concurrency N" },
    { NAME_prompt_tokens, "prompt length", "--isl N" },
    { NAME_output_tokens, "answer length", "--osl N" },
};

static bool lacks(const struct csv *csv, size_t row, size_t i)
{
    const bool load = strchr(asked[i].column, ' ') != NULL;
    if (load)
        return !*csv_cell(csv, row, csv_column(csv, NAME_concurrency)) &&
               !*csv_cell(csv, row, csv_column(csv, NAME_arrival_rate)) &&
               !*csv_cell(csv, row, csv_column(csv, NAME_saturated_throughput));
    return !*csv_cell(csv, row, csv_column(csv, asked[i].column));
}

static bool ask(struct opening *opening, const struct csv *csv)
{
    for (size_t row = 0; row < csv->rows; row++) {
        struct buffer what = { .arena = opening->arena }, options = what;
        buffer_add(&what, "", 0);
        if (*csv_cell(csv, row, csv_column(csv, "refused")))
            continue;
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
            if (lacks(csv, row, i)) {
                buffer_print(&what, "%sno %s", what.size ? ", " : "", asked[i].what);
                buffer_print(&options, "%s%s", options.size ? " " : "", asked[i].option);
            }
        if (!what.size)
            continue;
        error_set(opening->error, "%s:%d: %s", opening->path, csv->lines[row], what.data);
        return error_suggest(opening->error, "the file does not say it: %s", options.data);
    }
    return true;
}

/* A file may be given in the place of a name. */
static bool is_path(const char *text)
{
    return !strcmp(text, "-") || strstr(text, ".json") || strstr(text, ".gguf") || strstr(text, ".csv");
}

/* A name that the catalog has not: of the file, or given. */
static bool ask_names(const struct filling *filling, const struct csv *csv)
{
    static const struct { const char *column, *option; enum catalog_kind kind; } names[] = {
        { "model", "model", CATALOG_MODEL }, { "machine", "on", CATALOG_MACHINE },
    };
    struct opening *opening = filling->opening;
    for (size_t row = 0; row < csv->rows; row++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *cell = csv_cell(csv, row, csv_column(csv, names[i].column));
            const bool given = given_text(opening->given, names[i].column) != NULL;
            struct error cause;
            const char *precision;
            if (*csv_cell(csv, row, csv_column(csv, "refused")) || !*cell || (given && is_path(cell)) ||
                (names[i].kind == CATALOG_MODEL && catalog_model_called(opening->arena, &filling->catalog, cell, &precision, NULL)) ||
                catalog_find(&filling->catalog, names[i].kind, cell, &cause))
                continue;
            if (given) {
                error_set(opening->error, "--%s: %s", names[i].option, cause.what);
                return error_hint_of(opening->error, &cause);
            }
            error_set(opening->error, "%s:%d: %s", opening->path, csv->lines[row], cause.what);
            return error_suggest(opening->error, "--%s NAME says which it is, by our name", names[i].option);
        }
    return true;
}

static bool fill_all(struct opening *opening, const struct csv *csv, bool tool, struct csv *out)
{
    struct filling filling = { .opening = opening, .csv = csv, .out.arena = opening->arena };
    const bool fills = opening->given && opening->given->count;
    *out = *csv;
    catalog_open(&filling.catalog, opening->arena);
    for (filling.row = 0; filling.row < csv->rows && (fills || tool); filling.row++)
        if (!fill_row(&filling))
            return false;
    if (filling.out.rows) {
        record_column(&filling.out, "machine");             /* by which the schema is told */
        if (!records_sheet(&filling.out, opening->path, out, opening->error))
            return false;
    }
    return !tool || !opening->given || (ask_names(&filling, out) && ask(opening, out));
}

/* The line in the file is a column of a sheet that was converted. */
static void keep_lines(struct arena *arena, struct csv *csv)
{
    const int at = csv_column(csv, "line");
    int *lines = arena_array(arena, csv->rows + 1, sizeof *lines);
    double line;
    for (size_t row = 0; row < csv->rows; row++)
        lines[row] = text_number(text_of(csv_cell(csv, row, at)), &line) ? (int)line : csv->lines[row];
    csv->lines = lines;
}

static bool read_sheet(struct opening *opening, struct text text, struct csv *sheet)
{
    return kind_of(text) == TEXT_CSV ? csv_read_groups(opening->arena, opening->path, text, sheet, opening->error)
           : read_records(opening, text) && records_sheet(&opening->records, opening->path, sheet, opening->error);
}

bool benchmark_told(struct arena *arena, const char *path, struct text text)
{
    struct error ignored;
    struct opening opening = { .arena = arena, .path = path, .records.arena = arena, .error = &ignored };
    struct csv sheet;
    text = text_without_mark(text);
    const enum text_kind kind = kind_of(text);
    if (kind != TEXT_CSV && kind != TEXT_JSON && kind != TEXT_LOG)
        return true;                                        /* nothing else is written so */
    return read_sheet(&opening, text, &sheet) &&
           (layout_of(arena, &sheet) || unwrap(&opening, &opening.docs, 0, &sheet) || (kind == TEXT_CSV && measured_schema(&sheet)));
}

bool benchmark_open(struct arena *arena, const char *path, struct text text,
                    const struct benchmark_facts *given, struct csv *out, struct error *error)
{
    struct opening opening = { .arena = arena, .path = path, .given = given, .records.arena = arena,
                               .error = error };
    struct csv sheet, schema;
    text = text_without_mark(text);
    const bool table = kind_of(text) == TEXT_CSV;
    if (!read_sheet(&opening, text, &sheet))
        return false;
    struct file_layout *layout = layout_of(arena, &sheet);
    struct csv inside;
    if (!layout && !table && (layout = unwrap(&opening, &opening.docs, 0, &inside)))
        sheet = inside;
    const bool tool = layout && layout_tool(layout);
    if (!layout && table && !measured_schema(&sheet))
        return layout_unknown(arena, &sheet, error);
    if (!layout && !table)
        return unknown(&opening, &sheet);
    if (tool && !add_given(&opening, &sheet))
        return false;
    if (layout && !apply(&opening, layout, &sheet, &schema))
        return false;
    schema = layout ? schema : sheet;
    if (layout)
        keep_lines(arena, &schema);
    return fill_all(&opening, &schema, tool, out);
}

size_t benchmark_unread(struct arena *arena, const char *path, struct text text, struct csv *sheet, int **columns)
{
    struct error ignored;
    text = text_without_mark(text);
    const struct file_layout *layout = csv_read_groups(arena, path, text, sheet, &ignored) ? layout_of(arena, sheet) : NULL;
    return layout ? layout_unread(arena, layout, sheet, columns) : 0;
}

const char *benchmark_unread_names(struct arena *arena, const struct csv *sheet, const int *columns, size_t count)
{
    struct buffer out = { .arena = arena };
    for (size_t i = 0; i < count; i++)
        buffer_print(&out, "%s%s", i ? ", " : "", csv_header(sheet, (size_t)columns[i]));
    return count ? out.data : "";
}
