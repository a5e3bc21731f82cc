/* rows -- formulas: each is written once, in formulas/, and read in many ways.
 *
 *   .chalk text -> formulas (rows) -> graph (nodes) -> value | derivative | interval |
 *                     |                            smaller graph, with some inputs fixed
 *                     +-> algebra, units
 *
 * Formulas are the rows of the formula files, each with its expression as a tree. A graph has the
 * nodes that some expressions need, given the facts of one scenario: each node comes after its
 * operands, and equal nodes are stored once. AT and SUM, which evaluate rows at other values of some
 * inputs or for each entry of a table, are expanded when the graph is built.
 *
 * Units are checked on the formulas, values are plain doubles in base units. Every reading
 * gives the same bits on any machine and thread count. */
#ifndef ROWS_H
#define ROWS_H

#include "base/base.h"
#include "rows/facts.h"

/* ---- units and quantities ------------------------------------------------------- */

enum { UNIT_S, UNIT_B, UNIT_FLOP, UNIT_TOKEN, UNIT_USD, UNIT_J, UNIT_G, UNIT_L, UNIT_COUNT };

/* A product of powers of the base units. */
struct unit {
    int8_t half[UNIT_COUNT];        /* twice the exponents, so that sqrt has a unit */
};

extern const struct unit unit_one, unit_second, unit_usd_per_second;
bool unit_parse(struct text text, struct unit *unit, double *scale, struct error *error);
bool unit_scale(const char *unit, double *scale);       /* "TB/s" -> 1e12; false: unknown */
bool unit_same(struct unit a, struct unit b);
bool unit_counts(struct unit unit);                     /* is it 1 or token, as of counts and shares? */
struct unit unit_power(struct unit a, struct unit b, int times);    /* a * b^times */
void unit_print(struct buffer *out, struct unit unit);              /* "B/s", "1" */
const char *unit_name(struct arena *arena, struct unit unit);       /* the same text */
const char *unit_example(struct arena *arena, struct unit unit);    /* "a time such as 300ms, 5s or 2min" */

/* A value as a user writes it: "20ms", "8TB/s", "50e9..200e9", "normal(20ms, 2ms)". A number without
 * a unit is in base units; counts accept k, M, B (billion) and T. */
struct quantity {
    double value, low, high;        /* base units; low = high = value for DISTRIBUTION_NONE */
    enum distribution distribution;
};

bool quantity_parse(struct text text, struct unit unit, struct quantity *out,
                    struct error *error);
/* The text with this unit, if its numbers have none: "30" -> "30ms", "uniform(1, 2)" -> "uniform(1, 2ms)". NULL:
 * they have one, or it is no quantity. */
const char *quantity_with_unit(struct arena *arena, const char *text, const char *unit);
/* Print a value for people, with a prefix: "3.55 ms", "576 TB/s", "0.039 USD/Mtoken", "4,768". Every double
 * can be printed: NaN is "unknown", an infinity "infinite" or "-infinite", both without a unit. */
void quantity_print(struct buffer *out, double value, struct unit unit, int digits);
void decimal_print(struct buffer *out, double value, int decimals);     /* "12.50"; as above from 1e9 on */
void share_print(struct buffer *out, double value, int decimals);       /* 0.125 is "12.5 %" */
const char *quantity_text(struct arena *arena, double value, struct unit unit, int digits);
/* "42.6 to 59.9 ms": if both ends have the same unit, it is printed once. */
const char *quantity_range(struct arena *arena, double low, double high, struct unit unit, int digits);

/* ---- formulas: the rows ------------------------------------------------------------ */

enum op {
#define OPERATOR(name, spelling, arguments) OP_##name,
#include "rows/operators.def"
#undef OPERATOR
    OP_ROW,                         /* the rest exist in expressions only */
    OP_ENTRY, OP_AT, OP_SUM, OP_LEAST, OP_MOST, OP_GIVEN,
    OP_BINDING                      /* "row = value" of an AT; no operand of any node */
};

/* A node of an expression tree. The comment of a member names the operators that use it. All nodes of an
 * expression are in one array, followed by its text and its names, and say by offsets where these are:
 * so the built-in ones need no relocation when the program starts. The functions below read them. */
struct expr {
    union {
        double number;              /* NUMBER, in base units */
        int32_t name;               /* ENTRY: the entry; SUM, LEAST, MOST: the table; GIVEN: the row; bytes from here */
    };
    union {
        struct unit unit;           /* NUMBER: its unit, if it was written with one: "20ms" */
        struct {
            int16_t kid[3];         /* operands, nodes from here, or 0; AT: kid[0]; ROOT: low, high, f */
            int16_t at;             /* AT: the first "row = value"; BINDING: the next */
        };
    };
    int32_t row;                    /* ROW, ENTRY; ROOT: the input that is solved for; BINDING: the input that changes */
    int32_t whole;                  /* text of the whole expression, ended by a 0; bytes from here */
    uint16_t start, size;           /* this node's part of it */
    enum op op : 8;
};

static inline const struct expr *expr_kid(const struct expr *expr, int i)
{
    return expr->op != OP_NUMBER && expr->kid[i] ? expr + expr->kid[i] : NULL;
}

/* The first "row = value" of an AT, whose value is its kid 0; of that one, the next. */
static inline const struct expr *expr_at(const struct expr *expr)
{
    return expr->op != OP_NUMBER && expr->at ? expr + expr->at : NULL;
}

static inline const char *expr_name(const struct expr *expr)
{
    return (const char *)expr + expr->name;
}

/* The node as written in the file. */
static inline struct text expr_text(const struct expr *expr)
{
    return (struct text){ (const char *)expr + expr->whole + expr->start, expr->size };
}

/* The texts of a row, each read by a function: row_name(row), row_symbol(row). */
enum row_text {
#define ROW_TEXT(name) TEXT_##name,
#define ROW_OPTION ROW_TEXT
#include "rows/row_texts.def"
#undef ROW_TEXT
#undef ROW_OPTION
    ROW_TEXTS
};

/* One row of a formula file: an input with a default and a range, or a quantity with a formula. It says by
 * offsets, in bytes from here, where its texts and other parts are; 0: it has none. */
struct row {
    int32_t texts[ROW_TEXTS];
    int line, chapter;              /* in its file; index in formulas->chapters */
    bool input;                     /* may be set within low..high; its expression is its default then */
    struct unit unit;
    double value, low, high;        /* an input's default and range */
    double likely_low, likely_high; /* the plausible range; equal if none is stated */
    intptr_t to_expr, to_before;    /* row_expr, row_before */
};

#define ROW_TEXT(name) static inline const char *row_##name(const struct row *row) \
{ \
    return (const char *)row + row->texts[TEXT_##name]; \
}
#define ROW_OPTION(name) static inline const char *row_##name(const struct row *row) \
{ \
    return row->texts[TEXT_##name] ? (const char *)row + row->texts[TEXT_##name] : NULL; \
}
#include "rows/row_texts.def"
#undef ROW_TEXT
#undef ROW_OPTION

/* NULL for an input whose default is a number. */
static inline const struct expr *row_expr(const struct row *row)
{
    return row->to_expr ? (const struct expr *)((intptr_t)row + row->to_expr) : NULL;
}

/* The expression as written. */
static inline struct text row_text(const struct row *row)
{
    const struct expr *expr = row_expr(row);
    return expr ? text_of((const char *)expr + expr->whole) : (struct text){ NULL, 0 };
}

/* The row that it redefined, or NULL. */
static inline const struct row *row_before(const struct row *row)
{
    return row->to_before ? (const struct row *)((intptr_t)row + row->to_before) : NULL;
}

/* A heading "== ..." of a formula file, with the prose below it. */
struct chapter {
    const char *title, *table, *with, *prose, *file;
};

struct alias {
    const char *name;
    int row;
};

/* A set of rows. A row never changes after it was read: sets share rows, and redefining a row adds
 * another one in its place. */
struct formulas {
    struct arena *arena;
    const int *places;              /* [count] of each row: its place in built_in, or -1 - its place in own */
    size_t count, room;
    const struct row *built_in;
    const struct row *const *own;   /* read since, also those that another one redefined */
    size_t own_count, own_room;
    const struct chapter *chapters;
    size_t chapter_count, chapter_room;
    const struct alias *aliases;    /* of all rows */
    size_t alias_count, alias_room;
    const int *index;               /* hash of names: row + 1, -1 - alias, or 0 */
    size_t index_size;
    unsigned conditions;            /* bits: which WITH chapters apply */
    bool shared;                    /* rows, chapters and index belong to another set */
    bool open;                      /* a user's file may redefine rows anywhere */
};

static inline const struct row *formulas_row(const struct formulas *formulas, size_t index)
{
    const int place = formulas->places[index];
    return place < 0 ? formulas->own[-1 - place] : &formulas->built_in[place];
}

enum { FORMULAS_MODEL = 1, FORMULAS_MACHINE = 2, FORMULAS_ALL = FORMULAS_MODEL | FORMULAS_MACHINE };

void formulas_open(struct formulas *formulas, struct arena *arena, unsigned conditions);
/* The rows of formulas/, which the build has parsed. They have no arena: copy them (formulas_copy)
 * before reading a file into them or parsing expressions. */
const struct formulas *formulas_built_in(unsigned conditions);
/* Make another set of the same rows; rows that are read into it do not change `of`. */
void formulas_copy(struct formulas *formulas, struct arena *arena, const struct formulas *of);
/* Read one file of rows; a row whose name is known redefines that row. */
bool formulas_read(struct formulas *formulas, const char *file, struct text text, struct error *error);
/* Make the hash of all names, of formulas->index_size places. */
void formulas_index(struct formulas *formulas, struct arena *arena);
/* The row of that name or alias; -1: none. */
int formulas_find(const struct formulas *formulas, const char *name);
/* The name of a row that `name` may call by an alias, with its [entry]; `name` itself if there
 * is no such row. */
const char *formulas_name(const struct formulas *formulas, struct arena *arena, const char *name);
/* The row `predicted_WORD`, such as predicted_tpot of "tpot"; NULL: there is none. */
const char *formulas_predicted(const struct formulas *formulas, const char *word);
/* Sentences that are looked up beside the rows, such as the lecture's statements. */
struct passage {
    const char *name, *sentence, *more;
    int row;                        /* the row that it is about; -1: none */
};
struct passages {
    const struct passage *at;
    size_t count;
};
/* The rows and passages that words, a symbol or a unit describe, best first; at most `most` of them. Returns their
 * number. To a question a passage is an answer before a row, and a row with a formula before an input. */
struct row_match {
    int row;                        /* from the number of rows on: a passage */
    double score;                   /* 0 nothing in common, 2.5 and more: the words are the row's own */
};
size_t formulas_lookup(const struct formulas *formulas, const char *text, struct passages passages,
                       struct row_match *matches, size_t most);
/* Fill `error` with "unknown row" and the most similar name; returns false. */
bool formulas_unknown(const struct formulas *formulas, const char *name, struct error *error);
bool expr_parse(const struct formulas *formulas, const char *file, int line, struct text text,
                const struct expr **out, struct error *error);
/* Does every expression's unit agree with its row's? */
bool formulas_check_units(const struct formulas *formulas, struct error *error);
bool expr_unit(const struct formulas *formulas, const struct expr *expr, struct unit *unit,
               struct error *error);
/* The branch, 1 or 2, of a select whose condition depends only on which rows were given, not on their
 * values: GIVEN(row), both(...), either(...). Returns 0 if the condition compares numbers. `given`
 * says whether the user, an axis or a search gave a row a value. */
typedef bool given_function(const void *context, const char *name);
int expr_branch_given(const struct expr *select, given_function *given, const void *context);
/* Set asked[row] for each row of which some row's expression asks GIVEN(row). */
void formulas_given(const struct formulas *formulas, bool *asked);

/* ---- graph: the nodes ----------------------------------------------------------------- */

/* A node of a graph: an operator whose operands are earlier nodes. */
struct node {
    enum op op;
    int a, b, c;                    /* operands; ROOT: low, high, f */
    int first;                      /* ROOT: the VAR node of its unknown, where its loop begins */
    int row;                        /* the row whose value this node is, or -1 */
    double value;                   /* NUMBER */
    int input;                      /* INPUT: index in graph.inputs */
};

/* The entry of an input that is not a row but a scale factor on one, added by graph_build_parts. */
enum { INPUT_SCALE = -2 };

/* An input of a graph, with its value under the facts. */
struct input {
    int row, entry;                 /* index of the entry in the row's table; -1: a scalar; or INPUT_SCALE */
    const char *name;               /* "batch", "cache_elements[moe]" */
    double value, low, high;        /* low < high: the user gave a range or a distribution */
    double least, most;             /* the row's range; random draws are limited to it */
    enum distribution distribution;
    enum origin origin;
    const char *source;             /* NULL: the default of the row */
    int node;                       /* its node in the graph */
};

/* The nodes that some expressions need, in an order in which operands come first. */
struct graph {
    struct node *nodes;
    size_t count;
    struct input *inputs;
    size_t input_count;
    int *outputs;                   /* the node of each expression */
    size_t output_count;
};

/* Build the graph of some expressions under the facts. Fails on cycles, on unknown rows
 * and entries. */
bool graph_build(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                 const struct expr *const *wanted, size_t count, struct graph *graph,
                 struct error *error);
/* The same, with a scale factor on each row that has a part name: an additional input of value 1, by
 * whose derivative graph_breakdown finds the part's share. Within a part, other parts get no factor. The
 * outputs have the same bits. */
bool graph_build_parts(struct arena *arena, const struct formulas *formulas, const struct facts *facts,
                       const struct expr *const *wanted, size_t count, struct graph *graph,
                       struct error *error);
/* Graphs that grow: the nodes and values of earlier questions are kept for each of the sets of facts that were used
 * last, so that a further question costs only the nodes that it adds. They are freed with the arena. */
struct asked_graphs;
struct asked_graphs *asked_graphs_new(struct arena *arena);
/* graph_build, or graph_build_parts, in `arena`, with the values of the graph's nodes under the facts. */
bool graph_asked(struct asked_graphs *asked, struct arena *arena, const struct formulas *formulas,
                 const struct facts *facts, bool parts, const struct expr *const *wanted, size_t count,
                 struct graph *graph, double **values, struct error *error);
/* The value of one expression, without its graph. */
bool graph_asked_value(struct asked_graphs *asked, const struct formulas *formulas, const struct facts *facts,
                       const struct expr *wanted, double *value, struct error *error);
/* The end of a guarded call that keeps graphs for those after it, when none of its own is used any more: those that were used
 * longest ago are freed until half of the room is left. */
void asked_graphs_trim(void);
/* Specialize: compute the smaller graph in which every input is fixed at `values`, except those that
 * `vary`. */
void graph_specialize(struct arena *arena, const struct graph *graph, const double *values,
                      const bool *vary, struct graph *left);
/* The same, from the nodes[count] that graph_value computed at these inputs. */
void graph_specialize_nodes(struct arena *arena, const struct graph *graph, const double *nodes,
                            const bool *vary, struct graph *left);
/* Does any output depend on `input` while all other inputs are fixed? `nodes` are the values there. */
bool graph_moves(const struct arena *arena, const struct graph *graph, const double *nodes,
                 size_t input);
int graph_input(const struct graph *graph, const char *name);          /* -1: none */
/* Set reached[row] for each row that the expressions read under the facts. Of a select whose condition
 * compares numbers, both branches count. No graph is built. */
bool graph_reach(const struct formulas *formulas, const struct facts *facts,
                 const struct expr *const *wanted, size_t count, bool *reached,
                 struct error *error);

/* ---- readings --------------------------------------------------------------------------- */

/* Values at one point: inputs[input_count] in, outputs[output_count] out; nodes[count]
 * may be NULL or receives every node's value. */
void graph_value(struct arena *arena, const struct graph *graph, const double *inputs,
                 double *nodes, double *outputs);

/* A column of values for many points: stride 1, or 0 if all points have the same value. */
struct column {
    const double *data;
    size_t stride;
};
void graph_run(const struct graph *graph, const struct column *inputs, double *const *outputs,
               size_t points);
/* The same by a program for a named instruction set ("portable", "avx2", "avx512"), for tests and
 * bench; graph_run_has says which this machine has. NULL: as graph_run, which makes no program for few points. */
void graph_run_with(const char *set, const struct graph *graph, const struct column *inputs,
                    double *const *outputs, size_t points);
bool graph_run_has(const char *set);
/* The same in two steps, for callers that run one graph often. Columns with stride 0 are fixed at
 * their number when the program is made. A program lives in its arena. */
struct graph_program *graph_program_make(struct arena *arena, const char *set,
                                         const struct graph *graph, const struct column *inputs);
void graph_program_run(const struct graph_program *program, const struct column *inputs,
                       double *const *outputs, size_t points);
/* Is every value within the range? NAN is not. */
bool column_within(const double *x, size_t count, double low, double high);
const char *graph_run_set(void);                /* the instruction set that graph_run uses: "avx2" */

/* d output / d inputs[i], reverse mode; returns the value. */
double graph_gradient(struct arena *arena, const struct graph *graph, size_t output,
                      const double *inputs, double *gradient);
/* The same from the nodes[count] that graph_value computed, for callers that need several outputs. */
void graph_slopes(struct arena *arena, const struct graph *graph, size_t output,
                  const double *nodes, double *gradient);

/* A part of an output: the derivative of the output by the scale factor on a row, with the solution of
 * every ROOT held fixed. If the output is homogeneous of degree one in its parts, as a time that is made
 * of times, the parts add up to it (Euler's theorem). */
struct contribution {
    int row;
    const char *label;              /* the row's part name */
    double value;                   /* in the unit of the output */
    double saved;                   /* decrease of the output if the row were 0, every ROOT solved again */
};
/* The parts of an output of graph_build_parts that are not 0, largest first, without `saved`;
 * `nodes` are the values at the point. */
struct contribution *graph_breakdown(struct arena *arena, const struct formulas *formulas,
                                     const struct graph *graph, size_t output, const double *nodes,
                                     size_t *count);
/* Fill in `saved` of each part, from the same values; NAN if the output has no finite value without it. */
void graph_saved(const struct graph *graph, size_t output, const double *nodes,
                 struct contribution *parts, size_t count);

/* Evaluate a graph over nested axes with loop-invariant nodes hoisted: a node is computed once for each
 * value of the innermost axis that it depends on. An input is a number of an axis (0 is the outermost)
 * or the one column; at[i] says which. Returns NULL if the graph has a ROOT. Call, outer axes first:
 *
 *     loop_nest_number(input, value) ..., loop_nest_enter(axis)  set the inputs of an axis, then
 *                                                                evaluate what depends on them
 *     loop_nest_column(column, count)                            set up to LOOP_NEST_POINTS points
 *     loop_nest_block(axis)                                      evaluate what depends on the axis
 *                                                                and on the column
 *
 * The values of an output are then where loop_nest_output says. */
enum { LOOP_NEST_POINTS = 128, LOOP_NEST_AXES = 8, LOOP_NEST_COLUMN = LOOP_NEST_AXES };
struct loop_nest *loop_nest_make(struct arena *arena, const char *set, const struct graph *graph,
                                 const int *at);
void loop_nest_number(struct loop_nest *nest, size_t input, double value);
void loop_nest_enter(struct loop_nest *nest, int axis);
void loop_nest_column(struct loop_nest *nest, const double *column, size_t count);
void loop_nest_block(struct loop_nest *nest, int axis);
int loop_nest_axis(const struct loop_nest *nest, size_t output); /* innermost axis it depends on */
struct column loop_nest_output(const struct loop_nest *nest, size_t output);

struct interval {
    double low, high;
};
/* Compute the smaller graph that gives the same bits while every input stays within its bounds: a
 * comparison or a max that the bounds decide disappears. */
void graph_simplify(struct arena *arena, const struct graph *graph, const struct interval *inputs,
                    struct graph *left);
/* Bounds of an output over a box of inputs. They are exact in the inputs along which the derivative
 * keeps its sign, except for a ROOT. */
struct interval graph_interval(struct arena *arena, const struct graph *graph, size_t output,
                               const struct interval *inputs);
/* Quantiles [output][count] of all outputs when inputs have ranges or distributions (a range counts as
 * uniform, log-uniform beyond a factor of ten), by `samples` seeded draws. */
void graph_quantiles(struct arena *arena, const struct graph *graph, uint64_t seed, size_t samples, const double *at,
                     size_t count, double *quantiles);

/* ---- solve: any input from any equation ------------------------------------------------ */

/* The functions that rows use, for one number, with the same bits. libm's differ by machine. */
double scalar_exp(double x);
double scalar_log(double x);
double scalar_pow(double x, double y);

/* A condition on an output f along one input. f counts as zero if it is not larger than the sum of the
 * rounding errors of its parts. */
enum relation {
    RELATION_EQUAL,                 /* f = 0 */
    RELATION_AT_LEAST,              /* f >= 0 */
    RELATION_MORE                   /* f > 0 */
};

/* An interval of solutions; low = high: one root. */
struct extent {
    double low, high;
    bool low_closed, high_closed;   /* it ends there; false: at the end of the range, it may continue */
};

/* Two neighbouring numbers between which f changes its sign without being zero, or becomes undefined. */
struct jump {
    double at;                      /* one of the two: the one that prints with fewer digits */
    double first, last;
    double before, after;           /* f there; infinite beside a pole */
};

struct solution {
    struct extent *extents;         /* in rising order, separated by gaps */
    size_t count, room;
    struct jump *jumps;
    size_t jump_count, jump_room;
    bool proved;                    /* interval arithmetic proves that there is no other solution */
    double closest;                 /* no solution: the nearest jump past zero, or where |f| is least */
    const struct jump *nearest_jump;    /* that jump, or NULL */
    double beyond;                  /* no solution: a root outside the range, if beyond_found */
    bool beyond_found;
    int evaluations, readings;      /* of f at a point; of f over an interval */
};
void graph_solve(struct arena *arena, const struct graph *graph, size_t output, size_t input,
                 enum relation relation, double low, double high, struct solution *solution);

/* ---- algebra ------------------------------------------------------------------------------ */

/* How to print an expression on one line. `number` may print a value in place of a row, an AT, a SUM or
 * a ROOT, or return false to keep its algebra; `taken` may say which branch of a select is taken (1 or
 * 2), or 0 to print both. */
struct algebra {
    const struct formulas *formulas;
    bool (*number)(void *context, struct buffer *out, const struct expr *expr);
    int (*taken)(void *context, const struct expr *select);
    void *context;
    bool symbols;                   /* T_kv instead of bound_kv */
};
void algebra_print(struct buffer *out, const struct algebra *how, const struct expr *expr);
/* Print it as the content of a MathML <math> element; a row is <mrow data-row="NAME">. */
void mathml_print(struct buffer *out, const struct algebra *how, const struct expr *expr);
void mathml_symbol(struct buffer *out, const struct row *row);

#endif
