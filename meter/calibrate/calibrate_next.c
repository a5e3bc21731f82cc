/* The load most worth measuring: of powers of two up to what the server runs at once, with the lengths that
 * were measured and prompts half and four times as long, the one after which the predictions of all of
 * them are surest. It is told as a command for a load generator. */
#include "meter/calibrate/calibrate.h"

#include "build/row_names.h"
#include "catalog/flags.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void set_input(struct measured *point, const char *row, double value)
{
    for (int i = 0; i < point->input_count; i++)
        if (!strcmp(point->inputs[i].name, row)) {
            point->inputs[i].value = value;
            return;
        }
    if (point->input_count < MEASURED_INPUTS)
        point->inputs[point->input_count++] = (struct measured_input){ row, value };
}

static bool is_there(const struct calibration *calibration, double load, double prompt, double answer)
{
    for (size_t p = 0; p < calibration->count; p++) {
        const struct measured *measured = calibration->points[p].measured;
        if (measured_input(measured, NAME_concurrency, 0) == load &&
            measured_input(measured, NAME_prompt_tokens, 0) == prompt &&
            measured_input(measured, NAME_output_tokens, 0) == answer)
            return true;
    }
    return false;
}

static void add_load(struct calibrate *calibrate, double load, double prompt, double answer)
{
    struct measured *point = arena_alloc(calibrate->arena, sizeof *point);
    if (is_there(&calibrate->calibration, load, prompt, answer))
        return;
    *point = *calibrate->server;
    point->value_count = 2;
    point->values[0] = (struct measured_value){ .metric = METRIC_TPOT, .row = NAME_predicted_tpot, .value = 1 };
    point->values[1] = (struct measured_value){ .metric = METRIC_TTFT, .row = NAME_predicted_ttft, .value = 1 };
    set_input(point, NAME_concurrency, load);
    set_input(point, NAME_prompt_tokens, prompt);
    set_input(point, NAME_output_tokens, answer);
    calibration_add(&calibrate->calibration, point);
}

/* The most requests that run at once with these lengths. */
static double most_running(struct calibrate *calibrate, const struct measured *of, double prompt, double answer)
{
    static const char *const rows[] = { NAME_rank_slots, NAME_attention_dp, NAME_replica_fits };
    struct predictor predictor = { .arena = calibrate->arena, .command = calibrate->command, .rows = rows,
                                   .row_count = 3 };
    struct measured point = *of;
    double values[3];
    set_input(&point, NAME_prompt_tokens, prompt);
    set_input(&point, NAME_output_tokens, answer);
    const struct setup *setup = predictor_find(&predictor, &point);
    if (setup->refused)
        return 0;
    predictor_rows(calibrate->arena, setup, &point, values);
    return values[2] > 0 ? values[0] * values[1] : 0;
}

void calibrate_loads(struct calibrate *calibrate)
{
    enum { MOST = 256, LENGTHS = 3 };
    static const double longer[] = { 1, 0.5, 4 };
    struct { double prompt, answer; } lengths[LENGTHS];
    size_t count = 0;
    for (size_t p = 0; p < calibrate->measured && count < LENGTHS; p++) {
        const struct measured *measured = calibrate->calibration.points[p].measured;
        const double prompt = measured_input(measured, NAME_prompt_tokens, 0);
        const double answer = measured_input(measured, NAME_output_tokens, 0);
        bool again = !(prompt >= 1) || !(answer >= 1) || measured_input(measured, NAME_arrival_rate, 0) > 0;
        for (size_t i = 0; i < count; i++)
            again |= lengths[i].prompt == prompt && lengths[i].answer == answer;
        if (again)
            continue;
        lengths[count].prompt = prompt;
        lengths[count++].answer = answer;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof longer / sizeof *longer; k++) {
            const double prompt = floor(lengths[i].prompt * longer[k] + 0.5);
            const double most = fmin(MOST, most_running(calibrate, calibrate->server, prompt, lengths[i].answer));
            for (double load = 1; load <= most; load *= k ? 4 : 2)
                add_load(calibrate, load, prompt, lengths[i].answer);
        }
}

/* The catalog's name of the engine that was measured, without its generation; "any" where none is stated. */
static const char *engine_of(struct calibrate *calibrate)
{
    struct catalog catalog;
    catalog_open(&catalog, calibrate->arena);
    const char *name = catalog_engine_name(&catalog, calibrate->server->engine);
    const struct catalog_entry *entry = catalog_find(&catalog, CATALOG_ENGINE, name, NULL);
    const char *of = entry ? catalog_text(entry, "version_of") : NULL;
    return of ? of : name;
}

/* The load generator that users of the engine have, or our own: the row `bench` of data/flags.csv. Ten rounds of all
 * requests in flight: shorter runs are biased by their start and their end. */
static const char *generator(struct calibrate *calibrate, double load, double prompt, double answer)
{
    struct arena *arena = calibrate->arena;
    const struct { const char *word, *text; } words[] = {
        { "MODEL", calibrate->server->model }, { "ISL", arena_print(arena, "%.0f", prompt) },
        { "OSL", arena_print(arena, "%.0f", answer) }, { "LOAD", arena_print(arena, "%.0f", load) },
        { "REQUESTS", arena_print(arena, "%.0f", fmax(30, 10 * load)) } };
    enum { WORDS = sizeof words / sizeof *words };
    struct buffer out = { .arena = arena };
    struct flag bench;
    if (!flag_find(engine_of(calibrate), "bench", &bench))
        flag_find("any", "bench", &bench);
    for (const char *at = bench.value, *rest; *at; at = rest + strspn(rest, " ")) {
        rest = at + strcspn(at, " ");
        const char *word = arena_copy(arena, at, (size_t)(rest - at));
        size_t i = 0;
        while (i < WORDS && strcmp(word, words[i].word))
            i++;
        buffer_print(&out, "%s%s", at == bench.value ? "" : " ", i < WORDS ? words[i].text : word);
    }
    return out.data;
}

void calibrate_next(struct calibrate *calibrate)
{
    const struct calibration *calibration = &calibrate->calibration;
    double gain, variance = 0;
    const size_t next = calibration_next(calibration, &gain);
    const double before = calibration_spread(calibration);
    if (next == calibration->count || !(before > 0))
        return;
    variance = fmax(0, before - gain);
    const struct posterior_value *value = &calibration->points[next].values[0];
    const double load = floor(scalar_exp(value->at[0]) + 0.5), prompt = floor(scalar_exp(value->at[1]) + 0.5),
                 answer = floor(scalar_exp(value->at[2]) + 0.5);
    struct section *section = section_add(calibrate->section, "next", SECTION_RECORD);
    section_number(section, NAME_concurrency, load, unit_one);
    section_number(section, NAME_prompt_tokens, prompt, unit_one);
    section_number(section, NAME_output_tokens, answer, unit_one);
    section_number(section, "gain", 1 - sqrt(variance / before), unit_one);
    section_word(section, "command", generator(calibrate, load, prompt, answer));
}
