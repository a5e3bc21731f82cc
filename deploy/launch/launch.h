/* launch -- print the commands that start a deployment's replicas, or a document that a cluster starts them by.
 *
 *     deployment --> servers of a role --> parts on hosts --> words, file, environment
 *                    4 x decode, 18 GPUs   rank 0, 1, 2       by the rows of data/flags.csv
 *
 * The caller passes a scenario in which the sizes of the chosen deployment are facts; every flag of an
 * engine is a row of that scenario.
 *
 * A part is what one command starts: a whole replica, or one host's share of it. Values that only the
 * user knows are $NAME in a command, and the names that Kubernetes assigns in a manifest. */
#ifndef ASK_LAUNCH_H
#define ASK_LAUNCH_H

#include "catalog/flags.h"
#include "scenario/engine.h"

enum launch_role { LAUNCH_TOGETHER, LAUNCH_PREFILL, LAUNCH_DECODE, LAUNCH_ROUTER, LAUNCH_ROLES };
extern const char *const launch_roles[LAUNCH_ROLES];

struct deployment {                 /* the deployment that is to be started */
    struct scenario scenario;       /* with the sizes of its replicas as facts */
    const char *model, *machine;    /* as the user named them */
    const char *weights, *experts, *cache;      /* formats; NULL: the model's own */
    const char *title, *predicted;  /* "8 x TP 4, 13 running per replica"; "714.3 token/s per GPU, ..." */
    const char *load;               /* what sends it the load that was predicted: a command; NULL: not said */
    bool searched, any_layout;      /* by a plan; whose --any-layout lifts the rules of engines and hosts */
    bool unasked;                   /* no --emit asked for it: errors do not name that option */
    const char *missed;             /* the limits that it misses; NULL: none */
    double gpus;                    /* GPUs in use; whole hosts may have more */
    double count[LAUNCH_ROLES];     /* replicas of each role */
};

struct launch_pool {                /* the replicas of one role, which are equal */
    double count, chips, rank_chips, ranks;
    double *values;                 /* [flag_count] values of flags that take a row; else NAN */
    double *seconds;                /* [flag_count] of flags that take two rows, the other's */
    size_t parts;                   /* parts of one replica */
    bool by_ranks;                  /* each part is told which attention ranks it runs */
};

/* What one command starts: a replica, or the share of it on one host. */
struct launch_part {
    enum launch_role role;
    size_t server, part;            /* index of the replica in its pool; of the part in the replica */
    size_t host, first_chip, index; /* host; first GPU there; index among the parts of the host */
    double chips, local, start;     /* GPUs; with by_ranks, number of attention ranks and the first */
    const char *here, *address;     /* its host's address, for itself and for other hosts */
    const char *leader, *rank;      /* host of the replica's first part; number of this part */
};

struct launch {
    struct deployment *deployment;
    struct arena *arena;
    const char *engine, *title;
    struct engine_release release;  /* what data/engines.csv says of it on this machine */
    const char *model;              /* as the engine finds it: a name, a folder, a file */
    const char *of;                 /* the same, where that stands for a checkpoint of it that is not known */
    struct flag *flags;             /* of the engine, in the order of the sheet */
    size_t flag_count, flag_room;
    const char *target;             /* the document around it, "k8s" or "dynamo"; NULL: commands */
    struct flag *facts;             /* what data/targets.csv says of that document */
    size_t fact_count, fact_room;
    const struct target *document;  /* its row of targets.def */
    bool pods;                      /* a cluster places the parts, and names them */
    bool pools;
    const char *broken;             /* the rule that a layout of --any-layout breaks, or NULL */
    const char *reason, *way_out;   /* why the deployment cannot run, and what to change; or NULL */
    const char *who;                /* the engine or target that cannot run it: a title */
    bool own;                       /* an engine of one's own machine: one server, with no hosts to fill */
    double host_chips;
    struct launch_pool pool[LAUNCH_ROLES];  /* count 0: there is none */
    struct launch_part *parts;
    size_t part_count, part_room, hosts;
};

struct launch_start {               /* what starts a part */
    struct doc *words;              /* array of strings */
    struct doc *file;               /* object, or NULL */
    struct doc *environment;        /* object of strings, maybe empty */
    struct doc *after;              /* array of strings: what follows once it listens; or NULL */
};

extern const char *const launch_targets[];      /* what --emit can write, then NULL */
extern const struct option_group launch_options;        /* --emit */
/* Take a deployment for the engine of `name` (--emit) and `engine` (--engine, or NULL). False where it can serve
 * the model, its formats or its machine in no deployment. */
bool launch_open(struct launch *launch, struct arena *arena, struct deployment *deployment,
                 const char *name, const char *engine, struct error *error);
/* Take another deployment of the same model and machine. False only for errors. */
bool launch_take(struct launch *launch, struct deployment *deployment, struct error *error);
/* If the engine can run the deployment that was taken, true; else an error whose way out begins with `first`. */
bool launch_runs(const struct launch *launch, const char *first, struct error *error);
/* Put what starts the deployment in place of the answer's text, and into its document as `emit`. */
bool launch_print(struct launch *launch, struct answer *answer, struct error *error);
/* The words that start the one server of a deployment. */
const struct doc *launch_words(struct launch *launch);

/* ---- flags --------------------------------------------------------------------------- */
void launch_read_flags(struct launch *launch);
void launch_add_flag(struct launch *launch, const struct flag *flag);
/* "fp8=fp8_e4m3 bf16=": what the engine calls a format; "": its default; NULL: it cannot. */
const char *launch_format(const struct launch *launch, const struct flag *flag, const char *format);
/* The fact of an engine: "version"; of several that which says `family`; NULL: none. */
const struct flag *launch_about(const struct launch *launch, const char *name,
                                       const char *family);
/* Rows of a pool, and whether the engine can run it. */
bool launch_values(struct launch *launch, enum launch_role role, struct error *error);
/* What must run on a second machine that keeps layers, once the deployment is placed; NULL: there is none. */
const char *launch_second_machine(const struct launch *launch);
void launch_start(const struct launch *launch, const struct launch_part *part,
                  struct launch_start *start);
/* The name of a server's file, without a folder. */
const char *launch_file(const struct launch *launch, enum launch_role role);

/* ---- hosts --------------------------------------------------------------------------- */
/* Divide pools into parts and place the parts on hosts. */
void launch_place(struct launch *launch);

/* ---- text and documents ---------------------------------------------------------------- */
/* "# ..." of a script or a manifest: a line, whatever the words in it are. */
void launch_comment(struct buffer *out, const char *format, ...) BASE_PRINTF(2, 3);
/* A word as a shell takes it, literally; and as one of a command, in which the shell puts hosts for $HOST_2. */
void launch_word(struct buffer *out, const char *word);
void launch_command_word(const struct launch *launch, struct buffer *out, const char *word);
void launch_yaml(struct buffer *out, const struct doc *doc);
/* Parts whose commands have the same words. */
struct launch_group {
    const char *text;               /* the command, with its environment before it */
    struct launch_start start;
    const struct launch_part *first;
    size_t *servers, server_count, server_room;     /* numbers from 1 */
    size_t *hosts, host_count, host_room;
};

struct launch_groups {
    struct launch_group *at;
    size_t count, room;
};

void launch_group(const struct launch *launch, struct launch_groups *groups);
/* "# server 1 to 4 of 4: hosts 1 to 4" */
void launch_group_title(const struct launch *launch, struct buffer *out, const struct launch_group *group);
void launch_group_document(const struct launch *launch, struct doc *list, const struct launch_group *group);
void launch_add_start(struct doc *doc, const struct launch_start *start);
void launch_print_file(const struct launch *launch, struct buffer *out, enum launch_role role,
                       const struct launch_start *start);
void launch_print_command(const struct launch *launch, struct buffer *out, const struct launch_start *start);
void launch_shell(const struct launch *launch, struct buffer *out, struct doc *doc);

/* ---- documents: not in a page ------------------------------------------------------------ */
/* Take the target's facts, and its own flags in the place of the engine's. */
bool launch_target_open(struct launch *launch, struct error *error);
/* The fact of the target; NULL: none. */
const struct flag *launch_target_about(const struct launch *launch, const char *name);
/* Give the launch a reason where the target cannot start the deployment. */
void launch_target_bars(struct launch *launch);
bool launch_manifest(const struct launch *launch, struct buffer *out, struct doc *doc, struct error *error);
enum { LAUNCH_PORT = 8000 };

#endif
