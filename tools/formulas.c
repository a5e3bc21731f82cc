/* formulas FORMULA... -- write C that holds the rows of the formula files as they are read:
 * the formulas of all conditions, which formulas_built_in gives.
 *
 * Those of every condition have the same names in the same order, so that an expression, which
 * speaks of rows by number, is one for all of them. A row is written once for each different chain of rows that it
 * redefines: `WITH machine` may redefine the plain row or that of `WITH model`. */
#include "rows/draft.h"
#include "tools/literal.h"

#include <stdio.h>
#include <string.h>

struct written {                    /* a row of C: what it is, and where */
    const struct row *row;
    int at, before, expr;           /* the number of each; -1: none */
    uint32_t text;                  /* where its text begins in the pool */
    struct written *next;
};

struct formula_writer {
    struct arena *arena;
    struct text_pool texts;
    struct buffer exprs, rows;
    int expr_count, row_count;
    struct written **written;       /* [rows of the formulas] */
};

static void write_name(struct buffer *out, const char *field, const char *string)
{
    if (!string)
        return;
    buffer_print(out, ", .%s = ", field);
    write_string(out, text_of(string));
}

static void write_unit(struct buffer *out, struct unit unit)
{
    buffer_print(out, ", .unit = { {");
    for (int i = 0; i < UNIT_COUNT; i++)
        buffer_print(out, "%s%d", i ? "," : "", unit.half[i]);
    buffer_print(out, "} }");
}

/* ---- expressions ---------------------------------------------------------------------------- */

static void write_offset(struct buffer *out, const char *field, int from, int to)
{
    if (to >= 0)
        buffer_print(out, ", .%s = %d", field, to - from);
}

/* The node after its operands; returns its number. EXPR_TEXT says how far it is from there to the text of its row. */
static int write_expr(struct formula_writer *writer, uint32_t text, const struct expr *expr)
{
    struct buffer *out = &writer->exprs;
    int kid[3], at = expr_at(expr) ? write_expr(writer, text, expr_at(expr)) : -1;
    for (int i = 0; i < 3; i++)
        kid[i] = expr_kid(expr, i) ? write_expr(writer, text, expr_kid(expr, i)) : -1;
    const int here = writer->expr_count++;
    buffer_print(out, "    { .op = %d, .row = %d, .whole = EXPR_TEXT(%d, %u), .start = %u, .size = %u", (int)expr->op,
                 expr->row, here, text, expr->start, expr->size);
    if (expr->op == OP_NUMBER)
        buffer_print(out, ", .number = %a", expr->number);
    if (expr->op == OP_NUMBER && !unit_same(expr->unit, unit_one))
        write_unit(out, expr->unit);
    if (expr_has_name(expr->op))
        buffer_print(out, ", .name = EXPR_TEXT(%d, %u)", here, pool_add(&writer->texts, expr_name(expr)));
    for (int i = 0; i < 3; i++)
        write_offset(out, arena_print(writer->arena, "kid[%d]", i), here, kid[i]);
    write_offset(out, "at", here, at);
    buffer_print(out, " },\n");
    return here;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void write_fields(struct formula_writer *writer, const struct written *written)
{
    struct buffer *out = &writer->rows;
    const struct row *row = written->row;
    buffer_print(out, "    { .line = %d, .chapter = %d", row->line, row->chapter);
    write_unit(out, row->unit);
    buffer_print(out, ", .value = %a, .low = %a, .high = %a, .likely_low = %a, .likely_high = %a",
                 row->value, row->low, row->high, row->likely_low, row->likely_high);
    if (row->input)
        buffer_print(out, ", .input = true");
    for (int i = 0; i < ROW_TEXTS; i++)
        if (row->texts[i])
            buffer_print(out, ", .texts[%d] = ROW_TEXT(%d, %u)", i, written->at,
                         pool_add(&writer->texts, (const char *)row + row->texts[i]));
    if (written->expr >= 0)
        buffer_print(out, ", .to_expr = EXPR(%d, %d)", written->at, written->expr);
    if (written->before >= 0)
        buffer_print(out, ", .to_before = (%d) * (intptr_t)sizeof(struct row)", written->before - written->at);
    buffer_print(out, " },\n");
}

static bool same_place(const struct row *a, const struct row *b)
{
    return a->line == b->line && !strcmp(row_file(a), row_file(b));
}

/* Row `index` of one set. */
static int write_row(struct formula_writer *writer, size_t index, const struct row *row)
{
    struct written *written = arena_alloc(writer->arena, sizeof *written);
    *written = (struct written){ .row = row, .expr = -1 };
    written->before = row_before(row) ? write_row(writer, index, row_before(row)) : -1;
    for (const struct written *known = writer->written[index]; known; known = known->next)
        if (same_place(known->row, row)) {
            if (known->before == written->before)
                return known->at;
            written->text = known->text;
            written->expr = known->expr;
        }
    if (row_expr(row) && written->expr < 0) {
        written->text = pool_add(&writer->texts, row_text(row).data);
        written->expr = write_expr(writer, written->text, row_expr(row));
    }
    written->at = writer->row_count++;
    written->next = writer->written[index];
    write_fields(writer, written);
    writer->written[index] = written;
    return written->at;
}

/* ---- formulas ------------------------------------------------------------------------------- */

static void write_formulas(struct formula_writer *writer, const struct formulas *formulas, struct buffer *out)
{
    buffer_print(out, "static const int places_%u[] = {", formulas->conditions);
    for (size_t i = 0; i < formulas->count; i++)
        buffer_print(out, "%s%d,", i % 16 ? "" : "\n    ", write_row(writer, i, formulas_row(formulas, i)));
    buffer_print(out, "\n};\n");
}

static void print_chapters(struct arena *arena, const struct formulas *formulas)
{
    struct buffer out = { .arena = arena };
    for (size_t i = 0; i < formulas->chapter_count; i++) {
        const struct chapter *chapter = &formulas->chapters[i];
        buffer_print(&out, "    { .file = ");
        write_string(&out, text_of(chapter->file));
        write_name(&out, "title", chapter->title);
        write_name(&out, "table", chapter->table);
        write_name(&out, "with", chapter->with);
        write_name(&out, "prose", chapter->prose);
        buffer_print(&out, " },\n");
    }
    printf("static const struct chapter chapters[] = {\n%s};\n", out.data);
}

static void print_index(const struct formulas *formulas)
{
    struct buffer out = { .arena = formulas->arena };
    for (size_t i = 0; i < formulas->alias_count; i++)
        buffer_print(&out, "    { \"%s\", %d },\n", formulas->aliases[i].name, formulas->aliases[i].row);
    printf("static const struct alias aliases[] = {\n%s};\n", out.data);
    printf("static const int names[] = {");
    for (size_t i = 0; i < formulas->index_size; i++)
        printf("%s%d,", i % 16 ? "" : "\n    ", formulas->index[i]);
    printf("\n};\n");
}

static void print_formulas(const struct formulas *sets)
{
    printf("static const struct formulas formulas[] = {\n");
    for (unsigned i = 0; i <= FORMULAS_ALL; i++)
        printf("    { .places = places_%u, .count = %zu, .built_in = tables.rows,\n"
               "      .chapters = chapters, .chapter_count = %zu,\n"
               "      .aliases = aliases, .alias_count = %zu,\n"
               "      .index = names, .index_size = %zu, .conditions = %u, .shared = true },\n", i,
               sets[i].count, sets[i].chapter_count, sets[i].alias_count, sets[i].index_size, i);
    printf("};\n\nconst struct formulas *formulas_built_in(unsigned conditions)\n{\n"
           "    return &formulas[conditions];\n}\n");
}

static bool same_names(const struct formulas *a, const struct formulas *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(row_name(formulas_row(a, i)), row_name(formulas_row(b, i))))
            return false;
    return a->count == b->count && a->alias_count == b->alias_count;
}

enum { LIMIT = 1 << 20 };

/* A formula uses rows above it: also says where the row that it misses follows, in the first of the files or in another. */
static int report(struct arena *arena, const struct error *error, char **files, int count)
{
    static const char before[] = "unknown row '";
    const char *name = strstr(error->what, before);
    struct error unread;
    struct text text;
    fprintf(stderr, "formulas: %s\n  %s: %s\n", error->what, error_label(error), error->hint);
    if (!name)
        return 1;
    name = arena_copy(arena, name + sizeof before - 1, strcspn(name + sizeof before - 1, "'"));
    for (int i = 0; i < count && file_read(arena, files[i], LIMIT, &text, &unread); i++)
        for (int line = 1; text.size; line++)
            if (text_starts_with(text_line(&text), arena_print(arena, "%s : ", name)))
                fprintf(stderr, "  '%s' is defined later, in %s:%d\n", name, files[i], line);
    return 1;
}

int main(int count, char **words)
{
    static struct arena arena;
    static struct formulas sets[FORMULAS_ALL + 1];
    struct error error;
    struct text text;
    for (unsigned conditions = 0; conditions <= FORMULAS_ALL; conditions++) {
        struct formulas *formulas = &sets[conditions];
        formulas_open(formulas, &arena, conditions);
        for (int i = 1; i < count; i++)
            if (!file_read(&arena, words[i], LIMIT, &text, &error) ||
                !formulas_read(formulas, words[i], text, &error))
                return report(&arena, &error, words + i, count - i);
        if (!same_names(&sets[0], formulas)) {
            fprintf(stderr, "formulas: a row has its first place in a WITH chapter\n");
            return 1;
        }
    }
    struct formula_writer writer = { .arena = &arena, .texts = pool_new(&arena), .exprs.arena = &arena,
                             .rows.arena = &arena };
    struct buffer list = { .arena = &arena };
    writer.written = arena_array(&arena, sets[0].count, sizeof *writer.written);
    for (size_t i = 0; i < sets[0].count; i++)          /* together: a look-up reads names only */
        pool_add(&writer.texts, row_name(formulas_row(&sets[0], i)));
    for (unsigned conditions = 0; conditions <= FORMULAS_ALL; conditions++)
        write_formulas(&writer, &sets[conditions], &list);
    printf("/* Written by tools/formulas.c from formulas/. */\n#include \"rows/rows.h\"\n\n");
    printf("static const struct {\n    struct expr exprs[%d];\n    struct row rows[%d];\n    char text[%zu];\n"
           "} tables;\n", writer.expr_count, writer.row_count, writer.texts.size);
    printf("#define TO_TEXT(at) ((intptr_t)sizeof tables.exprs + (intptr_t)sizeof tables.rows + (at))\n"
           "#define TO_ROW(n) ((intptr_t)sizeof tables.exprs + (n) * (intptr_t)sizeof(struct row))\n"
           "#define TO_EXPR(n) ((n) * (intptr_t)sizeof(struct expr))\n"
           "#define EXPR_TEXT(n, at) (int32_t)(TO_TEXT(at) - TO_EXPR(n))\n"
           "#define ROW_TEXT(n, at) (int32_t)(TO_TEXT(at) - TO_ROW(n))\n"
           "#define EXPR(n, to) (TO_EXPR(to) - TO_ROW(n))\n");
    printf("static const __typeof__(tables) tables = { {\n%s}, {\n%s},\n%s};\n", writer.exprs.data,
           writer.rows.data, writer.texts.out.data);
    printf("%s", list.data);
    print_chapters(&arena, &sets[0]);
    print_index(&sets[0]);
    print_formulas(sets);
    arena_free(&arena);
    return ferror(stdout) != 0;
}
