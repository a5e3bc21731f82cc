/* In a page, in the place of check_calibrate.c: it calibrates nothing. */
#include "lab/check/check.h"

void check_calibrate(struct check *check, size_t wanted)
{
    (void)wanted;
    for (size_t i = 0; i < check->points.count; i++)
        check_refuse(check, &check->points.points[i], "a page calibrates nothing");
}

const char *const check_to[] = { NULL };
const struct record check_calibrate_record = { "CheckCalibration", (const struct answer_field[]){ { 0 } } };
