/* The waterfall from lower bound to prediction, as a section of an answer: rows of
 * formulas/serving/waterfall.chalk with bars.
 *
 * The gaps and the bound add up to the prediction. A gap below a small share of the prediction has
 * no line of its own; such gaps are added up in one. All times are rows. */
#include "deploy/waterfall.h"

#include "build/row_names.h"

#include <math.h>

/* Labels of the rows in tables and sentences, and the kinds of their bars; what costs more than the bound
 * of the same work is beyond it. */
#define STEPS(X)                                                                            \
    X(bound_step, "bound", RESULT, false) X(gap_batch, "fewer sequences decode", RESULT, true)  \
    X(gap_layout, "layout", WEIGHTS, true)                                                  \
    X(gap_overlap, "operators not overlapped", COMPUTE, true) X(gap_imbalance, "imbalance", WEIGHTS, true) \
    X(gap_efficiency, "kernel efficiency", WEIGHTS, true) X(gap_launch, "launch overhead", HOST, false)    \
    X(gap_communication, "communication", NETWORK, false) X(gap_host, "host overhead", HOST, false)        \
    X(gap_draft, "speculative decoding", COMPUTE, false)                                    \
    X(gap_prefill, "prefill interference", HOST, false) X(predicted_tpot, "TPOT", RESULT, false)

const char *const waterfall_rows[WATERFALL_ROWS] = {
#define X(row, label, kind, beyond) NAME_##row,
    STEPS(X)
#undef X
};

static const char *const labels[WATERFALL_ROWS] = {
#define X(row, label, kind, beyond) label,
    STEPS(X)
#undef X
};

static const struct { enum picture_kind kind; bool beyond; } bars[WATERFALL_ROWS] = {
#define X(row, label, kind, beyond) { PICTURE_##kind, beyond },
    STEPS(X)
#undef X
};

/* A gap below this share of the prediction has no line of its own. */
static const double least_shown = 0.005;

static bool is_shown(const double *at, int i)
{
    return i == 0 || i == WATERFALL_ROWS - 1 || fabs(at[i]) >= least_shown * at[WATERFALL_ROWS - 1];
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

/* ---- the picture ------------------------------------------------------------------------------ */

static void add_bar(struct picture *picture, const char *name, enum picture_kind kind, bool beyond,
                    double seconds)
{
    struct picture_part *part = picture_part_add(picture, picture_bar_add(picture, name), kind, 1e3 * seconds);
    part->beyond = beyond;
}

/* The work that makes the bound, where it is that of one resource. */
static void add_bound(struct picture *picture, const struct section *section)
{
    const double bound = section_value(section, NAME_bound_step);
    const double compute = section_value(section, NAME_bound_compute);
    const double reads = section_value(section, NAME_bound_weights) + section_value(section, NAME_bound_kv);
    const double slack = 1e-9 * bound;
    if (fabs(bound - reads) <= slack) {
        add_bar(picture, "read the weights", PICTURE_WEIGHTS, false,
                section_value(section, NAME_bound_weights));
        add_bar(picture, "read the KV cache", PICTURE_CACHE, false, section_value(section, NAME_bound_kv));
    } else if (fabs(bound - compute) <= slack) {
        add_bar(picture, "multiply", PICTURE_COMPUTE, false, compute);
    }
    struct picture_bar *bar = picture_bar_add(picture, "the bound");
    picture_part_add(picture, bar, PICTURE_RESULT, 1e3 * bound);
    bar->total = bar->thin = true;
}

struct picture *waterfall_picture(const struct section *section, const char *title)
{
    double at[WATERFALL_ROWS];
    for (int i = 0; i < WATERFALL_ROWS; i++)
        at[i] = section_value(section, waterfall_rows[i]);
    if (isnan(at[0]))
        return NULL;
    struct picture *picture = picture_new(section->arena, title);
    const bool predicted = !isnan(at[WATERFALL_ROWS - 1]);
    picture->x = (struct picture_axis){ predicted ? "from one token of a sequence to its next"
                                        : "time of a step",
                                        "ms", false, false, NAN, NAN };
    add_bound(picture, section);
    if (!predicted)
        return picture;
    for (int i = 1; i < WATERFALL_ROWS - 1; i++)
        if (is_shown(at, i))
            add_bar(picture, labels[i], bars[i].kind, bars[i].beyond, at[i]);
    if (fabs(small_gaps(at)) > 0.1 * least_shown * at[WATERFALL_ROWS - 1])
        add_bar(picture, "smaller ones", PICTURE_HOST, false, small_gaps(at));
    struct picture_bar *bar = picture_bar_add(picture, "predicted");
    const struct figure *figure = section_find(section, NAME_predicted_tpot);
    picture_part_add(picture, bar, PICTURE_RESULT, 1e3 * at[WATERFALL_ROWS - 1]);
    bar->total = true;
    if (figure->low < figure->high)
        bar->band = (struct picture_range){ 1e3 * figure->low, 1e3 * figure->high };
    return picture;
}
