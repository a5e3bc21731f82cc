/* step-time: the time of each batch of a sheet, by the function that `simulate` calls for each step. */
#include "ask/ask.h"
#include "ask/simulate/simulate.h"
#include "scenario/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool step_times_ends(const struct simulate *simulate, double ends[STEP_TIMES], struct error *error)
{
    ends[STEP_TIME] = ends[STEP_LOW] = ends[STEP_HIGH] = 0;
    return !simulate->predicted || command_given(simulate->command, "step-time") ||
           simulate_band_ends(simulate, &ends[STEP_LOW], error);
}

void step_times_open(struct arena *arena, const struct simulate *simulate, const double ends[STEP_TIMES], struct step_times *times)
{
    for (int i = 0; i < STEP_TIMES; i++)
        times->at[i] = simulate_own(arena, &simulate->options.server, ends[i]);
}

void step_times_of(const struct step_times *times, const struct sim_step *step, double seconds[], int count)
{
    for (int i = 0; i < count; i++)
        seconds[i] = times->at[i].seconds(times->at[i].context, step);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The columns of sums. Those that a sheet lacks follow from the others: of one prompt, if it has prompt tokens. */
enum { DECODING, DECODE_CACHED, DRAFTS, PROMPT, PROMPT_CACHED, PROMPT_PAIRS, PROMPTS, BEGUN, IMBALANCE, SUMS };
static const char *const sums[SUMS] = { "decoding", "decode_cached", "drafts", "prompt", "prompt_cached", "prompt_pairs",
                                        "prompts", "begun", "imbalance" };
static const char batch_form[] = "tokens@cached of each sequence, such as 8*1@2000 512@0; 1@511p is the end of a prompt";

static const char *const step_time_keys[STEP_TIMES] = { "seconds", "low", "high" };

struct batches {
    struct arena *arena;
    const char *file;
    struct csv csv;                 /* empty: it was JSON */
    struct sim_step *steps;
    size_t count, room;
    const char **names;             /* of the columns that the answer adds: times, and parts of them */
    double (*times)[STEP_TIMES], **parts;
    size_t part_count;
    struct error *error;
};

static struct sim_step *add_batch(struct batches *all)
{
    struct sim_step *step = arena_push(all->arena, &all->steps, &all->count, &all->room, sizeof *step);
    *step = (struct sim_step){ 0 };
    return step;
}

static bool refuse(struct batches *all, size_t at, const char *what, const char *accepted)
{
    if (all->csv.rows)
        error_set(all->error, "%s:%d: %.80s", all->file, all->csv.lines[at], what);
    else
        error_set(all->error, "%s: batch %zu: %.80s", all->file, at + 1, what);
    return error_expected(all->error, "%s", accepted);
}

static bool refuse_column(struct batches *all, const char *name)
{
    error_set(all->error, "%s: it has a column %s, which is of the answer", all->file, name);
    return error_expected(all->error, "another name for it");
}

static bool sizes_fit(double tokens, double cached)
{
    return tokens >= 1 && tokens <= 1e9 && cached >= 0 && cached <= 1e9;
}

/* One sequence decodes if it has tokens in its cache and processes one: the others are parts of prompts. */
static void add_sequence(struct sim_step *step, double tokens, double cached, bool prompt)
{
    sim_step_add(step, tokens, cached, !prompt && tokens == 1 && cached > 0);
}

/* "8*1@2000 512@0 1@511p" */
static bool read_list(struct batches *all, struct sim_step *step, const char *list)
{
    enum { MOST = 1000000 };
    for (const char *at = list; *(at += strspn(at, " ")); ) {
        double count = 1, tokens, cached;
        int size = 0, part = 0;
        if (sscanf(at, "%lf*%n", &count, &part) != 1 || !part)
            count = 1, part = 0;
        if (sscanf(at + part, "%lf@%lf%n", &tokens, &cached, &size) != 2 || !size)
            return refuse(all, all->count - 1, arena_print(all->arena, "invalid sequence '%.40s'", at), batch_form);
        at += part + size;
        const bool prompt = *at == 'p';
        at += prompt;
        if ((*at && *at != ' ') || !(count >= 1 && count <= MOST && count == floor(count)) || !sizes_fit(tokens, cached))
            return refuse(all, all->count - 1, arena_print(all->arena, "invalid sequences '%.40s'", list), batch_form);
        for (double i = 0; i < count; i++)
            add_sequence(step, tokens, cached, prompt);
    }
    return step->sequences > 0 || refuse(all, all->count - 1, "no sequence", batch_form);
}

static bool read_sums(struct batches *all, struct sim_step *step, size_t row, const int *columns)
{
    double at[SUMS];
    for (int i = 0; i < SUMS; i++) {
        const char *cell = csv_cell(&all->csv, row, columns[i]);
        at[i] = NAN;
        if (*cell && !(text_number(text_of(cell), &at[i]) && at[i] >= 0 && at[i] <= 1e15))
            return refuse(all, row, arena_print(all->arena, "%s '%s'", sums[i], cell), "a number that is 0 or more");
    }
    const double prompts = isnan(at[PROMPTS]) ? at[PROMPT] > 0 : at[PROMPTS];
    *step = (struct sim_step){
        .decoding = fmax(at[DECODING], 0), .decode_cached = fmax(at[DECODE_CACHED], 0), .drafts = fmax(at[DRAFTS], 0),
        .prompt = fmax(at[PROMPT], 0), .prompt_cached = fmax(at[PROMPT_CACHED], 0), .imbalance = fmax(at[IMBALANCE], 0) };
    step->sequences = step->decoding + prompts;
    step->begun = isnan(at[BEGUN]) ? step->prompt_cached > 0 ? 0 : prompts : at[BEGUN];
    if ((step->decode_cached > 0 && !(step->decoding > 0)) || (step->prompt > 0 && !(prompts > 0)))
        return refuse(all, row, "tokens of no sequence", "decoding above 0 with decode_cached, prompts above 0 with prompt");
    if (prompts > 1 && (isnan(at[PROMPT_PAIRS]) || (isnan(at[BEGUN]) && step->prompt_cached > 0)))
        return refuse(all, row, "prompt_pairs and begun are needed where prompts is above 1",
                      "prompt_pairs: of each prompt its tokens x (those before them + half of them), added up; begun: how many begin");
    step->prompt_pairs = isnan(at[PROMPT_PAIRS]) ? step->prompt * (step->prompt_cached + step->prompt / 2) : at[PROMPT_PAIRS];
    return step->sequences > 0 || refuse(all, row, "no sequence", "decoding, or prompt, above 0");
}

static bool read_sheet(struct batches *all, struct text text)
{
    int columns[SUMS], some = 0;
    if (!csv_read(all->arena, all->file, text, &all->csv, all->error))
        return false;
    const int list = csv_column(&all->csv, "sequences");
    for (int i = 0; i < SUMS; i++)
        some += (columns[i] = csv_column(&all->csv, sums[i])) >= 0;
    if (list < 0 && columns[DECODING] < 0 && columns[PROMPT] < 0) {
        error_set(all->error, "%s: no column says what is in a batch", all->file);
        return error_expected(all->error, "`sequences` (%s), or sums: decoding, decode_cached, prompt, ...", batch_form);
    }
    for (int k = 0; k < STEP_TIMES; k++)
        if (csv_column(&all->csv, step_time_keys[k]) >= 0)
            return refuse_column(all, step_time_keys[k]);
    if (list >= 0 && some) {
        error_set(all->error, "%s: both `sequences` and sums of them", all->file);
        return error_expected(all->error, "one of them");
    }
    for (size_t row = 0; row < all->csv.rows; row++) {
        struct sim_step *step = add_batch(all);
        if (list >= 0 ? !read_list(all, step, csv_cell(&all->csv, row, list)) : !read_sums(all, step, row, columns))
            return false;
    }
    return true;
}

/* [[[1, 2000], [512, 0], [1, 511, "prompt"]], ...] */
static bool read_json(struct batches *all, struct text text)
{
    static const char accepted[] = "[[tokens, cached], [tokens, cached, \"prompt\"], ...] of each batch";
    struct doc *doc;
    if (!json_read(all->arena, all->file, text, &doc, all->error))
        return false;
    for (const struct doc *batch = doc->first; batch; batch = batch->next) {
        struct sim_step *step = add_batch(all);
        for (const struct doc *one = batch->kind == DOC_ARRAY ? batch->first : NULL; one; one = one->next) {
            const struct doc *tokens = one->kind == DOC_ARRAY ? one->first : NULL, *cached = tokens ? tokens->next : NULL;
            const struct doc *word = cached ? cached->next : NULL;
            if (!cached || tokens->kind != DOC_NUMBER || cached->kind != DOC_NUMBER ||
                !sizes_fit(tokens->number, cached->number) || (word && (word->kind != DOC_STRING || strcmp(word->string, "prompt") || word->next)))
                return refuse(all, all->count - 1, "an invalid sequence", accepted);
            add_sequence(step, tokens->number, cached->number, word);
        }
        if (!(step->sequences > 0))
            return refuse(all, all->count - 1, "no sequence", accepted);
    }
    return true;
}

static bool batches_read(struct batches *all)
{
    enum { LIMIT = 256 << 20 };
    struct text text;
    if (!file_read(all->arena, all->file, LIMIT, &text, all->error))
        return false;
    const bool json = text.size && text.data[strspn(text.data, " \t\r\n")] == '[';
    return json ? read_json(all, text) : read_sheet(all, text);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The columns of the sheet, then the times and their parts. */
static void add_lines(const struct batches *all, struct buffer *out)
{
    const size_t added = STEP_TIMES + all->part_count;
    for (size_t i = 0; i <= all->count; i++) {              /* the header first */
        for (size_t j = 0; j < all->csv.columns; j++) {
            csv_write_cell(out, csv_at(&all->csv, i * all->csv.columns + j));
            buffer_print(out, ",");
        }
        if (!all->csv.columns)
            buffer_print(out, i ? "%zu," : "batch,", i);
        for (size_t k = 0; k < added; k++) {
            if (!i)
                buffer_print(out, "%s", all->names[k]);
            else
                buffer_number(out, k < STEP_TIMES ? all->times[i - 1][k] : all->parts[k - STEP_TIMES][i - 1]);
            buffer_print(out, k + 1 < added ? "," : "\n");
        }
    }
}

/* Where the time of each batch goes, by rows: seconds that add up to it. A row takes time in some batch. */
static bool find_parts(struct batches *all, const struct simulate *simulate)
{
    struct step_parts *parts;
    struct arena scratch = arena_beside(all->arena);
    const size_t row_count = simulate->scenario.formulas.count;
    double **of_row = arena_array(all->arena, row_count + 1, sizeof *of_row);
    if (!simulate_parts_open(simulate, &parts, all->error))
        return false;
    if (!parts) {
        error_set(all->error, "--parts: a formula has no parts");
        return error_expected(all->error, "--model MODEL --on HARDWARE in place of --step-time");
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct breakdown found = simulate_parts_of(&scratch, parts, &all->steps[i]);
        for (size_t k = 0; k < found.count; k++) {
            double **seconds = &of_row[found.at[k].row];
            if (!*seconds)
                *seconds = arena_array(all->arena, all->count, sizeof **seconds);
            (*seconds)[i] = found.at[k].value;
        }
        arena_free(&scratch);
    }
    for (size_t row = 0; row < row_count; row++) {
        const char *name = row_name(formulas_row(&simulate->scenario.formulas, row));
        if (!of_row[row])
            continue;
        if (csv_column(&all->csv, name) >= 0)
            return refuse_column(all, name);
        all->names[STEP_TIMES + all->part_count] = name;
        all->parts[all->part_count++] = of_row[row];
    }
    return true;
}

static void add_numbers(const struct batches *all, size_t column, struct doc *list)
{
    for (size_t i = 0; i < all->count; i++)
        doc_add_number(all->arena, list, NULL, column < STEP_TIMES ? all->times[i][column] : all->parts[column - STEP_TIMES][i]);
}

/* The times, and of which replica they are. */
static void add_document(const struct batches *all, const struct simulate *simulate, struct doc *doc)
{
    struct arena *arena = all->arena;
    struct answer notes = { .doc = doc, .text = { .arena = arena } };       /* a sheet has no place for them */
    for (size_t k = 0; k < STEP_TIMES; k++)
        add_numbers(all, k, doc_add(arena, doc, all->names[k], DOC_ARRAY));
    if (all->part_count) {
        struct doc *parts = doc_add(arena, doc, "parts", DOC_OBJECT);
        for (size_t k = STEP_TIMES; k < STEP_TIMES + all->part_count; k++)
            add_numbers(all, k, doc_add(arena, parts, all->names[k], DOC_ARRAY));
    }
    const struct sim_server *server = &simulate->options.server;
    const struct { const char *name; size_t value; } sizes[] = {
        { "blocks", server->blocks }, { "block", server->block }, { "max_seqs", server->max_num_seqs },
        { "ranks", server->ranks ? server->ranks : 1 }, { "stages", server->stages ? server->stages : 1 } };
    struct doc *settings = doc_add(arena, doc, "settings", DOC_OBJECT);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        doc_add_number(arena, settings, sizes[i].name, (double)sizes[i].value);
    if (simulate->predicted)
        scenario_notes(&simulate->scenario, &notes);
}

static bool ask_step_time(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct batches all = { .arena = arena, .error = error };
    struct command traffic = *command;
    struct simulate simulate;
    struct step_times stepper;
    double ends[STEP_TIMES];
    const char *words[] = { "poisson:rate=1,count=1" };
    if (command->word_count != 1) {
        error_set(error, command->word_count ? "step-time takes one file, %zu were given" : "step-time needs a file of batches",
                  command->word_count);
        return error_expected(error, "a CSV with a row a batch: `sequences`, or decoding, decode_cached, prompt, ...");
    }
    if (!command_given(command, "step-time") && !(command_given(command, "model") && command_given(command, "on"))) {
        error_set(error, "step-time needs a model and a machine");
        return error_expected(error, "--model MODEL --on HARDWARE --gpus N");
    }
    all.file = command->words[0];
    traffic.verb = &verb_simulate;
    traffic.words = words;
    if (!batches_read(&all) || !simulate_read(arena, &traffic, &simulate, error) || !step_times_ends(&simulate, ends, error))
        return false;
    step_times_open(arena, &simulate, ends, &stepper);
    all.times = arena_array(arena, all.count + 1, sizeof *all.times);
    for (size_t i = 0; i < all.count; i++)
        step_times_of(&stepper, &all.steps[i], all.times[i], STEP_TIMES);
    const size_t most = STEP_TIMES + simulate.scenario.formulas.count;
    all.names = arena_array(arena, most, sizeof *all.names);
    all.parts = arena_array(arena, most, sizeof *all.parts);
    memcpy(all.names, step_time_keys, sizeof step_time_keys);
    if (command_given(command, "parts") && !find_parts(&all, &simulate))
        return false;
    add_lines(&all, &answer->text);
    add_lines(&all, &answer->csv);
    if (answer->doc)
        add_document(&all, &simulate, answer->doc);
    return true;
}

static const struct option parts_list[] = {
    { "parts", NULL, OPTION_SWITCH, .help = "also where the time goes: a column per row, in seconds" },
    { 0 } };
static const struct option_group parts_options = { "Answer", parts_list };

const struct verb verb_step_time = {
    "step-time", "FILE", "Predict the step time of each batch in a file, with the function that simulate uses.",
    { "chalkline step-time mine.csv --model llama-3.1-8b --on h100-sxm --gpus 1",
      "chalkline step-time mine.json --model qwen3-32b --on h200-sxm --gpus 2 --json" },
    { &parts_options, &simulate_server_options, &layout_options, &model_options, &machine_options, &weight_options, &cache_options, &engine_options,
      &calibration_options, &assume_options, &row_options, &output_options },
    .ask = ask_step_time, .own_on = true };
