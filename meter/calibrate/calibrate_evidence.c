/* Do the times look like another server than was stated: more or fewer GPUs, prompts found in the cache, drafts? Each
 * is fitted as the stated one was, and told where it makes the times much more probable. Nothing is changed. */
#include "meter/calibrate/calibrate.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* In a copy of the inputs: the row times `factor`, or `value` where the point has none or 0. */
static bool change(struct measured *point, const char *row, double factor, double value)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, row)) {
            point->inputs[i].value = point->inputs[i].value > 0 ? point->inputs[i].value * factor : value;
            return point->inputs[i].value >= 1 || !(factor < 1);
        }
    if (isnan(value) || point->input_count == MEASURED_INPUTS)
        return false;
    point->inputs[point->input_count++] = (struct measured_input){ row, value };
    return true;
}

/* The evidence of the given values under the change; false: it is no server, or physics refuses a value. */
static bool evidence_of(struct calibrate *calibrate, const char *row, double factor, double value, double *evidence)
{
    const struct calibration *stated = &calibrate->calibration;
    struct calibration other;
    calibration_open(&other, calibrate->arena, calibrate->command);
    other.keep = true;
    for (size_t p = 0; p < calibrate->measured; p++) {
        struct measured *point = arena_alloc(calibrate->arena, sizeof *point);
        *point = *stated->points[p].measured;
        if (!stated->points[p].given)
            continue;
        if (!change(point, row, factor, value) || calibration_add(&other, point) ||
            calibration_give(&other, other.count - 1))
            return false;
    }
    calibration_fit(&other);
    *evidence = posterior_evidence(&other.posterior);
    return true;
}

void calibrate_evidence(struct calibrate *calibrate)
{
    static const double cached = 0.9, drafts = 3;
    const struct { const char *what, *row; double factor, value; } others[] = {
        { "twice as many GPUs as stated", NAME_chips, 2, NAN },
        { "half as many GPUs as stated", NAME_chips, 0.5, NAN },
        { "prompts that are found in the cache (--prefix-hit)", NAME_prefix_hit_share, 1, cached },
        { "drafts that are accepted (--set draft_tokens=N)", NAME_draft_tokens, 1, drafts } };
    const double least = calibrated_number("evidence", "least");
    double stated;
    struct section *list = section_add(calibrate->section, "looks_like", SECTION_LIST);
    if (!evidence_of(calibrate, NAME_chips, 1, NAN, &stated))
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        double evidence;
        const bool same = others[i].factor == 1 && measured_input(calibrate->server, others[i].row, 0) > 0;
        if (same || !evidence_of(calibrate, others[i].row, others[i].factor, others[i].value, &evidence) ||
            !(evidence - stated > least))
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_word(one, "what", others[i].what);
        section_number(one, "log_odds", evidence - stated, unit_one);
    }
}
