/* library -- what the functions of chalkline.h share. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "library/chalkline.h"
#include "serve/web.h"

struct chalkline_library {
    int opened;
};

void library_error(struct chalkline_error *to, const struct error *error);
/* A verb and its body as a command, whose files are the arena's. */
bool library_command(struct arena *arena, const char *verb, const char *json, struct request_command *asked,
                     struct error *error);

#endif
