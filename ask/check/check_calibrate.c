/* check --calibrate N: of each series of measurements N points are given to a calibration, which chooses them
 * by their loads and the values given before, and the others are predicted and scored. */
#include "ask/check/check.h"

#include "score/calibration.h"

#include <stdlib.h>
#include <string.h>

enum { SPARE = 3 };                     /* points that are scored, at least */

struct member {
    const char *server;
    size_t at;                          /* in the list of points */
};

static int by_server(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const int order = strcmp(x->server, y->server);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Give N points, as far as physics lets them. */
static size_t give(struct calibration *calibration, size_t wanted)
{
    size_t given = 0;
    double gain;
    calibration_fit(calibration);
    while (given < wanted) {
        const size_t next = calibration_next(calibration, &gain);
        if (next == calibration->count)
            break;
        if (calibration_give(calibration, next))
            continue;
        given++;
        calibration_fit(calibration);
    }
    return given;
}

static void score(struct check *check, const struct calibration *calibration,
                  const struct calibration_point *point, size_t at, size_t given)
{
    struct prediction predictions[MEASURED_VALUES];
    const char *refused = point->refused ? point->refused : check_predict(check, point->measured, predictions);
    if (point->given || refused) {
        check_refuse(check, point->measured, point->given ? "given to the calibration" : refused);
        return;
    }
    for (int i = 0; given && i < point->measured->value_count; i++)
        if (point->measured->values[i].metric != METRIC_ENERGY)     /* its own constants are not fitted */
            calibration_predict(calibration, point, i, &predictions[i]);
    check_outcomes(check, at, predictions);
}

static void calibrate_series(struct check *check, struct calibration *calibration, const struct member *members,
                             size_t count, size_t wanted)
{
    size_t *at = arena_array(check->arena, count + 1, sizeof *at);
    calibration_clear(calibration);
    for (size_t i = 0; i < count; i++) {
        const struct measured *point = &check->points.points[members[i].at];
        const char *refused = check->stated && point->inferred ? "one of its inputs is inferred"
                                                               : calibration_add(calibration, point);
        if (refused)
            check_refuse(check, point, refused);
        else
            at[calibration->count - 1] = members[i].at;
    }
    if (!calibration->count)
        return;
    if (calibration->count < wanted + SPARE) {
        check->calibrated.left_out++;
        for (size_t p = 0; p < calibration->count; p++)
            check_refuse(check, calibration->points[p].measured, "its series has too few points");
        return;
    }
    check->calibrated.series++;
    const size_t given = give(calibration, wanted);
    check->calibrated.given += given;
    for (size_t p = 0; p < calibration->count; p++)
        score(check, calibration, &calibration->points[p], at[p], given);
}

void check_calibrate(struct check *check, size_t wanted)
{
    const size_t count = check->points.count;
    struct member *members = arena_array(check->arena, count + 1, sizeof *members);
    struct calibration calibration;
    for (size_t i = 0; i < count; i++)
        members[i] = (struct member){ measured_server(check->arena, &check->points.points[i]), i };
    if (count)
        qsort(members, count, sizeof *members, by_server);
    calibration_open(&calibration, check->arena, check->command);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && !strcmp(members[to].server, members[from].server); to++)
            ;
        calibrate_series(check, &calibration, members + from, to - from, wanted);
    }
    struct section *section = section_add(check->section, "calibration", SECTION_RECORD);
    section_number(section, "points", (double)wanted, unit_one);
    section_number(section, "series", (double)check->calibrated.series, unit_one);
    section_number(section, "given", (double)check->calibrated.given, unit_one);
    section_number(section, "left_out_series", (double)check->calibrated.left_out, unit_one);
}

const struct record check_calibrate_record = { "CheckCalibration", (const struct answer_field[]){
    { FIELD_NUMBER, "points", .help = "given of each series", .always = true },
    { FIELD_NUMBER, "series", .help = "calibrated", .always = true },
    { FIELD_NUMBER, "given", .help = "points given of all series", .always = true },
    { FIELD_NUMBER, "left_out_series", .help = "with too few points", .always = true },
    { 0 } } };
