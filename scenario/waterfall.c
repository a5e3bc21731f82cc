#include "scenario/waterfall.h"

#include "build/row_names.h"

#include <math.h>

/* How tables and sentences call each row. */
#define STEPS(X)                                                                            \
    X(bound_step, "bound") X(gap_batch, "fewer sequences decode")                         \
    X(gap_overlap, "operators not overlapped") X(gap_imbalance, "imbalance")           \
    X(gap_efficiency, "kernel efficiency") X(gap_launch, "launch overhead")              \
    X(gap_communication, "communication") X(gap_host, "host overhead") X(gap_draft, "speculative decoding")               \
    X(gap_prefill, "prefill interference") X(predicted_tpot, "TPOT")

const char *const waterfall_rows[WATERFALL_ROWS] = {
#define X(row, label) NAME_##row,
    STEPS(X)
#undef X
};

static const char *const labels[WATERFALL_ROWS] = {
#define X(row, label) label,
    STEPS(X)
#undef X
};

/* A gap below this share of the prediction has no line of its own. */
static const double least_shown = 0.005;

static bool is_shown(const double *at, int i)
{
    return i == 0 || i == WATERFALL_ROWS - 1 ||
           fabs(at[i]) >= least_shown * at[WATERFALL_ROWS - 1];
}

/* What the gaps without a line add up to. */
static double small_gaps(const double *at)
{
    double sum = 0;
    for (int i = 1; i < WATERFALL_ROWS - 1; i++)
        if (!is_shown(at, i))
            sum += at[i];
    return sum;
}

/* A bar from `low` to `high`, of `whole` in 30 columns. */
static const char *bar_between(struct arena *arena, double low, double high, double whole)
{
    enum { COLUMNS = 30 };
    struct buffer out = { .arena = arena };
    const int first = (int)(COLUMNS * low / whole + 0.5), last = (int)(COLUMNS * high / whole + 0.5);
    buffer_add(&out, "", 0);
    for (int i = 0; i < last || i == first; i++)
        buffer_print(&out, i < first ? " " : first == last ? "\u258f" : "\u2588");
    return out.data;
}

static void table_line(struct table *table, const char *label, double from, double to, bool gap,
                       double whole)
{
    const double step = to - from;
    table_cell(table, "%s", label);
    table_cell(table, "%s%s", gap && step >= 0 ? "+ " : gap ? "- " : "",
               quantity_text(table->arena, gap ? fabs(step) : step, unit_second, 3));
    table_cell(table, "%s", bar_between(table->arena, fmin(from, to), fmax(from, to), whole));
}

void waterfall_table(struct arena *arena, const double *at, struct buffer *out)
{
    struct table table = { .arena = arena, .columns = 3, .left = "lrl" };
    const double tpot = at[WATERFALL_ROWS - 1];
    double sum = 0, whole = tpot;
    for (int i = 0; i < WATERFALL_ROWS - 1; i++) {
        sum += at[i];
        whole = fmax(whole, sum);
    }
    table_cell(&table, "from the bound to TPOT");
    table_cell(&table, "time");
    table_cell(&table, "%s", "");
    sum = 0;
    for (int i = 0; i < WATERFALL_ROWS - 1; i++)
        if (is_shown(at, i)) {
            table_line(&table, labels[i], sum, sum + at[i], i > 0, whole);
            sum += at[i];
        }
    if (fabs(small_gaps(at)) > 0.1 * least_shown * tpot)
        table_line(&table, "smaller gaps", sum, sum + small_gaps(at), true, whole);
    table_line(&table, labels[WATERFALL_ROWS - 1], 0, tpot, false, whole);
    table_print(&table, out, "  ");
}

const char *waterfall_sum(struct arena *arena, const double *at)
{
    struct buffer out = { .arena = arena };
    const double ms = 1e-3;
    buffer_print(&out, "%s ms bound", count_text(arena, at[0] / ms, 3));
    for (int i = 1; i < WATERFALL_ROWS - 1; i++)
        if (is_shown(at, i))
            buffer_print(&out, " %c %s %s", at[i] < 0 ? '-' : '+',
                         count_text(arena, fabs(at[i]) / ms, 3), labels[i]);
    buffer_print(&out, " = %s ms", count_text(arena, at[WATERFALL_ROWS - 1] / ms, 3));
    return out.data;
}

void waterfall_document(struct arena *arena, const double *at, struct doc *doc)
{
    struct doc *list = doc_add(arena, doc, "waterfall", DOC_ARRAY);
    for (int i = 0; i < WATERFALL_ROWS; i++) {
        if (!doc_get(doc, waterfall_rows[i]))
            doc_add_number(arena, doc, waterfall_rows[i], at[i]);
        doc_add_string(arena, list, NULL, waterfall_rows[i]);
    }
}

const struct record waterfall_record = { "Waterfall", (const struct answer_field[]){
    { FIELD_ROWS, .names = waterfall_rows + 1, .count = WATERFALL_ROWS - 2 },
    { FIELD_TEXTS, "waterfall",
      .help = "rows from the bound to the prediction: the first and the gaps add up to the last" },
    { 0 } } };
