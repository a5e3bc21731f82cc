/* layout -- sheets of measurements in other columns, written in ours.
 *
 *     a sheet --layout_of: told by its header--> layout --layout_apply--> the schema (score/measured.h)
 *
 * A layout is a file of data/layouts: what the columns of a sheet, and the notes in it, say.
 *
 *     has COLUMN...                   columns that tell the sheet; of several such lines one suffices
 *     lacks COLUMN...                 columns that it does not have
 *     tool NAME                       the benchmark that writes it (score/benchmark.h), if one does
 *     let NAME  VALUE  [if CONDITION and ...]
 *     COLUMN  VALUE  [if CONDITION and ...]  [because REASON]
 *     when CONDITION and ...          the lines below it, up to the next such line, are of these rows alone
 *
 * Fields are separated by two or more spaces. A line applies to each row of the sheet, in the order of the
 * file, and what is set later holds; the value "-" empties a cell. VALUE is a text, or "= " and arithmetic;
 * in it "{x}" is the cell of column x, "[x]" what a line has set as x, and "{1}" the first group of the last
 * pattern that matched. A line of which one of these is empty does nothing, so that what a sheet leaves
 * out stays empty; "{x|y}" and "[x|y]" are y where x is empty.
 * A condition is "A" (not empty), "no A" (empty), "A = B", "A != B", "A ~ PATTERN" (an extended regular
 * expression), "A !~ PATTERN", or "A < B", "A > B", "A <= B", "A >= B" of two numbers.
 *
 * REASON stands beside the cell, in column COLUMN_from: the cell is not the source's own. It begins with
 * "inferred" where the value is a guess about this very row, so that scores can leave such rows out. */
#ifndef SCORE_LAYOUT_H
#define SCORE_LAYOUT_H

#include "base/base.h"

struct file_layout;

/* The column of a sheet that was converted, behind which are those that its layout did not read. */
#define LAYOUT_UNREAD "unread"

/* The layout that a file says, or NULL with an error that names its line. `text` must outlive it. */
struct file_layout *layout_read(struct arena *arena, const char *path, struct text text, struct error *error);
/* The layout whose columns the sheet has, or NULL. */
struct file_layout *layout_of(struct arena *arena, const struct csv *csv);
/* The benchmark that writes sheets of this layout, or NULL; and all of them, "A, B". */
const char *layout_tool(const struct file_layout *layout);
const char *layout_tools(struct arena *arena);
/* The tool with the most columns in common with a sheet; `missing` lists the others, "a, b". NULL: the sheet has less than
 * half of the columns of each tool. */
const char *layout_closest(struct arena *arena, const struct csv *csv, const char **missing);
/* The error that no layout has its columns: always false. */
bool layout_unknown(struct arena *arena, const struct csv *csv, struct error *error);
/* Columns of the sheet with values that no line of the layout reads, of a sheet that people keep: their number, and
 * each by its place in the sheet. */
size_t layout_unread(struct arena *arena, const struct file_layout *layout, const struct csv *csv, int **columns);
/* The sheet in the columns of the schema, with the row's line in column `line`. False with an error that
 * names the layout's line if one of its lines cannot be followed. */
bool layout_apply(struct arena *arena, struct file_layout *layout, const struct csv *csv, struct buffer *out,
                  struct error *error);

#endif
