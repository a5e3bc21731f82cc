/* A deployment as a script for sbatch: one job has all hosts, and a step of it each server or part.
 *
 *     #SBATCH --nodes=4 --gpus-per-node=8
 *     HOST_1=...                           names of the job's hosts
 *     for HOST in "$HOST_1" "$HOST_2"; do
 *     srun --nodelist="$HOST" ... vllm serve ... &
 *     done
 *
 * Steps share the job's GPUs, and several servers of a host are told theirs (CUDA_VISIBLE_DEVICES). A server that a
 * launcher spreads is one step with a task on each of its GPUs. */
#include "deploy/launch/manifest.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static void head_lines(const struct launch *launch, struct buffer *out)
{
    buffer_print(out, "#SBATCH --job-name=chalkline\n#SBATCH --nodes=%zu\n#SBATCH --gpus-per-node=%.0f\n"
                 "#SBATCH --exclusive\n", launch->hosts, launch->host_chips);
    buffer_print(out, "set -eu\nmapfile -t hosts < <(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n");
    for (size_t i = 0; i < launch->hosts; i++)
        buffer_print(out, "HOST_%zu=${hosts[%zu]}\n", i + 1, i);
}

/* The hosts that a launcher's server fills: it has the first alone, and those after it. */
static size_t hosts_of(const struct launch *launch, const struct launch_part *part)
{
    const struct launch_pool *pool = &launch->pool[part->role];
    return pool->parts > 1 ? 1 : (size_t)fmax(ceil(pool->chips / launch->host_chips), 1);
}

/* Where a step runs, and how many tasks it starts. */
static void print_step(const struct launch *launch, struct buffer *out, const struct launch_part *part)
{
    const struct launch_pool *pool = &launch->pool[part->role];
    const size_t hosts = hosts_of(launch, part);
    if (hosts == 1) {
        buffer_print(out, "srun --overlap --nodes=1 --ntasks=1 --nodelist=\"$HOST\"");
        return;
    }
    buffer_print(out, "srun --overlap --mpi=pmix --nodes=%zu --ntasks=%.0f --ntasks-per-node=%.0f --nodelist=\"", hosts,
                 pool->chips, fmin(pool->chips, launch->host_chips));
    for (size_t i = 0; i < hosts; i++)
        buffer_print(out, "%s$HOST_%zu", i ? "," : "", part->host + 1 + i);
    buffer_print(out, "\"");
}

/* The command in the background, with its environment for the step alone. */
static void print_background(struct buffer *out, const struct launch_start *start, const char *command)
{
    const size_t size = strlen(command);
    buffer_print(out, " \\\n    %s%.*s &\n", start->environment->first ? "env " : "", (int)(size - 1), command);
}

static void print_group(const struct launch *launch, struct buffer *out, const struct launch_group *group)
{
    const bool spread = hosts_of(launch, group->first) > 1;
    launch_group_title(launch, out, group);
    if (!spread) {
        buffer_print(out, "for HOST in");
        for (size_t i = 0; i < group->host_count; i++)
            buffer_print(out, " \"$HOST_%zu\"", group->hosts[i]);
        buffer_print(out, "; do\n");
    }
    print_step(launch, out, group->first);
    print_background(out, &group->start, group->text);
    if (!spread)
        buffer_print(out, "done\n");
}

/* Each server that a launcher spreads has hosts of its own. */
static void print_spread(const struct launch *launch, struct buffer *out, const struct launch_group *group)
{
    for (size_t i = 0; i < launch->part_count; i++) {
        const struct launch_part *part = &launch->parts[i];
        struct launch_group one = *group;
        size_t server = part->server + 1, host = part->host + 1;
        if (part->role != group->first->role)
            continue;
        one.first = part;
        one.servers = &server, one.server_count = 1;
        one.hosts = &host, one.host_count = 1;
        print_group(launch, out, &one);
    }
}

/* On the first host, behind the servers that listen there. */
static void print_router(const struct launch *launch, struct buffer *out, struct doc *list)
{
    struct launch_part part = { .role = LAUNCH_ROUTER, .here = "$HOST", .address = "$HOST" };
    struct buffer text = { .arena = launch->arena };
    struct launch_start start;
    for (size_t i = 0; i < launch->part_count; i++)
        part.index += launch->parts[i].host == 0;
    launch_start(launch, &part, &start);
    buffer_print(out, "\n# router: host 1, port %zu, which users ask\n", (size_t)LAUNCH_PORT + part.index);
    launch_print_file(launch, out, LAUNCH_ROUTER, &start);
    buffer_print(out, "HOST=$HOST_1\nsrun --overlap --nodes=1 --ntasks=1 --nodelist=\"$HOST\"");
    launch_print_command(launch, &text, &start);
    print_background(out, &start, text.data);
    struct doc *doc = doc_add(launch->arena, list, NULL, DOC_OBJECT);
    doc_add_string(launch->arena, doc, "role", launch_roles[LAUNCH_ROUTER]);
    launch_add_start(doc, &start);
}

void manifest_slurm(struct manifest *manifest)
{
    const struct launch *launch = manifest->launch;
    struct buffer *out = manifest->out;
    struct launch_groups groups;
    struct doc *list = doc_add(launch->arena, manifest->doc, "servers", DOC_ARRAY);
    launch_group(launch, &groups);
    head_lines(launch, out);
    for (size_t i = 0; i < groups.count; i++) {
        const struct launch_group *group = &groups.at[i];
        if (!i || group->first->role != group[-1].first->role)
            launch_print_file(launch, out, group->first->role, &group->start);
        if (hosts_of(launch, group->first) > 1)
            print_spread(launch, out, group);
        else
            print_group(launch, out, group);
        launch_group_document(launch, list, group);
    }
    if (launch->pools)
        print_router(launch, out, list);
    buffer_print(out, "wait\n");
}
