#include "score/measured.h"

#include "build/row_names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *const metric_names[METRICS] = { "tpot", "ttft", "e2e", "throughput", "prefill",
                                            "decode", "energy", "kernel", "step" };

#define BAND(metric) { NAME_##metric##_band_low, NAME_##metric##_band_high }
const struct metric_band metric_bands[METRICS] = { BAND(tpot), BAND(ttft), BAND(e2e), BAND(throughput),
                                                   BAND(prefill), BAND(decode), BAND(energy),
                                                   BAND(kernel), BAND(step) };

const char *measured_word(const struct csv *csv, size_t row, const char *column)
{
    int at = csv_column(csv, column);
    return at < 0 ? "" : csv_cell(csv, row, at);
}

double measured_number(const struct csv *csv, size_t row, const char *column)
{
    double value;
    return text_number(text_of(measured_word(csv, row, column)), &value) ? value : 0;
}

double measured_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

struct measured *measured_add(struct arena *arena, struct measured_list *list,
                              const struct csv *csv, size_t row)
{
    struct measured *point = arena_push(arena, &list->points, &list->count, &list->room,
                                        sizeof *point);
    *point = (struct measured){ .file = csv->file, .line = csv->lines[row], .source = "" };
    return point;
}

void measured_input(struct measured *point, const char *name, double value)
{
    assert(point->input_count < MEASURED_INPUTS);
    point->inputs[point->input_count++] = (struct measured_input){ name, value };
}

void measured_value(struct measured *point, enum metric metric, const char *row, double value)
{
    if (!(value > 0))
        return;
    assert(point->value_count < MEASURED_VALUES);
    point->values[point->value_count++] = (struct measured_value){ metric, row, value, NULL };
}

void measured_from(struct measured *point, enum metric metric, const char *row, const char *from)
{
    assert(point->value_count < MEASURED_VALUES);
    point->values[point->value_count++] = (struct measured_value){ metric, row, 0, from };
}

bool measured_read(struct arena *arena, const struct csv *csv, struct measured_list *list,
                   struct error *error)
{
    static const struct {
        const char *column;                     /* that only files of this kind have */
        void (*read)(struct arena *, const struct csv *, struct measured_list *);
    } readers[] = {
        { "silicon_tpot_ms", measured_points }, { "batch_concurrency", measured_serving },
        { "rate_per_s", measured_load },        { "latency", measured_kernels },
    };
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (csv_column(csv, readers[i].column) >= 0) {
            readers[i].read(arena, csv, list);
            return true;
        }
    error_set(error, "%s: not the columns of measurements", csv->file);
    return error_expected(error, "the columns of serving_points.csv, serving.csv, training.csv, "
                                 "vllm_load_h100.csv or kernels.csv");
}
