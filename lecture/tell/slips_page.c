/* In a page, in the place of slips.c: its screens show no slips, and data/slips.csv stays out. */
#include "lecture/tell/lecture.h"

bool lecture_slips(struct arena *arena, const struct command *command, struct section *section, struct error *error)
{
    (void)arena, (void)command, (void)section;
    error_set(error, "lecture: a page shows no slips");
    return error_expected(error, "the command line");
}

const struct record slip_record = { "LectureSlip", (const struct answer_field[]){ { 0 } } };
