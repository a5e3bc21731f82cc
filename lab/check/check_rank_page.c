/* In a page, in the place of check_rank.c: it draws measured points, and ranks none. */
#include "lab/check/check.h"

bool check_rank(struct check *check, struct buffer *csv)
{
    (void)csv;
    error_set(check->error, "--rank: a page ranks no layouts");
    return error_expected(check->error, "the command line");
}

const struct record check_rank_record = { "Rank", (const struct answer_field[]){ { 0 } } };
