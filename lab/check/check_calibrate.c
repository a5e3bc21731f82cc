/* check --calibrate N: of each series of measurements N points are given to a calibration, which chooses them
 * by their loads and the values given before, and the others are predicted and scored. With --to, those of
 * another server are: each series of the same source that differs in this alone, of which nothing was given. */
#include "lab/check/check.h"

#include "score/calibration.h"

#include <stdlib.h>
#include <string.h>

enum { SPARE = 3 };                     /* points that are scored, at least */

enum to { TO_LAYOUT, TO_VERSION, TO_PRECISION, TO_MACHINE, TO_MODEL };
const char *const check_to[] = { [TO_LAYOUT] = "layout", [TO_VERSION] = "version", [TO_PRECISION] = "precision",
                                 [TO_MACHINE] = "machine", [TO_MODEL] = "model", NULL };

struct series_member {
    const char *server;
    size_t at;                          /* in the list of points */
};

struct server_series {
    const struct series_member *members;
    size_t count;
};

static int by_server(const void *a, const void *b)
{
    const struct series_member *x = a, *y = b;
    const int order = strcmp(x->server, y->server);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static struct server_series *find_series(struct check *check, size_t *count)
{
    const size_t points = check->points.count;
    struct series_member *members = arena_array(check->arena, points + 1, sizeof *members);
    struct server_series *series = arena_array(check->arena, points + 1, sizeof *series);
    for (size_t i = 0; i < points; i++)
        members[i] = (struct series_member){ measured_server(check->arena, &check->points.points[i]), i };
    if (points)
        qsort(members, points, sizeof *members, by_server);
    *count = 0;
    for (size_t from = 0, to; from < points; from = to) {
        for (to = from; to < points && !strcmp(members[to].server, members[from].server); to++)
            ;
        series[(*count)++] = (struct server_series){ members + from, to - from };
    }
    return series;
}

static const char *refuse_point(const struct check *check, struct calibration *calibration, size_t at)
{
    const struct measured *point = &check->points.points[at];
    return check->stated && point->inferred ? "one of its inputs is inferred" : calibration_add(calibration, point);
}

/* Give N points, as far as physics lets them. */
static size_t give_points(struct calibration *calibration, size_t wanted)
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

/* Why a point is not scored, or NULL; `calibrated`: by the calibration. */
static const char *score(struct check *check, const struct calibration *calibration,
                         const struct calibration_point *point, size_t at, bool calibrated)
{
    struct prediction predictions[MEASURED_VALUES];
    const char *refused = point->refused ? point->refused : check_predict(check, point->measured, predictions);
    if (point->given || refused)
        return point->given ? "given to the calibration" : refused;
    for (int i = 0; calibrated && i < point->measured->value_count; i++)
        if (point->measured->values[i].metric != METRIC_ENERGY)     /* its own constants are not fitted */
            calibration_predict(calibration, point, i, &predictions[i]);
    check_outcomes(check, at, predictions);
    return NULL;
}

/* ---- loads of the same server ------------------------------------------------------------------- */

static void calibrate_series(struct check *check, struct calibration *calibration, const struct server_series *series,
                             size_t wanted)
{
    size_t *at = arena_array(check->arena, series->count + 1, sizeof *at);
    calibration_clear(calibration);
    for (size_t i = 0; i < series->count; i++) {
        const char *refused = refuse_point(check, calibration, series->members[i].at);
        if (refused)
            check_refuse(check, &check->points.points[series->members[i].at], refused);
        else
            at[calibration->count - 1] = series->members[i].at;
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
    const size_t given = give_points(calibration, wanted);
    check->calibrated.given += given;
    for (size_t p = 0; p < calibration->count; p++) {
        const char *refused = score(check, calibration, &calibration->points[p], at[p], given > 0);
        if (refused)
            check_refuse(check, calibration->points[p].measured, refused);
    }
}

/* ---- another server -------------------------------------------------------------------------------- */

/* Do two servers of one source differ in this alone? Another model has its own formats, and may have another
 * layout, since it needs other room. */
static bool differ(const struct measured *one, const struct measured *other, enum to to)
{
    const struct calibrated_difference difference = calibration_difference(one, other);
    const bool in[] = { [TO_LAYOUT] = difference.layout, [TO_VERSION] = difference.version,
                        [TO_PRECISION] = difference.precision, [TO_MACHINE] = difference.machine,
                        [TO_MODEL] = difference.model };
    bool differs = !strcmp(one->publisher, other->publisher) && !strcmp(one->kind, other->kind) && in[to] &&
                   !difference.engine;
    for (enum to what = TO_LAYOUT; what <= TO_MODEL; what++)
        differs &= what == to || !in[what] || (to == TO_MODEL && what == TO_LAYOUT);
    return differs;
}

struct carrying {
    struct check *check;
    struct calibration from, to;
    const char **why;                   /* of each point, why it was not scored; NULL: it was */
    size_t wanted;
};

static void score_other(struct carrying *carrying, const struct server_series *other)
{
    struct check *check = carrying->check;
    struct calibration *to = &carrying->to;
    size_t *at = arena_array(check->arena, other->count + 1, sizeof *at);
    calibration_clear(to);
    for (size_t i = 0; i < other->count; i++) {
        const char *refused = refuse_point(check, to, other->members[i].at);
        if (refused)
            carrying->why[other->members[i].at] = refused;
        else
            at[to->count - 1] = other->members[i].at;
    }
    if (!to->count)
        return;
    const struct calibrated_difference difference =
        calibration_difference(carrying->from.points[0].measured, to->points[0].measured);
    if (carrying->wanted)
        calibration_carry(to, &carrying->from, &difference);
    for (size_t p = 0; p < to->count; p++)
        carrying->why[at[p]] = score(check, to, &to->points[p], at[p], carrying->wanted > 0);
    check->calibrated.pairs++;
}

/* Calibrate one series, and score all servers to which it is carried. */
static void carry_series(struct carrying *carrying, const struct server_series *series, const struct server_series *all,
                         size_t count, enum to to)
{
    struct check *check = carrying->check;
    const struct measured *points = check->points.points, *server = NULL;
    size_t given = 0;
    calibration_clear(&carrying->from);
    for (size_t i = 0; i < series->count; i++) {
        const char *refused = refuse_point(check, &carrying->from, series->members[i].at);
        if (refused)
            carrying->why[series->members[i].at] = refused;
        else
            server = &points[series->members[i].at];
    }
    if (carrying->from.count < carrying->wanted + SPARE) {
        check->calibrated.left_out += carrying->from.count > 0;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (&all[i] == series || !differ(server, &points[all[i].members[0].at], to))
            continue;
        given = given ? given : give_points(&carrying->from, carrying->wanted);
        score_other(carrying, &all[i]);
    }
    check->calibrated.series += given > 0;
    check->calibrated.given += given;
}

static void carry_all(struct check *check, struct server_series *series, size_t count, size_t wanted, enum to to)
{
    struct carrying carrying = { .check = check, .wanted = wanted };
    carrying.why = arena_array(check->arena, check->points.count + 1, sizeof *carrying.why);
    for (size_t i = 0; i < check->points.count; i++)
        carrying.why[i] = "no calibrated server of its source differs from its in this alone";
    calibration_open(&carrying.from, check->arena, check->command);
    calibration_open(&carrying.to, check->arena, check->command);
    for (size_t i = 0; i < count; i++)
        carry_series(&carrying, &series[i], series, count, to);
    for (size_t i = 0; i < check->points.count; i++)
        if (carrying.why[i])
            check_refuse(check, &check->points.points[i], carrying.why[i]);
}

/* ---- all of it --------------------------------------------------------------------------------------- */

void check_calibrate(struct check *check, size_t wanted)
{
    size_t count;
    struct server_series *series = find_series(check, &count);
    struct calibration calibration;
    const bool carried = command_given(check->command, "to");
    if (carried) {
        carry_all(check, series, count, wanted, (enum to)command_choice(check->command, "to"));
    } else {
        calibration_open(&calibration, check->arena, check->command);
        for (size_t i = 0; i < count; i++)
            calibrate_series(check, &calibration, &series[i], wanted);
    }
    struct section *section = section_add(check->section, "calibration", SECTION_RECORD);
    section_number(section, "points", (double)wanted, unit_one);
    section_number(section, "series", (double)check->calibrated.series, unit_one);
    section_number(section, "given", (double)check->calibrated.given, unit_one);
    section_number(section, "left_out_series", (double)check->calibrated.left_out, unit_one);
    if (carried) {
        section_number(section, "pairs", (double)check->calibrated.pairs, unit_one);
        section_word(section, "to", command_text(check->command, "to"));
    }
}

const struct record check_calibrate_record = { "CheckCalibration", (const struct answer_field[]){
    { FIELD_NUMBER, "points", .help = "given of each series", .always = true },
    { FIELD_NUMBER, "series", .help = "calibrated", .always = true },
    { FIELD_NUMBER, "given", .help = "points given of all series", .always = true },
    { FIELD_NUMBER, "left_out_series", .help = "with too few points", .always = true },
    { FIELD_NUMBER, "pairs", .help = "--to: calibrated servers with another that was scored by them" },
    { FIELD_TEXT, "to", .help = "--to: the difference of the other server" },
    { 0 } } };
