#include "catalog/formats.h"

#include "build/row_names.h"

#include <string.h>

#define RATE(type) { NAME_peak_##type, NAME_sustained_##type, NAME_kernel_overhead_##type, NAME_trained_##type }
static const struct { const char *peak, *reached, *launch, *trained; } rates[] = {
    RATE(bf16), RATE(fp8), RATE(int8), RATE(fp4) };

/* Columns; a sheet without the last has no blocks. */
enum { NAME, BYTES, PEAK, NEEDED, BLOCK = NEEDED, FORMAT_COLUMNS };

static bool format_read(const struct csv *csv, size_t row, const int column[FORMAT_COLUMNS],
                        struct format *format, struct error *error)
{
    format->name = csv_cell(csv, row, column[NAME]);
    const char *peak = csv_cell(csv, row, column[PEAK]);
    const char *bytes = csv_cell(csv, row, column[BYTES]);
    const char *block = column[BLOCK] < 0 ? "" : csv_cell(csv, row, column[BLOCK]);
    format->block = 1;
    if (*block && (!text_number(text_of(block), &format->block) || !(format->block >= 1))) {
        error_set(error, "%s:%d: block '%s' of format '%s'", csv->file, csv->lines[row], block, format->name);
        return error_expected(error, "rows of weights that share one scale, or nothing");
    }
    if (!text_number(text_of(bytes), &format->bytes) || format->bytes < 0.01 || format->bytes > 16) {
        error_set(error, "%s:%d: bytes '%s' of format '%s'", csv->file, csv->lines[row], bytes,
                  format->name);
        return error_expected(error, "bytes of one weight, 0.01 to 16");
    }
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (!strcmp(peak, rates[i].peak)) {
            format->peak = rates[i].peak;
            format->reached = rates[i].reached;
            format->launch = rates[i].launch;
            format->trained = rates[i].trained;
            return true;
        }
    error_set(error, "%s:%d: peak '%s' of format '%s'", csv->file, csv->lines[row], peak,
              format->name);
    return error_expected(error, "peak_bf16, peak_fp8, peak_int8 or peak_fp4");
}

bool formats_read(struct arena *arena, const struct csv *csv, struct formats *formats,
                  struct error *error)
{
    static const char *const names[FORMAT_COLUMNS] = { "name", "bytes", "peak", "block" };
    int column[FORMAT_COLUMNS];
    for (size_t i = 0; i < FORMAT_COLUMNS; i++) {
        column[i] = csv_column(csv, names[i]);
        if (column[i] < 0 && i < NEEDED)
            return error_set(error, "%s: no column '%s'", csv->file, names[i]);
    }
    struct format *format = arena_array(arena, csv->rows, sizeof *format);
    *formats = (struct formats){ csv->rows, format };
    for (size_t row = 0; row < csv->rows; row++)
        if (!format_read(csv, row, column, &format[row], error))
            return false;
    return true;
}

const struct format *formats_find(const struct formats *formats, const char *name)
{
    for (size_t i = 0; i < formats->count; i++)         /* each weight of a model asks, by the format's own name */
        if (!strcmp(formats->format[i].name, name))
            return &formats->format[i];
    for (size_t i = 0; i < formats->count; i++)
        if (name_same(formats->format[i].name, name))
            return &formats->format[i];
    return NULL;
}

double formats_place(const struct formats *formats, const struct format *format)
{
    for (size_t i = 0; i < formats->count; i++)
        if (!strcmp(formats->format[i].name, format->name))
            return (double)i + 1;
    return 0;
}

bool formats_need(const struct formats *formats, const char *name, const char *what,
                  const struct format **format, struct error *error)
{
    *format = formats_find(formats, name);
    if (*format)
        return true;
    const char *names[96] = { NULL };
    size_t count = formats->count < 96 ? formats->count : 96;
    for (size_t i = 0; i < count; i++)
        names[i] = formats->format[i].name;
    const char *near = name_nearest(name, names, count);
    for (size_t i = 0; i < count && !near; i++)         /* "q8" is the beginning of q8_0 */
        near = *name && !strncmp(names[i], name, strlen(name)) ? names[i] : NULL;
    error_set(error, "%s: unknown number format '%s'", what, name);
    return near ? error_did_you_mean(error, near, "")
                : error_expected(error, "a name that `chalkline list formats` lists");
}
