/* In a page, in the place of launch_manifest.c: it starts nothing on a cluster. */
#include "deploy/launch/launch.h"

bool launch_target_open(struct launch *launch, struct error *error)
{
    error_set(error, "--emit %s: a page writes no manifests", launch->target);
    return error_expected(error, "the command line");
}

void launch_target_bars(struct launch *launch)
{
    (void)launch;
}

bool launch_manifest(const struct launch *launch, struct buffer *out, struct doc *doc, struct error *error)
{
    (void)launch, (void)out, (void)doc, (void)error;
    return false;
}
