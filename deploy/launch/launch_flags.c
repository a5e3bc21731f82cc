/* The flags of an engine: rows of data/flags.csv in the scenario of a deployment.
 *
 *     --tp-size               a flag                      --tp-size 8
 *     --config.a, --config.b  one flag that takes JSON    --config '{"a": 1, "b": 2}'
 *     a.b                     a key of the engine's file  a: {b: 1}
 *     A_B                     a variable of the environment
 *     (no name)               a word that stands alone */
#include "deploy/launch/launch.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *const launch_roles[LAUNCH_ROLES] = { "together", "prefill", "decode", "router" };

/* ---- the sheet --------------------------------------------------------------------------- */

void launch_add_flag(struct launch *launch, const struct flag *flag)
{
    *(struct flag *)arena_push(launch->arena, &launch->flags, &launch->flag_count, &launch->flag_room,
                               sizeof *launch->flags) = *flag;
}

void launch_read_flags(struct launch *launch)
{
    struct flag flag;
    for (size_t row = 0; flag_next(launch->engine, &row, &flag);)
        launch_add_flag(launch, &flag);
}

const struct flag *launch_about(const struct launch *launch, const char *name, const char *family)
{
    for (size_t i = 0; i < launch->flag_count; i++) {
        const struct flag *flag = &launch->flags[i];
        bool fits = !*flag->takes || !family || text_has_word(flag->takes, family);
        if (!strcmp(flag->form, "about") && !strcmp(flag->name, name) && fits)
            return flag;
    }
    return NULL;
}

/* The machine as the catalog calls it. */
static const char *machine_name(const struct launch *launch)
{
    const struct deployment *deployment = launch->deployment;
    const struct catalog_entry *entry = deployment->machine
        ? catalog_find(&deployment->scenario.catalog, CATALOG_MACHINE, deployment->machine, NULL) : NULL;
    return entry ? entry->name : NULL;
}

const struct flag *launch_target_about(const struct launch *launch, const char *name)
{
    const char *machine = machine_name(launch);
    for (size_t i = 0; i < launch->fact_count; i++) {
        const struct flag *fact = &launch->facts[i];
        const char *takes = fact->takes;
        if (!strcmp(fact->name, name) && (!*takes || (machine && text_has_word(takes, machine))))
            return fact;
    }
    return NULL;
}

/* ---- rows of a pool ---------------------------------------------------------------------- */

static bool takes_two(const struct flag *flag)
{
    return !strcmp(flag->form, "pair");
}

/* A row that the engine needs, or one that it cannot have: no flag. */
static bool is_demand(const struct flag *flag)
{
    return !strcmp(flag->form, "need") || !strcmp(flag->form, "bar");
}

static bool takes_row(const struct flag *flag)
{
    return !strcmp(flag->form, "count") || !strcmp(flag->form, "share") || is_demand(flag) || takes_two(flag);
}

/* Conditions that no row decides. */
static bool is_place_word(const char *word, size_t size)
{
    static const char *const words[] = { "first", "others", "parts", "nodes", "ranks", "several" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == size && !memcmp(words[i], word, size))
            return true;
    return size > 6 && !memcmp(word, "given:", 6);
}

/* The row among the conditions; NULL: none. */
static const char *condition_row(const struct launch *launch, const struct flag *flag)
{
    for (const char *at = flag->when; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (!is_place_word(at, size))
            return arena_copy(launch->arena, at, size);
        at += size;
    }
    return NULL;
}

/* A server for prompts has sizes of its own. */
static const char *text_at(const struct launch *launch, enum launch_role role, const char *row)
{
    if (role != LAUNCH_PREFILL)
        return row;
    return arena_print(launch->arena, "AT(%s, chips = prefill_chips, attention_dp = "
                       "prefill_attention_dp, pipeline_parallel = prefill_pipeline_parallel, "
                       "expert_parallel = prefill_expert_parallel)", row);
}

/* "--set attention_dp=1" of a pool for prompts: "--set prefill_attention_dp=1". */
static const char *way_of(const struct launch *launch, enum launch_role role, const char *text)
{
    static const char set[] = "--set ";
    if (role != LAUNCH_PREFILL || strncmp(text, set, strlen(set)))
        return text;
    return arena_print(launch->arena, "%sprefill_%s", set, text + strlen(set));
}

/* Of a pool: sizes, what its flags take (a switch: whether it is on), what its servers need. */
bool launch_values(struct launch *launch, enum launch_role role, struct error *error)
{
    static const char *const sizes[] = { NAME_chips, NAME_launch_rank_chips,
                                         NAME_attention_dp };
    enum { SIZES = sizeof sizes / sizeof *sizes, EACH = 3 };
    struct launch_pool *pool = &launch->pool[role];
    const size_t count = SIZES + EACH * launch->flag_count;
    const char **texts = arena_array(launch->arena, count, sizeof *texts);
    struct values values;
    for (int i = 0; i < SIZES; i++)
        texts[i] = text_at(launch, role, sizes[i]);
    for (size_t i = 0; i < launch->flag_count; i++) {
        const struct flag *flag = &launch->flags[i];
        const char *when = condition_row(launch, flag);
        texts[SIZES + EACH * i] = takes_row(flag) ? text_at(launch, role, flag->takes) : "1";
        texts[SIZES + EACH * i + 1] = when ? text_at(launch, role, when) : "1";
        texts[SIZES + EACH * i + 2] = takes_two(flag) ? text_at(launch, role, flag->value) : "1";
    }
    if (!values_of(&launch->deployment->scenario, texts, count, &values, error))
        return false;
    pool->chips = values.at[0], pool->rank_chips = values.at[1], pool->ranks = values.at[2];
    pool->values = arena_array(launch->arena, launch->flag_count, sizeof *pool->values);
    pool->seconds = arena_array(launch->arena, launch->flag_count, sizeof *pool->seconds);
    for (size_t i = 0; i < launch->flag_count; i++) {
        const double value = values.at[SIZES + EACH * i];
        pool->values[i] = values.at[SIZES + EACH * i + 1] > 0 ? value : NAN;
        pool->seconds[i] = values.at[SIZES + EACH * i + 2];
        const struct flag *flag = &launch->flags[i];
        if (is_demand(flag) && (value > 0) == !strcmp(flag->form, "bar") && !launch->reason)
            launch->reason = flag->value, launch->way_out = way_of(launch, role, flag->note);
    }
    return true;
}

/* ---- one part's values ------------------------------------------------------------------- */

static bool was_given(const struct launch *launch, const char *row)
{
    return fact_given(facts_find(&launch->deployment->scenario.facts, row));
}

static bool holds(const struct launch *launch, const struct launch_part *part, const char *word)
{
    const struct launch_pool *pool = &launch->pool[part->role];
    const bool spans = pool->parts > 1;
    if (!strncmp(word, "given:", 6))
        return was_given(launch, word + 6);
    if (!strcmp(word, "first"))
        return part->part == 0;
    if (!strcmp(word, "others"))
        return part->part > 0;
    if (!strcmp(word, "parts"))
        return pool->chips > part->chips || spans;
    if (!strcmp(word, "several"))
        return launch->part_count > 1;
    return spans && pool->by_ranks == !strcmp(word, "ranks");
}

/* All conditions but the row, which launch_values has looked at. */
static bool is_told(const struct launch *launch, const struct launch_part *part, size_t at)
{
    const struct flag *flag = &launch->flags[at];
    if (!strcmp(flag->form, "about") || is_demand(flag) ||
        (*flag->role && !text_has_word(flag->role, launch_roles[part->role])))
        return false;
    if (part->role != LAUNCH_ROUTER && isnan(launch->pool[part->role].values[at]))
        return false;
    for (const char *word = flag->when; *word; word += strspn(word, " ")) {
        size_t size = strcspn(word, " ");
        if (is_place_word(word, size) &&
            !holds(launch, part, arena_copy(launch->arena, word, size)))
            return false;
        word += size;
    }
    return true;
}

const char *launch_second_machine(const struct launch *launch)
{
    for (size_t i = 0; i < launch->flag_count && launch->part_count; i++)
        if (!strcmp(launch->flags[i].takes, "rpc_server") && is_told(launch, launch->parts, i))
            return launch->flags[i].note;
    return NULL;
}

/* Engines take whole numbers: what a user's row has beyond is cut. */
static const char *whole_text(const struct launch *launch, double count)
{
    return arena_print(launch->arena, "%.0f", floor(count));
}

/* Down, so that what is left of the memory is never less than was reckoned. */
static const char *share_text(const struct launch *launch, double share)
{
    static const double parts = 1000;
    return arena_print(launch->arena, "%.3f", floor(share * parts + 1e-6) / parts);
}

const char *launch_format(const struct launch *launch, const struct flag *flag, const char *format)
{
    char part[64];
    if (!strcmp(flag->takes, "cache_keys") || !strcmp(flag->takes, "cache_values"))
        format = format_side(format, !strcmp(flag->takes, "cache_values"), part);
    for (const char *at = flag->value; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " "), size = strcspn(at, "=");
        if (size < length && name_same(arena_copy(launch->arena, at, size), format))
            return arena_copy(launch->arena, at + size + 1, length - size - 1);
        at += length;
    }
    return NULL;
}

const char *launch_file(const struct launch *launch, enum launch_role role)
{
    const struct flag *file = launch_about(launch, "file", NULL);
    return file ? file->value : arena_print(launch->arena, "%s.yaml", launch_roles[role]);
}

static const char *place_text(const struct launch *launch, const struct launch_part *part,
                              const char *what)
{
    enum { CHANNEL = 5600, BOOTSTRAP = 8998, MEETING = 20000, RPC = 29550, MASTER = 29501, LAYERS = 50052 };
    const struct { const char *what; double number; } numbers[] = {
        { "port", LAUNCH_PORT + (double)part->index },
        { "channel", CHANNEL + (double)part->first_chip },
        { "bootstrap", BOOTSTRAP + (double)part->index },
        { "rpc", RPC + (double)part->index }, { "master", MASTER + (double)part->index },
        { "parts", (double)launch->pool[part->role].parts }, { "part_chips", part->chips },
        { "local", part->local }, { "start", part->start } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(what, numbers[i].what))
            return whole_text(launch, numbers[i].number);
    if (!strcmp(what, "meeting"))
        return arena_print(launch->arena, "%s:%d", part->leader, MEETING + (int)part->index);
    if (!strcmp(what, "rpc_server"))
        return arena_print(launch->arena, "$HOST_2:%d", LAYERS);
    if (!strcmp(what, "listen"))
        return arena_print(launch->arena, "0.0.0.0:%zu", (size_t)LAUNCH_PORT + part->index);
    if (!strcmp(what, "path"))          /* Ollama takes a bare name for one of its library */
        return strchr(launch->model, '/') ? launch->model : arena_print(launch->arena, "./%s", launch->model);
    return !strcmp(what, "model") ? launch->model : !strcmp(what, "here") ? part->here
           : !strcmp(what, "leader") ? part->leader : part->rank;
}

/* NULL: the flag is left out. */
static const char *flag_text(const struct launch *launch, const struct launch_part *part, size_t at)
{
    const struct flag *flag = &launch->flags[at];
    const char *format = !strcmp(flag->takes, "weights") ? launch->deployment->weights
                                                         : launch->deployment->cache;
    if (!strcmp(flag->form, "count"))
        return whole_text(launch, launch->pool[part->role].values[at]);
    if (takes_two(flag))
        return arena_print(launch->arena, "%s,%s", whole_text(launch, launch->pool[part->role].values[at]),
                           whole_text(launch, launch->pool[part->role].seconds[at]));
    if (!strcmp(flag->form, "share"))
        return share_text(launch, launch->pool[part->role].values[at]);
    if (!strcmp(flag->form, "fixed"))
        return flag->value;
    if (!strcmp(flag->form, "file"))
        return launch_file(launch, part->role);
    if (strcmp(flag->form, "format"))
        return place_text(launch, part, flag->takes);
    const char *text = format ? launch_format(launch, flag, format) : NULL;
    return text && *text ? text : NULL;
}

/* ---- words, file, environment ------------------------------------------------------------ */

static void add_value(const struct launch *launch, struct doc *object, const char *key,
                      const char *text)
{
    double number;
    if (text_number(text_of(text), &number))
        doc_add_number(launch->arena, object, key, number);
    else
        doc_add_string(launch->arena, object, key, text);
}

/* The object of all names with this beginning. */
static struct doc *inner(const struct launch *launch, struct doc *object, const char *name, size_t size)
{
    for (struct doc *kid = object->first; kid; kid = kid->next)
        if (strlen(kid->key) == size && !memcmp(kid->key, name, size))
            return kid;
    return doc_add(launch->arena, object, arena_copy(launch->arena, name, size), DOC_OBJECT);
}

/* Servers as a router is told of them: one text or several each. */
static void add_servers(const struct launch *launch, const struct flag *flag, struct doc *list)
{
    for (size_t i = 0; i < launch->part_count; i++) {
        const struct launch_part *part = &launch->parts[i];
        const char *url = arena_print(launch->arena, "http://%s:%s", part->address,
                                      place_text(launch, part, "port"));
        if (part->part || strcmp(launch_roles[part->role], flag->takes))
            continue;
        const char *text = !strcmp(flag->value, "host") ? part->address
                           : !strcmp(flag->value, "port") ? place_text(launch, part, "port")
                           : !strcmp(flag->value, "address") ? url + strlen("http://") : url;
        doc_add_string(launch->arena, list, NULL, text);
        if (!strcmp(flag->value, "bootstrap"))
            doc_add_string(launch->arena, list, NULL, place_text(launch, part, "bootstrap"));
    }
}

static size_t count_servers(const struct launch *launch, const char *role)
{
    size_t count = 0;
    for (size_t i = 0; i < launch->part_count; i++)
        count += !launch->parts[i].part && !strcmp(launch_roles[launch->parts[i].role], role);
    return count;
}

/* --prefill URL PORT --prefill URL PORT, but --hosts A B. */
static void add_server_words(const struct launch *launch, const struct flag *flag,
                             struct doc *words)
{
    const bool repeat = !strcmp(flag->value, "bootstrap") || !strcmp(flag->value, "url");
    struct doc *list = doc_new(launch->arena, DOC_ARRAY);
    add_servers(launch, flag, list);
    const size_t each = repeat && !strcmp(flag->value, "bootstrap") ? 2 : 1;
    size_t i = 0;
    for (const struct doc *item = list->first; item; item = item->next, i++) {
        if (!i || (repeat && i % each == 0))
            doc_add_string(launch->arena, words, NULL, flag->name);
        doc_add_string(launch->arena, words, NULL, item->string);
    }
}

static void add_key(const struct launch *launch, const struct launch_part *part, size_t at,
                    struct doc *file)
{
    const struct flag *flag = &launch->flags[at];
    const char *point = strchr(flag->name, '.'), *key = point ? point + 1 : flag->name;
    const bool servers = !strcmp(flag->form, "servers");
    const char *text = servers || !strcmp(flag->form, "switch") ? ""
                                                                : flag_text(launch, part, at);
    if (!text || (*text && !strcmp(text, flag->standard)))
        return;
    struct doc *object = point ? inner(launch, file, flag->name, (size_t)(point - flag->name))
                               : file;
    if (servers && !strcmp(flag->value, "count"))
        doc_add_number(launch->arena, object, key, (double)count_servers(launch, flag->takes));
    else if (servers)
        add_servers(launch, flag, doc_add(launch->arena, object, key, DOC_ARRAY));
    else if (*text)
        add_value(launch, object, key, text);
    else
        doc_add_bool(launch->arena, object, key, true);
}

static void add_words(const struct launch *launch, const struct launch_part *part, size_t at,
                      struct doc *words)
{
    const struct flag *flag = &launch->flags[at];
    if (!strcmp(flag->form, "servers")) {
        add_server_words(launch, flag, words);
        return;
    }
    const char *text = strcmp(flag->form, "switch") ? flag_text(launch, part, at) : NULL;
    if (strcmp(flag->form, "switch") && (!text || !strcmp(text, flag->standard)))
        return;
    if (*flag->name)
        doc_add_string(launch->arena, words, NULL, flag->name);
    if (text)
        doc_add_string(launch->arena, words, NULL, text);
}

/* On one line. */
static const char *json_text(const struct launch *launch, const struct doc *doc)
{
    struct buffer lines = { .arena = launch->arena }, out = { .arena = launch->arena };
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
static void add_json(const struct launch *launch, const struct launch_part *part, size_t at,
                     struct doc *words)
{
    const size_t size = strcspn(launch->flags[at].name, ".");
    struct doc *object = doc_new(launch->arena, DOC_OBJECT);
    for (size_t i = 0; i < launch->flag_count; i++) {
        const struct flag *flag = &launch->flags[i];
        if (strncmp(flag->name, launch->flags[at].name, size + 1) || !is_told(launch, part, i))
            continue;
        if (i < at)
            return;
        add_value(launch, object, flag->name + size + 1, flag_text(launch, part, i));
    }
    doc_add_string(launch->arena, words, NULL, arena_copy(launch->arena, launch->flags[at].name, size));
    doc_add_string(launch->arena, words, NULL, json_text(launch, object));
}

/* The model as a name of one's own: its file without folder and ending. */
static const char *own_name(const struct launch *launch)
{
    const char *slash = strrchr(launch->model, '/'), *name = slash ? slash + 1 : launch->model;
    const char *end = strrchr(name, '.');
    char *copy = arena_copy(launch->arena, name, end && end > name ? (size_t)(end - name) : strlen(name));
    for (char *at = copy; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at += 'a' - 'A';
    return copy;
}

/* "mpirun -n GPUS": words; GPUS as their number, NAME and FILE as what the caller's server has. */
static void add_command(const struct launch *launch, const struct launch_part *part, const char *text,
                        struct doc *words)
{
    for (const char *at = text; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        const char *word = arena_copy(launch->arena, at, size);
        doc_add_string(launch->arena, words, NULL,
                       !strcmp(word, "GPUS") ? whole_text(launch, launch->pool[part->role].chips)
                       : !strcmp(word, "NAME") ? own_name(launch)
                       : !strcmp(word, "FILE") ? launch_file(launch, part->role) : word);
        at += size;
    }
}

/* OLLAMA_NUM_PARALLEL: capitals and a bar. */
static bool is_environment(const char *name)
{
    return strchr(name, '_') && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0';
}

static void add_environment(const struct launch *launch, const struct launch_part *part, size_t at,
                            struct doc *environment)
{
    const struct flag *flag = &launch->flags[at];
    const char *text = flag_text(launch, part, at);
    const bool usual = text && *flag->standard && launch->own && !strcmp(text, flag->standard);
    if (text && !usual)
        doc_add_string(launch->arena, environment, flag->name, text);
}

void launch_start(const struct launch *launch, const struct launch_part *part,
                  struct launch_start *start)
{
    struct doc *file = doc_new(launch->arena, DOC_OBJECT);
    *start = (struct launch_start){ .words = doc_new(launch->arena, DOC_ARRAY),
                                    .environment = doc_new(launch->arena, DOC_OBJECT) };
    const bool router = part->role == LAUNCH_ROUTER;
    const struct flag *launcher = launch_about(launch, "launcher", NULL);
    if (launcher && !router && holds(launch, part, "parts"))
        add_command(launch, part, launcher->value, start->words);
    add_command(launch, part, launch_about(launch, router ? "router" : "command", NULL)->value,
                start->words);
    for (size_t i = 0; i < launch->flag_count; i++)
        if (is_told(launch, part, i) && launch->flags[i].name[0] && launch->flags[i].name[0] != '-' &&
            !is_environment(launch->flags[i].name))
            add_key(launch, part, i, file);
    start->file = file->first ? file : NULL;
    const struct flag *after = launch_about(launch, "after", NULL);
    if (after && !router)
        add_command(launch, part, after->value, start->after = doc_new(launch->arena, DOC_ARRAY));
    for (size_t i = 0; i < launch->flag_count; i++) {
        const struct flag *flag = &launch->flags[i];
        bool none = !strcmp(flag->form, "file") && !start->file;
        if (!is_told(launch, part, i) || none)
            continue;
        if (is_environment(flag->name))
            add_environment(launch, part, i, start->environment);
        else if (flag->name[0] == '-' && strchr(flag->name, '.'))
            add_json(launch, part, i, start->words);
        else if (flag->name[0] == '-' || !flag->name[0])
            add_words(launch, part, i, start->words);
    }
}
