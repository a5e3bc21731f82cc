/* The waterfall from lower bound to prediction, as a section of an answer: rows of
 * formulas/serving/waterfall.chalk with bars.
 *
 * The gaps and the bound add up to the prediction. A gap below a small share of the prediction has
 * no line of its own; such gaps are added up in one. All times are rows. */
#include "scenario/waterfall.h"

#include "build/row_names.h"

#include <math.h>

/* Labels of the rows in tables and sentences. */
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

/* Sum of the gaps that have no line of their own. */
static double small_gaps(const double *at)
{
    double sum = 0;
    for (int i = 1; i < WATERFALL_ROWS - 1; i++)
        if (!is_shown(at, i))
            sum += at[i];
    return sum;
}

/* A time to add, or at either end a whole one; its bar goes from where the others end. */
static void add_line(struct section *list, const char *label, double from, double to, const char *gap,
                     double whole)
{
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "label", label);
    section_word(one, "gap", gap);
    section_number(one, "time", fabs(to - from), unit_second);
    section_number(one, "bar", to / whole, unit_one)->range =
        (struct range){ fmin(from, to) / whole, fmax(from, to) / whole, "part" };
}

static void add_gaps(const double *at, struct section *section)
{
    struct section *list = section_add(section, "waterfall_lines", SECTION_LIST);
    const double tpot = at[WATERFALL_ROWS - 1], small = small_gaps(at);
    double sum = 0, whole = tpot;
    list->text_only = true;
    for (int i = 0; i < WATERFALL_ROWS - 1; i++) {
        sum += at[i];
        whole = fmax(whole, sum);
    }
    sum = 0;
    for (int i = 0; i < WATERFALL_ROWS - 1; i++)
        if (is_shown(at, i)) {
            add_line(list, labels[i], sum, sum + at[i], i == 0 ? "" : at[i] < 0 ? "- " : "+ ", whole);
            sum += at[i];
        }
    if (fabs(small) > 0.1 * least_shown * tpot)
        add_line(list, "smaller gaps", sum, sum + small, small < 0 ? "- " : "+ ", whole);
    add_line(list, labels[WATERFALL_ROWS - 1], 0, tpot, "", whole);
}

/* The sum of bound and gaps on one line, in milliseconds. */
static const char *sum_text(struct arena *arena, const double *at)
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

void waterfall_section(struct section *section)
{
    struct section *names = section_add(section, "waterfall", SECTION_TEXTS);
    double at[WATERFALL_ROWS];
    for (int i = 0; i < WATERFALL_ROWS; i++) {
        at[i] = section_value(section, waterfall_rows[i]);
        section_word(names, NULL, waterfall_rows[i]);
    }
    add_gaps(at, section);
    section_word(section, "tpot_sum", sum_text(section->arena, at))->text_only = true;
}

static const struct record gap_record = { "Gap", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "label", "gap", "time", "bar" }, .count = 4 },
    { 0 } } };

const struct record waterfall_record = { "Waterfall", (const struct answer_field[]){
    { FIELD_ROWS, .names = waterfall_rows + 1, .count = WATERFALL_ROWS - 2 },
    { FIELD_TEXTS, "waterfall",
      .help = "rows from the bound to the prediction: the first and the gaps add up to the last" },
    { FIELD_TEXT_ONLY, "waterfall_lines", .record = &gap_record },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "tpot_sum" }, .count = 1 },
    { 0 } } };
