#include "sim/schedulers/schedulers.h"

#include <math.h>
#include <string.h>

const struct scheduler *const schedulers[] = {
#define SCHEDULER(name) &scheduler_##name,
#include "sim/schedulers/schedulers.def"
#undef SCHEDULER
};
const size_t scheduler_count = sizeof schedulers / sizeof *schedulers;

const struct scheduler *scheduler_named(const char *name)
{
    for (size_t i = 0; i < scheduler_count; i++)
        if (!strcmp(schedulers[i]->name, name))
            return schedulers[i];
    return NULL;
}

const struct scheduler *scheduler_of_engine(const char *engine)
{
    for (size_t i = 0; i < scheduler_count; i++)
        if (schedulers[i]->engine && !strcmp(schedulers[i]->engine, engine))
            return schedulers[i];
    return NULL;
}

struct sim_server sim_server_of(const struct scheduler *scheduler)
{
    struct sim_server server = scheduler->usual;
    server.scheduler = scheduler;
    return server;
}

/* Its place in `own`; behind the last one where there is none. */
static size_t place_of(const struct scheduler *scheduler, const char *name)
{
    size_t at = 0;
    while (scheduler->setting[at].name && strcmp(scheduler->setting[at].name, name))
        at++;
    return at;
}

double sim_setting(const struct sim_server *server, const char *name)
{
    const size_t at = place_of(server->scheduler, name);
    return server->scheduler->setting[at].name ? server->own[at] : NAN;
}

bool sim_set(struct sim_server *server, const char *name, double value)
{
    const size_t at = place_of(server->scheduler, name);
    if (!server->scheduler->setting[at].name)
        return false;
    server->own[at] = value;
    return true;
}
