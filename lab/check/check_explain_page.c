/* In a page, in the place of check_explain.c: it reads no sheets of measurements. */
#include "lab/check/check.h"

bool check_explain(struct check *check, size_t most, struct buffer *csv)
{
    (void)most, (void)csv;
    error_set(check->error, "--explain: a page reads no sheets of measurements");
    return error_expected(check->error, "the command line");
}

const struct record check_explain_record = { "Explained", (const struct answer_field[]){ { 0 } } };
