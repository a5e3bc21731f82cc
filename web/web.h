/* web -- the questions, asked by a page or over HTTP.
 *
 *   page:   words ------------------------+-> respond -> one JSON document
 *   server: a request's JSON -> words ----+
 *
 * The page (web/page, TypeScript) holds the engine as WebAssembly: wasm.c has what it
 * calls, board.c the rows that follow its sliders. The server is for programs, and hands
 * the page out. Both answer from ask/, so page, API and command line agree. */
#ifndef WEB_H
#define WEB_H

#include "ask/ask.h"

/* What the words ask, as the command line would read them, words[0] being the program:
 *
 *   {"status": 0, "answer": {...}, "text": "...", "csv": "..."}      an answer; 1: nothing feasible
 *   {"error": {"what": "...", "hint": "..."}}                        returns false
 *
 * Files are those on the arena's shelf. */
bool respond(struct arena *arena, int count, char **words, struct buffer *json);

#endif
