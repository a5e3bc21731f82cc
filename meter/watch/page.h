/* page -- what `watch` has found as metrics of its own, for a Prometheus server and what scales by it. */
#ifndef WATCH_PAGE_H
#define WATCH_PAGE_H

#include "meter/watch/parts.h"

struct page;
/* Listen where the command says; `ready` gets the URL. Answers are given by a thread of their own. */
bool page_open(struct arena *arena, const struct command *command, struct page **page,
               void (*ready)(const char *url), struct error *error);
/* What was found at a time; NULL: the server was away, and what was found before stays. */
void page_put(struct page *page, const struct watch *watch, double at);
void page_close(struct page *page);

#endif
