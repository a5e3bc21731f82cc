#include "meter/watch/metrics.h"

#include "catalog/sheet.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* The cells of one row; "": empty. */
struct metric_row {
    const char *engine, *begins, *says, *name, *kind, *label;
};

static bool read_row(size_t row, struct metric_row *out)
{
    static const char *const columns[] = { "engine", "begins", "says", "name", "kind", "label" };
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const struct csv *csv = csv_built_in("data/metrics.csv");
    const char *cells[COLUMNS];
    if (row >= csv->rows)
        return false;
    for (int i = 0; i < COLUMNS; i++)
        cells[i] = csv_cell(csv, row, csv_column(csv, columns[i]));
    *out = (struct metric_row){ cells[0], cells[1], cells[2], cells[3], cells[4], cells[5] };
    return true;
}

/* Where the engine has what a row says; NULL: in no member. */
static const char **member_of(struct engine *engine, const char *says)
{
    static const struct { const char *says; size_t at; } members[] = {
#define METRIC_MEMBER(says) { #says, offsetof(struct engine, says) },
        ENGINE_METRICS(METRIC_MEMBER) METRIC_MEMBER(predicted)
#undef METRIC_MEMBER
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strcmp(members[i].says, says))
            return (const char **)((char *)engine + members[i].at);
    return NULL;
}

static const struct engine *read_engine(struct arena *arena, const char *begins)
{
    struct engine *engine = arena_array(arena, 1, sizeof *engine);
    struct metric_row row;
    for (size_t i = 0; read_row(i, &row); i++) {
        if (strcmp(row.begins, begins))
            continue;
        const char **member = member_of(engine, row.says);
        engine->name = row.engine;
        engine->begins = row.begins;
        assert(member);                             /* else the sheet is wrong */
        *member = *member ? arena_print(arena, "%s|%s", *member, row.name) : row.name;
        if (*row.label)
            *(strcmp(row.says, "running") ? &engine->waiting_label : &engine->running_label) = row.label;
    }
    return engine;
}

struct exposition metrics_spelled(struct arena *arena, const struct exposition *page)
{
    struct exposition out = { .samples = arena_array(arena, page->count + 1, sizeof *out.samples), .count = page->count };
    struct metric_row row;
    if (page->count)
        memcpy(out.samples, page->samples, page->count * sizeof *out.samples);
    for (size_t r = 0; read_row(r, &row); r++)
        for (size_t i = 0; !strcmp(row.kind, "prefix") && i < out.count; i++)
            if (!strncmp(out.samples[i].name, row.name, strlen(row.name)))
                out.samples[i].name = arena_print(arena, "%s%s", row.begins, out.samples[i].name + strlen(row.name));
    return out;
}

const struct engine *metrics_engine(struct arena *arena, const struct exposition *exposition)
{
    struct metric_row row;
    const char *begins = "";
    for (size_t r = 0; read_row(r, &row); r++) {
        if (!strcmp(row.begins, begins))
            continue;
        begins = row.begins;
        for (size_t i = 0; i < exposition->count; i++)
            if (!strncmp(exposition->samples[i].name, begins, strlen(begins)))
                return read_engine(arena, begins);
    }
    return NULL;
}

const char *metrics_others(struct arena *arena, const struct exposition *page, const struct engine *engine)
{
    struct buffer out = { .arena = arena };
    struct metric_row row;
    for (size_t r = 0; read_row(r, &row); r++)
        if (!strcmp(row.says, "running") && strcmp(row.engine, engine->name) && !isnan(exposition_sum(page, row.name, NULL)))
            buffer_print(&out, "%s%s", out.size ? ", " : "", row.engine);
    return out.data;
}

bool metrics_limit(const struct engine *engine, const char *name, struct metric_limit *limit)
{
    static const struct { const char *kind, *endings[2]; struct metric_limit limit; } kinds[] = {
        { "requests", { "" }, { 1e9, "a number of requests from 0 to 1e9" } },
        { "share", { "" }, { 1 + 1e-6, "a share from 0 to 1" } },
        { "counter", { "" }, { 1e18, "a finite count from 0 on" } },
        { "histogram", { "_sum", "_count" }, { 1e18, "a finite count from 0 on" } },
    };
    struct metric_row row;
    if (!strcmp(name, "process_start_time_seconds")) {
        *limit = (struct metric_limit){ 1e11, "a Unix time in seconds" };
        return true;
    }
    for (size_t r = 0; read_row(r, &row); r++) {
        const size_t size = strlen(row.name);
        if (strcmp(row.begins, engine->begins) || strncmp(name, row.name, size))
            continue;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int e = 0; e < 2 && kinds[k].endings[e]; e++)
                if (!strcmp(row.kind, kinds[k].kind) && !strcmp(name + size, kinds[k].endings[e])) {
                    *limit = kinds[k].limit;
                    return true;
                }
    }
    return false;
}

const char *metrics_beginnings(struct arena *arena)
{
    struct buffer out = { .arena = arena };
    struct metric_row row;
    const char *begins = "";
    for (size_t r = 0; read_row(r, &row); r++) {
        if (strcmp(row.begins, begins))
            buffer_print(&out, "%s%s", out.size ? "|" : "", row.begins);
        if (!strcmp(row.kind, "prefix"))
            buffer_print(&out, "|%s", row.name);
        begins = row.begins;
    }
    return out.data;
}
