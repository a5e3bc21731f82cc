/* Layouts that were published, read once for an engine and a machine, and looked through for each layout. */
#include "deploy/published.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FILE_NAME "data/published.csv"

enum { TENSOR, RANKS, STAGES, EXPERTS, SIZES };
static const char *const size_columns[SIZES] = { NAME_tensor_parallel, NAME_attention_dp, NAME_pipeline_parallel,
                                                 NAME_expert_parallel };
static const char *const roles[] = { "together", "prefill", "decode" };

/* A layout of some rows of the sheet. */
struct seen_layout {
    double size[SIZES];
    enum published_role role;
    bool here;                      /* of this engine, on machines like this one */
};

struct published {
    struct seen_layout *at;
    size_t count;                   /* 0: of llama.cpp, whose rows say how cards share a model */
    double experts;                 /* of the model, with spare copies; no published server had more ranks of them */
};

static double number(const struct csv *csv, size_t row, const char *column)
{
    double value;
    return text_number(text_of(csv_cell(csv, row, csv_column(csv, column))), &value) ? value : NAN;
}

/* Is it one of those before it? */
static bool is_known(const struct published *published, const struct seen_layout *seen)
{
    for (size_t i = 0; i < published->count; i++) {
        const struct seen_layout *at = &published->at[i];
        if (at->role == seen->role && at->here == seen->here && !memcmp(at->size, seen->size, sizeof at->size))
            return true;
    }
    return false;
}

struct published *published_open(struct scenario *scenario)
{
    const struct csv *csv = csv_built_in(FILE_NAME);
    const struct catalog *catalog = &scenario->catalog;
    struct published *published = arena_alloc(scenario->arena, sizeof *published);
    const char *engine = catalog_engine_base(catalog, scenario->subject.engine), *name = scenario->subject.machine;
    struct error ignored;
    const struct catalog_entry *machine = name ? catalog_find(catalog, CATALOG_MACHINE, name, NULL) : NULL;
    const char *family = machine ? catalog_text(machine, "family") : NULL;
    double host;
    if (!strcmp(engine, "llamacpp")) {
        *published = (struct published){ 0 };
        return published;
    }
    if (!value_of(scenario, NAME_board_chips, &host, &ignored))
        host = NAN;
    *published = (struct published){ .at = arena_array(scenario->arena, csv->rows, sizeof *published->at) };
    if (!value_of(scenario, NAME_expert_ranks_most, &published->experts, &ignored))
        published->experts = INFINITY;
    for (size_t r = 0; r < csv->rows; r++) {
        struct seen_layout *seen = &published->at[published->count];
        const char *role = csv_cell(csv, r, csv_column(csv, "role")), *of = csv_cell(csv, r, csv_column(csv, "engine"));
        for (int i = 0; i < SIZES; i++)
            seen->size[i] = number(csv, r, size_columns[i]);
        for (seen->role = PUBLISHED_TOGETHER; strcmp(roles[seen->role], role); seen->role++)
            assert(seen->role < PUBLISHED_DECODE);
        seen->here = (!strcmp(engine, "any") || !strcmp(engine, of)) && family &&
                     text_has_word(csv_cell(csv, r, csv_column(csv, "family")), family) &&
                     host == number(csv, r, NAME_host_chips);       /* boards of 8, or trays of 4 */
        published->count += !is_known(published, seen);
    }
    return published;
}

double published_distance(const struct published *published, enum published_role role,
                          const struct published_layout *layout)
{
    const double size[SIZES] = { layout->chips / layout->attention_dp / layout->pipeline_parallel,
                                 layout->attention_dp, layout->pipeline_parallel, layout->expert_parallel };
    bool seen[SIZES] = { false }, elsewhere = false;
    if (!published->count)
        return PUBLISHED_HERE;
    if (layout->expert_parallel > published->experts)
        return PUBLISHED_NEVER;
    for (size_t i = 0; i < published->count; i++) {
        const struct seen_layout *at = &published->at[i];
        bool same = at->role == role;
        for (int k = 0; k < SIZES; k++) {
            seen[k] |= at->size[k] == size[k];
            same = same && at->size[k] == size[k];
        }
        if (same && at->here)
            return PUBLISHED_HERE;
        elsewhere |= same;
    }
    return elsewhere ? PUBLISHED_ELSEWHERE
         : seen[TENSOR] && seen[RANKS] && seen[STAGES] && seen[EXPERTS] ? PUBLISHED_APART : PUBLISHED_NEVER;
}

/* The layout of one kind of server; false where it has none. */
static bool read_layout(struct scenario *scenario, const char *const *rows, struct published_layout *layout)
{
    double *const sizes[] = { &layout->chips, &layout->attention_dp, &layout->pipeline_parallel,
                              &layout->expert_parallel };
    struct values values;
    struct error ignored;
    if (!values_of(scenario, rows, SIZES, &values, &ignored))
        return false;
    for (int i = 0; i < SIZES; i++)
        *sizes[i] = values.at[i];
    return true;
}

void published_set_distance(struct scenario *scenario)
{
    static const char *const decode[] = { NAME_chips, NAME_attention_dp, NAME_pipeline_parallel,
                                          NAME_expert_parallel };
    static const char *const prefill[] = { NAME_prefill_chips, NAME_prefill_attention_dp,
                                           NAME_prefill_pipeline_parallel, NAME_prefill_expert_parallel };
    const bool pools = facts_find(&scenario->facts, NAME_prefill_chips) != NULL;
    struct published_layout layout;
    if (facts_find(&scenario->facts, NAME_layout_distance) || !read_layout(scenario, decode, &layout))
        return;
    const struct published *published = published_open(scenario);
    double distance = published_distance(published, pools ? PUBLISHED_DECODE : PUBLISHED_TOGETHER, &layout);
    if (pools && read_layout(scenario, prefill, &layout))
        distance = fmax(distance, published_distance(published, PUBLISHED_PREFILL, &layout));
    facts_set(&scenario->facts, NAME_layout_distance, distance, ORIGIN_SHEET, FILE_NAME);
}
