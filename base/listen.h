/* listen -- a socket that listens, and its address of the web. */
#ifndef BASE_LISTEN_H
#define BASE_LISTEN_H

#include "base/base.h"

/* Listen at an address of this machine; port 0 is any that is free. Messages name the option of the port. */
bool listen_open(const char *address, unsigned port, const char *option, int *listener, struct error *error);
/* "http://127.0.0.1:8080/"; *loopback: no other machine reaches it. */
const char *listen_url(struct arena *arena, int listener, bool *loopback);

#endif
