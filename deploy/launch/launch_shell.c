/* Commands as a shell takes them.
 *
 *     # decode 1 to 4 of 4: hosts 2 to 5
 *     VLLM_NIXL_SIDE_CHANNEL_HOST="$HOST" vllm serve Qwen/Qwen3-32B \
 *         --host 0.0.0.0 --port 8000 ...
 *
 * Parts whose words are the same are one command, with the hosts that run it. */
#include "deploy/launch/launch.h"

#include <stdio.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------- */

static bool is_plain(const char *word)
{
    return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-./:=,@%+")] == '\0';
}

void launch_word(struct buffer *out, const char *word)
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

void launch_comment(struct buffer *out, const char *format, ...)
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
void launch_command_word(const struct launch *launch, struct buffer *out, const char *word)
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
    if (!hosts || !strcmp(word, launch->model)) {
        launch_word(out, word);
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
            launch_word(out, arena_copy(out->arena, word, literal));
        word += size ? size : literal;
    }
}

/* A long flag begins a line. */
static void print_words(const struct launch *launch, struct buffer *out, const struct doc *words)
{
    for (const struct doc *word = words->first; word; word = word->next) {
        bool long_flag = !strncmp(word->string, "--", 2);
        buffer_print(out, "%s", word == words->first ? "" : long_flag ? " \\\n    " : " ");
        launch_command_word(launch, out, word->string);
    }
    buffer_print(out, "\n");
}

void launch_print_command(const struct launch *launch, struct buffer *out,
                          const struct launch_start *start)
{
    for (const struct doc *kid = start->environment->first; kid; kid = kid->next) {
        buffer_print(out, "%s=", kid->key);
        launch_command_word(launch, out, kid->string);
        buffer_print(out, " ");
    }
    print_words(launch, out, start->words);
}

/* ---- groups ------------------------------------------------------------------------------ */

static bool shares_host(const struct launch *launch, const struct launch_part *part)
{
    size_t there = 0;
    for (size_t i = 0; i < launch->part_count; i++)
        there += launch->parts[i].host == part->host;
    return there > 1;
}

static void add_devices(const struct launch *launch, const struct launch_part *part,
                        struct launch_start *start)
{
    struct buffer list = { .arena = launch->arena };
    for (size_t i = 0; i < (size_t)part->chips; i++)
        buffer_print(&list, "%s%zu", i ? "," : "", part->first_chip + i);
    doc_add_string(launch->arena, start->environment,
                   *launch->release.visible ? launch->release.visible : "CUDA_VISIBLE_DEVICES", list.data);
}

static void add_part(const struct launch *launch, const struct launch_part *part, struct launch_groups *groups)
{
    struct launch_start start;
    struct buffer text = { .arena = launch->arena };
    size_t same = 0;
    launch_start(launch, part, &start);
    if (shares_host(launch, part))
        add_devices(launch, part, &start);
    launch_print_command(launch, &text, &start);
    while (same < groups->count && (strcmp(groups->at[same].text, text.data) ||
                                    groups->at[same].first->role != part->role))
        same++;
    if (same == groups->count)
        *(struct launch_group *)arena_push(launch->arena, &groups->at, &groups->count, &groups->room,
                                    sizeof *groups->at) =
            (struct launch_group){ .text = text.data, .start = start, .first = part };
    struct launch_group *group = &groups->at[same];
    *(size_t *)arena_push(launch->arena, &group->servers, &group->server_count,
                          &group->server_room, sizeof(size_t)) = part->server + 1;
    *(size_t *)arena_push(launch->arena, &group->hosts, &group->host_count, &group->host_room,
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

void launch_group_title(const struct launch *launch, struct buffer *out, const struct launch_group *group)
{
    const struct launch_part *part = group->first;
    const struct launch_pool *pool = &launch->pool[part->role];
    const double spread = pool->chips / launch->host_chips;
    if (launch->own && launch->part_count < 2) {
        buffer_print(out, "\n");
        return;
    }
    buffer_print(out, "\n# %s ", part->role == LAUNCH_TOGETHER ? "server" : launch_roles[part->role]);
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

/* Lines "KEY VALUE", as a Modelfile has them. */
static void print_lines(struct buffer *out, const struct doc *file)
{
    for (const struct doc *kid = file->first; kid; kid = kid->next) {
        buffer_print(out, "%s ", kid->key);
        if (kid->kind == DOC_NUMBER)
            buffer_print(out, "%.0f", kid->number);
        else
            buffer_add_plain(out, text_of(kid->string), "");
        buffer_print(out, "\n");
    }
}

void launch_print_file(const struct launch *launch, struct buffer *out, enum launch_role role,
                       const struct launch_start *start)
{
    if (!start->file)
        return;
    if (launch->own)
        buffer_print(out, "\n");
    else if (launch->target)
        buffer_print(out, "\n# in the folder of the job, which all its hosts must share\n");
    else if (role != LAUNCH_ROUTER)
        buffer_print(out, "\n# on every host of %s\n",
                     role == LAUNCH_TOGETHER ? "the servers" : launch_roles[role]);
    buffer_print(out, "cat > %s <<'END'\n", launch_file(launch, role));
    if (launch_about(launch, "file", NULL))
        print_lines(out, start->file);
    else
        launch_yaml(out, start->file);
    buffer_print(out, "END\n");
}

/* ---- document ---------------------------------------------------------------------------- */

static void add_numbers(const struct launch *launch, struct doc *doc, const char *key,
                        const size_t *numbers, size_t count)
{
    struct doc *list = doc_add(launch->arena, doc, key, DOC_ARRAY);
    for (size_t i = 0; i < count; i++)
        doc_add_number(launch->arena, list, NULL, (double)numbers[i]);
}

void launch_add_start(struct doc *doc, const struct launch_start *start)
{
    doc_put(doc, "environment", start->environment);
    doc_put(doc, "command", start->words);
    if (start->file)
        doc_put(doc, "file", start->file);
    if (start->after)
        doc_put(doc, "after", start->after);
}

void launch_group_document(const struct launch *launch, struct doc *list, const struct launch_group *group)
{
    struct doc *doc = doc_add(launch->arena, list, NULL, DOC_OBJECT);
    doc_add_string(launch->arena, doc, "role", launch_roles[group->first->role]);
    doc_add_number(launch->arena, doc, "gpus", group->first->chips);
    doc_add_number(launch->arena, doc, "part", (double)group->first->part + 1);
    doc_add_number(launch->arena, doc, "parts", (double)launch->pool[group->first->role].parts);
    add_numbers(launch, doc, "servers", group->servers, group->server_count);
    add_numbers(launch, doc, "hosts", group->hosts, group->host_count);
    launch_add_start(doc, &group->start);
}

/* ---- the whole --------------------------------------------------------------------------- */

static void router_lines(const struct launch *launch, struct buffer *out, struct doc *list)
{
    const struct launch_part part = { .role = LAUNCH_ROUTER, .here = "$HOST", .address = "$HOST" };
    struct launch_start start;
    launch_start(launch, &part, &start);
    buffer_print(out, "\n# router: any host, which users ask\n");
    launch_print_file(launch, out, LAUNCH_ROUTER, &start);
    launch_print_command(launch, out, &start);
    struct doc *doc = doc_add(launch->arena, list, NULL, DOC_OBJECT);
    doc_add_string(launch->arena, doc, "role", launch_roles[LAUNCH_ROUTER]);
    launch_add_start(doc, &start);
}

void launch_group(const struct launch *launch, struct launch_groups *groups)
{
    *groups = (struct launch_groups){ 0 };
    for (size_t i = 0; i < launch->part_count; i++)
        add_part(launch, &launch->parts[i], groups);
}

void launch_shell(const struct launch *launch, struct buffer *out, struct doc *doc)
{
    struct launch_groups groups;
    struct doc *list = doc_add(launch->arena, doc, "servers", DOC_ARRAY);
    launch_group(launch, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct launch_group *group = &groups.at[i];
        if (!i || group->first->role != group[-1].first->role)
            launch_print_file(launch, out, group->first->role, &group->start);
        launch_group_title(launch, out, group);
        buffer_print(out, "%s", group->text);
        if (group->start.after) {
            buffer_print(out, "\n# %s\n", launch_about(launch, "after", NULL)->note);
            print_words(launch, out, group->start.after);
        }
        launch_group_document(launch, list, group);
    }
    if (launch->pools)
        router_lines(launch, out, list);
}
