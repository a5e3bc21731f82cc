/* One measured row: the group it is scored in, and its outcomes, one for each value, or the reason for which it is refused.
 *
 * Every point is predicted by the rows of its machine, model and engine (score/predictor.h). A row of which one value
 * cannot be predicted is refused as a whole. */
#include "lab/check/check.h"

#include <math.h>
#include <string.h>

/* ---- groups ------------------------------------------------------------------------------ */

/* Files spell one machine in several ways ("h100_sxm", "H100-SXM"): one group, named as
 * it was met first. */
const char *check_label(struct check *check, enum catalog_kind kind, const char *spelling)
{
    for (size_t i = 0; i < check->label_count; i++)
        if (!strcmp(check->labels[i].spelling, spelling))
            return check->labels[i].label;
    const struct catalog_entry *entry = catalog_find(&check->catalog, kind, spelling, NULL);
    const char *label = spelling;
    for (size_t i = check->label_count; entry && i-- > 0;)
        if (check->labels[i].entry == entry)
            label = check->labels[i].label;
    *(struct check_label *)arena_push(check->arena, &check->labels, &check->label_count,
                                &check->label_room, sizeof(struct check_label)) =
        (struct check_label){ spelling, label, entry };
    return label;
}

/* Who published a point; without a column that says so the first word of its source:
 * "NVIDIA/TensorRT-LLM". */
static const char *publisher_of(struct check *check, const struct measured *point)
{
    const size_t size = strcspn(point->source, " ,;");
    if (*point->publisher)
        return point->publisher;
    return size ? arena_copy(check->arena, point->source, size) : "no source stated";
}

static const char *group_of(struct check *check, size_t i)
{
    const struct measured *point = &check->points.points[i];
    if (check->by == BY_HARDWARE)
        return check_label(check, CATALOG_MACHINE, point->machine);
    if (check->by == BY_MODEL && point->model)
        return check_label(check, CATALOG_MODEL, point->model);
    if (check->by == BY_SOURCE)
        return publisher_of(check, point);
    const char *cluster = check->by == BY_CLUSTER ? predictor_find(&check->predictor, point)->cluster : NULL;
    if (cluster)
        return cluster;
    return point->kind;
}

/* ---- outcomes ---------------------------------------------------------------------------- */

static struct outcome *add_outcome(struct check *check, const struct measured *point)
{
    struct outcome *outcome = arena_push(check->arena, &check->outcomes, &check->outcome_count,
                                         &check->outcome_room, sizeof *outcome);
    *outcome = (struct outcome){ .point = point };
    return outcome;
}

void check_refuse(struct check *check, const struct measured *point, const char *reason)
{
    add_outcome(check, point)->refused = reason;
    check->refused++;
    /* what follows a colon is this point's own */
    reason = arena_copy(check->arena, reason, strcspn(reason, ":"));
    size_t i = 0;
    while (i < check->refusal_count && strcmp(check->refusals[i].reason, reason))
        i++;
    if (i == check->refusal_count)
        *(struct refused_rows *)arena_push(check->arena, &check->refusals, &check->refusal_count, &check->refusal_room,
                                           sizeof *check->refusals) = (struct refused_rows){ .reason = reason, .order = i };
    struct refused_rows *refusal = &check->refusals[i];
    if (refusal->count++ >= REFUSED_SHOWN)
        return;
    const bool same = refusal->file && !strcmp(refusal->file, point->file);
    refusal->lines = arena_print(check->arena, "%s%s%s%s%d", refusal->lines ? refusal->lines : "", refusal->lines ? ", " : "",
                                 same ? "" : point->file, same ? "" : ":", point->line);
    refusal->file = point->file;
}

/* Why a row has no prediction, or NULL. One of its values without a prediction refuses the
 * row, so that rows are those scored and those refused. */
const char *check_predict(struct check *check, const struct measured *point,
                          struct prediction predictions[MEASURED_VALUES])
{
    if (point->refused)
        return point->refused;
    if (check->stated && point->inferred)
        return "one of its inputs is inferred";
    const char *refused = physics_refuse(&check->physics, point);
    if (refused)
        return refused;
    const struct setup *setup = predictor_find(&check->predictor, point);
    if (setup->refused)
        return setup->refused;
    if (!point->value_count)
        return "nothing measured";
    double *inputs = arena_array(check->arena, setup->graph.input_count + 1, sizeof *inputs);
    predictor_inputs(setup, point, inputs);
    predictor_predict(check->arena, setup, point, inputs, predictions);
    for (int i = 0; i < point->value_count; i++)
        if (!(predictions[i].value > 0) || !isfinite(predictions[i].value) ||
            !(predictions[i].measured > 0) || !isfinite(predictions[i].measured))
            return arena_print(check->arena, "no finite prediction of %s",
                               metric_names[point->values[i].metric]);
    return NULL;
}

void check_outcomes(struct check *check, size_t at, const struct prediction *predictions)
{
    const struct measured *point = &check->points.points[at];
    for (int i = 0; i < point->value_count; i++) {
        struct outcome *outcome = add_outcome(check, point);
        int metric = (int)point->values[i].metric;
        outcome->group = group_of(check, at);
        struct measured_value *measured = arena_alloc(check->arena, sizeof *measured);
        *measured = point->values[i];
        measured->value = predictions[i].measured;
        outcome->measured = measured;
        outcome->predicted = predictions[i];
        outcome->error = scalar_log(predictions[i].value / measured->value);
        score_add(&check->all, "total", -1, outcome);
        score_add(&check->metrics, "total", metric, outcome);
        score_add(&check->groups, outcome->group, metric, outcome);
    }
    if (check->peers)
        peers_score(check, point, &check->outcomes[check->outcome_count - (size_t)point->value_count]);
}
