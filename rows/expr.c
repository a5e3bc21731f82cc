/* Expressions: text to tree, by recursive descent. A unit stands behind its number: 20ms, 8 TB/s,
 * 0.91*1s; a row is divided by where a space or an operator parts it from the number.
 *
 *   sum      = product (('+' | '-') product)*
 *   product  = unary (('*' | '/') unary)*
 *   unary    = '-' unary | atom
 *   number   = digits [unit]
 *   atom     = number | row | row '[' entry ']' | '(' sum ')' | operator '(' ... ')'
 *   condition= sum ('<' | '<=' | '>' | '>=') sum | both(c, c) | either(c, c) | GIVEN(row)
 *
 * Conditions stand only as the first argument of select, both and either, so that the
 * same text is C over vectors. */
#include "rows/draft.h"

#include <string.h>

/* Trees are walked by recursion: neither deep nor long ones are taken. */
enum { DEPTH = 100 };

struct expr_parser {
    const struct formulas *formulas;
    const char *file;
    int line;
    struct text whole, rest;
    struct expr_draft draft;
    int depth;
    struct error *error;
};

/* "file:line: "; a line of 0 is a word of the command line, no file no place at all. */
static const char *place(const struct expr_parser *parser)
{
    int line = parser->line;
    if (!parser->file)
        return "";
    if (!parser->line)
        return arena_print(parser->formulas->arena, "%s: ", parser->file);
    for (const char *at = parser->whole.data; at < parser->rest.data; at++)
        line += *at == '\n';
    return arena_print(parser->formulas->arena, "%s:%d: ", parser->file, line);
}

static bool failed(struct expr_parser *parser, const char *what, const char *expected)
{
    struct text rest = text_trim(parser->rest);
    int show = rest.size > 24 ? 24 : (int)rest.size;
    if (show)
        error_set(parser->error, "%s%s at '%.*s'", place(parser), what, show, rest.data);
    else
        error_set(parser->error, "%s%s at the end of the expression", place(parser), what);
    return error_expected(parser->error, "%s", expected);
}

static void skip(struct expr_parser *parser)
{
    while (parser->rest.size && strchr(" \t\r\n", parser->rest.data[0]))
        parser->rest.data++, parser->rest.size--;
}

static bool take_token(struct expr_parser *parser, const char *token)
{
    skip(parser);
    size_t size = strlen(token);
    if (parser->rest.size < size || memcmp(parser->rest.data, token, size))
        return false;
    parser->rest.data += size, parser->rest.size -= size;
    return true;
}

static bool expect(struct expr_parser *parser, const char *token)
{
    char expected[32] = "'";
    return take_token(parser, token) ||
           failed(parser, "syntax error", strcat(strcat(expected, token), "'"));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct text take_name(struct expr_parser *parser)
{
    skip(parser);
    struct text name = { parser->rest.data, 0 };
    if (!parser->rest.size || !is_letter(parser->rest.data[0]))
        return name;
    while (name.size < parser->rest.size &&
           (is_letter(name.data[name.size]) || is_digit(name.data[name.size])))
        name.size++;
    parser->rest.data += name.size, parser->rest.size -= name.size;
    return name;
}

/* A node from `start` up to the rest of the text. Nodes beyond the limit share one: expr_parse refuses them. */
static struct expr *expr_new(struct expr_parser *parser, enum op op, const char *start)
{
    struct expr *expr = &parser->draft.nodes[parser->draft.count < EXPR_NODES ? parser->draft.count : EXPR_NODES];
    parser->draft.count++;
    *expr = (struct expr){ .op = op, .row = -1, .start = (uint16_t)(start - parser->whole.data),
                           .size = (uint16_t)(parser->rest.data - start) };
    return expr;
}

static void set_name(struct expr_parser *parser, const struct expr *expr, const char *name)
{
    parser->draft.names[expr - parser->draft.nodes] = name;
}

static void set_kids(struct expr *expr, struct expr *const *kids, int count)
{
    for (int i = 0; i < count; i++)
        expr->kid[i] = (int16_t)(kids[i] - expr);
}

static bool parse_sum(struct expr_parser *parser, struct expr **out);

static bool find_row(struct expr_parser *parser, struct text name, int *row)
{
    char text[128];
    if (name.size >= sizeof text)
        return failed(parser, "a name is too long", "at most 127 letters");
    memcpy(text, name.data, name.size);
    text[name.size] = 0;
    *row = formulas_find(parser->formulas, text);
    if (*row >= 0 || !parser->error)        /* who only asks does not pay for the names that are near */
        return *row >= 0;
    struct error unknown;
    formulas_unknown(parser->formulas, text, &unknown);
    error_set(parser->error, "%s%s", place(parser), unknown.what);
    return error_hint_of(parser->error, &unknown);
}

/* ---- conditions ----------------------------------------------------------------------- */

/* GIVEN(row): was the row given a value? Known before any number is. */
static bool parse_given(struct expr_parser *parser, const char *start, struct expr **out)
{
    struct text name;
    int row;
    if (!expect(parser, "("))
        return false;
    name = take_name(parser);
    if (!find_row(parser, name, &row) || !expect(parser, ")"))
        return false;
    *out = expr_new(parser, OP_GIVEN, start);
    set_name(parser, *out, row_name(formulas_row(parser->formulas, row)));
    return true;
}

static bool parse_condition(struct expr_parser *parser, struct expr **out)
{
    skip(parser);
    const char *start = parser->rest.data;
    struct text before = parser->rest;
    struct text name = take_name(parser);
    bool both = text_is(name, "both"), either = text_is(name, "either");
    struct expr *kid[2];
    if (text_is(name, "GIVEN"))
        return parse_given(parser, start, out);
    if (both || either) {
        if (++parser->depth > DEPTH)
            return failed(parser, "nested too deep", "fewer parentheses");
        if (!expect(parser, "(") || !parse_condition(parser, &kid[0]) || !expect(parser, ",") ||
            !parse_condition(parser, &kid[1]) || !expect(parser, ")"))
            return false;
        parser->depth--;
        *out = expr_new(parser, both ? OP_BOTH : OP_EITHER, start);
    } else {
        parser->rest = before;
        if (!parse_sum(parser, &kid[0]))
            return false;
        bool at_most = take_token(parser, "<="), at_least = !at_most && take_token(parser, ">=");
        bool less = !at_most && !at_least && take_token(parser, "<");
        bool more = !at_most && !at_least && !less && take_token(parser, ">");
        if (!at_most && !at_least && !less && !more)
            return failed(parser, "a comparison is missing", "one of < <= > >=");
        if (!parse_sum(parser, &kid[1]))
            return false;
        if (at_least || more) {
            struct expr *swap = kid[0];
            kid[0] = kid[1];
            kid[1] = swap;
        }
        *out = expr_new(parser, at_most || at_least ? OP_ATMOST : OP_LESS, start);
    }
    set_kids(*out, kid, 2);
    return true;
}

/* ---- operators with parentheses --------------------------------------------------------- */

static bool parse_select(struct expr_parser *parser, const char *start, struct expr **out)
{
    struct expr *kid[3];
    if (!parse_condition(parser, &kid[0]) || !expect(parser, ",") ||
        !parse_sum(parser, &kid[1]) || !expect(parser, ",") || !parse_sum(parser, &kid[2]) ||
        !expect(parser, ")"))
        return false;
    *out = expr_new(parser, OP_SELECT, start);
    set_kids(*out, kid, 3);
    return true;
}

/* max(a, b, c) is max(max(a, b), c). */
static bool parse_call(struct expr_parser *parser, enum op op, int arguments, const char *start,
                       struct expr **out)
{
    struct expr *kid[2];
    if (!parse_sum(parser, &kid[0]))
        return false;
    if (arguments == 1) {
        if (!expect(parser, ")"))
            return false;
        *out = expr_new(parser, op, start);
        set_kids(*out, kid, 1);
        return true;
    }
    int count = 1;
    for (; take_token(parser, ","); count++) {
        if (!parse_sum(parser, &kid[1]))
            return false;
        struct expr *joined = expr_new(parser, op, start);
        set_kids(joined, kid, 2);
        kid[0] = joined;
    }
    if (count < 2 || (count > 2 && op == OP_POW))
        return failed(parser, "the wrong number of arguments",
                      op == OP_POW ? "pow(base, exponent)" : "two or more arguments");
    if (!expect(parser, ")"))
        return false;
    kid[0]->size = (uint16_t)(parser->rest.data - start);
    *out = kid[0];
    return true;
}

static bool parse_at(struct expr_parser *parser, const char *start, struct expr **out)
{
    struct expr *what, *value, *first = NULL, *last = NULL;
    if (!parse_sum(parser, &what))
        return false;
    while (take_token(parser, ",")) {
        struct text name = take_name(parser);
        int row;
        if (!name.size)
            return failed(parser, "syntax error", "row = expression");
        if (!find_row(parser, name, &row) || !expect(parser, "=") || !parse_sum(parser, &value))
            return false;
        struct expr *binding = expr_new(parser, OP_BINDING, name.data);
        binding->row = row;
        set_kids(binding, &value, 1);
        if (last)
            last->at = (int16_t)(binding - last);
        else
            first = binding;
        last = binding;
    }
    if (!first)
        return failed(parser, "AT without a change", "AT(row, input = expression)");
    if (!expect(parser, ")"))
        return false;
    *out = expr_new(parser, OP_AT, start);
    set_kids(*out, &what, 1);
    (*out)->at = (int16_t)(first - *out);
    return true;
}

static bool known_table(const struct formulas *formulas, struct text name, const char **table)
{
    for (size_t i = 0; i < formulas->chapter_count; i++)
        if (formulas->chapters[i].table && text_is(name, formulas->chapters[i].table)) {
            *table = formulas->chapters[i].table;
            return true;
        }
    return false;
}

static bool no_table(struct expr_parser *parser)
{
    struct buffer tables = { .arena = parser->formulas->arena };
    for (size_t i = 0; i < parser->formulas->chapter_count && tables.size < 300; i++) {
        const char *table = parser->formulas->chapters[i].table;
        bool first = table != NULL;                 /* of the chapters of this table */
        for (size_t k = 0; k < i && first; k++)
            first = !parser->formulas->chapters[k].table ||
                    strcmp(parser->formulas->chapters[k].table, table);
        if (first)
            buffer_print(&tables, "%s%s", tables.size ? ", " : "one of: ", table);
    }
    return failed(parser, "unknown table",
                  tables.size ? tables.data : "a table, which a chapter above names after EACH");
}

static bool parse_over(struct expr_parser *parser, enum op op, const char *start, struct expr **out)
{
    struct text name = take_name(parser);
    const char *table;
    struct expr *what;
    if (!known_table(parser->formulas, name, &table)) {
        parser->rest.size += (size_t)(parser->rest.data - name.data);
        parser->rest.data = name.data;
        return no_table(parser);
    }
    if (!expect(parser, ",") || !parse_sum(parser, &what) || !expect(parser, ")"))
        return false;
    *out = expr_new(parser, op, start);
    set_name(parser, *out, table);
    set_kids(*out, &what, 1);
    return true;
}

static bool parse_root(struct expr_parser *parser, const char *start, struct expr **out)
{
    struct text name = take_name(parser);
    int row;
    struct expr *kid[3];
    if (!find_row(parser, name, &row))
        return false;
    for (int i = 0; i < 3; i++)
        if (!expect(parser, ",") || !parse_sum(parser, &kid[i]))
            return false;
    if (!expect(parser, ")"))
        return false;
    *out = expr_new(parser, OP_ROOT, start);
    (*out)->row = row;
    set_kids(*out, kid, 3);
    return true;
}

static bool find_call(struct text name, enum op *op, int *arguments)
{
    static const struct { const char *name; int arguments; } calls[] = {
#define OPERATOR(name, spelling, arguments) { spelling, arguments },
#include "rows/operators.def"
#undef OPERATOR
    };
    for (int i = OP_MAX; i <= OP_ABS; i++)
        if (text_is(name, calls[i].name)) {
            *op = (enum op)i;
            *arguments = calls[i].arguments;
            return true;
        }
    return false;
}

static bool parse_operator(struct expr_parser *parser, struct text name, struct expr **out)
{
    enum op op;
    int arguments;
    if (text_is(name, "select"))
        return parse_select(parser, name.data, out);
    if (text_is(name, "AT"))
        return parse_at(parser, name.data, out);
    if (text_is(name, "ROOT"))
        return parse_root(parser, name.data, out);
    if (text_is(name, "SUM"))
        return parse_over(parser, OP_SUM, name.data, out);
    if (text_is(name, "LEAST"))
        return parse_over(parser, OP_LEAST, name.data, out);
    if (text_is(name, "MOST"))
        return parse_over(parser, OP_MOST, name.data, out);
    if (find_call(name, &op, &arguments))
        return parse_call(parser, op, arguments, name.data, out);
    parser->rest.size += (size_t)(parser->rest.data - name.data);
    parser->rest.data = name.data;
    return failed(parser, "unknown operator",
                  "max min exp log sqrt pow floor ceil abs select AT SUM LEAST MOST ROOT");
}

/* ---- atoms and infix -------------------------------------------------------------------- */

static bool parse_entry(struct expr_parser *parser, struct expr *expr)
{
    skip(parser);
    const char *start = parser->rest.data;
    size_t size = 0;
    while (size < parser->rest.size && parser->rest.data[size] != ']' &&
           parser->rest.data[size] != '\n')
        size++;
    parser->rest.data += size, parser->rest.size -= size;
    if (!size || !row_table(formulas_row(parser->formulas, expr->row)))
        return failed(parser, size ? "an entry of a row that has one value" : "an empty entry",
                      "row[entry], of a row in a chapter with EACH");
    struct text name = text_trim((struct text){ start, size });
    expr->op = OP_ENTRY;
    set_name(parser, expr, arena_copy(parser->formulas->arena, name.data, name.size));
    return expect(parser, "]");
}

static bool parse_name(struct expr_parser *parser, struct expr **out)
{
    struct text name = take_name(parser);
    if (take_token(parser, "(")) {
        if (++parser->depth > DEPTH)
            return failed(parser, "nested too deep", "fewer parentheses");
        bool read = parse_operator(parser, name, out);
        parser->depth--;
        return read;
    }
    int row;
    if (!find_row(parser, name, &row))
        return false;
    *out = expr_new(parser, OP_ROW, name.data);
    (*out)->size = (uint16_t)name.size;
    (*out)->row = row;
    if (!take_token(parser, "["))
        return true;
    bool read = parse_entry(parser, *out);
    (*out)->size = (uint16_t)(parser->rest.data - name.data);
    return read;
}

/* Digits with a point and an exponent; "1e" and "1EFLOP" have none. */
static size_t number_size(struct text text)
{
    size_t size = 0, sign;
    while (size < text.size && (is_digit(text.data[size]) || text.data[size] == '.'))
        size++;
    if (size + 1 >= text.size || (text.data[size] != 'e' && text.data[size] != 'E'))
        return size;
    sign = text.data[size + 1] == '-' || text.data[size + 1] == '+';
    if (size + 1 + sign >= text.size || !is_digit(text.data[size + 1 + sign]))
        return size;
    for (size += 1 + sign; size < text.size && is_digit(text.data[size]);)
        size++;
    return size;
}

/* The letters of a word and its power, "s^2"; 0: none, or the name of an operator. */
static size_t unit_word_size(struct text text)
{
    size_t size = 0;
    while (size < text.size && (is_letter(text.data[size]) || (size && is_digit(text.data[size]))))
        size++;
    if (size && size + 1 < text.size && text.data[size] == '^' && is_digit(text.data[size + 1]))
        size += 2;
    return size < text.size && text.data[size] == '(' ? 0 : size;
}

/* "TB/s" at the beginning of the rest. A word after '/' that is no unit is a row to divide by. */
static bool parse_unit(struct expr_parser *parser, struct expr *number)
{
    struct expr_parser apart = *parser;
    skip(&apart);
    struct text rest = apart.rest;
    const size_t gap = parser->rest.size - rest.size;
    size_t size = unit_word_size(rest);
    struct error error;
    double scale;
    if (!size)
        return true;
    while (size + 1 < rest.size && rest.data[size] == '/') {
        const struct text next = { rest.data + size + 1, rest.size - size - 1 };
        struct unit unit;
        const size_t more = unit_word_size(next);
        if (!more || !unit_parse((struct text){ next.data, more }, &unit, &scale, &error))
            break;
        size += 1 + more;
    }
    if (!unit_parse((struct text){ rest.data, size }, &number->unit, &scale, &error))
        return gap || failed(parser, "unknown unit", error.hint);
    number->number *= scale;
    parser->rest.data += gap + size, parser->rest.size -= gap + size;
    number->size += (uint16_t)(gap + size);
    return true;
}

static bool parse_number(struct expr_parser *parser, struct expr **out)
{
    const char *start = parser->rest.data;
    const size_t size = number_size(parser->rest);
    double number;
    if (!text_number((struct text){ start, size }, &number))
        return failed(parser, "syntax error", "a number, a row, an operator or '('");
    parser->rest.data += size, parser->rest.size -= size;
    *out = expr_new(parser, OP_NUMBER, start);
    (*out)->number = number;
    return parse_unit(parser, *out);
}

static bool parse_atom(struct expr_parser *parser, struct expr **out)
{
    skip(parser);
    if (parser->rest.size && is_letter(parser->rest.data[0]))
        return parse_name(parser, out);
    if (!take_token(parser, "("))
        return parse_number(parser, out);
    if (++parser->depth > DEPTH)
        return failed(parser, "nested too deep", "fewer parentheses");
    bool read = parse_sum(parser, out) && expect(parser, ")");
    parser->depth--;
    return read;
}

static bool parse_unary(struct expr_parser *parser, struct expr **out)
{
    skip(parser);
    const char *start = parser->rest.data;
    if (!take_token(parser, "-"))
        return parse_atom(parser, out);
    if (++parser->depth > DEPTH)
        return failed(parser, "nested too deep", "fewer signs");
    struct expr *kid;
    if (!parse_unary(parser, &kid))
        return false;
    parser->depth--;
    *out = expr_new(parser, OP_NEG, start);
    set_kids(*out, &kid, 1);
    return true;
}

typedef bool parse_function(struct expr_parser *parser, struct expr **out);

static bool parse_infix(struct expr_parser *parser, struct expr **out, parse_function *part,
                        const char *signs, const enum op ops[2])
{
    skip(parser);
    const char *start = parser->rest.data;
    if (!part(parser, out))
        return false;
    for (;;) {
        skip(parser);
        if (!parser->rest.size || !strchr(signs, parser->rest.data[0]))
            return true;
        enum op op = ops[parser->rest.data[0] == signs[1]];
        parser->rest.data++, parser->rest.size--;
        struct expr *kid[2] = { *out };
        if (!part(parser, &kid[1]))
            return false;
        *out = expr_new(parser, op, start);
        set_kids(*out, kid, 2);
    }
}

static bool parse_product(struct expr_parser *parser, struct expr **out)
{
    static const enum op ops[2] = { OP_MUL, OP_DIV };
    return parse_infix(parser, out, parse_unary, "*/", ops);
}

static bool parse_sum(struct expr_parser *parser, struct expr **out)
{
    static const enum op ops[2] = { OP_ADD, OP_SUB };
    return parse_infix(parser, out, parse_product, "+-", ops);
}

bool expr_has_name(enum op op)
{
    return op == OP_ENTRY || op == OP_SUM || op == OP_LEAST || op == OP_MOST || op == OP_GIVEN;
}

const struct expr *expr_keep(struct arena *arena, const struct expr_draft *draft, const struct expr *root,
                             struct text whole)
{
    const size_t nodes = draft->count * sizeof *draft->nodes;
    size_t size = nodes + whole.size + 1;
    for (size_t i = 0; i < draft->count; i++)
        size += expr_has_name(draft->nodes[i].op) ? strlen(draft->names[i]) + 1 : 0;
    struct expr *kept = arena_alloc(arena, size);
    char *text = (char *)kept + nodes, *name = text + whole.size + 1;
    memcpy(kept, draft->nodes, nodes);
    memcpy(text, whole.data, whole.size);
    for (size_t i = 0; i < draft->count; i++) {
        kept[i].whole = (int32_t)(text - (char *)&kept[i]);
        if (!expr_has_name(kept[i].op))
            continue;
        kept[i].name = (int32_t)(name - (char *)&kept[i]);
        const size_t bytes = strlen(draft->names[i]) + 1;
        memcpy(name, draft->names[i], bytes);
        name += bytes;
    }
    return kept + (root - draft->nodes);
}

bool expr_parse(const struct formulas *formulas, const char *file, int line, struct text text,
                const struct expr **out, struct error *error)
{
    enum { FEW = 64 };
    struct expr few[FEW], *whole;
    const char *few_names[FEW];
    struct expr_parser parser = { .formulas = formulas, .file = file, .line = line, .whole = text, .rest = text,
                             .draft = { few, few_names, 0 }, .error = error };
    if (text.size > FEW) {                      /* each node takes a character of the text */
        const size_t room = text.size < EXPR_NODES ? text.size : EXPR_NODES + 1;
        parser.draft.nodes = arena_array(formulas->arena, room, sizeof *parser.draft.nodes);
        parser.draft.names = arena_array(formulas->arena, room, sizeof *parser.draft.names);
    }
    if (!parse_sum(&parser, &whole))
        return false;
    if (parser.draft.count > EXPR_NODES || text.size > UINT16_MAX)
        return failed(&parser, "the expression is too long", "several rows");
    skip(&parser);
    if (parser.rest.size)
        return failed(&parser, "unexpected text after the expression", "an operator, or the end of the line");
    *out = expr_keep(formulas->arena, &parser.draft, whole, text);
    return true;
}

/* 1 or 0; -1: it compares numbers. */
static int holds_given(const struct expr *condition, given_function *given, const void *context)
{
    if (condition->op == OP_GIVEN)
        return given(context, expr_name(condition));
    if (condition->op != OP_BOTH && condition->op != OP_EITHER)
        return -1;
    const int a = holds_given(expr_kid(condition, 0), given, context);
    const int b = holds_given(expr_kid(condition, 1), given, context);
    const int decides = condition->op == OP_EITHER;         /* one such operand is enough */
    if (a == decides || b == decides)
        return decides;
    return a < 0 || b < 0 ? -1 : !decides;
}

int expr_branch_given(const struct expr *select, given_function *given, const void *context)
{
    const int holds = holds_given(expr_kid(select, 0), given, context);
    return holds < 0 ? 0 : holds ? 1 : 2;
}

static void mark_given(const struct formulas *formulas, const struct expr *expr, bool *asked)
{
    const int row = expr->op == OP_GIVEN ? formulas_find(formulas, expr_name(expr)) : -1;
    if (row >= 0)
        asked[row] = true;
    for (int i = 0; i < 3 && expr_kid(expr, i); i++)
        mark_given(formulas, expr_kid(expr, i), asked);
    for (const struct expr *at = expr_at(expr); at; at = expr_at(at))
        mark_given(formulas, expr_kid(at, 0), asked);
}

void formulas_given(const struct formulas *formulas, bool *asked)
{
    for (size_t i = 0; i < formulas->count; i++) {
        const struct expr *expr = row_expr(formulas_row(formulas, i));
        if (expr)
            mark_given(formulas, expr, asked);
    }
}
