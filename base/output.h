/* output -- files that appear whole or not at all.
 *
 *     output_open ── write to output->stream ──┬─ output_close   the new file takes the place of the old one
 *                                              └─ output_drop    the old one stays as it was
 *
 * The new file grows in the folder of the old one, as a file without a name where the system has such files, so that
 * nothing is left behind when the program is killed. output_close writes it to the disk and renames it. It has the mode
 * of the old file, and a symbolic link stays one. A pipe or a device has no old content to protect: it is written at
 * once.
 *
 * A log is a file that others follow while it grows (`measure -o`, `watch --record`). Its first record takes the place
 * of what the file had, so that a run without a record leaves an older file as it was. Each record is
 * written by itself, and one that did not fit is taken back, so that what is there is always whole records. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/base.h"

#include <stdio.h>

struct output {
    const char *what, *path;        /* the option that asked for it, for messages: "--plot" */
    FILE *stream;
    const char *place, *beside;     /* the file that changes, links followed; its name until then, NULL: a pipe or device */
    bool named;                     /* `beside` exists */
};

/* False: the file cannot be written, and nothing has changed. `arena` holds the names until the file is closed. */
bool output_open(struct arena *arena, const char *what, const char *path, struct output *output, struct error *error);
bool output_close(struct output *output, struct error *error);
void output_drop(struct output *output);        /* nothing to one that is not open */
/* Do both paths name one file? It need not exist yet. */
bool output_same(struct arena *arena, const char *path, const char *other);
/* From here until the end of the question, or arena_let_go, no other program holds this lock, for a file that is read and then
 * written anew; it is on the file's folder. NULL: the system gives none, or `path` is NULL. */
struct holding *output_lock(struct arena *arena, const char *path);
/* Could output_open write there? */
bool output_may(struct arena *arena, const char *what, const char *path, struct error *error);

struct output_log {
    const char *what, *path;
    int file;                       /* -1: none */
};
bool log_open(const struct arena *arena, const char *what, const char *path, struct output_log *log, struct error *error);
void log_close(struct output_log *log);
bool log_add(const struct output_log *log, const char *record, size_t size, struct error *error);

#endif
