/* Inside the reader of benchmark files (benchmark.h): texts of several kinds, read as records. */
#ifndef SCORE_BENCHMARK_PARTS_H
#define SCORE_BENCHMARK_PARTS_H

#include "base/base.h"

/* ---- records ------------------------------------------------------------------------------------
 *
 * Records with named cells, which become a sheet. In a record the first text of a name holds. */
struct records {
    struct arena *arena;
    const char **names;                 /* columns, as they were met */
    size_t columns, name_room;
    uint32_t *index;                    /* [index_size] of a name's hash: its column + 1 */
    size_t index_size;
    struct record_cell { uint32_t row, column; const char *text; } *cells;
    size_t cell_count, cell_room;
    uint32_t *newest;                   /* [columns] the row that set it last, + 1 */
    size_t newest_count, newest_room;
    int *lines;                         /* [rows] of the file */
    size_t rows, line_room;
};

void record_add(struct records *records, int line);
/* A column that the sheet has, even if all its cells are empty. */
void record_column(struct records *records, const char *name);
/* A cell of the last record. */
void record_set(struct records *records, const char *name, const char *text);
void record_number(struct records *records, const char *name, double number);
/* The names and texts inside an object, under their paths: "a.b", "a.0.b". Arrays of other values than
 * objects are left out, and all of an array but its first elements. */
void record_flatten(struct records *records, const char *path, const struct doc *doc);
bool records_sheet(const struct records *records, const char *file, struct csv *csv, struct error *error);

/* ---- texts --------------------------------------------------------------------------------------- */

/* The next JSON value of a text, as Python and others write it: NaN is null, Infinity is a number, of a name
 * that stands twice both are kept. `number` of an array or object is its line. At the end *doc is NULL. */
bool json_next(struct arena *arena, const char *file, struct text *rest, int *line, struct doc **doc,
               struct error *error);
/* A YAML text of blocks and plain or quoted scalars, as programs write it. */
bool yaml_read(struct arena *arena, const char *file, struct text text, struct doc **doc,
               struct error *error);
/* A table of Markdown; the names of its columns in small letters, other characters as '_'. */
bool markdown_read(struct text text, const char *file, struct records *records, struct error *error);
/* INSERT INTO lines of SQL. */
bool sql_read(struct text text, const char *file, struct records *records, struct error *error);
/* Lines of "label : value". */
void labels_read(struct text text, struct records *records);
/* A row for each metric and a column for each statistic, in several tables: one record of
 * "metric.statistic". */
bool metrics_read(struct text text, const char *file, struct records *records, struct error *error);

/* ---- requests -------------------------------------------------------------------------------------- */

/* Does a file with this first record have a record for each request? */
bool requests_told(const struct doc *first);
/* Figures over the requests, a record for each load. */
bool requests_read(const char *file, struct doc *const *docs, size_t count, struct records *records,
                   struct error *error);
/* Figures over requests that stand in parallel arrays of a result, beside its own; nothing without them. */
bool requests_beside(const char *file, const struct doc *result, struct records *records,
                     struct error *error);

#endif
