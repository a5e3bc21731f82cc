/* Compiled rows: C written from the text of the rows, at build time.
 *
 * formulas/compiled has a paragraph for each:
 *
 *     compiled roofline WITH model
 *         fix overlap=0 lecture_form=0
 *         vary batch context
 *         keep bound_step bound_throughput
 *
 * A fixed row is a constant of them, so branches of select that it rules out are
 * not compiled. Every other input is one number for all points.
 *
 * The text of a row is pasted as it stands, so the compiler reads the formula itself;
 * only AT, SUM, LEAST, MOST, ROOT and row[entry] are first computed into a variable whose
 * name takes their place, and whole literals get a ".0". Scopes of C do what frames do in
 * graph.c:
 *
 *     scope 0        rows that no varying input reaches: once
 *     scope 1        rows that one does: for every point
 *     scope 2...     the same rows at another point (AT), at an entry (SUM), in a ROOT
 *
 * A row is written into the innermost scope that changes anything it depends on. */
#include "rows/rows.h"

#include <string.h>

enum { SCOPES = 24, WORDS = 64 };

struct codegen_scope {
    uint64_t *changes;              /* rows and tables that differ here */
    uint8_t *written;               /* rows */
    struct buffer text;
};

/* The state while the C of one list of compiled rows is written. */
struct codegen {
    struct arena *arena;
    const struct formulas *formulas;
    struct error *error;
    const char *file;
    int line;
    struct text fix[WORDS], vary[WORDS], keep[WORDS];   /* as in struct compiled */
    size_t fix_count, vary_count, keep_count;
    const struct expr **fixed;      /* [rows] the number that a row is fixed at, or NULL */
    uint8_t *changed;               /* [rows] 1 if an AT or ROOT that the rows reach changes it */
    uint64_t *depends;              /* [rows * words] bits of the rows and tables it depends on, */
    uint8_t *known;                 /* [rows] once this is set */
    size_t words;                   /* 64-bit words of one such set */
    struct codegen_scope scope[SCOPES];     /* the nested blocks of C that are open */
    int depth;
    const char *inputs[512];
    size_t input_count;
    const char *tables[WORDS];
    size_t table_count;
    int names;                      /* number of temporaries so far, which names the next one */
    bool failed;
};

static bool codegen_wrong(struct codegen *codegen, const char *what, const char *expected)
{
    if (!codegen->failed) {
        error_set(codegen->error, "%s:%d: %s", codegen->file, codegen->line, what);
        error_expected(codegen->error, "%s", expected);
    }
    codegen->failed = true;
    return false;
}

/* ---- what is decided by fixed rows --------------------------------------------------------- */

/* Is the expression a number once the fixed rows are? Looks through rows and selects. */
static bool constant_of(const struct codegen *codegen, const struct expr *expr, double *value)
{
    if (expr->op == OP_ROW && codegen->changed[expr->row])
        return false;                               /* not the same everywhere */
    if (expr->op == OP_ROW && codegen->fixed[expr->row])
        expr = codegen->fixed[expr->row];
    if (expr->op == OP_NUMBER) {
        *value = expr->number;
        return true;
    }
    /* a fixed row may decide a redefined switch: select(lecture_form > 0, 0, 1) */
    if (expr->op == OP_ROW && row_expr(formulas_row(codegen->formulas, expr->row)))
        return constant_of(codegen, row_expr(formulas_row(codegen->formulas, expr->row)), value);
    double a, b;
    if (expr->op != OP_SELECT || !constant_of(codegen, expr_kid(expr_kid(expr, 0), 0), &a) ||
        !constant_of(codegen, expr_kid(expr_kid(expr, 0), 1), &b))
        return false;
    if (expr_kid(expr, 0)->op != OP_LESS && expr_kid(expr, 0)->op != OP_ATMOST)
        return false;
    bool holds = expr_kid(expr, 0)->op == OP_LESS ? a < b : a <= b;
    return constant_of(codegen, expr_kid(expr, holds ? 1 : 2), value);
}

/* For GIVEN(row): rows that are passed as a column count as given. */
static bool is_given(const void *context, const char *name)
{
    const struct codegen *codegen = context;
    for (size_t i = 0; i < codegen->vary_count; i++)
        if (text_is(codegen->vary[i], name))
            return true;
    return false;
}

/* The branch, 1 or 2, that a select takes for all values of the columns; 0: not known. */
static int sure_branch(const struct codegen *codegen, const struct expr *select)
{
    const struct expr *condition = expr_kid(select, 0);
    const int branch = expr_branch_given(select, is_given, codegen);
    double a, b;
    if (branch)
        return branch;
    if ((condition->op != OP_LESS && condition->op != OP_ATMOST) ||
        !constant_of(codegen, expr_kid(condition, 0), &a) || !constant_of(codegen, expr_kid(condition, 1), &b))
        return 0;
    return (condition->op == OP_LESS ? a < b : a <= b) ? 1 : 2;
}

/* ---- dependence ------------------------------------------------------------------------------ */

/* The bit of a table in a set of dependences: bits of rows first, then a bit for each table. */
static int table_bit(const struct codegen *codegen, const char *table)
{
    for (size_t i = 0; i < codegen->formulas->chapter_count; i++)
        if (codegen->formulas->chapters[i].table && !strcmp(codegen->formulas->chapters[i].table, table))
            return (int)(codegen->formulas->count + i);
    return -1;
}

static void set_bit(uint64_t *set, int bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static const uint64_t *depends_of(struct codegen *codegen, int row);

static void depends_expr(struct codegen *codegen, const struct expr *expr, uint64_t *set)
{
    if (expr->row >= 0) {
        const uint64_t *more = depends_of(codegen, expr->row);
        for (size_t i = 0; i < codegen->words; i++)
            set[i] |= more[i];
    }
    int sure = expr->op == OP_SELECT ? sure_branch(codegen, expr) : 0;
    for (int i = 0; i < 3; i++)
        if (expr_kid(expr, i) && !(sure && i && i != sure))
            depends_expr(codegen, expr_kid(expr, i), set);
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at))
        depends_expr(codegen, expr_kid(at, 0), set);
}

static const uint64_t *depends_of(struct codegen *codegen, int row)
{
    uint64_t *set = codegen->depends + (size_t)row * codegen->words;
    if (codegen->known[row])
        return set;
    codegen->known[row] = 1;
    set_bit(set, row);
    if (row_table(formulas_row(codegen->formulas, row)))
        set_bit(set, table_bit(codegen, row_table(formulas_row(codegen->formulas, row))));
    if (row_expr(formulas_row(codegen->formulas, row)) && !codegen->fixed[row])
        depends_expr(codegen, row_expr(formulas_row(codegen->formulas, row)), set);
    return set;
}

/* The innermost scope that changes something in the set. */
static int scope_of(const struct codegen *codegen, const uint64_t *set)
{
    for (int s = codegen->depth - 1; s > 0; s--)
        for (size_t i = 0; i < codegen->words; i++)
            if (set[i] & codegen->scope[s].changes[i])
                return s;
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_row(struct codegen *codegen, int row);
static const char *paste(struct codegen *codegen, const struct expr *expr, int scope);

static struct codegen_scope *open_scope(struct codegen *codegen)
{
    if (codegen->depth == SCOPES) {
        codegen_wrong(codegen, "scopes nest too deep", "fewer AT inside each other");
        codegen->depth--;
    }
    struct codegen_scope *scope = &codegen->scope[codegen->depth++];
    *scope = (struct codegen_scope){ .text.arena = codegen->arena };
    scope->changes = arena_array(codegen->arena, codegen->words, sizeof(uint64_t));
    scope->written = arena_alloc(codegen->arena, codegen->formulas->count + 1);
    buffer_add(&scope->text, "", 0);
    return scope;
}

static size_t input_index(struct codegen *codegen, const char *name)
{
    const size_t at = name_index(codegen->inputs, codegen->input_count, name);
    if (at < codegen->input_count)
        return at;
    if (codegen->input_count == sizeof codegen->inputs / sizeof *codegen->inputs) {
        codegen_wrong(codegen, "more than 512 inputs", "fewer");
        return 0;
    }
    codegen->inputs[codegen->input_count] = name;
    return codegen->input_count++;
}

static size_t table_index(struct codegen *codegen, const char *table)
{
    if (codegen->table_count == WORDS) {
        codegen_wrong(codegen, "more than 64 tables", "fewer");
        return 0;
    }
    for (size_t i = 0; i < codegen->table_count; i++)
        if (!strcmp(codegen->tables[i], table))
            return i;
    codegen->tables[codegen->table_count] = table;
    return codegen->table_count++;
}

/* The place of an input among the columns of its table: their order in the formulas. */
static size_t column_index(const struct codegen *codegen, int row)
{
    size_t index = 0;
    const char *table = row_table(formulas_row(codegen->formulas, row));
    for (int i = 0; i < row; i++) {
        const struct row *other = formulas_row(codegen->formulas, i);
        index += row_table(other) && !row_expr(other) && !strcmp(row_table(other), table);
    }
    return index;
}

static void write_row(struct codegen *codegen, int index)
{
    const struct row *row = formulas_row(codegen->formulas, index);
    int s = scope_of(codegen, depends_of(codegen, index));
    struct codegen_scope *scope = &codegen->scope[s];
    if (scope->written[index] || codegen->failed)
        return;
    scope->written[index] = 1;
    if (codegen->fixed[index])
        buffer_print(&scope->text, "const lanes %s = lanes_splat(%.17g);\n", row_name(row),
                     codegen->fixed[index]->number);
    else if (!row_expr(row) && row_table(row))
        buffer_print(&scope->text, "const lanes %s = lanes_splat(tables_[%zu].columns[%zu][i_%zu]);\n",
                     row_name(row), table_index(codegen, row_table(row)), column_index(codegen, index),
                     table_index(codegen, row_table(row)));
    else if (!row_expr(row))
        buffer_print(&scope->text, "const lanes %s = lanes_splat(fixed_[%zu]);\n", row_name(row),
                     input_index(codegen, row_name(row)));
    else {
        const char *text = paste(codegen, row_expr(row), s);
        buffer_print(&scope->text, "const lanes %s = SPREAD(%s);\n", row_name(row), text);
    }
}

/* Everything inside is written in a scope of its own, then that scope as a block into the
 * scope around; `name` gets the value. */
static void close_scope(struct codegen *codegen, int around, const char *before, const char *after)
{
    struct codegen_scope *inner = &codegen->scope[--codegen->depth];
    buffer_print(&codegen->scope[around].text, "%s{\n%s}\n%s", before, inner->text.data, after);
}

static const char *write_at(struct codegen *codegen, const struct expr *expr, int around,
                            const char *name)
{
    struct buffer before = { .arena = codegen->arena };
    buffer_print(&before, "lanes %s;\n", name);
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
        const char *value = paste(codegen, expr_kid(at, 0), around);
        buffer_print(&before, "const lanes %s_%s = SPREAD(%s);\n", name,
                     row_name(formulas_row(codegen->formulas, at->row)), value);
    }
    struct codegen_scope *scope = open_scope(codegen);
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
        const char *row = row_name(formulas_row(codegen->formulas, at->row));
        set_bit(scope->changes, at->row);
        scope->written[at->row] = 1;
        buffer_print(&scope->text, "const lanes %s = %s_%s;\n", row, name, row);
    }
    const char *value = paste(codegen, expr_kid(expr, 0), codegen->depth - 1);
    buffer_print(&scope->text, "%s = SPREAD(%s);\n", name, value);
    close_scope(codegen, around, before.data, "");
    return name;
}

static const char *write_over(struct codegen *codegen, const struct expr *expr, int around,
                              const char *name)
{
    size_t table = table_index(codegen, expr_name(expr));
    struct codegen_scope *scope = open_scope(codegen);
    set_bit(scope->changes, table_bit(codegen, expr_name(expr)));
    const char *value = paste(codegen, expr_kid(expr, 0), codegen->depth - 1);
    if (expr->op == OP_SUM)
        buffer_print(&scope->text, "%s = %s + SPREAD(%s);\n", name, name, value);
    else
        buffer_print(&scope->text, "%s = i_%zu ? %s(%s, %s) : SPREAD(%s);\n", name, table,
                     expr->op == OP_LEAST ? "min_2" : "max_2", name, value, value);
    close_scope(codegen, around,
                arena_print(codegen->arena, "lanes %s = lanes_splat(0);\n"
                            "for (size_t i_%zu = 0; i_%zu < tables_[%zu].entries; i_%zu++) ",
                            name, table, table, table, table), "");
    return name;
}

static const char *write_root(struct codegen *codegen, const struct expr *expr, int around,
                              const char *name)
{
    const char *row = row_name(formulas_row(codegen->formulas, expr->row));
    const char *low = paste(codegen, expr_kid(expr, 0), around), *high = paste(codegen, expr_kid(expr, 1), around);
    struct codegen_scope *scope = open_scope(codegen);
    set_bit(scope->changes, expr->row);
    scope->written[expr->row] = 1;
    buffer_print(&scope->text, "const lanes %s = lanes_root_point(&%s_root, %s_turn);\n", row,
                 name, name);
    const char *f = paste(codegen, expr_kid(expr, 2), codegen->depth - 1);
    buffer_print(&scope->text, "lanes_root_narrow(&%s_root, %s_turn, %s, SPREAD(%s));\n", name,
                 name, row, f);
    close_scope(codegen, around,
                arena_print(codegen->arena, "struct lanes_root %s_root = lanes_root_open(SPREAD(%s), "
                            "SPREAD(%s));\nfor (int %s_turn = 0; %s_turn < LANES_ROOT_STEPS; "
                            "%s_turn++) ", name, low, high, name, name, name),
                arena_print(codegen->arena, "const lanes %s = lanes_root_value(&%s_root);\n", name,
                            name));
    return name;
}

static const char *write_special(struct codegen *codegen, const struct expr *expr, int around)
{
    const char *name = arena_print(codegen->arena, "t_%d", codegen->names++);
    switch (expr->op) {
    case OP_AT: return write_at(codegen, expr, around, name);
    case OP_ROOT: return write_root(codegen, expr, around, name);
    case OP_ENTRY:
        codegen_wrong(codegen, "row[entry] in compiled rows", "SUM, LEAST or MOST over the table");
        return name;
    default: return write_over(codegen, expr, around, name);
    }
}

/* ---- pasting ------------------------------------------------------------------------------------ */

struct cut {
    struct text text;
    const char *name;
};

static void cuts_add(struct codegen *codegen, struct cut *cuts, size_t *count, struct text text,
                     const char *name)
{
    if (*count < WORDS)
        cuts[(*count)++] = (struct cut){ text, name };
    else
        codegen_wrong(codegen, "an expression has too many parts", "two rows");
}

/* Write what the expression needs; collect the parts of its text that are replaced. */
static void find_cuts(struct codegen *codegen, const struct expr *expr, int around, struct cut *cuts,
                      size_t *count)
{
    if (codegen->failed)
        return;
    switch (expr->op) {
    case OP_ROW: write_row(codegen, expr->row); return;
    case OP_GIVEN:
        cuts_add(codegen, cuts, count, expr_text(expr), is_given(codegen, expr_name(expr))
                 ? "(SPREAD(0.0) < SPREAD(1.0))" : "(SPREAD(1.0) < SPREAD(0.0))");
        return;
    case OP_NUMBER:                                 /* 20ms is no C */
        if (!unit_same(expr->unit, unit_one))
            cuts_add(codegen, cuts, count, expr_text(expr), arena_print(codegen->arena, "%a", expr->number));
        return;
    case OP_AT: case OP_SUM: case OP_LEAST: case OP_MOST: case OP_ROOT: case OP_ENTRY:
        cuts_add(codegen, cuts, count, expr_text(expr), write_special(codegen, expr, around));
        return;
    default: break;
    }
    int sure = expr->op == OP_SELECT ? sure_branch(codegen, expr) : 0;
    for (int i = 0; i < 3; i++) {
        if (!expr_kid(expr, i))
            continue;
        if (sure && i && i != sure)
            cuts_add(codegen, cuts, count, expr_text(expr_kid(expr, i)), "0.0");  /* never taken */
        else
            find_cuts(codegen, expr_kid(expr, i), around, cuts, count);
    }
}

static bool letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.';
}

/* Copy a word; a whole literal gets ".0", since 1 / 2 is 0 in C. */
static const char *copy_word(struct buffer *out, const char *at, const char *end)
{
    const char *start = at;
    bool digits = true;
    for (; at < end && letter_or_digit(*at); at++)
        digits &= *at >= '0' && *at <= '9';
    bool exponent = at > start && (at[-1] == 'e' || at[-1] == 'E') && *start <= '9' && at < end &&
                    (*at == '-' || *at == '+');
    buffer_add(out, start, (size_t)(at - start));
    if (exponent)
        return at;
    bool after_exponent = start[-1] == '-' || start[-1] == '+';
    if (digits && !(after_exponent && (start[-2] == 'e' || start[-2] == 'E')))
        buffer_print(out, ".0");
    return at;
}

static const char *paste(struct codegen *codegen, const struct expr *expr, int around)
{
    struct cut cuts[WORDS];
    size_t count = 0;
    struct buffer out = { .arena = codegen->arena };
    find_cuts(codegen, expr, around, cuts, &count);
    buffer_add(&out, "", 0);
    const char *at = expr_text(expr).data, *end = at + expr_text(expr).size;
    while (at < end) {
        size_t k = 0;
        while (k < count && cuts[k].text.data != at)
            k++;
        if (k < count) {
            buffer_print(&out, "%s", cuts[k].name);
            at += cuts[k].text.size;
        } else if (letter_or_digit(*at)) {
            at = copy_word(&out, at, end);
        } else {
            buffer_add(&out, *at == '\n' ? " " : at, 1);
            at++;
        }
    }
    return out.data;
}

/* ---- one paragraph ------------------------------------------------------------------------------- */

static const char *name_of(struct codegen *codegen, struct text text)
{
    return arena_copy(codegen->arena, text.data, text.size);
}

static bool row_of(struct codegen *codegen, struct text text, int *row)
{
    *row = formulas_find(codegen->formulas, name_of(codegen, text));
    return *row >= 0 || formulas_unknown(codegen->formulas, name_of(codegen, text), codegen->error);
}

static bool read_fix(struct codegen *codegen)
{
    for (size_t i = 0; i < codegen->fix_count; i++) {
        const char *equals = memchr(codegen->fix[i].data, '=', codegen->fix[i].size);
        if (!equals)
            return codegen_wrong(codegen, "fix without a number", "fix row=number");
        struct text name = { codegen->fix[i].data, (size_t)(equals - codegen->fix[i].data) };
        struct text number = { equals + 1, codegen->fix[i].size - name.size - 1 };
        int row;
        if (!row_of(codegen, name, &row) ||
            !expr_parse(codegen->formulas, codegen->file, codegen->line, number,
                        &codegen->fixed[row], codegen->error))
            return false;
        if (codegen->fixed[row]->op != OP_NUMBER)
            return codegen_wrong(codegen, "fix without a number", "fix row=number");
    }
    return true;
}

static void write_names(struct buffer *out, const char *kernel, const char *what,
                        const char *const *names, size_t count)
{
    buffer_print(out, "static const char *const %s_%s[] = { ", kernel, what);
    for (size_t i = 0; i < count; i++)
        buffer_print(out, "\"%s\", ", names[i]);
    buffer_print(out, "0 };\n");
}

static const char **names_of(struct codegen *codegen, const struct text *texts, size_t count)
{
    const char **names = arena_array(codegen->arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = name_of(codegen, texts[i]);
    return names;
}

/* Everything a row may read, whatever is fixed: what does it change on the way? */
static void find_changed(struct codegen *codegen, const struct expr *expr, uint8_t *seen)
{
    if (expr->op == OP_ROOT)
        codegen->changed[expr->row] = 1;
    if (expr->row >= 0 && !seen[expr->row]) {
        seen[expr->row] = 1;
        if (row_expr(formulas_row(codegen->formulas, expr->row)))
            find_changed(codegen, row_expr(formulas_row(codegen->formulas, expr->row)), seen);
    }
    for (int i = 0; i < 3; i++)
        if (expr_kid(expr, i))
            find_changed(codegen, expr_kid(expr, i), seen);
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at)) {
        codegen->changed[at->row] = 1;
        find_changed(codegen, expr_kid(at, 0), seen);
    }
}

static bool find_all_changed(struct codegen *codegen)
{
    uint8_t *seen = arena_alloc(codegen->arena, codegen->formulas->count + 1);
    for (size_t i = 0; i < codegen->keep_count; i++) {
        int row;
        if (!row_of(codegen, codegen->keep[i], &row))
            return false;
        if (row_expr(formulas_row(codegen->formulas, row)))
            find_changed(codegen, row_expr(formulas_row(codegen->formulas, row)), seen);
    }
    return true;
}

static bool write_compiled(struct codegen *codegen, const char *name, struct buffer *out)
{
    codegen->words = (codegen->formulas->count + codegen->formulas->chapter_count) / 64 + 1;
    codegen->depends = arena_array(codegen->arena, codegen->formulas->count * codegen->words,
                                   sizeof(uint64_t));
    codegen->known = arena_alloc(codegen->arena, codegen->formulas->count + 1);
    codegen->fixed = arena_array(codegen->arena, codegen->formulas->count + 1, sizeof *codegen->fixed);
    codegen->changed = arena_alloc(codegen->arena, codegen->formulas->count + 1);
    if (!read_fix(codegen) || !find_all_changed(codegen))
        return false;
    open_scope(codegen);
    struct codegen_scope *point = open_scope(codegen);
    for (size_t i = 0; i < codegen->vary_count; i++) {
        int row;
        if (!row_of(codegen, codegen->vary[i], &row))
            return false;
        set_bit(point->changes, row);
        point->written[row] = 1;
        buffer_print(&point->text, "const lanes %s = compiled_load(vary_[%zu] + k_, count_);\n",
                     row_name(formulas_row(codegen->formulas, row)), i);
    }
    for (size_t i = 0; i < codegen->keep_count; i++) {
        int row;
        if (!row_of(codegen, codegen->keep[i], &row))
            return false;
        write_row(codegen, row);
    }
    for (size_t i = 0; i < codegen->keep_count; i++)
        buffer_print(&point->text, "compiled_store(keep_[%zu] + k_, %s, count_);\n", i,
                     name_of(codegen, codegen->keep[i]));
    if (codegen->failed)
        return false;
    buffer_print(out,
                 "\nstatic void %s_run(const double *fixed_, const struct compiled_table *tables_,\n"
                 "    const double *const *vary_, double *const *keep_, size_t points_)\n{\n"
                 "(void)fixed_, (void)tables_;\n%s"
                 "for (size_t k_ = 0; k_ < points_; k_ += LANES) {\n"
                 "const size_t count_ = points_ - k_;\n%s}\n}\n", name,
                 codegen->scope[0].text.data, point->text.data);
    write_names(out, name, "fixed", codegen->inputs, codegen->input_count);
    write_names(out, name, "vary", names_of(codegen, codegen->vary, codegen->vary_count),
                codegen->vary_count);
    write_names(out, name, "keep", names_of(codegen, codegen->keep, codegen->keep_count),
                codegen->keep_count);
    write_names(out, name, "tables", codegen->tables, codegen->table_count);
    return true;
}

/* ---- the file of compiled rows --------------------------------------------------------------- */

static struct text next_word(struct text *line)
{
    *line = text_trim(*line);
    size_t size = 0;
    while (size < line->size && line->data[size] != ' ')
        size++;
    struct text word = { line->data, size };
    line->data += size, line->size -= size;
    return word;
}

static bool read_words(struct codegen *codegen, struct text line, struct text *words, size_t *count)
{
    for (struct text word; (word = next_word(&line)).size;) {
        if (*count == WORDS)
            return codegen_wrong(codegen, "too many words", "at most 64");
        words[(*count)++] = word;
    }
    return true;
}

static bool read_line(struct codegen *codegen, struct text line)
{
    struct text word = next_word(&line);
    if (text_is(word, "fix"))
        return read_words(codegen, line, codegen->fix, &codegen->fix_count);
    if (text_is(word, "vary"))
        return read_words(codegen, line, codegen->vary, &codegen->vary_count);
    if (text_is(word, "keep"))
        return read_words(codegen, line, codegen->keep, &codegen->keep_count);
    return codegen_wrong(codegen, "an unknown word", "fix, vary or keep");
}

static unsigned read_conditions(struct text line)
{
    unsigned conditions = 0;
    for (struct text word; (word = next_word(&line)).size;)
        conditions |= text_is(word, "model") ? FORMULAS_MODEL : text_is(word, "machine")
            ? FORMULAS_MACHINE
                                                                                    : 0;
    return conditions;
}

bool compiled_write(struct arena *arena, const struct formulas *sets[], const char *file,
                    struct text text, struct buffer *out, struct error *error)
{
    struct buffer table = { .arena = arena };
    int line_number = 0;
    buffer_print(out, "#include \"rows/compiled.h\"\n");
    buffer_add(&table, "", 0);
    while (text.size) {
        struct text line = text_line(&text), words = line, first = next_word(&words);
        line_number++;
        if (!first.size || first.data[0] == '#')
            continue;
        struct codegen *codegen = arena_alloc(arena, sizeof *codegen);
        *codegen = (struct codegen){ .arena = arena, .error = error, .file = file, .line = line_number };
        const char *name = name_of(codegen, next_word(&words));
        unsigned conditions = read_conditions(words);
        codegen->formulas = sets[conditions];
        if (!text_is(first, "compiled") || !*name)
            return codegen_wrong(codegen, "no compiled rows", "compiled NAME");
        while (text.size && text.data[0] == ' ') {
            struct text more = text_line(&text);
            codegen->line = ++line_number;
            if (!read_line(codegen, more))
                return false;
        }
        if (!write_compiled(codegen, name, out))
            return false;
        buffer_print(&table, "    { \"%s\", %u, %s_fixed, %zu, %s_vary, %zu, %s_keep, %zu, "
                     "%s_tables, %zu, %s_run },\n", name, conditions, name, codegen->input_count,
                     name, codegen->vary_count, name, codegen->keep_count, name,
                     codegen->table_count, name);
    }
    buffer_print(out, "\nconst struct compiled COMPILED_JOIN(compiled_, SET)[] = {\n%s    { 0 }\n};\n",
                 table.data);
    return true;
}
