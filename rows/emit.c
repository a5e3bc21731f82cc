/* Kernels: C written from the text of the rows, at build time.
 *
 * formulas/kernels has a paragraph per kernel:
 *
 *     kernel roofline WITH model
 *         fix overlap=0 lecture_form=0
 *         vary batch context
 *         keep bound_step bound_throughput
 *
 * A fixed row is a constant of the kernel, so branches of select that it rules out are
 * not compiled. Every other input is one number for all points.
 *
 * The text of a row is pasted as it stands, so the compiler reads the formula itself;
 * only AT, SUM, LEAST, MOST, ROOT and row[entry] are first computed into a variable whose
 * name takes their place, and whole literals get a ".0". Scopes of C do what frames do in
 * list.c:
 *
 *     scope 0        rows that no varying input reaches: once
 *     scope 1        rows that one does: for every point
 *     scope 2...     the same rows at another point (AT), at an entry (SUM), in a ROOT
 *
 * A row is written into the innermost scope that changes anything it depends on. */
#include "rows/rows.h"

#include <string.h>

enum { SCOPES = 24, WORDS = 64 };

struct scope {
    uint64_t *changes;              /* rows and tables that differ here */
    uint8_t *written;               /* rows */
    struct buffer text;
};

struct emit {
    struct arena *arena;
    const struct book *book;
    struct error *error;
    const char *file;
    int line;
    struct text fix[WORDS], vary[WORDS], keep[WORDS];
    size_t fix_count, vary_count, keep_count;
    const struct expr **fixed;           /* [rows] the number a fixed row has, or NULL */
    uint8_t *changed;               /* [rows] rows that an AT or ROOT within reach changes */
    uint64_t *depends;              /* [rows * words], filled for rows with known */
    uint8_t *known;
    size_t words;
    struct scope scope[SCOPES];
    int depth;
    const char *inputs[512];
    size_t input_count;
    const char *tables[WORDS];
    size_t table_count;
    int names;                      /* temporaries so far */
    bool failed;
};

static bool emit_wrong(struct emit *emit, const char *what, const char *expected)
{
    if (!emit->failed) {
        error_set(emit->error, "%s:%d: %s", emit->file, emit->line, what);
        error_hint(emit->error, "%s", expected);
    }
    emit->failed = true;
    return false;
}

/* ---- what is decided by fixed rows --------------------------------------------------------- */

static bool constant_of(const struct emit *emit, const struct expr *expr, double *value)
{
    if (expr->op == OP_ROW && emit->changed[expr->row])
        return false;                               /* not the same everywhere */
    if (expr->op == OP_ROW && emit->fixed[expr->row])
        expr = emit->fixed[expr->row];
    if (expr->op == OP_NUMBER) {
        *value = expr->number;
        return true;
    }
    /* a fixed row may decide a redefined switch: select(lecture_form > 0, 0, 1) */
    if (expr->op == OP_ROW && emit->book->rows[expr->row]->expr)
        return constant_of(emit, emit->book->rows[expr->row]->expr, value);
    double a, b;
    if (expr->op != OP_SELECT || !constant_of(emit, expr->kid[0]->kid[0], &a) ||
        !constant_of(emit, expr->kid[0]->kid[1], &b))
        return false;
    if (expr->kid[0]->op != OP_LESS && expr->kid[0]->op != OP_ATMOST)
        return false;
    bool holds = expr->kid[0]->op == OP_LESS ? a < b : a <= b;
    return constant_of(emit, expr->kid[holds ? 1 : 2], value);
}

/* What a kernel gets as a column is given. */
static bool is_given(const void *context, const char *name)
{
    const struct emit *emit = context;
    for (size_t i = 0; i < emit->vary_count; i++)
        if (text_is(emit->vary[i], name))
            return true;
    return false;
}

/* 1 or 2: the branch a select surely takes; 0: not known. */
static int sure_branch(const struct emit *emit, const struct expr *select)
{
    const struct expr *condition = select->kid[0];
    const int branch = expr_branch_given(select, is_given, emit);
    double a, b;
    if (branch)
        return branch;
    if ((condition->op != OP_LESS && condition->op != OP_ATMOST) ||
        !constant_of(emit, condition->kid[0], &a) || !constant_of(emit, condition->kid[1], &b))
        return 0;
    return (condition->op == OP_LESS ? a < b : a <= b) ? 1 : 2;
}

/* ---- dependence ------------------------------------------------------------------------------ */

static int table_bit(const struct emit *emit, const char *table)
{
    for (size_t i = 0; i < emit->book->chapter_count; i++)
        if (emit->book->chapters[i].table && !strcmp(emit->book->chapters[i].table, table))
            return (int)(emit->book->count + i);
    return -1;
}

static void set_bit(uint64_t *set, int bit)
{
    set[bit / 64] |= (uint64_t)1 << bit % 64;
}

static const uint64_t *depends_of(struct emit *emit, int row);

static void depends_expr(struct emit *emit, const struct expr *expr, uint64_t *set)
{
    if (expr->row >= 0) {
        const uint64_t *more = depends_of(emit, expr->row);
        for (size_t i = 0; i < emit->words; i++)
            set[i] |= more[i];
    }
    int sure = expr->op == OP_SELECT ? sure_branch(emit, expr) : 0;
    for (int i = 0; i < 3; i++)
        if (expr->kid[i] && !(sure && i && i != sure))
            depends_expr(emit, expr->kid[i], set);
    for (const struct binding *at = expr->at; at; at = at->next)
        depends_expr(emit, at->value, set);
}

static const uint64_t *depends_of(struct emit *emit, int row)
{
    uint64_t *set = emit->depends + (size_t)row * emit->words;
    if (emit->known[row])
        return set;
    emit->known[row] = 1;
    set_bit(set, row);
    if (emit->book->rows[row]->table)
        set_bit(set, table_bit(emit, emit->book->rows[row]->table));
    if (emit->book->rows[row]->expr && !emit->fixed[row])
        depends_expr(emit, emit->book->rows[row]->expr, set);
    return set;
}

/* The innermost scope that changes something in the set. */
static int scope_of(const struct emit *emit, const uint64_t *set)
{
    for (int s = emit->depth - 1; s > 0; s--)
        for (size_t i = 0; i < emit->words; i++)
            if (set[i] & emit->scope[s].changes[i])
                return s;
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_row(struct emit *emit, int row);
static const char *paste(struct emit *emit, const struct expr *expr, int scope);

static struct scope *open_scope(struct emit *emit)
{
    if (emit->depth == SCOPES) {
        emit_wrong(emit, "scopes nest too deep", "fewer AT inside each other");
        emit->depth--;
    }
    struct scope *scope = &emit->scope[emit->depth++];
    *scope = (struct scope){ .text.arena = emit->arena };
    scope->changes = arena_array(emit->arena, emit->words, sizeof(uint64_t));
    scope->written = arena_alloc(emit->arena, emit->book->count + 1);
    buffer_add(&scope->text, "", 0);
    return scope;
}

static size_t input_index(struct emit *emit, const char *name)
{
    for (size_t i = 0; i < emit->input_count; i++)
        if (!strcmp(emit->inputs[i], name))
            return i;
    if (emit->input_count == sizeof emit->inputs / sizeof *emit->inputs) {
        emit_wrong(emit, "more than 512 inputs", "fewer");
        return 0;
    }
    emit->inputs[emit->input_count] = name;
    return emit->input_count++;
}

static size_t table_index(struct emit *emit, const char *table)
{
    if (emit->table_count == WORDS) {
        emit_wrong(emit, "more than 64 tables", "fewer");
        return 0;
    }
    for (size_t i = 0; i < emit->table_count; i++)
        if (!strcmp(emit->tables[i], table))
            return i;
    emit->tables[emit->table_count] = table;
    return emit->table_count++;
}

/* The place of an input among the columns of its table: their order in the book. */
static size_t column_index(const struct emit *emit, int row)
{
    size_t index = 0;
    for (int i = 0; i < row; i++)
        index += emit->book->rows[i]->table && !emit->book->rows[i]->expr &&
                 !strcmp(emit->book->rows[i]->table, emit->book->rows[row]->table);
    return index;
}

static void write_row(struct emit *emit, int index)
{
    const struct row *row = emit->book->rows[index];
    int s = scope_of(emit, depends_of(emit, index));
    struct scope *scope = &emit->scope[s];
    if (scope->written[index] || emit->failed)
        return;
    scope->written[index] = 1;
    if (emit->fixed[index])
        buffer_print(&scope->text, "const lanes %s = lanes_splat(%.17g);\n", row->name,
                     emit->fixed[index]->number);
    else if (!row->expr && row->table)
        buffer_print(&scope->text, "const lanes %s = lanes_splat(tables_[%zu].columns[%zu][i_%zu]);\n",
                     row->name, table_index(emit, row->table), column_index(emit, index),
                     table_index(emit, row->table));
    else if (!row->expr)
        buffer_print(&scope->text, "const lanes %s = lanes_splat(fixed_[%zu]);\n", row->name,
                     input_index(emit, row->name));
    else {
        const char *text = paste(emit, row->expr, s);
        buffer_print(&scope->text, "const lanes %s = SPREAD(%s);\n", row->name, text);
    }
}

/* Everything inside is written in a scope of its own, then that scope as a block into the
 * scope around; `name` gets the value. */
static void close_scope(struct emit *emit, int around, const char *before, const char *after)
{
    struct scope *inner = &emit->scope[--emit->depth];
    buffer_print(&emit->scope[around].text, "%s{\n%s}\n%s", before, inner->text.data, after);
}

static const char *write_at(struct emit *emit, const struct expr *expr, int around,
                            const char *name)
{
    struct buffer before = { .arena = emit->arena };
    buffer_print(&before, "lanes %s;\n", name);
    for (const struct binding *at = expr->at; at; at = at->next) {
        const char *value = paste(emit, at->value, around);
        buffer_print(&before, "const lanes %s_%s = SPREAD(%s);\n", name,
                     emit->book->rows[at->row]->name, value);
    }
    struct scope *scope = open_scope(emit);
    for (const struct binding *at = expr->at; at; at = at->next) {
        const char *row = emit->book->rows[at->row]->name;
        set_bit(scope->changes, at->row);
        scope->written[at->row] = 1;
        buffer_print(&scope->text, "const lanes %s = %s_%s;\n", row, name, row);
    }
    const char *value = paste(emit, expr->kid[0], emit->depth - 1);
    buffer_print(&scope->text, "%s = SPREAD(%s);\n", name, value);
    close_scope(emit, around, before.data, "");
    return name;
}

static const char *write_over(struct emit *emit, const struct expr *expr, int around,
                              const char *name)
{
    size_t table = table_index(emit, expr->name);
    struct scope *scope = open_scope(emit);
    set_bit(scope->changes, table_bit(emit, expr->name));
    const char *value = paste(emit, expr->kid[0], emit->depth - 1);
    if (expr->op == OP_SUM)
        buffer_print(&scope->text, "%s = %s + SPREAD(%s);\n", name, name, value);
    else
        buffer_print(&scope->text, "%s = i_%zu ? %s(%s, %s) : SPREAD(%s);\n", name, table,
                     expr->op == OP_LEAST ? "min_2" : "max_2", name, value, value);
    close_scope(emit, around,
                arena_print(emit->arena, "lanes %s = lanes_splat(0);\n"
                            "for (size_t i_%zu = 0; i_%zu < tables_[%zu].entries; i_%zu++) ",
                            name, table, table, table, table), "");
    return name;
}

static const char *write_root(struct emit *emit, const struct expr *expr, int around,
                              const char *name)
{
    const char *row = emit->book->rows[expr->row]->name;
    const char *low = paste(emit, expr->kid[0], around), *high = paste(emit, expr->kid[1], around);
    struct scope *scope = open_scope(emit);
    set_bit(scope->changes, expr->row);
    scope->written[expr->row] = 1;
    buffer_print(&scope->text, "const lanes %s = lanes_root_point(&%s_root, %s_turn);\n", row,
                 name, name);
    const char *f = paste(emit, expr->kid[2], emit->depth - 1);
    buffer_print(&scope->text, "lanes_root_narrow(&%s_root, %s_turn, %s, SPREAD(%s));\n", name,
                 name, row, f);
    close_scope(emit, around,
                arena_print(emit->arena, "struct lanes_root %s_root = lanes_root_open(SPREAD(%s), "
                            "SPREAD(%s));\nfor (int %s_turn = 0; %s_turn < LANES_ROOT_STEPS; "
                            "%s_turn++) ", name, low, high, name, name, name),
                arena_print(emit->arena, "const lanes %s = lanes_root_value(&%s_root);\n", name,
                            name));
    return name;
}

static const char *write_special(struct emit *emit, const struct expr *expr, int around)
{
    const char *name = arena_print(emit->arena, "t_%d", emit->names++);
    switch (expr->op) {
    case OP_AT: return write_at(emit, expr, around, name);
    case OP_ROOT: return write_root(emit, expr, around, name);
    case OP_ENTRY:
        emit_wrong(emit, "row[entry] in a kernel", "SUM, LEAST or MOST over the table");
        return name;
    default: return write_over(emit, expr, around, name);
    }
}

/* ---- pasting ------------------------------------------------------------------------------------ */

struct cut {
    struct text text;
    const char *name;
};

static void cuts_add(struct emit *emit, struct cut *cuts, size_t *count, struct text text,
                     const char *name)
{
    if (*count < WORDS)
        cuts[(*count)++] = (struct cut){ text, name };
    else
        emit_wrong(emit, "an expression has too many parts", "two rows");
}

/* Write what the expression needs; collect the parts of its text that are replaced. */
static void find_cuts(struct emit *emit, const struct expr *expr, int around, struct cut *cuts,
                      size_t *count)
{
    if (emit->failed)
        return;
    switch (expr->op) {
    case OP_ROW: write_row(emit, expr->row); return;
    case OP_GIVEN:
        cuts_add(emit, cuts, count, expr->text, is_given(emit, expr->name)
                 ? "(SPREAD(0.0) < SPREAD(1.0))" : "(SPREAD(1.0) < SPREAD(0.0))");
        return;
    case OP_NUMBER:                                 /* 20ms is no C */
        if (!unit_same(expr->unit, unit_one))
            cuts_add(emit, cuts, count, expr->text, arena_print(emit->arena, "%a", expr->number));
        return;
    case OP_AT: case OP_SUM: case OP_LEAST: case OP_MOST: case OP_ROOT: case OP_ENTRY:
        cuts_add(emit, cuts, count, expr->text, write_special(emit, expr, around));
        return;
    default: break;
    }
    int sure = expr->op == OP_SELECT ? sure_branch(emit, expr) : 0;
    for (int i = 0; i < 3; i++) {
        if (!expr->kid[i])
            continue;
        if (sure && i && i != sure)
            cuts_add(emit, cuts, count, expr->kid[i]->text, "0.0");     /* never taken */
        else
            find_cuts(emit, expr->kid[i], around, cuts, count);
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

static const char *paste(struct emit *emit, const struct expr *expr, int around)
{
    struct cut cuts[WORDS];
    size_t count = 0;
    struct buffer out = { .arena = emit->arena };
    find_cuts(emit, expr, around, cuts, &count);
    buffer_add(&out, "", 0);
    const char *at = expr->text.data, *end = at + expr->text.size;
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

/* ---- one kernel ---------------------------------------------------------------------------------- */

static const char *name_of(struct emit *emit, struct text text)
{
    return arena_copy(emit->arena, text.data, text.size);
}

static bool row_of(struct emit *emit, struct text text, int *row)
{
    *row = book_find(emit->book, name_of(emit, text));
    return *row >= 0 || book_unknown(emit->book, name_of(emit, text), emit->error);
}

static bool read_fix(struct emit *emit)
{
    for (size_t i = 0; i < emit->fix_count; i++) {
        const char *equals = memchr(emit->fix[i].data, '=', emit->fix[i].size);
        if (!equals)
            return emit_wrong(emit, "fix without a number", "fix row=number");
        struct text name = { emit->fix[i].data, (size_t)(equals - emit->fix[i].data) };
        struct text number = { equals + 1, emit->fix[i].size - name.size - 1 };
        int row;
        if (!row_of(emit, name, &row) ||
            !expr_parse(emit->book, emit->file, emit->line, number, &emit->fixed[row], emit->error))
            return false;
        if (emit->fixed[row]->op != OP_NUMBER)
            return emit_wrong(emit, "fix without a number", "fix row=number");
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

static const char **names_of(struct emit *emit, const struct text *texts, size_t count)
{
    const char **names = arena_array(emit->arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = name_of(emit, texts[i]);
    return names;
}

/* Everything a row may read, whatever is fixed: what does it change on the way? */
static void find_changed(struct emit *emit, const struct expr *expr, uint8_t *seen)
{
    if (expr->op == OP_ROOT)
        emit->changed[expr->row] = 1;
    if (expr->row >= 0 && !seen[expr->row]) {
        seen[expr->row] = 1;
        if (emit->book->rows[expr->row]->expr)
            find_changed(emit, emit->book->rows[expr->row]->expr, seen);
    }
    for (int i = 0; i < 3; i++)
        if (expr->kid[i])
            find_changed(emit, expr->kid[i], seen);
    for (const struct binding *at = expr->at; at; at = at->next) {
        emit->changed[at->row] = 1;
        find_changed(emit, at->value, seen);
    }
}

static bool find_all_changed(struct emit *emit)
{
    uint8_t *seen = arena_alloc(emit->arena, emit->book->count + 1);
    for (size_t i = 0; i < emit->keep_count; i++) {
        int row;
        if (!row_of(emit, emit->keep[i], &row))
            return false;
        if (emit->book->rows[row]->expr)
            find_changed(emit, emit->book->rows[row]->expr, seen);
    }
    return true;
}

static bool write_kernel(struct emit *emit, const char *name, struct buffer *out)
{
    emit->words = (emit->book->count + emit->book->chapter_count) / 64 + 1;
    emit->depends = arena_array(emit->arena, emit->book->count * emit->words, sizeof(uint64_t));
    emit->known = arena_alloc(emit->arena, emit->book->count + 1);
    emit->fixed = arena_array(emit->arena, emit->book->count + 1, sizeof *emit->fixed);
    emit->changed = arena_alloc(emit->arena, emit->book->count + 1);
    if (!read_fix(emit) || !find_all_changed(emit))
        return false;
    open_scope(emit);
    struct scope *point = open_scope(emit);
    for (size_t i = 0; i < emit->vary_count; i++) {
        int row;
        if (!row_of(emit, emit->vary[i], &row))
            return false;
        set_bit(point->changes, row);
        point->written[row] = 1;
        buffer_print(&point->text, "const lanes %s = kernel_load(vary_[%zu] + k_, count_);\n",
                     emit->book->rows[row]->name, i);
    }
    for (size_t i = 0; i < emit->keep_count; i++) {
        int row;
        if (!row_of(emit, emit->keep[i], &row))
            return false;
        write_row(emit, row);
    }
    for (size_t i = 0; i < emit->keep_count; i++)
        buffer_print(&point->text, "kernel_store(keep_[%zu] + k_, %s, count_);\n", i,
                     name_of(emit, emit->keep[i]));
    if (emit->failed)
        return false;
    buffer_print(out, "\nstatic void %s_run(const double *fixed_, const struct kernel_table *tables_,\n"
                 "    const double *const *vary_, double *const *keep_, size_t points_)\n{\n"
                 "(void)fixed_, (void)tables_;\n%s"
                 "for (size_t k_ = 0; k_ < points_; k_ += LANES) {\n"
                 "const size_t count_ = points_ - k_;\n%s}\n}\n", name,
                 emit->scope[0].text.data, point->text.data);
    write_names(out, name, "fixed", emit->inputs, emit->input_count);
    write_names(out, name, "vary", names_of(emit, emit->vary, emit->vary_count), emit->vary_count);
    write_names(out, name, "keep", names_of(emit, emit->keep, emit->keep_count), emit->keep_count);
    write_names(out, name, "tables", emit->tables, emit->table_count);
    return true;
}

/* ---- the file of kernels ---------------------------------------------------------------------------- */

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

static bool read_words(struct emit *emit, struct text line, struct text *words, size_t *count)
{
    for (struct text word; (word = next_word(&line)).size;) {
        if (*count == WORDS)
            return emit_wrong(emit, "too many words", "at most 64");
        words[(*count)++] = word;
    }
    return true;
}

static bool read_line(struct emit *emit, struct text line)
{
    struct text word = next_word(&line);
    if (text_is(word, "fix"))
        return read_words(emit, line, emit->fix, &emit->fix_count);
    if (text_is(word, "vary"))
        return read_words(emit, line, emit->vary, &emit->vary_count);
    if (text_is(word, "keep"))
        return read_words(emit, line, emit->keep, &emit->keep_count);
    return emit_wrong(emit, "an unknown word", "fix, vary or keep");
}

static unsigned read_conditions(struct text line)
{
    unsigned conditions = 0;
    for (struct text word; (word = next_word(&line)).size;)
        conditions |= text_is(word, "model") ? BOOK_MODEL : text_is(word, "machine") ? BOOK_MACHINE
                                                                                    : 0;
    return conditions;
}

bool kernels_write(struct arena *arena, const struct book *books[], const char *file,
                   struct text text, struct buffer *out, struct error *error)
{
    struct buffer table = { .arena = arena };
    int line_number = 0;
    buffer_print(out, "#include \"rows/kernel.h\"\n");
    buffer_add(&table, "", 0);
    while (text.size) {
        struct text line = text_line(&text), words = line, first = next_word(&words);
        line_number++;
        if (!first.size || first.data[0] == '#')
            continue;
        struct emit *emit = arena_alloc(arena, sizeof *emit);
        *emit = (struct emit){ .arena = arena, .error = error, .file = file, .line = line_number };
        const char *name = name_of(emit, next_word(&words));
        unsigned conditions = read_conditions(words);
        emit->book = books[conditions];
        if (!text_is(first, "kernel") || !*name)
            return emit_wrong(emit, "no kernel", "kernel NAME");
        while (text.size && text.data[0] == ' ') {
            struct text more = text_line(&text);
            emit->line = ++line_number;
            if (!read_line(emit, more))
                return false;
        }
        if (!write_kernel(emit, name, out))
            return false;
        buffer_print(&table, "    { \"%s\", %u, %s_fixed, %zu, %s_vary, %zu, %s_keep, %zu, "
                     "%s_tables, %zu, %s_run },\n", name, conditions, name, emit->input_count,
                     name, emit->vary_count, name, emit->keep_count, name, emit->table_count, name);
    }
    buffer_print(out, "\nconst struct kernel KERNEL_JOIN(kernels_, SET)[] = {\n%s    { 0 }\n};\n",
                 table.data);
    return true;
}
