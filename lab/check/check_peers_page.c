/* In a page, in the place of check_peers.c: the formulas of others are left out of it. */
#include "lab/check/check.h"

bool peers_open(struct check *check)
{
    error_set(check->error, "--peers: a page has no formulas of others");
    return error_expected(check->error, "the command line");
}

void peers_score(struct check *check, const struct measured *point, const struct outcome *outcomes)
{
    (void)check, (void)point, (void)outcomes;
}

void check_peers(struct check *check)
{
    (void)check;
}
