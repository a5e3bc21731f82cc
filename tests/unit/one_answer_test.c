/* One scenario, one name, one answer.
 *
 * Every number of an answer's JSON whose key is a row is asked again by `eval`, with the words that
 * the answer gives beside it, and must have the same bits. Other keys stand in tests/keys.txt, each
 * with its reason. The commands are those of tests/cases/one_answer.cases.
 *
 * The same then over HTTP, both questions of `chalkline serve`: one command of each verb, or all of
 * them in the long form. */
#include "served.h"

#include "ask/ask.h"
#include "scenario/scenario.h"

enum { WORDS = 64, NAMES = 400, MOST_KEYS = 400 };

struct key {
    char verb[16], key[64];
    bool used;
};

struct run {
    struct arena arena;             /* of one command */
    const char *line;
    const char *verb;
    struct key *keys;
    size_t key_count;
    size_t asked, wrong;
    unsigned port;                  /* of a server that is asked instead; 0: none */
};


/* A command as a request: what stands beside the options, then each option as a member. */
static const char *request_of(struct arena *arena, const struct command *command)
{
    struct doc *body = doc_new(arena, DOC_OBJECT);
    struct doc *words = doc_add(arena, body, "words", DOC_ARRAY);
    struct buffer text = { .arena = arena };
    for (size_t i = 0; i < command->word_count; i++)
        doc_add_string(arena, words, NULL, command->words[i]);
    for (size_t i = 0; i < command->value_count; i++) {
        const struct value *value = &command->values[i];
        struct doc *many = (struct doc *)doc_get(body, value->option->name);
        if (value->option->kind == OPTION_SWITCH)
            doc_add_bool(arena, body, value->option->name, true);
        else if (!value->option->many)
            doc_add_string(arena, body, value->option->name, value->text);
        else
            doc_add_string(arena, many ? many : doc_add(arena, body, value->option->name, DOC_ARRAY),
                           NULL, value->text);
    }
    doc_print(&text, body);
    return text.data;
}

static const struct doc *ask_server(struct arena *arena, unsigned port,
                                    const struct command *command, struct error *error)
{
    const char *path = arena_print(arena, "/v1/%s", command->verb->name);
    const struct reply reply = post(arena, port, path, request_of(arena, command));
    const struct doc *doc = parse(arena, reply.body), *refused = doc_get(doc, "error");
    if (!refused)
        return doc_get(doc, "answer");
    error_set(error, "%s", doc_get(refused, "what")->string);
    return NULL;
}

/* An answer's document, or NULL: the question was refused. */
static const struct doc *ask(struct arena *arena, unsigned port, size_t count,
                             const char *const *words, struct error *error)
{
    struct command command = { .verbs = verbs };
    struct answer answer = { .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                             .csv.arena = arena };
    char *given[WORDS + NAMES + 2];
    given[0] = "chalkline";
    for (size_t i = 0; i < count; i++)
        given[i + 1] = (char *)words[i];
    if (!command_read(arena, (int)count + 1, given, &command, error))
        return NULL;
    if (port)
        return ask_server(arena, port, &command, error);
    return command.verb->ask(arena, &command, &answer, error) ? answer.doc : NULL;
}

/* ---- keys that are no rows ------------------------------------------------------------------ */

static void read_keys(struct run *run)
{
    FILE *file = fopen("tests/keys.txt", "r");
    char line[256], reason[8];
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct key *key = &run->keys[run->key_count];
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (run->key_count == MOST_KEYS ||
            sscanf(line, "%15s %63s %7s", key->verb, key->key, reason) != 3)
            fail_msg("tests/keys.txt: '%s' is not VERB KEY, and why", line);
        run->key_count++;
    }
    fclose(file);
}

static bool listed(struct run *run, const char *key)
{
    bool found = false;
    for (size_t i = 0; i < run->key_count; i++)
        if ((!strcmp(run->keys[i].verb, run->verb) || !strcmp(run->keys[i].verb, "*")) &&
            !strcmp(run->keys[i].key, key))
            found = run->keys[i].used = true;
    return found;
}

/* ---- numbers asked again ---------------------------------------------------------------------- */

struct asked {
    const char *names[NAMES];
    double values[NAMES];
    size_t count;
};

static const struct row *row_of(const char *key)
{
    char name[128];
    const size_t size = strcspn(key, "[");
    if (size >= sizeof name)
        return NULL;
    memcpy(name, key, size);
    name[size] = 0;
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    const int row = formulas_find(formulas, name);
    return row < 0 ? NULL : formulas_row(formulas, row);
}

/* What `eval` calls the number of a key inside an object of another; NULL: it is no row. A row of a
 * table stands inside its entry, {"hbm": {"tier_hold": ...}}, or around it. */
static const char *eval_name(struct arena *arena, const char *outer, const char *key)
{
    const struct row *row = row_of(key), *around = outer ? row_of(outer) : NULL;
    if (row && (!row_table(row) || strchr(key, '[')))
        return key;
    if (row && outer)
        return arena_print(arena, "%s[%s]", key, outer);
    return around && row_table(around) ? arena_print(arena, "%s[%s]", outer, key) : NULL;
}

static void compare(struct run *run, const struct asked *asked, const struct doc *words)
{
    const char *given[WORDS + NAMES + 1] = { "eval" };
    size_t count = 1;
    struct arena arena = { 0 };
    struct error error;
    for (size_t i = 0; i < asked->count; i++)
        given[count++] = asked->names[i];
    for (const struct doc *word = words ? words->first : NULL; word; word = word->next)
        given[count++] = word->string;
    const struct doc *answer = ask(&arena, run->port, count, given, &error);
    if (!answer) {
        print_message("%s\n    eval %s ... is refused: %s\n", run->line, asked->names[0],
                      error.what);
        run->wrong++;
    }
    for (size_t i = 0; i < asked->count && answer; i++) {
        const struct doc *figure = doc_get(answer, asked->names[i]);
        const struct doc *value = figure ? doc_get(figure, "value") : NULL;
        run->asked++;
        if (value && value->kind == DOC_NUMBER &&
            !memcmp(&value->number, &asked->values[i], sizeof value->number))
            continue;
        print_message("%s\n    %s is %.17g, eval says %.17g\n", run->line, asked->names[i],
                      asked->values[i], value ? value->number : 0);
        run->wrong++;
    }
    arena_free(&arena);
}

/* Numbers of an object that have these words, those of objects inside without words of their own
 * among them. */
static void collect(struct run *run, const struct doc *doc, const struct doc *words,
                    struct asked *asked);

static void look(struct run *run, const struct doc *doc, const struct doc *words)
{
    struct asked *asked = calloc(1, sizeof *asked);
    collect(run, doc, words, asked);
    if (asked->count)
        compare(run, asked, words);
    free(asked);
}

static bool skipped(const char *key)
{
    static const char *const keys[] = { "servers", "elasticities", "words", "assumed" };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (key && !strcmp(keys[i], key))
            return true;
    return false;
}

static void collect(struct run *run, const struct doc *doc, const struct doc *words,
                    struct asked *asked)
{
    for (const struct doc *one = doc->first; one; one = one->next) {
        const struct doc *own = one->kind == DOC_OBJECT ? doc_get(one, "words") : NULL;
        if (skipped(one->key))
            continue;
        if (own) {
            look(run, one, own);
        } else if (one->kind == DOC_OBJECT || one->kind == DOC_ARRAY) {
            collect(run, one, words, asked);
        } else if (one->kind == DOC_NUMBER && one->key) {
            const struct doc *quantity = doc_get(doc, "quantity");
            const char *name = quantity && !strcmp(one->key, "value")
                               ? quantity->string : eval_name(&run->arena, doc->key, one->key);
            if (listed(run, one->key))
                continue;
            if (name && asked->count < NAMES) {
                asked->names[asked->count] = name;
                asked->values[asked->count++] = one->number;
            } else {
                print_message("%s\n    '%s' is no row and not in tests/keys.txt\n", run->line,
                              one->key);
                run->wrong++;
            }
        }
    }
}

static void run_line(struct run *run, char *line)
{
    const char *words[WORDS];
    size_t count = 0;
    struct error error;
    line[strcspn(line, "\n")] = 0;
    run->line = arena_copy(&run->arena, line, strlen(line));
    for (char *word = strtok(line, " "); word && count < WORDS; word = strtok(NULL, " "))
        words[count++] = arena_copy(&run->arena, word, strlen(word));
    run->verb = words[0];
    if (run->port && strstr(run->line, "tests/fixtures/"))
        return;                                 /* a file of this machine, which a server does not read */
    const struct doc *answer = ask(&run->arena, run->port, count, words, &error);
    if (!answer) {
        print_message("%s\n    is refused: %s\n", run->line, error.what);
        run->wrong++;
        return;
    }
    look(run, answer, doc_get(answer, "words"));
}

/* All commands, or the first of each verb; their number. */
static size_t run_cases(struct run *run, bool all)
{
    FILE *file = fopen("tests/cases/one_answer.cases", "r");
    char line[512], verb[16] = "";
    size_t lines = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const size_t size = strcspn(line, " \n");
        if (line[0] == '#' || line[0] == '\n' ||
            (!all && !strncmp(verb, line, size) && !verb[size]))
            continue;
        snprintf(verb, sizeof verb, "%.*s", (int)size, line);
        run_line(run, line);
        arena_free(&run->arena);
        lines++;
    }
    fclose(file);
    return lines;
}

static void every_number_is_its_row(void **state)
{
    (void)state;
    static struct key keys[MOST_KEYS];
    struct run run = { .keys = keys };
    read_keys(&run);
    const bool all = !sample_only();
    const size_t lines = run_cases(&run, all);
    print_message("%zu numbers of %zu answers asked again, %zu differ\n", run.asked, lines,
                  run.wrong);
    for (size_t i = 0; i < run.key_count && all; i++)
        if (!keys[i].used) {
            print_message("tests/keys.txt: %s %s stands in no answer\n", keys[i].verb, keys[i].key);
            run.wrong++;
        }
    assert_true(lines >= (all ? 40 : 8));
    assert_true(run.asked > (all ? 1000 : 200));
    assert_int_equal(run.wrong, 0);
}

static void every_number_over_http(void **state)
{
    (void)state;
    enum { VERBS = 8 };             /* step, brief, why, curve, tiers, bill, train, plan */
    static struct key keys[MOST_KEYS];
    const bool all = rounds(1) > 1;
    struct arena arena = { 0 };
    const struct running server = serve_with(&arena, "--at-once 2 --time-limit 5min");
    struct run run = { .keys = keys, .port = server.port };
    read_keys(&run);
    const size_t lines = run_cases(&run, all);
    print_message("%zu numbers of %zu answers asked again over HTTP, %zu differ\n", run.asked,
                  lines, run.wrong);
    assert_true(lines >= (all ? 40 : VERBS));
    assert_true(run.asked > (all ? 1000 : 200));
    assert_int_equal(run.wrong, 0);
    end(server, SIGTERM);
    arena_free(&arena);
}

static int end_server(void **state)
{
    (void)state;
    end_left();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_its_row),
        cmocka_unit_test_teardown(every_number_over_http, end_server) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
