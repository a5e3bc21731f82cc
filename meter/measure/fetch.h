/* fetch -- a page of a server, as text. */
#ifndef MEASURE_FETCH_H
#define MEASURE_FETCH_H

#include "base/base.h"

#include <signal.h>

/* Get a URL, for at most `seconds`; an answer other than 200 is an error. */
bool fetch_text(struct arena *arena, const char *url, double seconds, struct text *text, struct error *error);
/* Set by a signal handler: what is being fetched is broken off within a second. */
extern volatile sig_atomic_t fetch_stopped;

#endif
