/* template -- the text of an answer, from a file beside its verb and the answer's figures.
 *
 *     ask/step.template + section -> text
 *
 * A line is printed as it stands, but for what is in braces and brackets:
 *
 *     {row:3}           a value with its unit, 3 digits (4 where none are said); a word by its key
 *     {row:3-}          the same, and " (range 1.2 to 3.4 ms)" where what was given has a range
 *     {row-3}           that range alone: "1.2 to 3.4 ms"
 *     {row#6}  {row#6-} without the unit
 *     {row#6 USD/h}     the value in USD/h with 6 digits, without the unit
 *     {row~3}           the 80 % interval of a prediction: "32.5 to 45.7 ms"
 *     {row%}   {row%1}  a share, in per cent
 *     {row.2 ms}        the value in ms with 2 decimals, without the unit; {row.0} a whole number
 *     {row@}            a large whole number: 671 B
 *     {row=20}          a share as a bar, of 20 columns when it is 1; of a range from end to end
 *     {key<68}          words, broken into lines of 68 columns under each other
 *     [a|b|c]           b where the condition a holds, else c, which may be left out
 *
 * A line that begins with one of these marks orders others:
 *
 *     # anything        a comment
 *     ? condition       what follows is printed where it holds,
 *     : condition       else what follows here where that holds,
 *     :                 else what follows here,
 *     .                 to here
 *     * section 6       what follows is printed for each of its first 6 records, or for all of them;
 *     :                 and this for those left out, whose number is {more}; to "."
 *
 * A line that ends in \ goes on in the next, without the spaces that begin that. A number that is not
 * known is printed as "unknown".
 *
 * Inside a record, {row} is the record's figure if it has one, otherwise the answer's; {^row} is always the
 * answer's. In a list of texts {text} is the record, `first` exists in the first, and {section} is all of them with "; "
 * between. Lines of records that begin with | are a table: "  | head | > right" and "  | {row} |
 * {row:3}"; there may be several heads or none, whose figures are those of the first record, > aligns
 * a column to the right, and a column without any text is left out. A cell "*section {row}" expands
 * to one cell for each record of that section. Every record of the table must have the same number of them.
 *
 * Conditions, with & between: `row` exists (a number that is known, a word, a record, a list with records),
 * `!row` does not, `row~` has an 80 % interval, `row-` a range; `row<1`, `row>=other_row`,
 * `key='word'` with < > <= >= = and !=. A comparison with a figure that does not exist does not
 * hold. */
#ifndef REPORT_TEMPLATE_H
#define REPORT_TEMPLATE_H

#include "base/embedded.h"
#include "report/figures.h"

struct template;

/* Parse a template; the error names file and line. */
bool template_read(struct arena *arena, const char *file, struct text text, struct template **template,
                 struct error *error);
/* A built-in template, by its path: "ask/step.template". */
const struct template *template_built_in(struct arena *arena, const char *path);
/* Does the template print the range of this figure? If not, the verb need not compute it. */
bool template_has_range(const struct template *template, const char *name);
void template_print(const struct template *template, const struct section *section, struct buffer *out);
/* The first table that it prints, as cells; NULL: it prints none. Its first `heads` rows are heads, and a
 * column without any text is left out. */
const struct table *template_table(const struct template *template, const struct section *section,
                                   struct arena *arena, size_t *heads);
/* An error, with file and line, unless every name in the template is a key that the record declares. */
bool template_check(const struct template *template, const struct record *record, struct error *error);

#endif
