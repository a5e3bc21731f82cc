/* benchmark -- what benchmark tools write, as a sheet of measurements.
 *
 *     a file --told by its content--> records of named cells --data/layouts--> the schema (score/measured.h)
 *                                                         what is given fills what the file does not say
 *
 * Read are JSON, JSON lines, several JSON texts in a row, JSON inside a log, YAML, Markdown, SQL, tables of
 * labels and numbers, CSV; of files with a record a request, figures over the requests. Which tool wrote a
 * file, and what its names mean and in which units, is a file of data/layouts. Sheets of the schema and of
 * other known columns are read too. */
#ifndef SCORE_BENCHMARK_H
#define SCORE_BENCHMARK_H

#include "base/base.h"

struct command;

enum { BENCHMARK_FACTS = 32 };

/* What holds for every record of a file that does not say it itself. */
struct benchmark_facts {
    struct benchmark_fact {
        const char *column;         /* of the schema, or tensor_parallel */
        const char *text;           /* as it was given */
        const char *option;         /* "model": how it was given */
    } facts[BENCHMARK_FACTS];
    size_t count;
};

/* The facts that a command gives by --model, --on, --gpus, --tp, ... */
void benchmark_given(const struct command *command, struct benchmark_facts *given);
/* The command without these options, for predictions of what was measured. */
const struct command *benchmark_rest(struct arena *arena, const struct command *command);

/* The file as a sheet of the schema. With `given`, a file of a benchmark tool must say, or be given, what a
 * prediction needs: model, machine, number of chips; the error names the options. NULL: nothing is given, and
 * nothing asked. False with an error where the file is none that is known, cannot be read, or contradicts
 * what is given. */
bool benchmark_open(struct arena *arena, const char *path, struct text text,
                    const struct benchmark_facts *given, struct csv *out, struct error *error);
/* Of a table, the columns with values that its layout does not read: their number, and each by its place in `sheet`; 0
 * where there are none, or the text is no such sheet. */
size_t benchmark_unread(struct arena *arena, const char *path, struct text text, struct csv *sheet, int **columns);
const char *benchmark_unread_names(struct arena *arena, const struct csv *sheet, const int *columns, size_t count);
/* Is the file meant as measurements? By its content: what benchmark_open reads, and what it has a refusal of its own
 * for; a trace of requests, a model's configuration and a text that is neither are none. */
bool benchmark_told(struct arena *arena, const char *path, struct text text);

#endif
