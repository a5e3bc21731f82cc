/* trace_read -- what the readers of traces share. */
#ifndef SIM_TRAFFIC_TRACE_READ_H
#define SIM_TRAFFIC_TRACE_READ_H

#include "sim/traffic/trace.h"

/* The text itself where it is not packed. */
bool trace_unpack(struct arena *arena, const char *path, struct text packed, size_t limit,
                  struct text *text, struct error *error);
/* Seconds as in the file. */
bool trace_parse_csv(struct arena *arena, const char *path, struct text text, struct trace *trace,
                     struct error *error);
bool trace_parse_lines(struct arena *arena, const char *path, struct text text,
                       struct trace *trace, struct error *error);
bool trace_parse_csv_lengths(struct arena *arena, const char *path, struct text text,
                             struct trace_lengths *lengths, struct error *error);

/* `words`: as it stands in the file; NULL: as the number. */
bool trace_length(const char *path, int line, double number, const char *words, uint32_t *length,
                  struct error *error);
/* Is the arrival of a row within TIME_MOST, and not before that of the row above? */
bool trace_order(const char *path, int line, const struct trace *trace, size_t row,
                 struct error *error);

/* The number of a class, a new one if the word is new; TRACE_CLASSES: it is one too many. The
 * word must live as long as the trace. */
size_t trace_class(struct trace *trace, const char *word);
bool trace_word(const char *word);          /* letters, digits, '-', '_', '.'; some, 40 at most */

/* Who spoke last: the row of a session by its name, or by its number where the name is NULL. */
struct trace_turns {
    struct trace_turn *slots;
    size_t count, room;             /* room: a power of two, or 0 */
};
uint32_t trace_turns_find(const struct trace_turns *turns, uint64_t number, const char *name);
/* The row that it replaces. Both: UINT32_MAX where there is none. */
uint32_t trace_turns_put(struct arena *arena, struct trace_turns *turns, uint64_t number,
                         const char *name, uint32_t row);

#endif
