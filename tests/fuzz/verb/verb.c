/* Any bytes as a file that a command line names: the whole program answers, to the last byte that it prints.
 *
 * verbs.txt has the command lines of each target, whose name is this program's. The last byte of the input chooses one of
 * them, and text, JSON or CSV; the bytes before it are the file. An answer has status 0 or 1, no control byte and no number
 * that is none, and reads as what it is; anything else is an error that says what was read. Nothing takes more memory or
 * time than `serve` allows a question. What listens or calls has the endpoint of curl.c. */
#define _GNU_SOURCE
#define main chalkline
#include "cli/main.c"
#undef main
#define main convert_main
#include "tools/convert.c"
#undef main

#include "base/clock.h"
#include "base/guard.h"
#include "tests/fuzz/verb/wire.h"

#include <assert.h>
#include <ctype.h>
#include <libgen.h>

enum { LINES_MOST = 40, WORDS_MOST = 40, PATH_ROOM = 200, LEFT = 3 };
static const size_t memory_most = 1 << 30;                  /* bytes */
static const double seconds_most = 8;
static const char table_name[] = "tests/fuzz/verb/verbs.txt";

static struct arena kept;                                   /* of the table */
static const char *lines[LINES_MOST], *path;
static size_t line_count;
static struct ranks alone;
static double began;

/* ---- the table ------------------------------------------------------------------------------- */

static void read_table(const char *target)
{
    struct text table, line;
    struct error error;
    if (!file_read(&kept, table_name, 1 << 20, &table, &error)) {
        fprintf(stderr, "%s\n", error.what);
        exit(EXIT_USAGE);
    }
    for (bool ours = false; table.size;) {
        line = text_line(&table);
        const char *words = arena_copy(&kept, line.data, line.size);
        const size_t name = strcspn(words, " ");
        if (ours && *words == ' ' && line_count < LINES_MOST)
            lines[line_count++] = words;
        if (!name || *words == '#')
            continue;
        ours = name == strlen(target) && !strncmp(words, target, name);
        if (ours)
            path = arena_print(&kept, "/dev/shm/chalkline-%d.%.*s", (int)getpid(), (int)strcspn(words + name + 1, " "), words + name + 1);
    }
    assert(line_count);
}

static void remove_file(void)
{
    unlink(path);
}

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count;
    read_table(basename(arena_print(&kept, "%s", **words)));
    ranks_open(&alone);
    setenv("XDG_STATE_HOME", "/dev/shm/chalkline-fuzz", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    atexit(remove_file);
    return 0;
}

/* Other command lines more often than bytes of one place change. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    enum { OFTEN = 8 };
    if (seed % OFTEN || !size)
        return LLVMFuzzerMutate(data, size, most);
    data[size - 1] = (uint8_t)(seed / OFTEN);
    return size;
}

/* ---- a run ----------------------------------------------------------------------------------- */

struct printed {
    char *data;
    size_t size, room;
};

static ssize_t print_more(void *context, const char *data, size_t size)
{
    struct printed *printed = context;
    if (printed->size + size > printed->room)
        printed->data = realloc(printed->data, printed->room = 2 * (printed->size + size));
    assert(printed->data);
    memcpy(printed->data + printed->size, data, size);
    printed->size += size;
    return (ssize_t)size;
}

/* It stays open: a library that is loaded while it is stdout keeps it, for C++'s streams. */
static FILE *open_printed(struct printed *printed)
{
    printed->data = malloc(printed->room = 4096);
    FILE *stream = fopencookie(printed, "w", (cookie_io_functions_t){ .write = print_more });
    assert(printed->data && stream);
    return stream;
}

static bool too_long(void *context, double share)
{
    (void)context, (void)share;
    return clock_seconds(CLOCK_MONOTONIC) - began > seconds_most;
}

struct program {
    struct arena arena;
    int count, status;
};

static void run_here(void *context)
{
    struct program *program = context;
    program->status = run_words(&program->arena, &alone, program->count, program_words);
}

/* The status, or LEFT where memory or time ended; what it printed stays until the next run. */
static int run_program(int count, char **words, struct printed **output, struct printed **errors)
{
    static struct printed printed[2];
    static FILE *streams[2];
    FILE *const terminal[] = { stdout, stderr };
    struct program program = { { .most = memory_most }, count, LEFT };
    for (int i = 0; i < 2; i++) {
        printed[i].size = 0;
        if (!streams[i])
            streams[i] = open_printed(&printed[i]);
    }
    stdout = streams[0], stderr = streams[1];
    *output = &printed[0], *errors = &printed[1];
    program_words = words;
    began = clock_seconds(CLOCK_MONOTONIC);
    if (!strcmp(words[0], "convert"))
        program.status = convert_main(count, words);
    else if (guarded(run_here, &program, NULL, too_long, NULL) != ENDED)
        program = (struct program){ .status = LEFT };               /* all is freed */
    arena_free(&program.arena);
    fflush(stdout);
    fflush(stderr);
    stdout = terminal[0], stderr = terminal[1];
    return program.status;
}

/* The words of a command line, whose @ is the file; "program" stands before those of the main one. */
static int split(struct arena *arena, const char *line, char *words[])
{
    int count = 0;
    char *copy = arena_print(arena, "%s", line), *rest;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert(count < WORDS_MOST - 3);
        const char *at = strchr(word, '@');
        words[count++] = !at || (at[1] && at[1] != '.') ? word : arena_print(arena, "%.*s%s%s", (int)(at - word), word, path, at + 1);
    }
    return count;
}

static bool takes(const char *verb, const char *option)
{
    for (const struct verb *const *one = cli_verbs(); *one; one++)
        if (!strcmp((*one)->name, verb))
            return verb_option(*one, option);
    return false;
}

/* ---- what is checked ------------------------------------------------------------------------- */

static char **said;

static void wrong(const char *what, struct text seen)
{
    fprintf(stderr, "FOUND: %s\n ", what);
    for (char **word = said; *word; word++)
        fprintf(stderr, " %s", *word);
    fprintf(stderr, "\n%.*s\n", (int)(seen.size < 4000 ? seen.size : 4000), seen.data);
    abort();
}

/* Is there a nan or an inf that is no part of a word? */
static const char *no_number(struct text text)
{
    for (size_t i = 0; i + 3 <= text.size; i++) {
        const char *at = text.data + i;
        const bool begins = !i || !(isalnum((unsigned char)at[-1]) || strchr("_.'\\", at[-1]));
        const bool ends = i + 3 == text.size || !(isalnum((unsigned char)at[3]) || at[3] == '_');
        if (begins && ends && (!strncasecmp(at, "nan", 3) || !strncasecmp(at, "inf", 3)))
            return at;
    }
    return NULL;
}

/* One document, or one a line, as `watch` writes that follows. */
static void check_json(struct arena *arena, struct text text)
{
    struct error error;
    struct doc *doc;
    if (json_read(arena, "answer", text, &doc, &error))
        return;
    for (struct text rest = text; rest.size;)
        if (!json_read(arena, "answer", text_line(&rest), &doc, &error))
            wrong(error.what, text);
}

static void check_answer(struct arena *arena, const char *mode, struct text file, struct text output)
{
    struct csv csv;
    struct error error;
    const char *at = no_number(output);
    if (!output.size)
        wrong("no word", output);
    if (at && !no_number(file))
        wrong("a number that is none", (struct text){ at - (at - output.data > 200 ? 200 : at - output.data), 400 < output.data + output.size - at ? 400 : (size_t)(output.data + output.size - at) });
    if (!strcmp(mode, "--csv") && !csv_read_any(arena, "answer", output, &csv, &error))
        wrong(error.what, output);
}

static void check(struct arena *arena, const char *mode, int status, struct text file, struct text output, struct text errors)
{
    if (text_plain(output, "\n\t") < output.size || text_plain(errors, "\n\t") < errors.size)
        wrong("a control byte", text_plain(output, "\n\t") < output.size ? output : errors);
    if (status == LEFT)
        return;
    if (status < 0 || status > EXIT_USAGE)
        wrong("a status", errors);
    if (!strcmp(mode, "--json"))
        check_json(arena, output);
    if (status != EXIT_USAGE)
        check_answer(arena, mode, file, output);
    else if (!memmem(errors.data, errors.size, ": ", 2) ||
             !(memmem(errors.data, errors.size, "\n  ", 3) || memmem(errors.data, errors.size, "No such file", 12)))
        wrong("an error without a word on what is accepted", errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const modes[] = { "", "--json", "--csv" };
    struct arena arena = { 0 };
    char *words[WORDS_MOST];
    struct printed *output, *errors;
    if (!size)
        return 0;
    const size_t chosen = data[size - 1];
    const struct text file = { (const char *)data, size - 1 };
    const char *mode = modes[chosen / line_count % 3];
    int count = split(&arena, lines[chosen % line_count], words);
    if (strcmp(words[0], "convert")) {
        memmove(words + 1, words, (size_t)count++ * sizeof *words);
        words[0] = "chalkline";
        if (*mode && takes(words[1], mode + 2))
            words[count++] = (char *)mode;
        else
            mode = "";
    } else {
        mode = "--csv";
    }
    words[count] = NULL;
    said = words;
    FILE *written = fopen(path, "w");
    assert(written && fwrite(file.data, 1, file.size, written) == file.size);
    fclose(written);
    wire_open(file);
    const int status = run_program(count, words, &output, &errors);
    check(&arena, mode, status, file, (struct text){ output->data, output->size }, (struct text){ errors->data, errors->size });
    arena_free(&arena);
    return 0;
}
