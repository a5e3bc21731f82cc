/* check --peers: formulas of others, scored beside the prediction.
 *
 * A formula is a group of rows peer_NAME_METRIC (formulas/serving/peers.chalk). Each is predicted as the
 * prediction is, at the same points: those that state how many requests are in flight, since such a
 * formula asks for the batch. A value counts for all formulas of its metric and for the prediction, or,
 * where one of them has no finite value, for none. */
#include "lab/check/check.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const char prefix[] = "peer_";
static const char ourselves[] = "chalkline";

/* The metric of a row peer_NAME_METRIC and its NAME; METRICS: it is no such row. */
static int metric_of(const char *row, struct text *name)
{
    const size_t start = sizeof prefix - 1, size = strlen(row);
    if (strncmp(row, prefix, start))
        return METRICS;
    for (int metric = 0; metric < METRICS; metric++) {
        const size_t end = strlen(metric_names[metric]) + 1;
        if (size <= start + end || row[size - end] != '_' ||
            strcmp(row + size - end + 1, metric_names[metric]))
            continue;
        *name = (struct text){ row + start, size - start - end };
        return metric;
    }
    return METRICS;
}

bool peers_open(struct check *check)
{
    const struct formulas *formulas = formulas_built_in(0);
    size_t room = 0;
    struct peer *peer = arena_push(check->arena, &check->peers, &check->peer_count, &room, sizeof *peer);
    *peer = (struct peer){ .name = ourselves, .scores.arena = check->arena };
    for (size_t i = 0; i < formulas->count; i++) {
        struct text name = { 0 };
        const int metric = metric_of(row_name(formulas_row(formulas, i)), &name);
        size_t at = 1;
        if (metric == METRICS)
            continue;
        while (at < check->peer_count && (strlen(check->peers[at].name) != name.size ||
                                          memcmp(check->peers[at].name, name.data, name.size)))
            at++;
        if (at == check->peer_count) {
            peer = arena_push(check->arena, &check->peers, &check->peer_count, &room, sizeof *peer);
            *peer = (struct peer){ .name = arena_copy(check->arena, name.data, name.size),
                                   .scores.arena = check->arena };
        }
        check->peers[at].rows[metric] = row_name(formulas_row(formulas, i));
    }
    return true;
}

/* What one formula says of one value; a value of NaN: nothing, or nothing finite. */
static struct prediction predicted_by(struct check *check, const struct peer *peer,
                                      const struct measured *point, int i)
{
    struct measured one = *point;
    struct prediction predictions[MEASURED_VALUES];
    const struct prediction none = { NAN, NAN, NAN, NAN };
    one.values[0] = point->values[i];
    one.values[0].row = peer->rows[point->values[i].metric];
    one.value_count = 1;
    const struct setup *setup = predictor_find(&check->predictor, &one);
    if (setup->refused)
        return none;
    double *inputs = arena_array(check->arena, setup->graph.input_count + 1, sizeof *inputs);
    predictor_inputs(setup, &one, inputs);
    predictor_predict(check->arena, setup, &one, inputs, predictions);
    return predictions[0].value > 0 && isfinite(predictions[0].value) ? predictions[0] : none;
}

static void score_value(struct check *check, const struct outcome *outcome, int i)
{
    const enum metric metric = outcome->measured->metric;
    struct prediction *said = arena_array(check->arena, check->peer_count, sizeof *said);
    size_t formulas = 0;
    said[0] = outcome->predicted;
    for (size_t k = 1; k < check->peer_count; k++) {
        if (!check->peers[k].rows[metric])
            continue;
        said[k] = predicted_by(check, &check->peers[k], outcome->point, i);
        if (isnan(said[k].value))
            return;
        formulas++;
    }
    for (size_t k = 0; formulas && k < check->peer_count; k++) {
        struct outcome one = *outcome;
        if (k && !check->peers[k].rows[metric])
            continue;
        one.predicted = said[k];
        one.error = scalar_log(said[k].value / outcome->measured->value);
        score_add(&check->peers[k].scores, check->peers[k].name, (int)metric, &one);
    }
}

void peers_score(struct check *check, const struct measured *point, const struct outcome *outcomes)
{
    bool stated = false;
    for (int i = 0; i < point->input_count; i++)
        stated = stated || !strcmp(point->inputs[i].name, NAME_concurrency);
    for (int i = 0; stated && i < point->value_count; i++)
        score_value(check, &outcomes[i], i);
}

/* By formula in the document, by metric in the table. */
void check_peers(struct check *check)
{
    struct section *all = section_add(check->section, "peers", SECTION_KEYED);
    struct section *lines = section_add(check->section, "peer_scores", SECTION_LIST);
    lines->text_only = true;
    struct section **by = arena_array(check->arena, check->peer_count, sizeof *by);
    for (size_t k = 0; k < check->peer_count; k++)
        by[k] = section_add(all, check->peers[k].name, SECTION_KEYED);
    for (int metric = 0; metric < METRICS; metric++)
        for (size_t k = 0; k < check->peer_count; k++) {
            const struct scores *scores = &check->peers[k].scores;
            for (size_t i = 0; i < scores->count; i++)
                if (scores->scores[i].metric == metric) {
                    struct section *one = check_score(check, &scores->scores[i], metric_names[metric], by[k],
                                                      lines, !k);
                    section_word(one, "formula", check->peers[k].name)->text_only = true;
                }
        }
}
