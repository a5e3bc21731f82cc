/* Commands as a shell takes them.
 *
 *     # decode 1 to 4 of 4: hosts 2 to 5
 *     VLLM_NIXL_SIDE_CHANNEL_HOST="$HOST" vllm serve Qwen/Qwen3-32B \
 *         --host 0.0.0.0 --port 8000 ...
 *
 * Parts whose words are the same are one command, with the hosts that run it. */
#include "ask/launch/launch.h"

#include <stdio.h>
#include <string.h>

struct group {
    const char *text;
    struct emit_start start;
    const struct emit_part *first;
    size_t *servers, server_count, server_room;
    size_t *hosts, host_count, host_room;
};

struct groups {
    struct group *at;
    size_t count, room;
};

/* ---- words ------------------------------------------------------------------------------- */

static bool is_plain(const char *word)
{
    return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-./:=,@%+")] == '\0';
}

void emit_word(struct buffer *out, const char *word)
{
    if (is_plain(word)) {
        buffer_print(out, "%s", word);
        return;
    }
    buffer_print(out, "'");
    for (const char *at = word; *at; at++)
        buffer_add(out, *at == '\'' ? "'\\''" : at, *at == '\'' ? 4 : 1);
    buffer_print(out, "'");
}

void emit_comment(struct buffer *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *line = arena_alloc(out->arena, (size_t)size + 1);
    va_start(list, format);
    vsnprintf(line, (size_t)size + 1, format, list);
    va_end(list);
    buffer_print(out, "#%s", size ? " " : "");
    buffer_add_plain(out, text_of(line), "");
    buffer_print(out, "\n");
}

/* Bytes of "$HOST" or "$HOST_12" here; 0: something else. */
static size_t host_size(const char *word)
{
    static const char host[] = "$HOST";
    size_t size = sizeof host - 1;
    if (strncmp(word, host, size))
        return 0;
    return word[size] == '_' ? size + 1 + strspn(word + size + 1, "0123456789") : size;
}

/* The names that stand for hosts are left to the shell; all else is taken as it is, and so is the
 * model's name, which is a stranger's. */
static void print_word(const struct emit *emit, struct buffer *out, const char *word)
{
    struct buffer rest = { .arena = out->arena };
    bool hosts = false;
    buffer_add(&rest, "", 0);
    for (const char *at = word; *at;) {
        size_t size = host_size(at);
        hosts |= size > 0;
        if (!size)
            buffer_add(&rest, at, 1);
        at += size ? size : 1;
    }
    if (!hosts || !strcmp(word, emit->model)) {
        emit_word(out, word);
        return;
    }
    if (!*rest.data || is_plain(rest.data)) {
        buffer_print(out, "\"%s\"", word);
        return;
    }
    while (*word) {
        size_t size = host_size(word), literal = 0;
        while (word[literal] && !host_size(word + literal))
            literal++;
        if (size)
            buffer_print(out, "\"%.*s\"", (int)size, word);
        else
            emit_word(out, arena_copy(out->arena, word, literal));
        word += size ? size : literal;
    }
}

/* A flag begins a line. */
static void print_command(const struct emit *emit, struct buffer *out,
                          const struct emit_start *start)
{
    for (const struct doc *kid = start->environment->first; kid; kid = kid->next) {
        buffer_print(out, "%s=", kid->key);
        print_word(emit, out, kid->string);
        buffer_print(out, " ");
    }
    for (const struct doc *word = start->words->first; word; word = word->next) {
        bool long_flag = !strncmp(word->string, "--", 2);
        buffer_print(out, "%s", word == start->words->first ? "" : long_flag ? " \\\n    " : " ");
        print_word(emit, out, word->string);
    }
    buffer_print(out, "\n");
}

/* ---- groups ------------------------------------------------------------------------------ */

static bool shares_host(const struct emit *emit, const struct emit_part *part)
{
    size_t there = 0;
    for (size_t i = 0; i < emit->part_count; i++)
        there += emit->parts[i].host == part->host;
    return there > 1;
}

static void add_devices(const struct emit *emit, const struct emit_part *part,
                        struct emit_start *start)
{
    struct buffer list = { .arena = emit->arena };
    for (size_t i = 0; i < (size_t)part->chips; i++)
        buffer_print(&list, "%s%zu", i ? "," : "", part->first_chip + i);
    doc_add_string(emit->arena, start->environment, "CUDA_VISIBLE_DEVICES", list.data);
}

static void add_part(const struct emit *emit, const struct emit_part *part, struct groups *groups)
{
    struct emit_start start;
    struct buffer text = { .arena = emit->arena };
    size_t same = 0;
    emit_start(emit, part, &start);
    if (shares_host(emit, part))
        add_devices(emit, part, &start);
    print_command(emit, &text, &start);
    while (same < groups->count && (strcmp(groups->at[same].text, text.data) ||
                                    groups->at[same].first->role != part->role))
        same++;
    if (same == groups->count)
        *(struct group *)arena_push(emit->arena, &groups->at, &groups->count, &groups->room,
                                    sizeof *groups->at) =
            (struct group){ .text = text.data, .start = start, .first = part };
    struct group *group = &groups->at[same];
    *(size_t *)arena_push(emit->arena, &group->servers, &group->server_count,
                          &group->server_room, sizeof(size_t)) = part->server + 1;
    *(size_t *)arena_push(emit->arena, &group->hosts, &group->host_count, &group->host_room,
                          sizeof(size_t)) = part->host + 1;
}

/* "1 to 4, 7" of rising numbers. */
static void print_numbers(struct buffer *out, const size_t *numbers, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && numbers[last + 1] == numbers[last] + 1)
            last++;
        buffer_print(out, "%s%zu", i ? ", " : "", numbers[i]);
        if (last > i)
            buffer_print(out, "%s%zu", last > i + 1 ? " to " : ", ", numbers[last]);
        i = last + 1;
    }
}

static void print_title(const struct emit *emit, struct buffer *out, const struct group *group)
{
    const struct emit_part *part = group->first;
    const struct emit_pool *pool = &emit->pool[part->role];
    const double spread = pool->chips / emit->host_chips;
    buffer_print(out, "\n# %s ", part->role == EMIT_TOGETHER ? "server" : emit_roles[part->role]);
    print_numbers(out, group->servers, group->server_count);
    buffer_print(out, " of %.0f", pool->count);
    if (pool->parts > 1)
        buffer_print(out, ", part %zu of %zu", part->part + 1, pool->parts);
    buffer_print(out, ": host%s ", group->host_count > 1 ? "s" : "");
    print_numbers(out, group->hosts, group->host_count);
    if (pool->parts == 1 && spread > 1)
        buffer_print(out, " start%s it on %.0f GPUs, hosts of an MPI host file or of Slurm",
                     group->host_count > 1 ? "" : "s", pool->chips);
    buffer_print(out, "\n");
}

static void print_file(struct buffer *out, enum emit_role role,
                       const struct emit_start *start)
{
    if (!start->file)
        return;
    if (role != EMIT_ROUTER)
        buffer_print(out, "\n# on every host of %s\n",
                     role == EMIT_TOGETHER ? "the servers" : emit_roles[role]);
    buffer_print(out, "cat > %s.yaml <<'END'\n", emit_roles[role]);
    emit_yaml(out, start->file);
    buffer_print(out, "END\n");
}

/* ---- document ---------------------------------------------------------------------------- */

static void add_numbers(const struct emit *emit, struct doc *doc, const char *key,
                        const size_t *numbers, size_t count)
{
    struct doc *list = doc_add(emit->arena, doc, key, DOC_ARRAY);
    for (size_t i = 0; i < count; i++)
        doc_add_number(emit->arena, list, NULL, (double)numbers[i]);
}

static void add_start(struct doc *doc, const struct emit_start *start)
{
    doc_put(doc, "environment", start->environment);
    doc_put(doc, "command", start->words);
    if (start->file)
        doc_put(doc, "file", start->file);
}

static void group_document(const struct emit *emit, struct doc *list, const struct group *group)
{
    struct doc *doc = doc_add(emit->arena, list, NULL, DOC_OBJECT);
    doc_add_string(emit->arena, doc, "role", emit_roles[group->first->role]);
    doc_add_number(emit->arena, doc, "gpus", group->first->chips);
    doc_add_number(emit->arena, doc, "part", (double)group->first->part + 1);
    doc_add_number(emit->arena, doc, "parts", (double)emit->pool[group->first->role].parts);
    add_numbers(emit, doc, "servers", group->servers, group->server_count);
    add_numbers(emit, doc, "hosts", group->hosts, group->host_count);
    add_start(doc, &group->start);
}

/* ---- the whole --------------------------------------------------------------------------- */

static void router_lines(const struct emit *emit, struct buffer *out, struct doc *list)
{
    const struct emit_part part = { .role = EMIT_ROUTER, .here = "$HOST", .address = "$HOST" };
    struct emit_start start;
    emit_start(emit, &part, &start);
    buffer_print(out, "\n# router: any host, which users ask\n");
    print_file(out, EMIT_ROUTER, &start);
    print_command(emit, out, &start);
    struct doc *doc = doc_add(emit->arena, list, NULL, DOC_OBJECT);
    doc_add_string(emit->arena, doc, "role", emit_roles[EMIT_ROUTER]);
    add_start(doc, &start);
}

void emit_shell(const struct emit *emit, struct buffer *out, struct doc *doc)
{
    struct groups groups = { 0 };
    struct doc *list = doc_add(emit->arena, doc, "servers", DOC_ARRAY);
    for (size_t i = 0; i < emit->part_count; i++)
        add_part(emit, &emit->parts[i], &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct group *group = &groups.at[i];
        if (!i || group->first->role != group[-1].first->role)
            print_file(out, group->first->role, &group->start);
        print_title(emit, out, group);
        buffer_print(out, "%s", group->text);
        group_document(emit, list, group);
    }
    if (emit->pools)
        router_lines(emit, out, list);
}
