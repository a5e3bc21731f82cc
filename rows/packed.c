/* Packs what the build has read, and unpacks it where the program starts.
 *
 * A row is packed once for each different chain of rows that it redefines, with its expression as a
 * tree, operands first to last behind their operator. Where a part of an expression stands in its text
 * is told from the end of the part before it, which is mostly no distance at all; so trees stay small
 * and alike. Cells of a table go column by column: those below each other are alike. */
#include "rows/draft.h"
#include "rows/packed.h"

#include <float.h>
#include <string.h>

/* ---- counts, numbers, texts ---------------------------------------------------------------- */

/* The first byte of a number: itself up to here, or one of these. */
enum { NUMBER_SMALL = 250, NUMBER_LEAST, NUMBER_MOST, NUMBER_WHOLE };

void packer_open(struct packer *packer, struct arena *arena)
{
    for (int i = 0; i < PACK_PARTS; i++)
        packer->parts[i] = (struct buffer){ .arena = arena };
}

static void pack_bytes(struct packer *packer, enum pack_part part, const void *bytes, size_t size)
{
    buffer_add(&packer->parts[part], bytes, size);
}

static void unpack_bytes(struct unpacker *unpacker, enum pack_part part, void *bytes, size_t size)
{
    memcpy(bytes, unpacker->parts[part], size);
    unpacker->parts[part] += size;
}

static void pack_byte(struct packer *packer, enum pack_part part, unsigned byte)
{
    const unsigned char one = (unsigned char)byte;
    pack_bytes(packer, part, &one, 1);
}

void pack_count(struct packer *packer, enum pack_part part, size_t count)
{
    for (; count >= 128; count /= 128)
        pack_byte(packer, part, 128 | (unsigned)(count % 128));
    pack_byte(packer, part, (unsigned)count);
}

size_t unpack_count(struct unpacker *unpacker, enum pack_part part)
{
    size_t count = 0, byte;
    for (int shift = 0;; shift += 7) {
        byte = (unsigned char)*unpacker->parts[part]++;
        count |= (byte & 127) << shift;
        if (byte < 128)
            return count;
    }
}

/* A count below 0 too: 0, -1, 1, -2, 2 and so on. */
static void pack_step(struct packer *packer, enum pack_part part, ptrdiff_t step)
{
    pack_count(packer, part, step < 0 ? 2 * (size_t)-(step + 1) + 1 : 2 * (size_t)step);
}

static ptrdiff_t unpack_step(struct unpacker *unpacker, enum pack_part part)
{
    const size_t count = unpack_count(unpacker, part);
    return count % 2 ? -(ptrdiff_t)(count / 2) - 1 : (ptrdiff_t)(count / 2);
}

static void pack_number(struct packer *packer, double number)
{
    for (unsigned small = 0; small <= NUMBER_SMALL; small++) {
        const double same = small;
        if (!memcmp(&number, &same, sizeof same)) {
            pack_byte(packer, PACK_VALUES, small);
            return;
        }
    }
    const unsigned first = number == -DBL_MAX ? NUMBER_LEAST : number == DBL_MAX ? NUMBER_MOST : NUMBER_WHOLE;
    pack_byte(packer, PACK_VALUES, first);
    if (first == NUMBER_WHOLE)
        pack_bytes(packer, PACK_VALUES, &number, sizeof number);
}

static double unpack_number(struct unpacker *unpacker)
{
    const unsigned first = (unsigned char)*unpacker->parts[PACK_VALUES]++;
    double number;
    if (first != NUMBER_WHOLE)
        return first == NUMBER_LEAST ? -DBL_MAX : first == NUMBER_MOST ? DBL_MAX : first;
    unpack_bytes(unpacker, PACK_VALUES, &number, sizeof number);
    return number;
}

void pack_text(struct packer *packer, enum pack_part part, const char *text)
{
    pack_bytes(packer, part, text, strlen(text) + 1);
}

const char *unpack_text(struct unpacker *unpacker, enum pack_part part)
{
    const char *text = unpacker->parts[part];
    unpacker->parts[part] += strlen(text) + 1;
    return text;
}

/* Texts that may be NULL: a bit each says which are there. */
static void pack_texts(struct packer *packer, const char *const *texts, int count)
{
    size_t there = 0;
    for (int i = 0; i < count; i++)
        there |= (size_t)(texts[i] != NULL) << i;
    pack_count(packer, PACK_COUNTS, there);
    for (int i = 0; i < count; i++)
        if (texts[i])
            pack_text(packer, PACK_TEXTS, texts[i]);
}

static void unpack_texts(struct unpacker *unpacker, const char **const *texts, int count)
{
    const size_t there = unpack_count(unpacker, PACK_COUNTS);
    for (int i = 0; i < count; i++)
        *texts[i] = there >> i & 1 ? unpack_text(unpacker, PACK_TEXTS) : NULL;
}

/* ---- tables -------------------------------------------------------------------------------- */

/* Stands for a cell that has the text of the one above it, as names, sources and dates mostly have. */
static const char above[] = "\1";

static const char *cell_text(const struct csv *csv, size_t row, size_t column)
{
    return csv_at(csv, row * csv->columns + column);
}

void pack_csv(struct packer *packer, const struct csv *csv)
{
    int line = 0;
    pack_text(packer, PACK_TEXTS, csv->file);
    pack_count(packer, PACK_COUNTS, csv->columns);
    pack_count(packer, PACK_COUNTS, csv->rows);
    for (size_t i = 0; i < csv->rows; line = csv->lines[i++])
        pack_step(packer, PACK_COUNTS, csv->lines[i] - line);
    for (size_t column = 0; column < csv->columns; column++)
        for (size_t row = 0; row <= csv->rows; row++) {
            const char *text = cell_text(csv, row, column);
            const bool same = row && *text && !strcmp(text, cell_text(csv, row - 1, column));
            pack_text(packer, PACK_TEXTS, same ? above : text);
        }
}

void unpack_csv(struct unpacker *unpacker, struct csv *csv)
{
    int line = 0;
    *csv = (struct csv){ .text = unpacker->parts[PACK_TEXTS] };
    csv->file = unpack_text(unpacker, PACK_TEXTS);
    csv->columns = unpack_count(unpacker, PACK_COUNTS);
    csv->rows = unpack_count(unpacker, PACK_COUNTS);
    int *lines = arena_array(unpacker->arena, csv->rows + 1, sizeof *lines);
    uint32_t *cells = arena_array(unpacker->arena, csv->columns * (csv->rows + 1), sizeof *cells);
    for (size_t i = 0; i < csv->rows; i++)
        lines[i] = line += (int)unpack_step(unpacker, PACK_COUNTS);
    for (size_t column = 0; column < csv->columns; column++)
        for (size_t row = 0; row <= csv->rows; row++) {
            const char *text = unpack_text(unpacker, PACK_TEXTS);
            cells[row * csv->columns + column] = *text == *above ? cells[(row - 1) * csv->columns + column]
                                                                 : (uint32_t)(text - csv->text);
        }
    csv->lines = lines;
    csv->cells = cells;
}

/* ---- expressions --------------------------------------------------------------------------- */

/* Which row the expression is of, and the end of the part before in its text. */
struct expr_place {
    const char *const *names;       /* of all rows up to this one */
    int row;
    ptrdiff_t at;
    struct expr_draft draft;        /* of the expression that is unpacked */
};

static bool has_row(enum op op)
{
    return op == OP_ROW || op == OP_ENTRY || op == OP_ROOT;
}

static int kid_count(const struct expr *expr)
{
    int count = 0;
    while (count < 3 && expr_kid(expr, count))
        count++;
    return count;
}

/* A row by its name ends where the name does. */
static ptrdiff_t likely_end(const struct expr_place *place, const struct expr *expr)
{
    return expr->op == OP_ROW ? place->at + (ptrdiff_t)strlen(place->names[expr->row]) : place->at;
}

static void pack_expr(struct packer *packer, struct expr_place *place, const struct expr *expr)
{
    const ptrdiff_t start = expr->start, end = start + expr->size;
    const int kids = kid_count(expr);
    const bool plain = expr->op != OP_NUMBER || unit_same(expr->unit, unit_one);
    pack_count(packer, PACK_OPERATORS, 8 * (size_t)expr->op + 2 * (size_t)kids + plain);
    pack_step(packer, PACK_PLACES, start - place->at);
    place->at = start;
    if (has_row(expr->op))
        pack_step(packer, PACK_OPERANDS, place->row - expr->row);
    if (expr_has_name(expr->op))
        pack_text(packer, PACK_NAMES, expr_name(expr));
    if (expr->op == OP_NUMBER)
        pack_number(packer, expr->number);
    if (!plain)
        pack_bytes(packer, PACK_VALUES, expr->unit.half, UNIT_COUNT);
    for (int i = 0; i < kids; i++)
        pack_expr(packer, place, expr_kid(expr, i));
    for (const struct expr *one = expr_at(expr); one; one = expr_at(one)) {
        pack_count(packer, PACK_OPERANDS, (size_t)one->row + 1);
        pack_expr(packer, place, expr_kid(one, 0));
    }
    if (expr->op == OP_AT)
        pack_count(packer, PACK_OPERANDS, 0);
    pack_step(packer, PACK_PLACES, end - likely_end(place, expr));
    place->at = end;
}

static struct expr *expr_next(struct expr_place *place, enum op op)
{
    struct expr *expr = &place->draft.nodes[place->draft.count++];
    *expr = (struct expr){ .op = op, .row = -1 };
    return expr;
}

static struct expr *unpack_expr(struct unpacker *unpacker, struct expr_place *place);

static void unpack_bindings(struct unpacker *unpacker, struct expr_place *place, struct expr *last)
{
    for (size_t row; (row = unpack_count(unpacker, PACK_OPERANDS));) {
        struct expr *one = expr_next(place, OP_BINDING);
        one->row = (int)row - 1;
        one->kid[0] = (int16_t)(unpack_expr(unpacker, place) - one);
        last->at = (int16_t)(one - last);
        last = one;
    }
}

static struct expr *unpack_expr(struct unpacker *unpacker, struct expr_place *place)
{
    const size_t head = unpack_count(unpacker, PACK_OPERATORS);
    const ptrdiff_t start = place->at += unpack_step(unpacker, PACK_PLACES);
    struct expr *expr = expr_next(place, (enum op)(head / 8));
    if (has_row(expr->op))
        expr->row = place->row - (int)unpack_step(unpacker, PACK_OPERANDS);
    if (expr_has_name(expr->op))
        place->draft.names[expr - place->draft.nodes] = unpack_text(unpacker, PACK_NAMES);
    if (expr->op == OP_NUMBER)
        expr->number = unpack_number(unpacker);
    if (head % 2 == 0)
        unpack_bytes(unpacker, PACK_VALUES, expr->unit.half, UNIT_COUNT);
    for (size_t i = 0; i < head / 2 % 4; i++)
        expr->kid[i] = (int16_t)(unpack_expr(unpacker, place) - expr);
    if (expr->op == OP_AT)
        unpack_bindings(unpacker, place, expr);
    place->at = likely_end(place, expr) + unpack_step(unpacker, PACK_PLACES);
    expr->start = (uint16_t)start;
    expr->size = (uint16_t)(place->at - start);
    return expr;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Each different row has a number, in the order in which they are packed. */
struct packed_row {
    const struct row *row;
    int index;                          /* its place in the formulas */
    size_t number, before;              /* 1 and above; 0: it redefines none */
    struct packed_row *next;            /* in this place of the formulas */
};

struct row_packer {
    struct packer *to;
    struct arena *arena;
    const char **names;                 /* [rows of the formulas] */
    struct packed_row **rows;           /* [rows of the formulas] */
    size_t count;
    int line;
};

/* Texts that many rows lack, in one order for both directions. */
static const enum row_text rare[] = { TEXT_fit, TEXT_aliases, TEXT_part, TEXT_words };
enum { RARE = sizeof rare / sizeof *rare };

/* What a row is; most inputs have no plausible range. */
enum { ROW_EXPR = 1, ROW_INPUT = 2, ROW_LIKELY = 4 };

static size_t kind_of(const struct row *row)
{
    const bool likely = row->likely_low != row->value || row->likely_high != row->value;
    return (row_expr(row) ? ROW_EXPR : 0) | (row->input ? ROW_INPUT : 0) | (likely ? ROW_LIKELY : 0);
}

static void pack_values(struct packer *packer, const struct row *row)
{
    pack_number(packer, row->value);
    pack_number(packer, row->low);
    pack_number(packer, row->high);
    if (kind_of(row) & ROW_LIKELY) {
        pack_number(packer, row->likely_low);
        pack_number(packer, row->likely_high);
    }
}

static void unpack_values(struct unpacker *unpacker, size_t kind, struct row *row)
{
    row->value = unpack_number(unpacker);
    row->low = unpack_number(unpacker);
    row->high = unpack_number(unpacker);
    row->likely_low = kind & ROW_LIKELY ? unpack_number(unpacker) : row->value;
    row->likely_high = kind & ROW_LIKELY ? unpack_number(unpacker) : row->value;
}

/* `same`: a row packed before at this place with this expression, or NULL. File, condition and table
 * are those of its chapter; name and table of a redefined row are those it had. */
static void pack_row(struct row_packer *packer, const struct packed_row *made,
                     const struct packed_row *same)
{
    struct packer *to = packer->to;
    const struct row *row = made->row;
    const char *texts[RARE];
    for (int i = 0; i < RARE; i++)
        texts[i] = row->texts[rare[i]] ? (const char *)row + row->texts[rare[i]] : NULL;
    pack_count(to, PACK_COUNTS, made->before);
    pack_count(to, PACK_COUNTS, same ? same->number : 0);
    pack_count(to, PACK_COUNTS, (size_t)row->chapter);
    pack_step(to, PACK_COUNTS, row->line - packer->line);
    packer->line = row->line;
    if (!made->before)
        pack_text(to, PACK_NAMES, row_name(row));
    pack_text(to, PACK_NAMES, row_unit_text(row));
    pack_bytes(to, PACK_COUNTS, row->unit.half, UNIT_COUNT);
    pack_text(to, PACK_NAMES, row_symbol(row));
    pack_text(to, PACK_MEANINGS, row_meaning(row));
    pack_text(to, PACK_SOURCES, row_source(row));
    pack_texts(to, texts, RARE);
    pack_count(to, PACK_COUNTS, kind_of(row));
    if (row->input)
        pack_values(to, row);
    if (!row_expr(row) || same)
        return;
    struct expr_place place = { .names = packer->names, .row = made->index };
    pack_text(to, PACK_FORMULAS, row_text(row).data);
    pack_expr(to, &place, row_expr(row));
}

struct row_unpacker {
    struct unpacker *from;
    const struct chapter *chapters;
    const struct row **rows;            /* so far; number 1 is the first */
    int *index;                         /* the place of each in the formulas */
    size_t row_count, row_room, index_count, index_room;
    const char **names;                 /* [rows of the formulas] */
    struct expr_draft draft;            /* room for an expression */
    int name_count, line;
};

static void unpack_row(struct row_unpacker *all)
{
    struct unpacker *unpacker = all->from;
    struct arena *arena = unpacker->arena;
    struct row_draft draft = { .expr = NULL };
    const char **texts = draft.texts, **rarely[RARE];
    for (int i = 0; i < RARE; i++)
        rarely[i] = &texts[rare[i]];
    const size_t before = unpack_count(unpacker, PACK_COUNTS);
    const size_t same = unpack_count(unpacker, PACK_COUNTS);
    draft.before = before ? all->rows[before - 1] : NULL;
    draft.row.chapter = (int)unpack_count(unpacker, PACK_COUNTS);
    draft.row.line = all->line += (int)unpack_step(unpacker, PACK_COUNTS);
    const struct chapter *chapter = &all->chapters[draft.row.chapter];
    texts[TEXT_file] = chapter->file;
    texts[TEXT_with] = chapter->with;
    texts[TEXT_table] = before ? row_table(draft.before) : chapter->table;
    texts[TEXT_name] = before ? row_name(draft.before) : unpack_text(unpacker, PACK_NAMES);
    const int index = before ? all->index[before - 1] : all->name_count++;
    all->names[index] = texts[TEXT_name];
    texts[TEXT_unit_text] = unpack_text(unpacker, PACK_NAMES);
    unpack_bytes(unpacker, PACK_COUNTS, draft.row.unit.half, UNIT_COUNT);
    texts[TEXT_symbol] = unpack_text(unpacker, PACK_NAMES);
    texts[TEXT_meaning] = unpack_text(unpacker, PACK_MEANINGS);
    texts[TEXT_source] = unpack_text(unpacker, PACK_SOURCES);
    unpack_texts(unpacker, rarely, RARE);
    const size_t kind = unpack_count(unpacker, PACK_COUNTS);
    draft.row.input = kind & ROW_INPUT;
    if (draft.row.input)
        unpack_values(unpacker, kind, &draft.row);
    if (kind & ROW_EXPR && same)
        draft.expr = row_expr(all->rows[same - 1]);
    else if (kind & ROW_EXPR) {
        struct expr_place place = { .names = all->names, .row = index, .draft = all->draft };
        const struct text text = text_of(unpack_text(unpacker, PACK_FORMULAS));
        const struct expr *root = unpack_expr(unpacker, &place);
        draft.expr = expr_keep(arena, &place.draft, root, text);
    }
    *(const struct row **)arena_push(arena, &all->rows, &all->row_count, &all->row_room, sizeof *all->rows) =
        row_keep(arena, &draft);
    *(int *)arena_push(arena, &all->index, &all->index_count, &all->index_room, sizeof *all->index) = index;
}

/* The number of this row at place `index`, which is packed if it was not before. */
static size_t packed_number(struct row_packer *packer, size_t index, const struct row *row)
{
    const size_t before = row_before(row) ? packed_number(packer, index, row_before(row)) : 0;
    const struct packed_row *same = NULL;
    for (const struct packed_row *known = packer->rows[index]; known; known = known->next)
        if (known->row->line == row->line && !strcmp(row_file(known->row), row_file(row))) {
            if (known->before == before)
                return known->number;
            same = known;
        }
    struct packed_row *made = arena_alloc(packer->arena, sizeof *made);
    *made = (struct packed_row){ row, (int)index, ++packer->count, before, packer->rows[index] };
    packer->rows[index] = made;
    pack_row(packer, made, same);
    return made->number;
}

/* ---- formulas ------------------------------------------------------------------------------ */

static void pack_chapters(struct packer *packer, const struct formulas *formulas)
{
    pack_count(packer, PACK_COUNTS, formulas->chapter_count);
    for (size_t i = 0; i < formulas->chapter_count; i++) {
        const struct chapter *one = &formulas->chapters[i];
        const char *const texts[] = { one->title, one->table, one->with, one->file };
        pack_texts(packer, texts, 4);
    }
}

static struct chapter *unpack_chapters(struct unpacker *unpacker, size_t *count)
{
    *count = unpack_count(unpacker, PACK_COUNTS);
    struct chapter *chapters = arena_array(unpacker->arena, *count, sizeof *chapters);
    for (size_t i = 0; i < *count; i++) {
        struct chapter *one = &chapters[i];
        const char **const texts[] = { &one->title, &one->table, &one->with, &one->file };
        unpack_texts(unpacker, texts, 4);
        one->prose = "";
    }
    return chapters;
}

/* Which row is at which place, of every set: mostly the next, or that of the set before. A row is packed
 * where it has its first place. */
static void pack_places(struct packer *packer, const struct formulas *sets, struct row_packer *rows)
{
    size_t *at = arena_array(rows->arena, sets->count, sizeof *at), next = 1;
    for (unsigned set = 0; set <= FORMULAS_ALL; set++)
        for (size_t i = 0; i < sets->count; i++) {
            const size_t number = packed_number(rows, i, formulas_row(&sets[set], i));
            pack_step(packer, PACK_ROWS, (ptrdiff_t)number - (ptrdiff_t)(set ? at[i] : next));
            at[i] = number;
            next = number + 1;
        }
}

void pack_formulas(struct packer *packer, const struct formulas *sets)
{
    struct arena *arena = packer->parts[0].arena;
    struct row_packer rows = { .to = packer, .arena = arena };
    rows.rows = arena_array(arena, sets->count, sizeof *rows.rows);
    rows.names = arena_array(arena, sets->count, sizeof *rows.names);
    for (size_t i = 0; i < sets->count; i++)
        rows.names[i] = row_name(formulas_row(sets, i));
    pack_chapters(packer, sets);
    pack_count(packer, PACK_COUNTS, sets->count);
    pack_places(packer, sets, &rows);
    pack_count(packer, PACK_COUNTS, sets->alias_count);
    for (size_t i = 0; i < sets->alias_count; i++) {
        pack_count(packer, PACK_COUNTS, (size_t)sets->aliases[i].row);
        pack_text(packer, PACK_NAMES, sets->aliases[i].name);
    }
    pack_count(packer, PACK_COUNTS, sets->index_size);
}

static struct alias *unpack_aliases(struct unpacker *unpacker, size_t *count)
{
    *count = unpack_count(unpacker, PACK_COUNTS);
    struct alias *aliases = arena_array(unpacker->arena, *count + 1, sizeof *aliases);
    for (size_t i = 0; i < *count; i++) {
        const int row = (int)unpack_count(unpacker, PACK_COUNTS);
        aliases[i] = (struct alias){ unpack_text(unpacker, PACK_NAMES), row };
    }
    return aliases;
}

static const int *unpack_set(struct row_unpacker *rows, size_t *at, size_t count, bool first)
{
    int *places = arena_array(rows->from->arena, count, sizeof *places);
    for (size_t i = 0, next = 1; i < count; i++) {
        const size_t likely = first ? next : at[i];
        at[i] = (size_t)((ptrdiff_t)likely + unpack_step(rows->from, PACK_ROWS));
        while (rows->row_count < at[i])
            unpack_row(rows);
        next = at[i] + 1;
        places[i] = -(int)at[i];
    }
    return places;
}

void unpack_formulas(struct unpacker *unpacker, struct formulas *sets)
{
    struct arena *arena = unpacker->arena;
    struct formulas all = { .shared = true };
    all.chapters = unpack_chapters(unpacker, &all.chapter_count);
    all.count = unpack_count(unpacker, PACK_COUNTS);
    struct row_unpacker rows = { .from = unpacker, .chapters = all.chapters };
    rows.names = arena_array(arena, all.count, sizeof *rows.names);
    rows.draft.nodes = arena_array(arena, EXPR_NODES, sizeof *rows.draft.nodes);
    rows.draft.names = arena_array(arena, EXPR_NODES, sizeof *rows.draft.names);
    size_t *at = arena_array(arena, all.count, sizeof *at);
    for (unsigned set = 0; set <= FORMULAS_ALL; set++)
        sets[set].places = unpack_set(&rows, at, all.count, !set);
    all.aliases = unpack_aliases(unpacker, &all.alias_count);
    all.index_size = unpack_count(unpacker, PACK_COUNTS);
    all.own = rows.rows;
    all.own_count = rows.row_count;
    all.places = sets->places;
    formulas_index(&all, arena);
    for (unsigned set = 0; set <= FORMULAS_ALL; set++) {
        all.places = sets[set].places;
        all.conditions = set;
        sets[set] = all;
    }
}
