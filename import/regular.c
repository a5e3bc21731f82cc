/* Regular expressions as Python's re.match reads them, for lists of modules: a pattern must match from the beginning
 * of a name, but need not reach its end. Supported are characters, '.', classes, escapes \d \w \s, groups, '|', the
 * repeats * + ? {m,n} (lazy ones match the same names), '^', '$' and look-aheads. Any other pattern is unknown.
 *
 * A pattern is compiled to a short program with relative jumps, which is run by backtracking (Thompson 1968, Cox 2007).
 * A budget of steps bounds the cost of a hostile pattern; beyond it nothing matches. */
#include "import/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_ATOM, OP_SPLIT, OP_JUMP, OP_BEGIN, OP_END, OP_LOOK, OP_LOOK_NOT, OP_MATCH };

struct instruction {
    enum op op;
    int x, y;                   /* jumps, relative to this instruction */
    const char *atom;           /* in the pattern: a character, an escape, '.', or a class */
    int size;
};

enum { MOST_INSTRUCTIONS = 400, MOST_STEPS = 8000, MOST_REPEATS = 200, DEEPEST = 40 };

struct regular {
    struct instruction code[MOST_INSTRUCTIONS];
    int count, depth, steps;
    const char *at, *begin;     /* the rest of the pattern, and the whole name */
    bool unknown;
};

/* ---- reading --------------------------------------------------------------------------- */

static void emit(struct regular *regular, struct instruction instruction)
{
    if (regular->count == MOST_INSTRUCTIONS)
        regular->unknown = true;
    else
        regular->code[regular->count++] = instruction;
}

/* Moves what follows by one. Jumps are relative, so those within it stay valid. */
static void insert(struct regular *regular, int place, struct instruction instruction)
{
    emit(regular, instruction);
    for (int i = regular->count - 1; i > place; i--)
        regular->code[i] = regular->code[i - 1];
    regular->code[place] = instruction;
}

static void copy(struct regular *regular, const struct instruction *code, int size)
{
    for (int i = 0; i < size; i++)
        emit(regular, code[i]);
}

static void branches(struct regular *regular);

static void group(struct regular *regular)
{
    const char *at = ++regular->at;
    const int start = regular->count;
    bool look = false;
    if (!strncmp(at, "?:", 2)) {
        regular->at += 2;
    } else if (!strncmp(at, "?=", 2) || !strncmp(at, "?!", 2)) {
        emit(regular, (struct instruction){ .op = at[1] == '=' ? OP_LOOK : OP_LOOK_NOT });
        regular->at += 2;
        look = true;
    } else if (*at == '?') {
        regular->unknown = true;
    }
    if (++regular->depth > DEEPEST)
        regular->unknown = true;
    if (!regular->unknown)
        branches(regular);
    regular->depth--;
    if (look) {
        emit(regular, (struct instruction){ .op = OP_MATCH });
        regular->code[start].x = regular->count - start;
    }
    if (*regular->at != ')')
        regular->unknown = true;
    else
        regular->at++;
}

static void atom(struct regular *regular)
{
    const char *at = regular->at;
    size_t size = 1;
    if (*at == '\\') {
        size = at[1] ? 2 : 1;
        regular->unknown |= !at[1] || (isalnum((unsigned char)at[1]) && !strchr("dws", at[1]));
    } else if (*at == '[') {
        size = 1 + (at[1] == '^');
        do
            size += at[size] == '\\' && at[size + 1] ? 2 : at[size] != 0;
        while (at[size] && at[size] != ']');
        regular->unknown |= !at[size];
        size += at[size] != 0;
    }
    regular->at += size;
    if (*at == '^' || *at == '$')
        emit(regular, (struct instruction){ .op = *at == '^' ? OP_BEGIN : OP_END });
    else
        emit(regular, (struct instruction){ .op = OP_ATOM, .atom = at, .size = (int)size });
}

/* Reads "{2,3}", "{2}" or "{2,}"; false: it is none of these. */
static bool counts(struct regular *regular, int *least, int *most)
{
    char *end;
    const char *at = regular->at + 1;
    if (!isdigit((unsigned char)*at))
        return false;
    const long low = strtol(at, &end, 10);
    long high = low;
    if (*end == ',')
        high = isdigit((unsigned char)end[1]) ? strtol(end + 1, &end, 10) : (end++, -1);
    if (*end != '}' || low > MOST_REPEATS || high > MOST_REPEATS)
        return false;
    regular->at = end + 1;
    *least = (int)low;
    *most = (int)high;
    return true;
}

static void repeat(struct regular *regular, int start)
{
    const char mark = *regular->at;
    int least = mark == '+', most = mark == '?' ? 1 : -1;
    if (!mark || !strchr("*+?{", mark))
        return;
    if (mark == '{' && !counts(regular, &least, &most)) {
        regular->unknown = true;
        return;
    }
    regular->at += mark != '{';
    regular->at += *regular->at == '?';
    regular->unknown |= *regular->at && strchr("*+?", *regular->at);    /* possessive, or an error */
    struct instruction unit[MOST_INSTRUCTIONS];
    const int size = regular->count - start;
    memcpy(unit, regular->code + start, (size_t)size * sizeof *unit);
    regular->count = start;
    for (int i = 0; i < least; i++)
        copy(regular, unit, size);
    for (int i = least; i < most; i++) {
        emit(regular, (struct instruction){ .op = OP_SPLIT, .x = 1, .y = size + 1 });
        copy(regular, unit, size);
    }
    if (most < 0) {
        emit(regular, (struct instruction){ .op = OP_SPLIT, .x = 1, .y = size + 2 });
        copy(regular, unit, size);
        emit(regular, (struct instruction){ .op = OP_JUMP, .x = -size - 1 });
    }
}

static void branches(struct regular *regular)
{
    const int start = regular->count;
    while (*regular->at && *regular->at != '|' && *regular->at != ')' && !regular->unknown) {
        const int first = regular->count;
        if (*regular->at == '(')
            group(regular);
        else
            atom(regular);
        repeat(regular, first);
    }
    if (*regular->at != '|' || regular->unknown)
        return;
    insert(regular, start, (struct instruction){ .op = OP_SPLIT, .x = 1, .y = regular->count - start + 2 });
    const int jump = regular->count;
    emit(regular, (struct instruction){ .op = OP_JUMP });
    regular->at++;
    branches(regular);
    if (!regular->unknown)
        regular->code[jump].x = regular->count - jump;
}

static bool compile(struct regular *regular, const char *pattern)
{
    regular->at = pattern;             /* `code` need not be cleared */
    regular->count = regular->depth = 0;
    regular->unknown = false;
    branches(regular);
    emit(regular, (struct instruction){ .op = OP_MATCH });
    return !regular->unknown && !*regular->at;
}

/* ---- matching -------------------------------------------------------------------------- */

static bool escape_is(char escape, char c)
{
    const unsigned char u = (unsigned char)c;
    return escape == 'd' ? isdigit(u) != 0 : escape == 'w' ? isalnum(u) || c == '_' : escape == 's' ? isspace(u) != 0
         : escape == c;
}

static bool class_is(const char *at, const char *end, char c)
{
    bool found = false;
    while (at < end) {
        if (*at == '\\') {
            found |= escape_is(at[1], c);
            at += 2;
        } else if (at + 2 < end && at[1] == '-') {
            found |= c >= at[0] && c <= at[2];
            at += 3;
        } else {
            found |= *at++ == c;
        }
    }
    return found;
}

static bool atom_is(const struct instruction *atom, char c)
{
    const char *at = atom->atom;
    if (!c)
        return false;
    if (*at == '[') {
        const bool other = at[1] == '^';
        return class_is(at + 1 + other, at + atom->size - 1, c) != other;
    }
    return *at == '\\' ? escape_is(at[1], c) : *at == '.' || *at == c;
}

static bool run(struct regular *regular, int at, const char *name)
{
    for (;;) {
        const struct instruction *code = &regular->code[at];
        if (--regular->steps < 0)
            return false;
        switch (code->op) {
        case OP_ATOM:
            if (!atom_is(code, *name))
                return false;
            name++;
            at++;
            break;
        case OP_SPLIT:
            if (run(regular, at + code->x, name))
                return true;
            at += code->y;
            break;
        case OP_JUMP:
            at += code->x;
            break;
        case OP_BEGIN:
        case OP_END:
            if (code->op == OP_BEGIN ? name != regular->begin : *name != 0)
                return false;
            at++;
            break;
        case OP_LOOK:
        case OP_LOOK_NOT:
            if (run(regular, at + 1, name) != (code->op == OP_LOOK))
                return false;
            at += code->x;
            break;
        case OP_MATCH:
            return true;
        }
    }
}

bool regular_known(const char *pattern)
{
    struct regular regular;
    return compile(&regular, pattern);
}

bool regular_match(const char *pattern, const char *name)
{
    struct regular regular;
    if (!compile(&regular, pattern))
        return false;
    regular.steps = MOST_STEPS;
    regular.begin = name;
    return run(&regular, 0, name);
}
