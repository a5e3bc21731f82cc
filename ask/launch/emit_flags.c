/* What an engine is told: rows of data/flags.csv in the scenario of a deployment.
 *
 *     --tp-size               a flag                      --tp-size 8
 *     --config.a, --config.b  one flag that takes JSON    --config '{"a": 1, "b": 2}'
 *     a.b                     a key of the engine's file  a: {b: 1}
 *     (no name)               a word that stands alone */
#include "ask/launch/launch.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FILE_NAME "data/flags.csv"

const char *const emit_roles[EMIT_ROLES] = { "together", "prefill", "decode", "router" };

/* ---- the sheet --------------------------------------------------------------------------- */

void emit_read_flags(struct emit *emit)
{
    static const char *const names[] = { "name", "form", "takes", "value", "when", "role",
                                         "default", "source", "date", "note" };
    enum { NAMES = sizeof names / sizeof *names };
    const struct csv *csv = csv_built_in(FILE_NAME);
    int engine = csv_column(csv, "engine");
    for (size_t r = 0; r < csv->rows; r++) {
        const char *cells[NAMES];
        for (int i = 0; i < NAMES; i++)
            cells[i] = csv_cell(csv, r, csv_column(csv, names[i]));
        if (strcmp(csv_cell(csv, r, engine), emit->engine))
            continue;
        *(struct emit_flag *)arena_push(emit->arena, &emit->flags, &emit->flag_count,
                                        &emit->flag_room, sizeof *emit->flags) =
            (struct emit_flag){ cells[0], cells[1], cells[2], cells[3], cells[4], cells[5],
                                cells[6], cells[7], cells[8], cells[9] };
    }
}

/* Is a word in a list with spaces? */
static bool has_word(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length == size && !memcmp(at, word, size))
            return true;
        at += length;
    }
    return false;
}

const struct emit_flag *emit_about(const struct emit *emit, const char *name, const char *family)
{
    for (size_t i = 0; i < emit->flag_count; i++) {
        const struct emit_flag *flag = &emit->flags[i];
        bool fits = !*flag->takes || !family || has_word(flag->takes, family);
        if (!strcmp(flag->form, "about") && !strcmp(flag->name, name) && fits)
            return flag;
    }
    return NULL;
}

/* ---- rows of a pool ---------------------------------------------------------------------- */

static bool takes_row(const struct emit_flag *flag)
{
    return !strcmp(flag->form, "count") || !strcmp(flag->form, "share") ||
           !strcmp(flag->form, "need");
}

/* Conditions that no row decides. */
static bool is_place_word(const char *word, size_t size)
{
    static const char *const words[] = { "first", "others", "parts", "nodes", "ranks" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == size && !memcmp(words[i], word, size))
            return true;
    return size > 6 && !memcmp(word, "given:", 6);
}

/* The row among the conditions; NULL: none. */
static const char *condition_row(const struct emit *emit, const struct emit_flag *flag)
{
    for (const char *at = flag->when; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (!is_place_word(at, size))
            return arena_copy(emit->arena, at, size);
        at += size;
    }
    return NULL;
}

/* A server for prompts has sizes of its own. */
static const char *text_at(const struct emit *emit, enum emit_role role, const char *row)
{
    if (role != EMIT_PREFILL)
        return row;
    return arena_print(emit->arena, "AT(%s, chips = prefill_chips, attention_dp = "
                       "prefill_attention_dp, pipeline_parallel = prefill_pipeline_parallel, "
                       "expert_parallel = prefill_expert_parallel)", row);
}

/* "--set attention_dp=1" of a pool for prompts: "--set prefill_attention_dp=1". */
static const char *way_of(const struct emit *emit, enum emit_role role, const char *text)
{
    static const char set[] = "--set ";
    if (role != EMIT_PREFILL || strncmp(text, set, strlen(set)))
        return text;
    return arena_print(emit->arena, "%sprefill_%s", set, text + strlen(set));
}

/* Of a pool: sizes, what its flags take (a switch: whether it is on), what its servers need. */
bool emit_values(struct emit *emit, enum emit_role role, const char **reason,
                 const char **way_out, struct error *error)
{
    static const char *const sizes[] = { NAME_chips, NAME_launch_rank_chips,
                                         NAME_attention_dp };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct emit_pool *pool = &emit->pool[role];
    const size_t count = SIZES + 2 * emit->flag_count;
    const char **texts = arena_array(emit->arena, count, sizeof *texts);
    struct values values;
    for (int i = 0; i < SIZES; i++)
        texts[i] = text_at(emit, role, sizes[i]);
    for (size_t i = 0; i < emit->flag_count; i++) {
        const struct emit_flag *flag = &emit->flags[i];
        const char *when = condition_row(emit, flag);
        texts[SIZES + 2 * i] = takes_row(flag) ? text_at(emit, role, flag->takes) : "1";
        texts[SIZES + 2 * i + 1] = when ? text_at(emit, role, when) : "1";
    }
    if (!values_of(&emit->launch->scenario, texts, count, &values, error))
        return false;
    pool->chips = values.at[0], pool->rank_chips = values.at[1], pool->ranks = values.at[2];
    pool->values = arena_array(emit->arena, emit->flag_count, sizeof *pool->values);
    for (size_t i = 0; i < emit->flag_count; i++) {
        const double value = values.at[SIZES + 2 * i];
        pool->values[i] = values.at[SIZES + 2 * i + 1] > 0 ? value : NAN;
        if (!strcmp(emit->flags[i].form, "need") && !(value > 0) && !*reason)
            *reason = emit->flags[i].value, *way_out = way_of(emit, role, emit->flags[i].note);
    }
    return true;
}

/* ---- one part's values ------------------------------------------------------------------- */

static bool was_given(const struct emit *emit, const char *row)
{
    return fact_given(facts_find(&emit->launch->scenario.facts, row));
}

static bool holds(const struct emit *emit, const struct emit_part *part, const char *word)
{
    const struct emit_pool *pool = &emit->pool[part->role];
    const bool spans = pool->parts > 1;
    if (!strncmp(word, "given:", 6))
        return was_given(emit, word + 6);
    if (!strcmp(word, "first"))
        return part->part == 0;
    if (!strcmp(word, "others"))
        return part->part > 0;
    if (!strcmp(word, "parts"))
        return pool->chips > part->chips || spans;
    return spans && pool->by_ranks == !strcmp(word, "ranks");
}

/* All conditions but the row, which emit_values has looked at. */
static bool is_told(const struct emit *emit, const struct emit_part *part, size_t at)
{
    const struct emit_flag *flag = &emit->flags[at];
    if (!strcmp(flag->form, "about") || !strcmp(flag->form, "need") ||
        (*flag->role && !has_word(flag->role, emit_roles[part->role])))
        return false;
    if (part->role != EMIT_ROUTER && isnan(emit->pool[part->role].values[at]))
        return false;
    for (const char *word = flag->when; *word; word += strspn(word, " ")) {
        size_t size = strcspn(word, " ");
        if (is_place_word(word, size) &&
            !holds(emit, part, arena_copy(emit->arena, word, size)))
            return false;
        word += size;
    }
    return true;
}

/* Engines take whole numbers: what a user's row has beyond is cut. */
static const char *whole_text(const struct emit *emit, double count)
{
    return arena_print(emit->arena, "%.0f", floor(count));
}

/* Down, so that what is left of the memory is never less than was reckoned. */
static const char *share_text(const struct emit *emit, double share)
{
    static const double parts = 1000;
    return arena_print(emit->arena, "%.3f", floor(share * parts + 1e-6) / parts);
}

/* "fp8=fp8_e4m3 bf16=": what the engine calls a format; "": its default; NULL: it cannot. */
static const char *format_text(const struct emit *emit, const struct emit_flag *flag,
                               const char *format)
{
    const size_t size = strlen(format);
    for (const char *at = flag->value; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length > size && at[size] == '=' && !memcmp(at, format, size))
            return arena_copy(emit->arena, at + size + 1, length - size - 1);
        at += length;
    }
    return NULL;
}

static const char *place_text(const struct emit *emit, const struct emit_part *part,
                              const char *what)
{
    enum { CHANNEL = 5600, BOOTSTRAP = 8998, MEETING = 20000, RPC = 29550, MASTER = 29501 };
    const struct { const char *what; double number; } numbers[] = {
        { "port", EMIT_PORT + (double)part->index },
        { "channel", CHANNEL + (double)part->first_chip },
        { "bootstrap", BOOTSTRAP + (double)part->index },
        { "rpc", RPC + (double)part->index }, { "master", MASTER + (double)part->index },
        { "parts", (double)emit->pool[part->role].parts }, { "part_chips", part->chips },
        { "local", part->local }, { "start", part->start } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(what, numbers[i].what))
            return whole_text(emit, numbers[i].number);
    if (!strcmp(what, "meeting"))
        return arena_print(emit->arena, "%s:%d", part->leader, MEETING + (int)part->index);
    return !strcmp(what, "model") ? emit->model : !strcmp(what, "here") ? part->here
           : !strcmp(what, "leader") ? part->leader : part->rank;
}

/* NULL: the flag is left out. */
static const char *flag_text(const struct emit *emit, const struct emit_part *part, size_t at)
{
    const struct emit_flag *flag = &emit->flags[at];
    const char *format = !strcmp(flag->takes, "weights") ? emit->launch->weights
                                                         : emit->launch->cache;
    if (!strcmp(flag->form, "count"))
        return whole_text(emit, emit->pool[part->role].values[at]);
    if (!strcmp(flag->form, "share"))
        return share_text(emit, emit->pool[part->role].values[at]);
    if (!strcmp(flag->form, "fixed"))
        return flag->value;
    if (!strcmp(flag->form, "file"))
        return arena_print(emit->arena, "%s.yaml", emit_roles[part->role]);
    if (strcmp(flag->form, "format"))
        return place_text(emit, part, flag->takes);
    const char *text = format ? format_text(emit, flag, format) : NULL;
    return text && *text ? text : NULL;
}

/* ---- words, file, environment ------------------------------------------------------------ */

static void add_value(const struct emit *emit, struct doc *object, const char *key,
                      const char *text)
{
    double number;
    if (text_number(text_of(text), &number))
        doc_add_number(emit->arena, object, key, number);
    else
        doc_add_string(emit->arena, object, key, text);
}

/* The object of all names with this beginning. */
static struct doc *inner(const struct emit *emit, struct doc *object, const char *name, size_t size)
{
    for (struct doc *kid = object->first; kid; kid = kid->next)
        if (strlen(kid->key) == size && !memcmp(kid->key, name, size))
            return kid;
    return doc_add(emit->arena, object, arena_copy(emit->arena, name, size), DOC_OBJECT);
}

/* Servers as a router is told of them: one text or several each. */
static void add_servers(const struct emit *emit, const struct emit_flag *flag, struct doc *list)
{
    for (size_t i = 0; i < emit->part_count; i++) {
        const struct emit_part *part = &emit->parts[i];
        const char *url = arena_print(emit->arena, "http://%s:%s", part->address,
                                      place_text(emit, part, "port"));
        if (part->part || strcmp(emit_roles[part->role], flag->takes))
            continue;
        const char *text = !strcmp(flag->value, "host") ? part->address
                           : !strcmp(flag->value, "port") ? place_text(emit, part, "port")
                           : !strcmp(flag->value, "address") ? url + strlen("http://") : url;
        doc_add_string(emit->arena, list, NULL, text);
        if (!strcmp(flag->value, "bootstrap"))
            doc_add_string(emit->arena, list, NULL, place_text(emit, part, "bootstrap"));
    }
}

static size_t count_servers(const struct emit *emit, const char *role)
{
    size_t count = 0;
    for (size_t i = 0; i < emit->part_count; i++)
        count += !emit->parts[i].part && !strcmp(emit_roles[emit->parts[i].role], role);
    return count;
}

/* --prefill URL PORT --prefill URL PORT, but --hosts A B. */
static void add_server_words(const struct emit *emit, const struct emit_flag *flag,
                             struct doc *words)
{
    const bool repeat = !strcmp(flag->value, "bootstrap") || !strcmp(flag->value, "url");
    struct doc *list = doc_new(emit->arena, DOC_ARRAY);
    add_servers(emit, flag, list);
    const size_t each = repeat && !strcmp(flag->value, "bootstrap") ? 2 : 1;
    size_t i = 0;
    for (const struct doc *item = list->first; item; item = item->next, i++) {
        if (!i || (repeat && i % each == 0))
            doc_add_string(emit->arena, words, NULL, flag->name);
        doc_add_string(emit->arena, words, NULL, item->string);
    }
}

static void add_key(const struct emit *emit, const struct emit_part *part, size_t at,
                    struct doc *file)
{
    const struct emit_flag *flag = &emit->flags[at];
    const char *point = strchr(flag->name, '.'), *key = point ? point + 1 : flag->name;
    const bool servers = !strcmp(flag->form, "servers");
    const char *text = servers || !strcmp(flag->form, "switch") ? ""
                                                                : flag_text(emit, part, at);
    if (!text || (*text && !strcmp(text, flag->standard)))
        return;
    struct doc *object = point ? inner(emit, file, flag->name, (size_t)(point - flag->name))
                               : file;
    if (servers && !strcmp(flag->value, "count"))
        doc_add_number(emit->arena, object, key, (double)count_servers(emit, flag->takes));
    else if (servers)
        add_servers(emit, flag, doc_add(emit->arena, object, key, DOC_ARRAY));
    else if (*text)
        add_value(emit, object, key, text);
    else
        doc_add_bool(emit->arena, object, key, true);
}

static void add_words(const struct emit *emit, const struct emit_part *part, size_t at,
                      struct doc *words)
{
    const struct emit_flag *flag = &emit->flags[at];
    if (!strcmp(flag->form, "servers")) {
        add_server_words(emit, flag, words);
        return;
    }
    const char *text = strcmp(flag->form, "switch") ? flag_text(emit, part, at) : NULL;
    if (strcmp(flag->form, "switch") && (!text || !strcmp(text, flag->standard)))
        return;
    if (*flag->name)
        doc_add_string(emit->arena, words, NULL, flag->name);
    if (text)
        doc_add_string(emit->arena, words, NULL, text);
}

/* On one line. */
static const char *json_text(const struct emit *emit, const struct doc *doc)
{
    struct buffer lines = { .arena = emit->arena }, out = { .arena = emit->arena };
    doc_print(&lines, doc);
    for (const char *at = lines.data; *at; at += *at != '\0') {
        size_t size = strcspn(at, "\n");
        buffer_add(&out, at, size);
        at += size;
        size_t blank = *at ? 1 + strspn(at + 1, " ") : 0;
        if (blank && out.data[out.size - 1] == ',')
            buffer_add(&out, " ", 1);
        at += blank ? blank - 1 : 0;
    }
    return out.data;
}

/* All flags of one beginning, at the first of them. */
static void add_json(const struct emit *emit, const struct emit_part *part, size_t at,
                     struct doc *words)
{
    const size_t size = strcspn(emit->flags[at].name, ".");
    struct doc *object = doc_new(emit->arena, DOC_OBJECT);
    for (size_t i = 0; i < emit->flag_count; i++) {
        const struct emit_flag *flag = &emit->flags[i];
        if (strncmp(flag->name, emit->flags[at].name, size + 1) || !is_told(emit, part, i))
            continue;
        if (i < at)
            return;
        add_value(emit, object, flag->name + size + 1, flag_text(emit, part, i));
    }
    doc_add_string(emit->arena, words, NULL, arena_copy(emit->arena, emit->flags[at].name, size));
    doc_add_string(emit->arena, words, NULL, json_text(emit, object));
}

/* "mpirun -n GPUS": words, GPUS as their number. */
static void add_command(const struct emit *emit, const struct emit_part *part, const char *text,
                        struct doc *words)
{
    for (const char *at = text; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        const char *word = arena_copy(emit->arena, at, size);
        doc_add_string(emit->arena, words, NULL, strcmp(word, "GPUS") ? word
                       : whole_text(emit, emit->pool[part->role].chips));
        at += size;
    }
}

void emit_start(const struct emit *emit, const struct emit_part *part, struct emit_start *start)
{
    struct doc *file = doc_new(emit->arena, DOC_OBJECT);
    *start = (struct emit_start){ .words = doc_new(emit->arena, DOC_ARRAY),
                                  .environment = doc_new(emit->arena, DOC_OBJECT) };
    const bool router = part->role == EMIT_ROUTER;
    const struct emit_flag *launcher = emit_about(emit, "launcher", NULL);
    if (launcher && !router && holds(emit, part, "parts"))
        add_command(emit, part, launcher->value, start->words);
    add_command(emit, part, emit_about(emit, router ? "router" : "command", NULL)->value,
                start->words);
    for (size_t i = 0; i < emit->flag_count; i++)
        if (is_told(emit, part, i) && emit->flags[i].name[0] && emit->flags[i].name[0] != '-' &&
            strcmp(emit->flags[i].form, "environment"))
            add_key(emit, part, i, file);
    start->file = file->first ? file : NULL;
    for (size_t i = 0; i < emit->flag_count; i++) {
        const struct emit_flag *flag = &emit->flags[i];
        bool none = !strcmp(flag->form, "file") && !start->file;
        if (!is_told(emit, part, i) || none)
            continue;
        if (!strcmp(flag->form, "environment"))
            doc_add_string(emit->arena, start->environment, flag->name,
                           place_text(emit, part, flag->takes));
        else if (flag->name[0] == '-' && strchr(flag->name, '.'))
            add_json(emit, part, i, start->words);
        else if (flag->name[0] == '-' || !flag->name[0])
            add_words(emit, part, i, start->words);
    }
}
