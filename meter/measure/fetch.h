/* fetch -- a page of a server, as text; and what every request has in common. */
#ifndef MEASURE_FETCH_H
#define MEASURE_FETCH_H

#include "base/base.h"

#include <signal.h>

/* A handle of libcurl for this URL: HTTP and HTTPS alone, no signals. `easy` is a CURL *. */
void fetch_begin(void *easy, const char *url);
/* The meaning of `code`, a CURLcode of libcurl. */
const char *fetch_reason(int code);
/* What to say of the proxy that the environment names for this URL, "http_proxy: ..."; NULL: none. */
const char *fetch_proxy(struct arena *arena, const char *url);
/* Get a URL, for at most `seconds`; an answer other than 200 is an error, and so is one of more than 8 MB. */
bool fetch_text(struct arena *arena, const char *url, double seconds, struct text *text, struct error *error);
/* Set by a signal handler: what is being fetched is broken off within a second. */
extern volatile sig_atomic_t fetch_stopped;

#endif
