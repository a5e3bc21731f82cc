/* watch -- what a running server's /metrics say of its load, and what follows for it.
 *
 *   text --exposition.c--> samples --load.c--> load: lengths, rates, shares --watch.c--> what binds, where it saturates
 *
 * One scrape has sums since the start of the server; two have rates. */
#ifndef WATCH_H
#define WATCH_H

#include "ask/ask.h"

extern const struct verb verb_watch;

#endif
