/* template_read: a template's text as parts.
 *
 * Lines first: a mark opens or ends a block, any other line is a run of parts with a newline behind
 * it. Inside of a line braces are figures, and brackets are conditions that may hold others. */
#include "report/template_parts.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct template_reader {
    struct arena *arena;
    const char *file;
    struct text rest;               /* lines not yet read */
    int line;
    struct error *error;
};

static bool wrong(const struct template_reader *reader, const char *what, struct text text)
{
    error_set(reader->error, "%s:%d: %s: '%.*s'", reader->file, reader->line, what, (int)text.size,
              text.data);
    return error_suggest(reader->error, "report/template.h lists the marks of a template");
}

static struct template_part *add_part(struct template_reader *reader, struct template_part ***end, enum part_kind kind)
{
    struct template_part *part = arena_alloc(reader->arena, sizeof *part);
    part->kind = kind;
    part->line = reader->line;
    **end = part;
    *end = &part->next;
    return part;
}

static const char *copy_of(const struct template_reader *reader, struct text text)
{
    return arena_copy(reader->arena, text.data, text.size);
}

/* Characters before the first of `stops`. */
static size_t before(struct text text, const char *stops)
{
    size_t size = 0;
    while (size < text.size && !strchr(stops, text.data[size]))
        size++;
    return size;
}

static struct text take_text(struct text *text, size_t size)
{
    const struct text taken = { text->data, size };
    text->data += size;
    text->size -= size;
    return taken;
}

static bool is_name(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!isalnum((unsigned char)text.data[i]) && text.data[i] != '_' && (i || text.data[i] != '^'))
            return false;
    return text.size > 0;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static bool read_other_side(struct template_reader *reader, struct text text, struct template_condition *condition)
{
    text = text_trim(text);
    if (text.size > 1 && text.data[0] == '\'' && text.data[text.size - 1] == '\'') {
        condition->word = copy_of(reader, (struct text){ text.data + 1, text.size - 2 });
        return condition->compare >= EQUAL || wrong(reader, "words are equal or not", text);
    }
    if (is_name(text) && !isdigit((unsigned char)text.data[0])) {
        condition->other = copy_of(reader, text);
        return true;
    }
    return text_number(text, &condition->number) ||
           wrong(reader, "neither a number, a 'word' nor a name", text);
}

static bool read_compare(struct template_reader *reader, struct text text, struct template_condition *condition)
{
    static const struct { const char *sign; enum compare compare; } signs[] = {
        { "<=", AT_MOST }, { ">=", AT_LEAST }, { "!=", UNEQUAL }, { "<", LESS }, { ">", MORE },
        { "=", EQUAL } };
    if (!text.size)
        return true;
    if (text_is(text, "~") || text_is(text, "-")) {
        condition->compare = text_is(text, "~") ? HAS_INTERVAL : HAS_RANGE;
        return true;
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t size = strlen(signs[i].sign);
        if (text.size <= size || strncmp(text.data, signs[i].sign, size))
            continue;
        condition->compare = signs[i].compare;
        take_text(&text, size);
        return read_other_side(reader, text, condition);
    }
    return wrong(reader, "no comparison", text);
}

static bool read_condition(struct template_reader *reader, struct text text, const struct template_condition **condition)
{
    struct template_condition *first = NULL, **end = &first;
    while (true) {
        struct text one = text_trim(take_text(&text, before(text, "&")));
        struct template_condition *made = *end = arena_alloc(reader->arena, sizeof *made);
        end = (struct template_condition **)&made->next;
        if (one.size && one.data[0] == '!') {
            made->negated = true;
            take_text(&one, 1);
        }
        const struct text name = text_trim(take_text(&one, before(one, "~-<>=!")));
        if (!is_name(name))
            return wrong(reader, "no name", name);
        made->name = copy_of(reader, name);
        if (!read_compare(reader, one, made))
            return false;
        if (!text.size)
            break;
        take_text(&text, 1);
    }
    *condition = first;
    return true;
}

/* ---- inside of a line ----------------------------------------------------------------------- */

static bool read_figure(struct template_reader *reader, struct text text, struct template_part *part)
{
    const struct text all = text, name = take_text(&text, before(text, ":#-~%.@=<"));
    if (!is_name(name))
        return wrong(reader, "no name", name);
    part->name = copy_of(reader, name);
    part->format = text.size ? take_text(&text, 1).data[0] : ':';
    part->digits = strchr(":#-~", part->format) ? 4 : 0;
    part->scale = 1;
    const struct text digits = take_text(&text, strspn(copy_of(reader, text), "0123456789"));
    if (digits.size)
        part->digits = atoi(copy_of(reader, digits));
    if (text_is(text, "-") && strchr(":#", part->format)) {
        part->range = true;
        return true;
    }
    if (strchr(".#", part->format) && text.size > 1 && text.data[0] == ' ') {
        take_text(&text, 1);
        return unit_scale(copy_of(reader, text), &part->scale) || wrong(reader, "no unit", text);
    }
    if (text.size || (strchr(".=<", part->format) && !digits.size))
        return wrong(reader, "no format of a figure", all);
    return true;
}

static bool read_parts(struct template_reader *reader, struct text *rest, const char *stops, struct template_part ***end);

/* "[condition|then|else]" behind its first bracket. */
static bool read_choice(struct template_reader *reader, struct text *rest, struct template_part *part)
{
    const struct text all = *rest, condition = take_text(rest, before(*rest, "|]"));
    struct template_part **then = &part->then, **other = &part->other;
    if (!read_condition(reader, condition, &part->condition))
        return false;
    if (!rest->size || rest->data[0] != '|')
        return wrong(reader, "a condition without text", all);
    take_text(rest, 1);
    if (!read_parts(reader, rest, "|]", &then))
        return false;
    if (rest->size && rest->data[0] == '|') {
        take_text(rest, 1);
        if (!read_parts(reader, rest, "]", &other))
            return false;
    }
    if (!rest->size)
        return wrong(reader, "a bracket is not closed", all);
    take_text(rest, 1);
    return true;
}

/* Up to one of `stops`, which stays, or to the end. */
static bool read_parts(struct template_reader *reader, struct text *rest, const char *stops, struct template_part ***end)
{
    while (rest->size && !strchr(stops, rest->data[0])) {
        const char c = rest->data[0];
        if (c == '{') {
            const struct text all = *rest;
            take_text(rest, 1);
            const struct text inside = take_text(rest, before(*rest, "}"));
            if (!rest->size)
                return wrong(reader, "a brace is not closed", all);
            take_text(rest, 1);
            if (!read_figure(reader, inside, add_part(reader, end, PART_FIGURE)))
                return false;
        } else if (c == '[') {
            take_text(rest, 1);
            if (!read_choice(reader, rest, add_part(reader, end, PART_IF)))
                return false;
        } else if (c == '}' || c == ']') {
            return wrong(reader, "nothing is open here", *rest);
        } else {
            size_t size = before(*rest, "{}[]");
            const size_t stop = before(*rest, stops);
            size = size < stop ? size : stop;
            add_part(reader, end, PART_TEXT)->text = copy_of(reader, take_text(rest, size));
        }
    }
    return true;
}

/* "  | a | > b | *section c": what stands before, and the cells. */
static bool read_cells(struct template_reader *reader, struct text line, struct template_part *row)
{
    struct template_part **end = &row->cells;
    row->text = copy_of(reader, take_text(&line, before(line, "|")));
    while (line.size) {
        take_text(&line, 1);
        struct template_part *cell = add_part(reader, &end, PART_IF), **then = &cell->then;
        take_text(&line, strspn(copy_of(reader, line), " "));
        if (line.size && line.data[0] == '*') {
            take_text(&line, 1);
            const struct text name = take_text(&line, before(line, " |"));
            if (!is_name(name))
                return wrong(reader, "no name", name);
            cell->kind = PART_EACH;
            cell->name = copy_of(reader, name);
            take_text(&line, strspn(copy_of(reader, line), " "));
        }
        if (line.size && line.data[0] == '>') {
            cell->right = true;
            take_text(&line, 1);
            take_text(&line, strspn(copy_of(reader, line), " "));
        }
        if (!read_parts(reader, &line, "|", &then))
            return false;
    }
    return true;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Reads lines to the end, or to the mark that ends a block: '.' or ':', with what stands behind it. */
static bool read_lines(struct template_reader *reader, bool inside, struct template_part ***end, char *mark,
                       struct text *behind);

/* A block behind its mark: what is printed, then the others, each with its condition. */
static bool read_block(struct template_reader *reader, struct template_part *part)
{
    struct template_part **end = &part->then;
    struct text behind;
    char mark;
    if (!read_lines(reader, true, &end, &mark, &behind))
        return false;
    if (mark == '.')
        return true;
    end = &part->other;
    if (behind.size) {
        struct template_part *other = add_part(reader, &end, PART_IF);
        return read_condition(reader, behind, &other->condition) && read_block(reader, other);
    }
    if (!read_lines(reader, true, &end, &mark, &behind))
        return false;
    return mark == '.' || wrong(reader, "an else behind an else", behind);
}

static bool read_each(struct template_reader *reader, struct text words, struct template_part *part)
{
    const struct text name = take_text(&words, before(words, " ")), most = text_trim(words);
    double number = 0;
    if (!is_name(name))
        return wrong(reader, "no name", name);
    if (most.size && !(text_number(most, &number) && number >= 1 && number == (int)number))
        return wrong(reader, "no number of records", most);
    part->name = copy_of(reader, name);
    part->digits = (int)number;
    return read_block(reader, part);
}

static bool read_line(struct template_reader *reader, struct text line, struct template_part ***end)
{
    const struct text start = text_trim(line);
    if (start.size && start.data[0] == '|')
        return read_cells(reader, line, add_part(reader, end, PART_CELLS));
    if (!read_parts(reader, &line, "", end))
        return false;
    add_part(reader, end, PART_TEXT)->text = "\n";
    return true;
}

/* A line, with those that it goes on in. */
static struct text next_line(struct template_reader *reader)
{
    struct text line = text_line(&reader->rest);
    reader->line++;
    while (line.size && line.data[line.size - 1] == '\\' && reader->rest.size) {
        struct text more = text_line(&reader->rest);
        take_text(&more, strspn(copy_of(reader, more), " "));
        reader->line++;
        line = text_of(arena_print(reader->arena, "%.*s%.*s", (int)line.size - 1, line.data,
                                   (int)more.size, more.data));
    }
    return line;
}

static bool read_lines(struct template_reader *reader, bool inside, struct template_part ***end, char *mark,
                       struct text *behind)
{
    while (reader->rest.size) {
        const struct text line = next_line(reader);
        struct text words = line;
        const char first = line.size ? line.data[0] : 0;
        if (first && strchr("?*:.", first)) {
            take_text(&words, 1);
            words = text_trim(words);
        }
        bool good = true;
        if (first == '?') {
            struct template_part *part = add_part(reader, end, PART_IF);
            good = read_condition(reader, words, &part->condition) && read_block(reader, part);
        } else if (first == '*') {
            good = read_each(reader, words, add_part(reader, end, PART_EACH));
        } else if (first == '.' || first == ':') {
            *mark = first;
            *behind = words;
            return inside || wrong(reader, "nothing is open here", line);
        } else if (first != '#') {
            good = read_line(reader, line, end);
        }
        if (!good)
            return false;
    }
    return !inside || wrong(reader, "a block is not closed", (struct text){ "", 0 });
}

/* Rows of as many cells are all that a record prints: the last is the record, the others are heads. */
static bool is_table(const struct template_part *list)
{
    for (const struct template_part *row = list; row; row = row->next) {
        const struct template_part *first = list->cells, *cell = row->cells;
        if (row->kind != PART_CELLS)
            return false;
        for (; first && cell && first->kind == cell->kind; first = first->next)
            cell = cell->next;
        if (first || cell)
            return false;
    }
    return true;
}

static bool check_tables(struct template_reader *reader, const struct template_part *list, bool record)
{
    for (const struct template_part *part = list; part; part = part->next) {
        reader->line = part->line;
        if (part->kind == PART_CELLS && record && part == list && is_table(list))
            return true;
        if (part->kind == PART_CELLS)
            return wrong(reader, "no table of records", text_of(part->text));
        if (!check_tables(reader, part->then, part->kind == PART_EACH) ||
            !check_tables(reader, part->other, false))
            return false;
    }
    return true;
}

bool template_read(struct arena *arena, const char *file, struct text text, struct template **template,
                 struct error *error)
{
    struct template_reader reader = { .arena = arena, .file = file, .rest = text, .error = error };
    struct text behind;
    char mark;
    *template = arena_alloc(arena, sizeof **template);
    (*template)->file = file;
    struct template_part **end = &(*template)->parts;
    return read_lines(&reader, false, &end, &mark, &behind) &&
           check_tables(&reader, (*template)->parts, false);
}

const struct template *template_built_in(struct arena *arena, const char *path)
{
    struct template *template = NULL;
    struct error error;
    for (const struct embedded *file = embedded_data; file->path; file++)
        if (!strcmp(file->path, path) &&
            !template_read(arena, file->path, (struct text){ file->data, file->size }, &template, &error))
            assert(!"a template that is built in reads: tests/unit/template_test.c");
    assert(template);
    return template;
}
