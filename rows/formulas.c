/* Books: reads formula files (formulas/README.md has the format) into rows.
 *
 * A row may use only rows above it, so that one pass suffices. Names and aliases are found through
 * one open-addressing hash. The built-in book is shared by all questions and never changes; a copy
 * shares its rows, and gets arrays of its own before a user's file adds or redefines a row. A
 * redefinition keeps the place of the row and remembers the one before it. Units are checked
 * separately (check.c), after everything is read. */
#include "rows/draft.h"
#include "rows/words.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* So many that dependences, a bit for each pair, stay small. */
enum { MOST_ROWS = 16384, MOST_CHAPTERS = 4096 };

struct formula_reader {
    struct formulas *formulas;
    const char *file;
    int line;
    struct text rest;
    int chapter;                    /* -1 before the first */
    bool counts;                    /* the chapter's condition holds */
    struct buffer prose;            /* of the chapter */
    struct synonyms synonyms;       /* read with the first row that has words */
    struct error *error;
};

void formulas_open(struct formulas *formulas, struct arena *arena, unsigned conditions)
{
    *formulas = (struct formulas){ .arena = arena, .conditions = conditions, .index_size = 4096 };
    formulas->index = arena_array(arena, formulas->index_size, sizeof *formulas->index);
}

void formulas_copy(struct formulas *formulas, struct arena *arena, const struct formulas *of)
{
    *formulas = *of;
    formulas->arena = arena;
    formulas->shared = true;
}

static void *array_copy(struct arena *arena, const void *of, size_t count, size_t room, size_t size)
{
    void *to = arena_array(arena, room + 1, size);
    if (count)
        memcpy(to, of, count * size);
    return to;
}

/* Before the first row of its own, a copy gets arrays of its own. */
static void formulas_own(struct formulas *formulas)
{
    if (!formulas->shared)
        return;
    formulas->room = formulas->count;
    formulas->chapter_room = formulas->chapter_count;
    formulas->own_room = formulas->own_count;
    formulas->places = array_copy(formulas->arena, formulas->places, formulas->count, formulas->room,
                                  sizeof *formulas->places);
    formulas->own = array_copy(formulas->arena, formulas->own, formulas->own_count, formulas->own_room,
                               sizeof *formulas->own);
    formulas->chapters = array_copy(formulas->arena, formulas->chapters, formulas->chapter_count,
                                    formulas->chapter_room, sizeof *formulas->chapters);
    formulas->alias_room = formulas->alias_count;
    formulas->aliases = array_copy(formulas->arena, formulas->aliases, formulas->alias_count,
                                   formulas->alias_room, sizeof *formulas->aliases);
    formulas->index = array_copy(formulas->arena, formulas->index, formulas->index_size,
                                 formulas->index_size, sizeof *formulas->index);
    formulas->shared = false;
}

/* ---- names: an open hash from name to row or alias ----------------------------------------- */

static size_t name_hash(const char *name)
{
    return (size_t)hash_text(HASH_START, name);
}

/* What stands in the index, which is not 0. */
static const char *index_name(const struct formulas *formulas, int at)
{
    return at > 0 ? row_name(formulas_row(formulas, at - 1)) : formulas->aliases[-1 - at].name;
}

static size_t index_place(const struct formulas *formulas, const char *name)
{
    size_t i = name_hash(name) & (formulas->index_size - 1);
    while (formulas->index[i] && strcmp(index_name(formulas, formulas->index[i]), name))
        i = (i + 1) & (formulas->index_size - 1);
    return i;
}

int formulas_find(const struct formulas *formulas, const char *name)
{
    const int at = formulas->index[index_place(formulas, name)];
    return at < 0 ? formulas->aliases[-1 - at].row : at - 1;
}

const char *formulas_name(const struct formulas *formulas, struct arena *arena, const char *name)
{
    const char *bracket = strchr(name, '[');
    const int row = formulas_find(formulas, bracket ? arena_copy(arena, name, (size_t)(bracket - name))
                                                    : name);
    if (row < 0)
        return name;
    return bracket ? arena_print(arena, "%s%s", row_name(formulas_row(formulas, row)), bracket)
                   : row_name(formulas_row(formulas, row));
}

const char *formulas_predicted(const struct formulas *formulas, const char *word)
{
    const char *start = "predicted_";
    const size_t size = strlen(start);
    for (size_t i = 0; i < formulas->count; i++)
        if (!strncmp(row_name(formulas_row(formulas, i)), start, size) &&
            !strcasecmp(row_name(formulas_row(formulas, i)) + size, word))
            return row_name(formulas_row(formulas, i));
    return NULL;
}

bool formulas_unknown(const struct formulas *formulas, const char *name, struct error *error)
{
    struct arena scratch = formulas->arena ? arena_beside(formulas->arena) : (struct arena){ 0 };
    const char **names = arena_array(&scratch, formulas->count + formulas->alias_count + 1,
                                     sizeof *names);
    for (size_t i = 0; i < formulas->count; i++)
        names[i] = row_name(formulas_row(formulas, i));
    size_t count = formulas->count;
    for (size_t i = 0; i < formulas->alias_count; i++)
        names[count++] = formulas->aliases[i].name;
    static const double exact = 2.5;                    /* what people call a row, word for word: latency, cost */
    struct row_match match;
    const bool found = formulas_lookup(formulas, name, (struct passages){ 0 }, &match, 1);
    const char *near = found && match.score > exact ? NULL : name_nearest(name, names, count);
    for (size_t i = 0; i < formulas->count; i++)
        if (!strcmp(row_symbol(formulas_row(formulas, i)), name)) {
            near = row_name(formulas_row(formulas, i));             /* the letter of an equation */
            break;
        }
    if (formulas_predicted(formulas, name))
        near = formulas_predicted(formulas, name);      /* tpot, ttft, throughput */
    error_set(error, "unknown row '%.100s'", name);
    if (near)
        error_did_you_mean(error, near, " `chalkline list rows` lists all rows");
    else if (found && match.score > 1.3) {
        error_suggest(error, "did you mean '%s'? `chalkline find %.100s` lists others",
                      row_name(formulas_row(formulas, match.row)), name);
        error_similar(error, row_name(formulas_row(formulas, match.row)));
    } else
        error_suggest(error, "`chalkline list rows` lists all rows");
    arena_free(&scratch);
    return false;
}

/* ---- one row ------------------------------------------------------------------------------ */

static bool wrong(struct formula_reader *reader, int line, const char *what, const char *expected)
{
    error_set(reader->error, "%s:%d: %s", reader->file, line, what);
    return error_expected(reader->error, "%s", expected);
}

static const char *copy(struct formula_reader *reader, struct text text)
{
    return arena_copy(reader->formulas->arena, text.data, text.size);
}

/* Cut off the last run of words that two or more spaces separate from the rest. */
static struct text take_last_column(struct text *line)
{
    struct text whole = *line = text_trim(*line);
    for (size_t i = whole.size; i > 2; i--)
        if (whole.data[i - 1] == ' ' && whole.data[i - 2] == ' ') {
            *line = text_trim((struct text){ whole.data, i - 2 });
            return text_trim((struct text){ whole.data + i, whole.size - i });
        }
    return (struct text){ whole.data + whole.size, 0 };
}

static bool take_until(struct text *rest, const char *mark, struct text *part)
{
    size_t size = strlen(mark);
    for (size_t i = 0; i + size <= rest->size; i++)
        if (!memcmp(rest->data + i, mark, size)) {
            *part = text_trim((struct text){ rest->data, i });
            *rest = text_trim((struct text){ rest->data + i + size, rest->size - i - size });
            return true;
        }
    *part = text_trim(*rest);
    *rest = (struct text){ rest->data + rest->size, 0 };
    return false;
}

static bool read_number(struct formula_reader *reader, int line, struct text text, struct unit unit,
                        double *number)
{
    struct quantity quantity;
    struct error inner;
    if (quantity_parse(text, unit, &quantity, &inner) && quantity.distribution == DISTRIBUTION_NONE) {
        *number = quantity.value;
        return true;
    }
    error_set(reader->error, "%s:%d: %.400s", reader->file, line, inner.what);
    return error_hint_of(reader->error, &inner);
}

static bool read_range(struct formula_reader *reader, int line, struct text text, struct unit unit,
                       double *low, double *high)
{
    struct quantity quantity;
    struct error inner = { .what = "" };
    if (quantity_parse(text, unit, &quantity, &inner) && quantity.distribution == DISTRIBUTION_RANGE) {
        *low = quantity.low;
        *high = quantity.high;
        return true;
    }
    error_set(reader->error, "%s:%d: '%.*s' is not a range", reader->file, line,
              (int)text.size, text.data);
    return error_expected(reader->error, "low..high");
}

/* "64 in 1..1e6 ~ 32..128" */
static bool read_default(struct formula_reader *reader, int line, struct text text, struct row *row)
{
    struct text range = { text.data + text.size, 0 }, likely = range, number = text;
    struct text rest = text;
    if (take_until(&rest, "~", &number))
        likely = rest;
    rest = number;
    if (take_until(&rest, " in ", &number))
        range = rest;
    if (!read_number(reader, line, number, row->unit, &row->value))
        return false;
    row->low = -DBL_MAX;
    row->high = DBL_MAX;
    row->likely_low = row->likely_high = row->value;
    if (range.size && !read_range(reader, line, range, row->unit, &row->low, &row->high))
        return false;
    if (likely.size && !read_range(reader, line, likely, row->unit, &row->likely_low,
                                   &row->likely_high))
        return false;
    if (row->value < row->low || row->value > row->high)
        return wrong(reader, line, "the default is out of range", "low <= default <= high");
    return true;
}

static bool is_name(struct text name)
{
    for (size_t i = 0; i < name.size; i++)
        if (!(name.data[i] == '_' || (name.data[i] >= 'a' && name.data[i] <= 'z') ||
              (name.data[i] >= 'A' && name.data[i] <= 'Z') ||
              (i && name.data[i] >= '0' && name.data[i] <= '9')))
            return false;
    return name.size > 0;
}

/* "name : unit = default in low..high"; of an expression "name : unit", or with a range
 * "name : unit in low..high": then the expression is the default of an input. */
static bool read_head(struct formula_reader *reader, struct text line, struct row_draft *draft, bool *number)
{
    struct row *row = &draft->row;
    struct text symbol = take_last_column(&line), name, unit, rest = line, range;
    if (!take_until(&rest, ":", &name) || !name.size)
        return wrong(reader, reader->line, "a row without a unit", "name : unit");
    *number = take_until(&rest, "=", &unit);
    range = unit;
    row->input = *number || take_until(&range, " in ", &unit);
    if (!is_name(name))
        return wrong(reader, reader->line, "a name has characters other than letters, digits and _",
                     "lower case letters, digits and _");
    double scale;
    struct error inner;
    if (!unit_parse(unit, &row->unit, &scale, &inner) || scale != 1) {
        error_set(reader->error, "%s:%d: invalid unit '%.*s' of '%.*s'", reader->file,
                  reader->line, (int)unit.size, unit.data, (int)name.size, name.data);
        return error_expected(reader->error, "base units: 1, s, B, FLOP, token, USD, J, with / and *");
    }
    draft->texts[TEXT_name] = copy(reader, name);
    draft->texts[TEXT_unit_text] = copy(reader, unit);
    draft->texts[TEXT_symbol] = copy(reader, symbol);
    if (row->input && !*number)
        return read_range(reader, reader->line, range, row->unit, &row->low, &row->high);
    return !*number || read_default(reader, reader->line, rest, row);
}

/* The source is a parenthesis at the end of a line, two spaces after the meaning. */
static bool take_source(struct text *line, struct text *source)
{
    if (!line->size || line->data[line->size - 1] != ')')
        return false;
    int depth = 0;
    for (size_t i = line->size; i-- > 0;) {
        depth += line->data[i] == ')';
        depth -= line->data[i] == '(';
        if (depth)
            continue;
        if (i >= 2 && (line->data[i - 1] != ' ' || line->data[i - 2] != ' '))
            return false;
        *source = (struct text){ line->data + i + 1, line->size - i - 2 };
        *line = text_trim((struct text){ line->data, i });
        return true;
    }
    return false;
}

static bool indented(struct text rest)
{
    return rest.size && (rest.data[0] == ' ' || rest.data[0] == '\t');
}

static bool blank(struct text line)
{
    return text_trim(line).size == 0;
}

/* The rest of a line that begins with `word`, at the end of `out`. */
static bool take_line(struct text line, const char *word, const char *end, struct buffer *out)
{
    if (!text_starts_with(line, word))
        return false;
    const size_t size = strlen(word);
    struct text rest = text_trim((struct text){ line.data + size, line.size - size });
    buffer_print(out, "%.*s%s", (int)rest.size, rest.data, end);
    return true;
}

/* Its text but for the last character; NULL where it is empty. */
static const char *without_last(struct buffer *text)
{
    if (text->size)
        text->data[--text->size] = 0;
    return text->data;
}

/* Lines under the head: meaning, source, what is fitted, other names, the part of a breakdown, then
 * '=' and the expression. */
static void read_body(struct formula_reader *reader, struct row_draft *draft, struct text *expression, int *expression_line)
{
    struct buffer meaning = { .arena = reader->formulas->arena };
    struct buffer fit = { .arena = reader->formulas->arena };
    struct buffer aliases = { .arena = reader->formulas->arena };
    struct buffer part = { .arena = reader->formulas->arena };
    struct buffer words = { .arena = reader->formulas->arena };
    struct text source = { "", 0 };
    buffer_add(&meaning, "", 0);
    while (indented(reader->rest)) {
        struct text ahead = reader->rest, line = text_line(&ahead), trimmed = text_trim(line);
        if (!trimmed.size)
            break;
        if (trimmed.data[0] == '=' && !expression->size) {
            *expression = (struct text){ trimmed.data + 1, 0 };
            *expression_line = reader->line + 1;
        }
        reader->line++;
        reader->rest = ahead;
        if (expression->data) {
            expression->size = (size_t)(trimmed.data + trimmed.size - expression->data);
            continue;
        }
        if (take_line(trimmed, "fit:", "\n", &fit) || take_line(trimmed, "alias:", " ", &aliases) ||
            take_line(trimmed, "part:", "", &part) || take_line(trimmed, "words:", ", ", &words))
            continue;
        take_source(&trimmed, &source);
        if (trimmed.size)               /* not a line with the source alone */
            buffer_print(&meaning, "%s%.*s", meaning.size ? " " : "", (int)trimmed.size,
                         trimmed.data);
    }
    draft->texts[TEXT_meaning] = meaning.data;
    draft->texts[TEXT_fit] = fit.data;
    draft->texts[TEXT_part] = part.data;
    if (words.size && !reader->synonyms.at)
        synonyms_read(&reader->synonyms, reader->formulas->arena);
    if (words.size)
        draft->texts[TEXT_words] = words_of_phrases(&reader->synonyms, reader->formulas->arena, words.data);
    draft->texts[TEXT_aliases] = without_last(&aliases);
    draft->texts[TEXT_source] = copy(reader, source);
}

/* Into the arrays of these formulas, which own them. */
static void index_put(struct formulas *formulas, int at)
{
    ((int *)formulas->index)[index_place(formulas, index_name(formulas, at))] = at;
}

void formulas_index(struct formulas *formulas, struct arena *arena)
{
    formulas->index = arena_array(arena, formulas->index_size, sizeof *formulas->index);
    for (size_t i = 0; i < formulas->count; i++)
        index_put(formulas, (int)i + 1);
    for (size_t i = 0; i < formulas->alias_count; i++)
        index_put(formulas, -1 - (int)i);
}

static void index_add(struct formulas *formulas, int at)
{
    if (2 * (formulas->count + formulas->alias_count) < formulas->index_size) {
        index_put(formulas, at);
        return;
    }
    formulas->index_size *= 2;
    formulas_index(formulas, formulas->arena);
}

/* The names of a line "alias:", each of which must be new. */
static bool add_aliases(struct formula_reader *reader, const struct row_draft *draft, int of)
{
    struct formulas *formulas = reader->formulas;
    const char *names = draft->texts[TEXT_aliases];
    struct text rest = text_of(names ? names : "");
    if (names && draft->texts[TEXT_with])
        return wrong(reader, draft->row.line, "an alias in a WITH chapter", "at the row's first place");
    while ((rest = text_trim(rest)).size) {
        struct text name = { rest.data, 0 };
        while (name.size < rest.size && rest.data[name.size] != ' ')
            name.size++;
        rest = (struct text){ rest.data + name.size, rest.size - name.size };
        const char *alias = copy(reader, name);
        const int known = formulas_find(formulas, alias);
        if (!is_name(name) || known >= 0) {
            error_set(reader->error, "%s:%d: '%s' cannot be an alias of '%s'", reader->file,
                      draft->row.line, alias, draft->texts[TEXT_name]);
            return error_expected(reader->error, "%s", known >= 0 ? "a name that no row has"
                                  : "lower case letters, digits and _");
        }
        *(struct alias *)arena_push(formulas->arena, &formulas->aliases, &formulas->alias_count,
                                    &formulas->alias_room, sizeof *formulas->aliases) =
            (struct alias){ alias, of };
        index_add(formulas, -(int)formulas->alias_count);
    }
    return true;
}

/* The names of a row and of the one that it redefines. */
static const char *both_names(struct formulas *formulas, const char *names, const char *before)
{
    return !names ? before : !before ? names : arena_print(formulas->arena, "%s %s", before, names);
}

const struct row *row_keep(struct arena *arena, const struct row_draft *draft)
{
    size_t size = sizeof(struct row);
    for (int i = 0; i < ROW_TEXTS; i++)
        size += draft->texts[i] ? strlen(draft->texts[i]) + 1 : 0;
    struct row *kept = arena_alloc(arena, size);
    char *text = (char *)(kept + 1);
    *kept = draft->row;
    for (int i = 0; i < ROW_TEXTS; i++) {
        if (!draft->texts[i])
            continue;
        const size_t bytes = strlen(draft->texts[i]) + 1;
        memcpy(text, draft->texts[i], bytes);
        kept->texts[i] = (int32_t)(text - (char *)kept);
        text += bytes;
    }
    kept->to_expr = draft->expr ? (intptr_t)draft->expr - (intptr_t)kept : 0;
    kept->to_before = draft->before ? (intptr_t)draft->before - (intptr_t)kept : 0;
    return kept;
}

/* Keep the row in the place of the one at `index`, or behind the last. */
static void put_row(struct formulas *formulas, int index, const struct row_draft *draft)
{
    if (index < 0) {
        index = (int)formulas->count;
        arena_push(formulas->arena, &formulas->places, &formulas->count, &formulas->room, sizeof *formulas->places);
    }
    *(const struct row **)arena_push(formulas->arena, &formulas->own, &formulas->own_count, &formulas->own_room,
                                     sizeof *formulas->own) = row_keep(formulas->arena, draft);
    ((int *)formulas->places)[index] = -(int)formulas->own_count;
}

static bool add_row(struct formula_reader *reader, struct row_draft *draft)
{
    struct formulas *formulas = reader->formulas;
    const char *name = draft->texts[TEXT_name], *with = draft->texts[TEXT_with];
    const int known = formulas_find(formulas, name), line = draft->row.line;
    const struct row_draft stated = *draft;
    if (known < 0 && formulas->count == MOST_ROWS) {
        error_set(reader->error, "%s:%d: row %d", reader->file, line, MOST_ROWS + 1);
        return error_expected(reader->error, "at most %d rows", MOST_ROWS);
    }
    if (known < 0) {
        put_row(formulas, known, draft);
        index_add(formulas, (int)formulas->count);
        return add_aliases(reader, draft, (int)formulas->count - 1);
    }
    const struct row *old = formulas_row(formulas, (size_t)known);
    if (!formulas->open && strcmp(row_name(old), name)) {
        error_set(reader->error, "%s:%d: '%s' is an alias of '%s'", reader->file, line, name, row_name(old));
        return error_expected(reader->error, "the row's own name, or another");
    }
    if (!unit_same(old->unit, draft->row.unit)) {
        error_set(reader->error, "%s:%d: '%s' is redefined in %s", reader->file, line, name,
                  draft->texts[TEXT_unit_text]);
        return error_expected(reader->error, "%s, as in %s:%d", row_unit_text(old), row_file(old), old->line);
    }
    if (!with && (!formulas->open || !strcmp(row_file(old), reader->file))) {
        error_set(reader->error, "%s:%d: '%s' is defined twice", reader->file, line, name);
        return error_expected(reader->error, "another name; the first definition is at %s:%d", row_file(old),
                              old->line);
    }
    const char **texts = draft->texts;
    draft->before = old;
    texts[TEXT_name] = row_name(old);
    texts[TEXT_table] = row_table(old);
    texts[TEXT_aliases] = both_names(formulas, texts[TEXT_aliases], row_aliases(old));
    if (!texts[TEXT_part])
        texts[TEXT_part] = row_part(old);
    if (!texts[TEXT_words])
        texts[TEXT_words] = row_words(old);
    if (!*texts[TEXT_symbol])
        texts[TEXT_symbol] = row_symbol(old);
    if (!*texts[TEXT_meaning])
        texts[TEXT_meaning] = row_meaning(old);
    put_row(formulas, known, draft);
    return add_aliases(reader, &stated, known);
}

static bool read_row(struct formula_reader *reader, struct text head)
{
    struct row_draft draft = { .row = { .line = reader->line, .chapter = reader->chapter },
                               .texts[TEXT_file] = reader->file };
    struct text expression = { NULL, 0 };
    bool number = false;
    int expression_line = 0;
    if (reader->chapter >= 0) {
        draft.texts[TEXT_table] = reader->formulas->chapters[reader->chapter].table;
        draft.texts[TEXT_with] = reader->formulas->chapters[reader->chapter].with;
    }
    if (!read_head(reader, head, &draft, &number))
        return false;
    read_body(reader, &draft, &expression, &expression_line);
    if (!reader->counts)
        return true;
    if (number == (expression.size > 0))
        return wrong(reader, draft.row.line, number ? "an input with a number and an expression"
                                              : "neither a default nor an expression",
                     "name : unit = default in low..high, or an indented line '= expression'");
    if (!number && !expr_parse(reader->formulas, reader->file, expression_line, expression, &draft.expr,
                              reader->error))
        return false;
    return add_row(reader, &draft);
}

/* ---- chapters ------------------------------------------------------------------------------ */

/* The subjects that must be named for a chapter to count; 0: no such condition. */
static unsigned with_conditions(const char *with)
{
    return !strcmp(with, "model") ? FORMULAS_MODEL : !strcmp(with, "machine") ? FORMULAS_MACHINE
         : !strcmp(with, "model machine") ? FORMULAS_MODEL | FORMULAS_MACHINE : 0;
}

/* "== Title          EACH layer", "WITH model", "WITH model machine" */
static bool read_chapter(struct formula_reader *reader, struct text line)
{
    struct formulas *formulas = reader->formulas;
    struct text title = { line.data + 2, line.size - 2 };
    struct chapter chapter = { .file = reader->file, .prose = "" };
    bool counts = true;
    struct text option = take_last_column(&title);
    if (option.size > 5 && !memcmp(option.data, "EACH ", 5)) {
        chapter.table = copy(reader, text_trim((struct text){ option.data + 5, option.size - 5 }));
    } else if (option.size > 5 && !memcmp(option.data, "WITH ", 5)) {
        chapter.with = copy(reader, text_trim((struct text){ option.data + 5, option.size - 5 }));
        unsigned needed = with_conditions(chapter.with);
        if (!needed)
            return wrong(reader, reader->line, "an unknown condition after WITH",
                         "WITH model, WITH machine or WITH model machine");
        counts = (formulas->conditions & needed) == needed;
    } else if (option.size) {
        return wrong(reader, reader->line, "words after the chapter's title",
                     "EACH table, WITH model, WITH machine or WITH model machine");
    }
    if (formulas->chapter_count == MOST_CHAPTERS) {
        error_set(reader->error, "%s:%d: chapter %d", reader->file, reader->line, MOST_CHAPTERS + 1);
        return error_expected(reader->error, "at most %d chapters", MOST_CHAPTERS);
    }
    chapter.title = copy(reader, title);
    *(struct chapter *)arena_push(formulas->arena, &formulas->chapters, &formulas->chapter_count,
                                  &formulas->chapter_room, sizeof chapter) = chapter;
    reader->chapter = (int)formulas->chapter_count - 1;
    reader->prose = (struct buffer){ .arena = formulas->arena };
    reader->counts = counts;
    return true;
}

static void read_prose(struct formula_reader *reader, struct text line)
{
    if (reader->chapter < 0)
        return;
    struct chapter *chapter = (struct chapter *)&reader->formulas->chapters[reader->chapter];
    struct text words = text_trim((struct text){ line.data + 1, line.size - 1 });
    buffer_print(&reader->prose, "%s%.*s", reader->prose.size ? "\n" : "", (int)words.size,
                 words.data);
    chapter->prose = reader->prose.data;
}

bool formulas_read(struct formulas *formulas, const char *file, struct text text, struct error *error)
{
    struct formula_reader reader = { .formulas = formulas, .file = file, .rest = text_without_mark(text), .chapter = -1,
                             .counts = true, .error = error };
    if (text.size && memchr(text.data, 0, text.size))
        return error_set(error, "%s: a zero byte", file) || error_expected(error, "rows of formulas as text");
    if (!text_check_lines(text, file, error))
        return false;
    formulas_own(formulas);
    while (reader.rest.size) {
        bool inside = indented(reader.rest);
        struct text line = text_line(&reader.rest);
        reader.line++;
        if (blank(line))
            continue;
        if (inside)
            return wrong(&reader, reader.line, "an indented line without a row above it",
                         "name : unit, at the start of a line");
        if (line.data[0] == '#')
            read_prose(&reader, line);
        else if (line.size >= 2 && line.data[0] == '=' && line.data[1] == '=') {
            if (!read_chapter(&reader, line))
                return false;
        } else if (!read_row(&reader, line))
            return false;
    }
    return true;
}
