/* Any bytes as rows of the sheet of published layouts, behind its header: every layout has a distance of 0 to 3, and a
 * layout of the sheet that is read as it stands has the smaller ones. */
#include "base/base.h"

static const struct csv *sheet_of(const char *name);
#define csv_built_in sheet_of
#include "deploy/published.c"
#undef csv_built_in

#include <assert.h>

static struct csv sheet;

static const struct csv *sheet_of(const char *name)
{
    (void)name;
    return &sheet;
}

static struct scenario *world_open(void)
{
    static struct scenario scenario;
    static struct arena arena;
    static struct command command;
    struct error error;
    if (!scenario.arena) {
        const bool good = scenario_read(&scenario, &arena, &command, (struct subject){ .machine = "h100-sxm", .engine = "vllm" }, &error);
        assert(good);
    }
    return &scenario;
}

/* Other roles are mistakes of the tree's own sheet, which end the program. */
static bool has_roles(void)
{
    bool good = true;
    for (size_t row = 0; row < sheet.rows && good; row++)
        good = name_listed(roles, sizeof roles / sizeof *roles, csv_cell(&sheet, row, csv_column(&sheet, "role")));
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "family,host_chips,engine,role,tensor_parallel,attention_dp,pipeline_parallel,expert_parallel,servers\n";
    struct arena arena = { 0 };
    struct error error;
    struct buffer text = { .arena = &arena };
    struct scenario scenario = *world_open();
    scenario.arena = &arena;
    buffer_print(&text, "%s", head);
    buffer_add(&text, (const char *)data, size);
    if (csv_read(&arena, "fuzz", (struct text){ text.data, text.size }, &sheet, &error) && has_roles()) {
        const struct published *published = published_open(&scenario);
        assert(published->count <= sheet.rows);
        for (size_t i = 0; i < published->count && i < 20; i++) {
            const double *at = published->at[i].size;
            const struct published_layout layout = { at[TENSOR] * at[RANKS] * at[STAGES], at[RANKS], at[STAGES], at[EXPERTS] };
            for (enum published_role role = PUBLISHED_TOGETHER; role <= PUBLISHED_DECODE; role++) {
                const double distance = published_distance(published, role, &layout);
                assert(distance >= PUBLISHED_HERE && distance <= PUBLISHED_NEVER);
            }
        }
    }
    arena_free(&arena);
    return 0;
}
