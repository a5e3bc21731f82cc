/* In a page, in the place of launch_manifest.c: it starts nothing on a cluster. */
#include "ask/launch/launch.h"

bool launch_manifest(const struct launch *launch, const char *family, struct buffer *out, struct doc *doc,
                     struct error *error)
{
    (void)launch, (void)family, (void)out, (void)doc;
    error_set(error, "--emit k8s: a page writes no manifests");
    return error_expected(error, "the command line");
}
