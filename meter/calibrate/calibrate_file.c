/* A calibration as a file of facts (scenario/calibrated.h reads it): what server it is of, the factors with
 * their covariance, the values that were given. Numbers have the digits that read back to the same bits. */
#include "meter/calibrate/calibrate.h"

#include "build/row_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct calibration_writer {
    struct buffer *out;
    const char *name;
    size_t facts;                   /* so far */
};

static void write_fact(struct calibration_writer *writer, const char *fact, const char *value, const char *unit,
                       const char *source, const char *mark, const char *note)
{
    const char *const cells[] = { writer->name, fact, value, unit, source, "", mark, note };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        buffer_print(writer->out, "%s", i ? "," : "");
        csv_write_cell(writer->out, cells[i]);
    }
    buffer_print(writer->out, "\n");
    writer->facts++;
}

/* "my-server" of "/home/me/my-server.csv". */
static const char *name_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t size = strcspn(name, ".");
    return arena_copy(arena, size ? name : "server", size ? size : strlen("server"));
}

static const char *number(struct arena *arena, double value)
{
    for (int digits = 6; digits < 17; digits++) {
        const char *text = arena_print(arena, "%.*g", digits, value);
        double read;
        if (text_number(text_of(text), &read) && read == value)
            return text;
    }
    return arena_print(arena, "%.17g", value);
}

static bool write_server(struct calibrate *calibrate, struct calibration_writer *writer)
{
    enum { ROWS = CALIBRATED_SIZES + 2 };
    const char *rows[ROWS];
    double values[ROWS];
    struct arena *arena = calibrate->arena;
    const struct measured *server = calibrate->server;
    const struct { const char *fact, *word; } words[] = {
        { "model", server->model }, { "machine", server->machine }, { "engine", server->engine },
        { "engine_version", server->version }, { "precision", server->precision }, { "kv_precision", server->kv } };
    for (int i = 0; i < CALIBRATED_SIZES; i++)
        rows[i] = calibrated_sizes[i].row;
    rows[CALIBRATED_SIZES] = NAME_weight_bytes;
    rows[CALIBRATED_SIZES + 1] = NAME_chunked_prefill_size;
    struct predictor predictor = { .arena = arena, .command = calibrate->command, .rows = rows,
                                   .row_count = ROWS };
    const struct setup *setup = predictor_find(&predictor, server);
    if (setup->refused) {
        error_set(calibrate->error, "%s:%d: %s", server->file, server->line, setup->refused);
        return error_expected(calibrate->error, "a server that `chalkline brief` can predict");
    }
    predictor_rows(arena, setup, server, values);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].word && *words[i].word)
            write_fact(writer, words[i].fact, words[i].word, "text", server->file, "given", "");
    for (int i = 0; i < ROWS; i++)
        write_fact(writer, rows[i], number(arena, values[i]),
                   i < CALIBRATED_SIZES ? "1" : i == CALIBRATED_SIZES ? "B" : "token", server->file, "given", "");
    return true;
}

static void write_factors(struct calibrate *calibrate, struct calibration_writer *writer)
{
    static const char *const kinds[POSTERIOR_FIELDS] = { "tpot", "ttft" };
    const struct calibration *calibration = &calibrate->calibration;
    struct arena *arena = calibrate->arena;
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        write_fact(writer, calibrated_factors[k], number(arena, scalar_exp(calibration->x[k])), "1", "calibrate",
                   "fitted", arena_print(arena, "of ln: sd %.3f before and %.3f after",
                                         sqrt(calibration->prior.covariance[k][k]),
                                         sqrt(calibration->posterior.covariance[k][k])));
    for (int k = 0; k < POSTERIOR_FACTORS; k++)
        for (int l = 0; l <= k; l++)
            write_fact(writer, arena_print(arena, "covariance %s %s", calibrated_factors[l], calibrated_factors[k]),
                       number(arena, calibration->posterior.covariance[k][l]), "1", "calibrate", "fitted", "of ln");
    for (int m = 0; m < POSTERIOR_FIELDS; m++) {
        write_fact(writer, arena_print(arena, "scale %s", kinds[m]), number(arena, calibration->posterior.scale[m]),
                   "1", "calibrate", "fitted", "on all variances");
        write_fact(writer, arena_print(arena, "freedom %s", kinds[m]),
                   number(arena, calibration->posterior.freedom[m]), "1", "calibrate", "fitted", "degrees");
    }
}

/* The points as people read them, and what the field is computed from. */
static void write_points(struct calibrate *calibrate, struct calibration_writer *writer)
{
    const struct calibration *calibration = &calibrate->calibration;
    const struct factor_posterior *posterior = &calibration->posterior;
    struct arena *arena = calibrate->arena;
    size_t points = 0;
    for (size_t p = 0; p < calibrate->measured; p++) {
        const struct calibration_point *point = &calibration->points[p];
        struct buffer text = { .arena = arena };
        buffer_print(&text, "concurrency=%.6g prompt_tokens=%.6g output_tokens=%.6g",
                     scalar_exp(point->values[0].at[0]), scalar_exp(point->values[0].at[1]),
                     scalar_exp(point->values[0].at[2]));
        for (int i = 0; i < point->measured->value_count; i++)
            buffer_print(&text, " %s=%.6g%s", metric_names[point->measured->values[i].metric],
                         point->measured->values[i].value, point->aside[i] ? " (set aside)" : "");
        const char *source = arena_print(arena, "%s line %d", point->measured->file, point->measured->line);
        if (point->given)
            write_fact(writer, arena_print(arena, "point %zu", ++points), text.data, "text", source, "given", "");
        else if (point->refused)
            write_fact(writer, arena_print(arena, "set aside %zu", p + 1), text.data, "text", source, "given",
                       point->refused);
    }
    for (size_t i = 0; i < posterior->count; i++) {
        const struct posterior_value *value = &posterior->values[i];
        struct buffer text = { .arena = arena };
        buffer_print(&text, "%d", value->kind);
        for (int axis = 0; axis < POSTERIOR_AXES; axis++)
            buffer_print(&text, " %s", number(arena, value->at[axis]));
        buffer_print(&text, " %s %s", number(arena, value->seen), number(arena, value->expected));
        for (int k = 0; k < POSTERIOR_FACTORS; k++)
            buffer_print(&text, " %s", number(arena, value->slope[k]));
        for (int m = 0; m < POSTERIOR_FIELDS; m++)
            buffer_print(&text, " %s", number(arena, value->reach[m]));
        buffer_print(&text, " %s", number(arena, posterior->weight[i]));
        write_fact(writer, arena_print(arena, "value %zu", i + 1), text.data, "text", "calibrate", "fitted",
                   "kind; ln of load, of seen, of expected; slopes by factors and fields; weight");
    }
}

bool calibrate_text(struct calibrate *calibrate, const char *path, struct buffer *out)
{
    struct arena *arena = calibrate->arena;
    struct buffer facts = { .arena = arena };
    struct calibration_writer writer = { &facts, name_of(arena, path), 0 }, head = { out, writer.name, 0 };
    write_fact(&writer, "title", writer.name, "text", "calibrate", "given", "");
    if (!write_server(calibrate, &writer))
        return false;
    write_fact(&writer, "fitted_with", calibrated_constants(arena), "text", "data/efficiency.csv", "given",
               "factors are relative to these constants");
    write_factors(calibrate, &writer);
    write_points(calibrate, &writer);
    buffer_print(out, "name,fact,value,unit,source,date,mark,note\n");
    write_fact(&head, "facts", arena_print(arena, "%zu", writer.facts), "1", "calibrate", "given",
               "behind this one: a file that was cut is refused");
    buffer_add(out, facts.data, facts.size);
    return true;
}

bool calibrate_write(struct calibrate *calibrate, const char *path)
{
    struct buffer out = { .arena = calibrate->arena };
    return calibrate_text(calibrate, path, &out) &&
           file_write(calibrate->arena, "--output", path, (struct text){ out.data, out.size }, calibrate->error);
}
