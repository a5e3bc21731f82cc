#include "meter/measure/then_calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What `measure` does with its own options, of the same names as those of `calibrate`. */
static bool is_own(const char *name)
{
    return !strcmp(name, "output") || !strcmp(name, "json");
}

/* The requests go to the file that was asked for, else to one that nobody sees. */
static bool set_file(struct then_calibrate *then, const char *path, struct error *error)
{
    then->file = path;
    if (path || !then->command)
        return true;
    const char *folder = getenv("TMPDIR");
    char *name = arena_print(then->arena, "%s/measured-XXXXXX.jsonl", folder && *folder ? folder : "/tmp");
    const int file = mkstemps(name, (int)strlen(".jsonl"));
    if (file < 0) {
        error_set(error, "%s: no temporary file for the requests", name);
        return error_expected(error, "--output FILE, where they are kept");
    }
    close(file);
    then->file = name;
    return then->temporary = true;
}

/* What `calibrate` would ask for, before anything is sent. */
static bool counts_chips(const struct command *command)
{
    return command_given(command, "gpus") || command_given(command, "tp");
}

bool then_calibrate_open(struct arena *arena, const struct command *command, struct then_calibrate *then,
                         struct error *error)
{
    const char *path = command_text(command, "output"), *out = command_text(command, "calibration-out");
    *then = (struct then_calibrate){ .arena = arena };
    if (!command_given(command, "on")) {
        if (!out)
            return set_file(then, path, error);
        error_set(error, "--calibration-out without a machine");
        return error_expected(error, "--on MACHINE, and --model MODEL where the endpoint has another name for it");
    }
    if (!counts_chips(command)) {
        error_set(error, "--on without a number of GPUs: nothing that an endpoint answers tells it");
        return error_expected(error, "--gpus N, or --tp N");
    }
    struct command *own = then->command = arena_alloc(arena, sizeof *own);
    *own = (struct command){ .verb = verb_named(command->verbs, "calibrate"), .verbs = command->verbs };
    for (size_t i = 0; i < command->value_count; i++) {
        const struct option *option = verb_option(own->verb, command->values[i].option->name);
        if (option && !is_own(option->name) && !command_put(arena, own, option, command->values[i].text, error))
            return false;
    }
    if (out)
        command_set(arena, own, "output", out);
    if (out && !file_may_write(arena, out, error))
        return false;
    if (!command_complete(own, error) || !set_file(then, path, error))
        return false;
    command_put_word(arena, own, then->file);
    return true;
}

void then_calibrate(struct then_calibrate *then, struct answer *answer)
{
    struct error error = { .what = "" };
    struct answer own = { .text = { .arena = then->arena }, .doc = doc_new(then->arena, DOC_OBJECT) };
    if (!then->command)
        return;
    if (then->command->verb->ask(then->arena, then->command, &own, &error)) {
        doc_put(answer->doc, "calibration", own.doc);
        buffer_print(&answer->text, "\n");
        buffer_add(&answer->text, own.text.data, own.text.size);
        return;
    }
    answer->status = 1;
    doc_add(then->arena, answer->doc, "calibration", DOC_NULL);
    doc_add_string(then->arena, answer->doc, "error", arena_print(then->arena, "calibrate: %s", error.what));
    buffer_print(&answer->text, "\nnot calibrated: %s\n", error.what);
    if (*error.hint)
        buffer_print(&answer->text, "  %s: %s\n", error_label(&error), error.hint);
    if (then->temporary)
        buffer_print(&answer->text, "  the requests are in %s, for `chalkline calibrate`\n", then->file);
    then->temporary = false;
}

void then_calibrate_close(const struct then_calibrate *then)
{
    if (then->temporary)
        unlink(then->file);
}
