/* libchalkline: the bytes of the command line for drawn questions, threads, refusals, memory that runs out at every
 * allocation, progress; rows over arrays beside `eval`, slopes and bounds; the time of a step beside its row.
 *
 * The program is linked with malloc, calloc and free wrapped: they count, and fail where a test says. */
#include "base/guard.h"
#include "library/chalkline.h"
#include "lines.h"
#include "served.h"
#include "serve/web.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>

/* ---- memory that counts and fails ---------------------------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);

static long taken, asked, fail_at;                  /* blocks that are not freed; calls so far; the call that fails, or 0 */

static bool has_memory(void)
{
    return __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) != fail_at;
}

void *__wrap_malloc(size_t size)
{
    void *memory = has_memory() ? __real_malloc(size) : NULL;
    __atomic_add_fetch(&taken, memory != NULL, __ATOMIC_RELAXED);
    return memory;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *memory = has_memory() ? __real_calloc(count, size) : NULL;
    __atomic_add_fetch(&taken, memory != NULL, __ATOMIC_RELAXED);
    return memory;
}

void __wrap_free(void *memory)
{
    __atomic_sub_fetch(&taken, memory != NULL, __ATOMIC_RELAXED);
    __real_free(memory);
}

/* ---- questions ------------------------------------------------------------------------------- */

/* The words of a command line as the body of a request. Paths become files of it. */
static const char *body_of(struct arena *arena, const struct command *command)
{
    struct doc *body = doc_new(arena, DOC_OBJECT), *files = doc_new(arena, DOC_OBJECT);
    struct doc *words = doc_add(arena, body, "words", DOC_ARRAY);
    struct buffer json = { .arena = arena };
    struct error ignored;
    for (size_t i = 0; i < command->word_count; i++)
        doc_add_string(arena, words, NULL, command->words[i]);
    for (size_t i = 0; i < command->value_count; i++) {
        const struct value *value = &command->values[i];
        const char *name = value->was ? value->was : value->option->name;       /* as it was typed */
        if (value->option->kind == OPTION_SWITCH) {
            doc_add_bool(arena, body, name, true);
            continue;
        }
        struct doc *list = (struct doc *)(uintptr_t)doc_get(body, name);
        if (!list)
            list = doc_add(arena, body, name, value->option->many ? DOC_ARRAY : DOC_STRING);
        if (value->option->many)
            doc_add_string(arena, list, NULL, value->bare ? value->bare : value->text);
        else
            list->string = value->bare ? value->bare : value->text;
    }
    for (size_t i = 0; i < command->word_count + command->value_count; i++) {
        const char *path = i < command->word_count ? command->words[i] : command->values[i - command->word_count].text;
        struct text text;
        if (starts_with(path, "tests/fixtures/") && !doc_get(files, path) &&
            file_read(arena, path, 64 << 20, &text, &ignored))
            doc_add_string(arena, files, path, arena_copy(arena, text.data, text.size));
    }
    if (files->count)
        doc_put(body, "files", files), files->key = "files";
    doc_print(&json, body);
    return json.data;
}

static const char *const lines[] = {
    "brief deepseek-v3 --on gb200-nvl72", "step llama-3.3-70b --on h100-sxm --batch 64 --set chip_price=2USD/h",
    "step qwen3-32b --on h200-sxm --gpus 8", "curve bound_step batch=1..64 --model llama-3.1-8b --on h100-sxm --points 5",
    "curve predicted_tpot on=h100-sxm,b200-sxm --model llama-3.3-70b --gpus 8", "why bound_step --model deepseek-v3 --on gb200-nvl72",
    "why predicted_tpot --model llama-3.1-8b --on h100-sxm --gpus 1", "solve batch --where bound_compute=bound_weights",
    "solve users --where speed_per_user=30 --model llama-3.1-8b --on h100-sxm --gpus 1",
    "eval inference_tokens bound_step", "eval predicted_tpot predicted_ttft --model llama-3.3-70b --on h100-sxm --gpus 4",
    "list hardware", "list rows", "show h100-sxm", "show deepseek-v3",
    "simulate poisson:rate=5,count=100 --model llama-3.1-8b --on h100-sxm --gpus 1",
    "simulate poisson:rate=20,count=100,input=300,output=60 --blocks 1000 --step-time 10ms+0.05ms*tokens",
    "deduce prices --model claude-opus-4-7 --draws 2000", "tiers deepseek-v3 --on gb200-nvl72 --context 32768",
    "bill agent --model claude-opus-4-7", "plan qwen3-32b --on h200-sxm --gpus 8 --ttft 1s", "train llama-3.1-8b --on h100-sxm --gpus 64",
    "life deepseek-v3 --served 200T", "quiz --count 3 --seed 3 --chapter 2", "lecture experts.two_racks --model deepseek-v3 --on gb200-nvl72",
    "design --power 700W --domain 8", "can qwen3-14b --on rtx-3060", "find machine balance", "import tests/fixtures/configs/llama-2-7b.json",
    "step tests/fixtures/configs/qwen2.5-7b.json --on h100-sxm --gpus 1",
    "calibrate tests/fixtures/benchmarks/vllm.json --model llama-3.1-8b --on h100-sxm --gpus 2",
    "eval predicted_tpot --model no-such-model --on h100-sxm", "step llama-3.3-70b --on h100-sxm --gpus 4 --set batch=-1" };

/* Do these concern the terminal or files, or ask for more than a test waits for? */
static bool left_out(const struct option *option)
{
    static const char *const names[] = { "json", "csv", "help", "version", "plot", "report", "report-page", "listen", "validate",
                                         "find-saturation", "repeat", "draws", "points", "seed", "served", "bins" };
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strcmp(option->name, names[i]))
            return true;
    return option->kind == OPTION_FILE || (option->kind == OPTION_TEXT && !option->fallback);
}

/* " --name VALUE", drawn within what the option takes; "": not this one. */
static const char *draw_option(struct arena *arena, const struct option *option, uint64_t *seed)
{
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    if (left_out(option))
        return "";
    switch (option->kind) {
    case OPTION_SWITCH: return arena_print(arena, " --%s", option->name);
    case OPTION_CHOICE: {
        size_t count = 0;
        while (option->choices[count])
            count++;
        return arena_print(arena, " --%s %s", option->name, option->choices[draw_bits(seed) % count]);
    }
    case OPTION_COUNT: return arena_print(arena, " --%s %.0f", option->name, floor(exp2(6 * draw(seed))));
    case OPTION_ROW: {
        const int row = formulas_find(formulas, option->row);
        return arena_print(arena, " --%s %g", option->name,
                           unit_counts(formulas_row(formulas, (size_t)row)->unit) ? exp2(floor(8 * draw(seed))) : draw(seed));
    }
    default: return option->fallback && !strchr(option->fallback, ' ') ? arena_print(arena, " --%s %s", option->name, option->fallback) : "";
    }
}

/* A line with some of its verb's options. */
static const char *draw_line(struct arena *arena, size_t i, uint64_t *seed, struct command **command)
{
    const char *base = lines[i % COUNT(lines)], *line = base;
    struct error error = { .what = "" };
    *command = line_command(arena, base, &error);
    if (!*command)
        fail_msg("%s: %s", base, error.what);
    for (int more = (int)(draw_bits(seed) % 4); more > 0; more--) {
        const struct option *drawn = NULL, *option;
        size_t count = 0;
        for (struct option_at at = { 0 }; (option = verb_next_option((*command)->verb, &at));)
            drawn = draw_bits(seed) % ++count ? drawn : option;
        const char *longer = arena_print(arena, "%s%s", line, draw_option(arena, drawn, seed));
        struct command *read = line_command(arena, longer, &error);
        if (read)
            *command = read, line = longer;
    }
    return line;
}

static struct text told(struct arena *arena, const char *line, int *status)
{
    int out;
    pid_t child = begin(line, &out);
    struct text said = read_all(arena, out);
    assert_int_equal(waitpid(child, status, 0), child);
    *status = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
    return said;
}

static void drawn_questions_have_the_bytes_of_the_command_line(void **state)
{
    (void)state;
    struct chalkline_library *library = chalkline_open(NULL);
    uint64_t seed = 20261128;
    int ended[3] = { 0 };
    const size_t count = sample_only() ? COUNT(lines) : (size_t)rounds(200);
    for (size_t i = 0; i < count; i++) {
        struct arena arena = { 0 };
        struct command *command;
        struct chalkline_answer *answer;
        int exit;
        const char *line = draw_line(&arena, i, &seed, &command);
        const struct text json = told(&arena, arena_print(&arena, "%s --json", line), &exit);
        const int status = chalkline_ask(library, command->verb->name, body_of(&arena, command), &answer);
        if (status != exit || strcmp(chalkline_json(answer), json.data))
            fail_msg("%s\nstatus %d, by the library %d\n%.2000s\nby the library\n%.2000s", line, exit, status, json.data,
                     chalkline_json(answer));
        if (i % 3 == 0 && status != 2)
            assert_string_equal(chalkline_text(answer), told(&arena, line, &exit).data);
        if (i % 3 == 1 && *chalkline_csv(answer) && verb_option(command->verb, "csv"))
            assert_string_equal(chalkline_csv(answer), told(&arena, arena_print(&arena, "%s --csv", line), &exit).data);
        ended[status]++;
        chalkline_free(answer);
        arena_free(&arena);
    }
    print_message("%d answered, %d infeasible, %d refused\n", ended[0], ended[1], ended[2]);
    assert_true(ended[0] > ended[2] && ended[2] > 0);
    chalkline_close(library);
}

/* ---- refused ----------------------------------------------------------------------------------- */

static void refused_questions_leave_the_library_usable(void **state)
{
    (void)state;
    static const struct { const char *verb, *json, *says; } refused[] = {
        { "stepp", "{}", "unknown verb 'stepp'" }, { "serve", "{}", "unknown verb 'serve'" }, { NULL, "{}", "unknown verb ''" }, { "step", "{", "request:1:" },
        { "step", "[]", "not an object" }, { "step", "{\"model\": \"depseek-v3\", \"on\": \"gb200-nvl72\"}", "deepseek-v3" },
        { "step", "{\"batchh\": 1}", "did you mean" }, { "eval", "{\"words\": \"nothing_at_all\"}", "nothing_at_all" },
        { "step", "{\"model\": \"/etc/hostname\", \"on\": \"h100-sxm\"}", "/etc/hostname" },
        { "simulate", "{\"words\": \"poisson:rate=1,count=2\", \"step-time\": \"1ms\", \"blocks\": 900, \"requests\": \"out.jsonl\"}",
          "out.jsonl" } };
    struct chalkline_library *library = chalkline_open(NULL);
    struct chalkline_answer *answer, *again;
    const char *good = "{\"model\": \"llama-3.1-8b\", \"on\": \"h100-sxm\", \"gpus\": 1}";
    assert_int_equal(chalkline_ask(library, "step", good, &answer), CHALKLINE_ANSWERED);
    for (size_t i = 0; i < COUNT(refused); i++) {
        assert_int_equal(chalkline_ask(library, refused[i].verb, refused[i].json, &again), CHALKLINE_REFUSED);
        if (!strstr(chalkline_json(again), refused[i].says))
            fail_msg("%s %s: %s", refused[i].verb, refused[i].json, chalkline_json(again));
        assert_string_equal(chalkline_text(again), "");
        chalkline_free(again);
        assert_int_equal(chalkline_ask(library, "step", good, &again), CHALKLINE_ANSWERED);
        assert_string_equal(chalkline_json(again), chalkline_json(answer));
        chalkline_free(again);
    }
    chalkline_free(answer);
    chalkline_close(library);
    chalkline_close(NULL);
    chalkline_free(NULL);
    assert_int_equal(access("out.jsonl", F_OK), -1);
    assert_non_null(strstr(chalkline_json(NULL), "out of memory"));
    assert_string_equal(chalkline_version(), CHALKLINE_VERSION);
}

/* A program may have set a locale with a decimal comma. */
static void figures_have_a_point_in_any_locale(void **state)
{
    (void)state;
    static const char body[] = "{\"words\": \"predicted_tpot\", \"model\": \"llama-3.1-8b\", \"on\": \"h100-sxm\", \"set\": {\"batch\": \"2.5\"}}";
    struct chalkline_library *library = chalkline_open(NULL);
    struct chalkline_answer *plain, *answer;
    char folder[] = "/tmp/chalkline-locale-XXXXXX", text[200];
    assert_int_equal(chalkline_ask(library, "eval", body, &plain), 0);
    assert_non_null(mkdtemp(folder));
    snprintf(text, sizeof text, "localedef -i de_DE -f UTF-8 %s/comma 2>/dev/null", folder);
    setenv("LOCPATH", folder, 1);
    const bool comma = !system(text) && setlocale(LC_ALL, "comma");
    if (!comma)
        print_message("skipped: needs localedef and the locale de_DE\n");
    snprintf(text, sizeof text, "rm -r %s", folder);
    assert_int_equal(system(text), 0);
    assert_int_equal(chalkline_ask(library, "eval", body, &answer), 0);
    assert_string_equal(chalkline_json(answer), chalkline_json(plain));
    assert_string_equal(chalkline_text(answer), chalkline_text(plain));
    struct chalkline_compiled *compiled;
    struct chalkline_error error;
    const double half = 0.5;
    double value;
    assert_int_equal(chalkline_compile(library, NULL, (const char *const[]){ "bound_step", NULL },
                                       (const char *const[]){ "batch", NULL }, &compiled, &error), 0);
    assert_int_equal(chalkline_run(compiled, (const double *const[]){ &half }, 1, (double *const[]){ &value }, NULL, &error),
                     CHALKLINE_REFUSED);
    assert_string_equal(error.what, "batch = 0.5 of point 0 is out of range");
    chalkline_compiled_free(compiled);
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, comma ? "1,5" : "1.5");       /* the program's is as it was */
    setlocale(LC_ALL, "C");
    chalkline_free(plain);
    chalkline_free(answer);
    chalkline_close(library);
}

/* ---- threads ------------------------------------------------------------------------------------ */

static const struct question { const char *verb, *json; } questions[] = {
    { "eval", "{\"words\": \"1+1\"}" }, { "find", "{\"words\": \"latency\", \"most\": 3}" },
    { "eval", "{\"words\": [\"bound_step\"], \"set\": {\"hbm_bandwidth\": \"3TB/s..5TB/s\"}}" },
    { "step", "{\"config\": {\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
              " \"intermediate_size\": 128, \"vocab_size\": 100}, \"on\": \"h100-sxm\", \"gpus\": 1}" },
    { "show", "{\"words\": \"h100-sxm\"}" }, { "lecture", "{\"words\": \"experts.two_racks\"}" },
    { "simulate", "{\"words\": \"poisson:rate=20,count=20,input=300,output=20\", \"blocks\": 1000, \"step-time\": \"10ms\","
                  " \"sweep\": \"time-scale=0.5..4\", \"points\": 3}" },
    { "curve", "{\"words\": [\"bound_step\", \"batch=1,2,4\"]}" }, { "quiz", "{\"count\": 1, \"seed\": 1}" },
    { "calibrate", "{\"words\": \"b.md\", \"model\": \"llama-3.1-8b\", \"on\": \"rtx-4090\", \"gpus\": 1, \"files\": {\"b.md\":"
                   " \"| model | size | params | backend | ngl | n_ubatch | test | t/s |\\n|-|-|-|-|-|-|-|-|\\n"
                   "| llama 8B Q8_0 | 7.95 GiB | 8.03 B | CUDA | 99 | 1024 | pp512 | 7340.20 |\\n\"}}" } };

struct worker {
    struct chalkline_library *library;
    struct chalkline_compiled *compiled;
    struct chalkline_server *server;
    const char *const *want;        /* of each question */
    double at, value, seconds;      /* of the rows and the step */
    bool same;
};

static void *work(void *context)
{
    struct worker *worker = context;
    static const struct chalkline_batch batch = { .sequences = 8, .decoding = 8, .decode_cached = 8000 };
    worker->same = true;
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < COUNT(questions); i++) {
            struct chalkline_answer *answer;
            chalkline_ask(worker->library, questions[i].verb, questions[i].json, &answer);
            worker->same &= !strcmp(chalkline_json(answer), worker->want[i]);
            chalkline_free(answer);
        }
        for (int i = 0; i < 100; i++) {
            double value, seconds = chalkline_step(worker->server, &batch, NULL);
            const double *const columns[] = { &worker->at };
            double *const values[] = { &value };
            worker->same &= !chalkline_run(worker->compiled, columns, 1, values, NULL, NULL);
            worker->same &= same_bits(value, worker->value) && same_bits(seconds, worker->seconds);
        }
    }
    return NULL;
}

static void eight_threads_need_no_lock(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    static const char *const rows[] = { "bound_step", NULL }, *const inputs[] = { "batch", NULL };
    struct worker all = { .library = chalkline_open(NULL), .at = 64 }, workers[THREADS];
    struct chalkline_answer *answers[COUNT(questions)];
    const char *want[COUNT(questions)];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < COUNT(questions); i++) {
        const int status = chalkline_ask(all.library, questions[i].verb, questions[i].json, &answers[i]);
        want[i] = chalkline_json(answers[i]);
        if (status != CHALKLINE_ANSWERED)
            fail_msg("%s %s: %s", questions[i].verb, questions[i].json, want[i]);
    }
    all.want = want;
    assert_int_equal(chalkline_compile(all.library, NULL, rows, inputs, &all.compiled, NULL), 0);
    assert_int_equal(chalkline_step_open(all.library, "{\"step-time\": \"1ms + 1us*tokens + 1ns*cached\", \"blocks\": 1000}",
                                         &all.server, NULL), 0);
    assert_int_equal(chalkline_run(all.compiled, (const double *const[]){ &all.at }, 1, (double *const[]){ &all.value }, NULL, NULL), 0);
    all.seconds = 1e-3 + 8e-6 + 8e-6;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = all;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(workers[i].same);
    }
    for (size_t i = 0; i < COUNT(questions); i++)
        chalkline_free(answers[i]);
    chalkline_compiled_free(all.compiled);
    chalkline_step_close(all.server);
    chalkline_close(all.library);
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* Ask with a library of its own; the status, or CHALKLINE_NO_MEMORY where it does not open. */
static int ask_alone(const struct question *question)
{
    struct chalkline_error error;
    struct chalkline_library *library = chalkline_open(&error);
    struct chalkline_answer *answer;
    if (!library) {
        assert_string_equal(error.what, "out of memory");
        return CHALKLINE_NO_MEMORY;
    }
    const int status = chalkline_ask(library, question->verb, question->json, &answer);
    assert_true(status == CHALKLINE_NO_MEMORY ? !answer : answer != NULL);
    chalkline_free(answer);
    chalkline_close(library);
    return status;
}

/* Every allocation of ten questions fails once; in a short run some of them. */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    for (size_t i = 0; i < COUNT(questions); i++) {
        const struct question *question = &questions[i];
        long calls, failed = 0, others = 0;
        asked = fail_at = 0;
        assert_int_equal(ask_alone(question), CHALKLINE_ANSWERED);
        calls = asked;
        const long stride = sample_only() ? 1 + calls / 10 : 1;
        for (long n = 1; n <= calls; n += stride) {
            const long before = taken;
            asked = 0;
            fail_at = n;
            const int status = ask_alone(question);
            fail_at = 0;
            if (taken != before)
                fail_msg("%s: %ld blocks are lost where allocation %ld of %ld fails", question->json, taken - before, n, calls);
            failed += status == CHALKLINE_NO_MEMORY;
            others += status == CHALKLINE_REFUSED;          /* jansson says that its text is wrong */
            assert_true(status != CHALKLINE_CANCELLED);
        }
        print_message("%s: %ld of %ld allocations: no memory %ld, refused %ld\n", question->verb, calls / stride, calls, failed, others);
        assert_true(failed > 0 && others <= failed);
    }
    json_set_alloc_funcs(malloc, free);
}

/* Three arenas use one chunk by turns: all of it, uncleared room within it, zeros up to its end. */
static void fill_by_turns(void *context)
{
    enum { ALL = 500000, ROOM = 300000 };
    size_t *const wrong = context;
    struct arena arenas[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        arena_alloc(&arenas[i], 1);
        char *memory = i == 1 ? arena_room(&arenas[i], ROOM) : arena_alloc(&arenas[i], ALL);
        for (size_t k = 0; i == 2 && k < ALL; k++)
            *wrong += memory[k] != 0;
        memset(memory, 0x55, i == 1 ? ROOM : ALL);
        arena_free(&arenas[i]);
    }
}

static void spare_memory_is_zeroed(void **state)
{
    (void)state;
    struct chunks *chunks = chunks_new(0);
    size_t wrong = 0;
    assert_int_equal(guarded(fill_by_turns, &wrong, chunks, NULL, NULL), ENDED);
    assert_int_equal(wrong, 0);
    chunks_free(chunks);
}

/* ---- progress ----------------------------------------------------------------------------------- */

struct watched {
    struct chalkline_library *library;
    int calls, until;               /* cancel at this call; 0: never */
    double most;                    /* share */
    bool inner;
    struct chalkline_answer *kept;  /* of the question that `watch` asked */
};

static int watch(void *context, double share)
{
    struct watched *watched = context;
    assert_false(watched->inner);                       /* its own question does not call it */
    watched->most = fmax(watched->most, share);
    assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    if (watched->calls == 3) {                          /* a question of its own */
        watched->inner = true;
        assert_int_equal(chalkline_ask(watched->library, "eval", "{\"words\": \"1+1\"}", &watched->kept), 0);
        watched->inner = false;
    }
    return ++watched->calls == watched->until;
}

static void progress_is_told_and_cancels(void **state)
{
    (void)state;
    static const struct question list[] = {
        { "simulate", "{\"words\": \"poisson:rate=50,count=5000\", \"blocks\": 1000, \"step-time\": \"10ms\"}" },
        { "plan", "{\"words\": \"qwen3-32b\", \"on\": \"h200-sxm\", \"gpus\": 8}" } };
    struct watched watched = { .library = chalkline_open(NULL) };
    struct chalkline_answer *answer, *quiet;
    for (size_t i = 0; i < COUNT(list); i++) {
        chalkline_progress(watched.library, NULL, NULL);
        assert_int_equal(chalkline_ask(watched.library, list[i].verb, list[i].json, &quiet), 0);
        chalkline_progress(watched.library, watch, &watched);
        watched = (struct watched){ .library = watched.library };
        assert_int_equal(chalkline_ask(watched.library, list[i].verb, list[i].json, &answer), 0);
        assert_string_equal(chalkline_json(answer), chalkline_json(quiet));
        assert_true(watched.calls > 10 && watched.most > 0.5 && watched.most <= 1);
        chalkline_free(answer);
        chalkline_free(quiet);
        chalkline_free(watched.kept);
        const int calls = watched.calls;
        for (int until = 1; until <= calls; until += 1 + calls / 7) {
            const long before = taken;
            watched = (struct watched){ .library = watched.library, .until = until };
            assert_int_equal(chalkline_ask(watched.library, list[i].verb, list[i].json, &answer), CHALKLINE_CANCELLED);
            assert_non_null(strstr(chalkline_json(answer), "cancelled"));
            chalkline_free(answer);
            if (until > 3)
                assert_non_null(strstr(chalkline_json(watched.kept), "\"value\": 2"));
            chalkline_free(watched.kept);
            assert_true(taken - before < 100);          /* memory for the next question is kept */
        }
    }
    chalkline_close(watched.library);
}

/* ---- rows over arrays ----------------------------------------------------------------------------- */

enum { POINTS = 100 };

static double figure(struct arena *arena, const char *json, const char *row, const char *key)
{
    struct error error;
    struct doc *doc;
    if (!json_read(arena, "answer", text_of(json), &doc, &error) || !doc_get(doc, row) || !doc_get(doc_get(doc, row), key))
        fail_msg("no %s of %s in %.500s", key, row, json);
    return doc_get(doc_get(doc, row), key)->number;
}

static void compiled_rows_have_the_bits_of_eval(void **state)
{
    (void)state;
    static const char *const rows[] = { "bound_step", "predicted_tpot", "chips * chip_price * bound_step", "predicted_ttft", NULL };
    static const char *const inputs[] = { "batch", "context", "hbm_bandwidth", NULL };
    static const char body[] = "{\"model\": \"llama-3.3-70b\", \"on\": \"h100-sxm\", \"gpus\": 4, \"tp\": 4, \"dp\": 1, \"pp\": 1, \"ep\": 1,"
                               " \"set\": {\"chunked_prefill_size\": 512%s}%s}";
    struct chalkline_library *library = chalkline_open(NULL);
    struct chalkline_compiled *compiled;
    struct chalkline_error error;
    struct arena arena = { 0 };
    double at[3][POINTS], y[4][POINTS], slope[12][POINTS], low[4][POINTS], high[4][POINTS];
    const double *columns[] = { at[0], at[1], at[2] };
    double *values[4], *slopes[12], *lows[4], *highs[4];
    uint64_t seed = 1;
    for (int i = 0; i < 12; i++)
        slopes[i] = slope[i];
    for (int j = 0; j < 4; j++)
        values[j] = y[j], lows[j] = low[j], highs[j] = high[j];
    for (int k = 0; k < POINTS; k++) {
        at[0][k] = 2 + floor(exp2(7 * draw(&seed)));
        at[1][k] = floor(exp2(draw_in(&seed, 8, 14)));
        at[2][k] = draw_in(&seed, 2e12, 5e12);
    }
    if (chalkline_compile(library, arena_print(&arena, body, "", ""), rows, inputs, &compiled, &error))
        fail_msg("%s; %s", error.what, error.hint);
    assert_int_equal(chalkline_run(compiled, columns, POINTS, values, slopes, &error), 0);
    for (int k = 0; k < POINTS; k += sample_only() ? 20 : 5) {
        struct chalkline_answer *answer;
        const char *ask = arena_print(&arena, body,
            arena_print(&arena, ", \"batch\": %.17g, \"context\": %.17g, \"hbm_bandwidth\": %.17g", at[0][k], at[1][k], at[2][k]),
            arena_print(&arena, ", \"words\": [\"%s\", \"%s\", \"%s\", \"%s\"]", rows[0], rows[1], rows[2], rows[3]));
        assert_true(chalkline_ask(library, "eval", ask, &answer) <= CHALKLINE_INFEASIBLE);
        for (int j = 0; j < 4; j++)
            if (!same_bits(figure(&arena, chalkline_json(answer), rows[j], "value"), y[j][k]))
                fail_msg("%s: %.17g, by eval %.17g: %s", rows[j], y[j][k], figure(&arena, chalkline_json(answer), rows[j], "value"), ask);
        chalkline_free(answer);
    }
    /* Slopes beside central differences, but at a kink, where those of the two sides differ. */
    size_t compared = 0;
    for (int i = 0; i < 3; i++) {
        double near[2][POINTS], beside[2][4][POINTS];
        for (int side = 0; side < 2; side++) {
            const double *moved[] = { at[0], at[1], at[2] };
            for (int k = 0; k < POINTS; k++)
                near[side][k] = at[i][k] * (side ? 1 + 1e-5 : 1 - 1e-5);
            moved[i] = near[side];
            assert_int_equal(chalkline_run(compiled, moved, POINTS, (double *const[]){ beside[side][0], beside[side][1],
                                           beside[side][2], beside[side][3] }, NULL, NULL), 0);
        }
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < POINTS; k++) {
                const double step = 1e-5 * at[i][k], up = (beside[1][j][k] - y[j][k]) / step, down = (y[j][k] - beside[0][j][k]) / step;
                const double scale = fabs(y[j][k]) / at[i][k];          /* a slope of 1 per cent for 1 per cent */
                if (fabs(up - down) > 1e-3 * scale)
                    continue;
                compared++;
                if (fabs(slope[3 * j + i][k] - (up + down) / 2) > 1e-4 * scale)
                    fail_msg("%s by %s: %.17g, by differences %.17g", rows[j], inputs[i], slope[3 * j + i][k], (up + down) / 2);
            }
    }
    assert_true(compared > 11 * POINTS);
    /* A box of the first two points, in which the others between them lie. */
    const double ends[2][3] = { { 8, 1000, 3e12 }, { 32, 4000, 4e12 } };
    assert_int_equal(chalkline_intervals(compiled, (const double *const[]){ &ends[0][0], &ends[0][1], &ends[0][2] },
                                         (const double *const[]){ &ends[1][0], &ends[1][1], &ends[1][2] }, 1, lows, highs, NULL), 0);
    for (int k = 0; k < POINTS; k++) {
        bool inside = true;
        for (int i = 0; i < 3; i++)
            inside &= at[i][k] >= ends[0][i] && at[i][k] <= ends[1][i];
        for (int j = 0; j < 4 && inside; j++)
            assert_true(low[j][0] <= y[j][k] && y[j][k] <= high[j][0]);
    }
    /* What is out of range is refused, and nothing is written. */
    at[2][POINTS - 1] = -1;
    memset(y[0], 0, sizeof y[0]);
    assert_int_equal(chalkline_run(compiled, columns, POINTS, values, NULL, &error), CHALKLINE_REFUSED);
    assert_non_null(strstr(error.what, "hbm_bandwidth = -1 of point 99 is out of range"));
    assert_true(y[0][0] == 0);
    chalkline_compiled_free(compiled);
    chalkline_close(library);
    arena_free(&arena);
}

/* A range of the body bounds the rows as `eval` does, and what cannot be compiled says why. */
static void bodies_of_rows(void **state)
{
    (void)state;
    static const char body[] = "{\"set\": {\"hbm_bandwidth\": \"3TB/s..5TB/s\"}, \"words\": \"bound_step\", \"batch\": 64}";
    static const struct { const char *json, *row, *input, *says; } refused[] = {
        { "{}", "bound_step", "batchh", "batchh" }, { "{}", "bound_stepp", "batch", "bound_step" },
        { "{\"batch\": 3}", "bound_step", "batch", "'batch' is both an input and set by --batch" },
        { "{}", "context_over_crossover", "chip_price", "'chip_price' has no effect on context_over_crossover" },
        { "{\"on\": \"nowhere\"}", "bound_step", "batch", "nowhere" }, { "{]", "bound_step", "batch", "request:1:" } };
    struct chalkline_library *library = chalkline_open(NULL);
    struct chalkline_compiled *compiled;
    struct chalkline_answer *answer;
    struct chalkline_error error;
    struct arena arena = { 0 };
    const double context = 3000;
    double low, high;
    const char *rows[] = { "bound_step", NULL }, *inputs[] = { "context", NULL, NULL };
    assert_int_equal(chalkline_compile(library, body, rows, inputs, &compiled, &error), 0);
    assert_int_equal(chalkline_intervals(compiled, (const double *const[]){ &context }, (const double *const[]){ &context }, 1,
                                         (double *const[]){ &low }, (double *const[]){ &high }, NULL), 0);
    assert_int_equal(chalkline_ask(library, "eval", "{\"set\": {\"hbm_bandwidth\": \"3TB/s..5TB/s\", \"context\": 3000},"
                                   " \"words\": \"bound_step\", \"batch\": 64}", &answer), 0);
    struct doc *doc;
    struct error ignored;
    assert_true(json_read(&arena, "answer", text_of(chalkline_json(answer)), &doc, &ignored));
    const struct doc *range = doc_get(doc_get(doc, "bound_step"), "range");
    assert_true(low < high && range->first->number == low && range->last->number == high);
    chalkline_free(answer);
    /* Ends that no interval proves are those of the corners: a time that grows with the arrivals. */
    double ends[3];
    static const char *const sets[] = { "1/s", "4/s", "1/s..4/s" };
    for (size_t i = 0; i < COUNT(sets); i++) {
        assert_int_equal(chalkline_ask(library, "eval", arena_print(&arena, "{\"words\": \"predicted_tpot\", \"model\": \"llama-3.1-8b\","
            " \"on\": \"h100-sxm\", \"gpus\": 1, \"replicas\": 1, \"set\": {\"arrival_rate\": \"%s\"}}", sets[i]), &answer), 0);
        assert_true(json_read(&arena, "answer", text_of(chalkline_json(answer)), &doc, &ignored));
        const struct doc *tpot = doc_get(doc, "predicted_tpot");
        ends[i] = doc_get(tpot, "value")->number;
        range = doc_get(tpot, "range");
        assert_true(i < 2 || (range->first->number == ends[0] && range->last->number == ends[1] &&
                              !strcmp(doc_get(tpot, "range_kind")->string, "seen")));
        chalkline_free(answer);
    }
    const double less = 2999.5;
    low = high = 0;
    assert_int_equal(chalkline_intervals(compiled, (const double *const[]){ &context }, (const double *const[]){ &less }, 1,
                                         (double *const[]){ &low }, (double *const[]){ &high }, &error), CHALKLINE_REFUSED);
    assert_string_equal(error.what, "context = 3000 to 2999.5 of point 0 has its low end above its high end");
    assert_true(low == 0 && high == 0);
    chalkline_compiled_free(compiled);
    inputs[1] = inputs[0];
    assert_int_equal(chalkline_compile(library, NULL, rows, inputs, &compiled, &error), CHALKLINE_REFUSED);
    assert_string_equal(error.what, "'context' is an input twice");
    assert_int_equal(chalkline_compile(library, NULL, NULL, NULL, &compiled, &error), CHALKLINE_REFUSED);
    assert_string_equal(error.what, "0 rows are asked for");
    inputs[1] = NULL;
    for (size_t i = 0; i < COUNT(refused); i++) {
        rows[0] = refused[i].row, inputs[0] = refused[i].input;
        assert_int_equal(chalkline_compile(library, refused[i].json, rows, inputs, &compiled, &error), CHALKLINE_REFUSED);
        assert_null(compiled);
        if (!strstr(error.what, refused[i].says) && !strstr(error.hint, refused[i].says))
            fail_msg("%s of %s: %s; %s", refused[i].row, refused[i].input, error.what, error.hint);
    }
    chalkline_compiled_free(NULL);
    chalkline_close(library);
    arena_free(&arena);
}

/* ---- the time of a step ------------------------------------------------------------------------------ */

static double first_of(struct arena *arena, const char *json, const char *key)
{
    struct doc *doc;
    struct error error;
    assert_true(json_read(arena, "answer", text_of(json), &doc, &error));
    const struct doc *list = doc_get(doc, key);
    assert_true(list && list->first && list->first->kind == DOC_NUMBER);
    return list->first->number;
}

/* The parts of a step add up to it, and step-time has the same. */
static void parts_add_up(struct arena *arena, const struct chalkline_server *server, const struct chalkline_batch *batch,
                         const char *json, double seconds)
{
    enum { MOST = 40 };
    struct chalkline_part parts[MOST], first;
    const size_t count = chalkline_step_parts(server, batch, parts, MOST);
    double sum = 0;
    struct doc *doc;
    struct error error;
    assert_true(count > 5 && count <= MOST);
    assert_int_equal(chalkline_step_parts(server, batch, &first, 1), count);
    assert_true(first.name == parts[0].name && first.seconds == parts[0].seconds);
    assert_true(json_read(arena, "the answer", text_of(json), &doc, &error));
    for (size_t i = 0; i < count; i++) {
        sum += parts[i].seconds;
        assert_true(!i || fabs(parts[i].seconds) <= fabs(parts[i - 1].seconds));
        assert_true(doc_get(doc_get(doc, "parts"), parts[i].name)->first->number == parts[i].seconds);
    }
    assert_true(fabs(sum - seconds) <= 1e-12 * seconds);
}

static void steps_have_the_time_of_their_row(void **state)
{
    (void)state;
    static const char *const ends[] = { "seconds", "low", "high" };
    static const struct { double decodes, context, prompt, done; } list[] = {
        { 1, 1000, 0, 0 }, { 64, 1032, 0, 0 }, { 0, 1, 512, 0 }, { 32, 2000, 256, 1024 } };
    struct chalkline_library *library = chalkline_open(NULL);
    struct chalkline_server *server;
    struct chalkline_error error;
    struct chalkline_answer *answer;
    struct arena arena = { 0 };
    if (chalkline_step_open(library, "{\"model\": \"llama-3.1-8b\", \"on\": \"h100-sxm\", \"gpus\": 1}", &server, &error))
        fail_msg("%s; %s", error.what, error.hint);
    for (size_t i = 0; i < COUNT(list); i++) {
        struct chalkline_batch batch = { 0 };
        double interval[2];
        for (int k = 0; k < list[i].decodes; k++)
            chalkline_batch_add(&batch, 1, list[i].context, 1);
        if (list[i].prompt > 0)
            chalkline_batch_add(&batch, list[i].prompt, list[i].done, 0);
        const double seconds = chalkline_step(server, &batch, interval);
        const char *ask = arena_print(&arena, "{\"words\": \"simulated_step\", \"model\": \"llama-3.1-8b\", \"on\": \"h100-sxm\", \"gpus\": 1,"
            " \"set\": {\"rank_running\": %g, \"context\": %g, \"prefill_chunk\": %g, \"prefill_done\": %g,"
            " \"prompts_begun\": %g}}", list[i].decodes, list[i].context, list[i].prompt, list[i].done, batch.begun);
        assert_true(chalkline_ask(library, "eval", ask, &answer) <= CHALKLINE_INFEASIBLE);
        if (seconds != figure(&arena, chalkline_json(answer), "simulated_step", "value"))
            fail_msg("%.17g, by eval %.17g: %s", seconds, figure(&arena, chalkline_json(answer), "simulated_step", "value"), ask);
        assert_true(interval[0] < seconds && seconds < interval[1]);
        chalkline_free(answer);
        ask = arena_print(&arena, "{\"words\": \"b.csv\", \"model\": \"llama-3.1-8b\", \"on\": \"h100-sxm\", \"gpus\": 1,"
            " \"parts\": true, \"files\": {\"b.csv\": \"decoding,decode_cached,prompt,prompt_cached\\n%g,%g,%g,%g\\n\"}}", list[i].decodes,
            list[i].decodes * list[i].context, list[i].prompt, list[i].done);
        assert_int_equal(chalkline_ask(library, "step-time", ask, &answer), CHALKLINE_ANSWERED);
        for (int k = 0; k < 3; k++)
            assert_true(first_of(&arena, chalkline_json(answer), ends[k]) == (k ? interval[k - 1] : seconds));
        parts_add_up(&arena, server, &batch, chalkline_json(answer), seconds);
        batch.prompt_pairs = i % 3 > 1 ? INFINITY : i % 2 ? NAN : -1;
        assert_true(isnan(chalkline_step(server, &batch, interval)) && isnan(interval[0]) && isnan(interval[1]));
        assert_int_equal(chalkline_step_parts(server, &batch, NULL, 0), 0);
        chalkline_free(answer);
    }
    chalkline_step_close(server);
    assert_int_equal(chalkline_step_open(library, "{\"model\": \"llama-3.1-8b\"}", &server, &error), CHALKLINE_REFUSED);
    assert_non_null(strstr(error.what, "simulate needs a step time"));
    chalkline_step_close(server);
    chalkline_close(library);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_questions_leave_the_library_usable),
        cmocka_unit_test(figures_have_a_point_in_any_locale),
        cmocka_unit_test(eight_threads_need_no_lock),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(spare_memory_is_zeroed),
        cmocka_unit_test(progress_is_told_and_cancels),
        cmocka_unit_test(compiled_rows_have_the_bits_of_eval),
        cmocka_unit_test(bodies_of_rows),
        cmocka_unit_test(steps_have_the_time_of_their_row),
        cmocka_unit_test(drawn_questions_have_the_bytes_of_the_command_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
