/* launch -- a deployment as the commands that start its replicas, or as a Kubernetes manifest.
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

#include "scenario/scenario.h"

enum launch_role { LAUNCH_TOGETHER, LAUNCH_PREFILL, LAUNCH_DECODE, LAUNCH_ROUTER, LAUNCH_ROLES };
extern const char *const launch_roles[LAUNCH_ROLES];

struct deployment {                 /* what is to be started */
    struct scenario scenario;       /* with the sizes of its servers as facts */
    const char *model, *machine;    /* as the user named them */
    const char *weights, *experts, *cache;      /* formats; NULL: the model's own */
    const char *title, *predicted;  /* "8 x TP 4, 13 at once"; what it is predicted to reach */
    double gpus;                    /* as many as there are, which hosts may exceed */
    double count[LAUNCH_ROLES];     /* servers */
};

struct launch_flag {                /* a row of data/flags.csv */
    const char *name, *form, *takes, *value, *when, *role, *standard, *source, *date, *note;
};

struct launch_pool {                /* servers of one role, all alike */
    double count, chips, rank_chips, ranks;
    double *values;                 /* [flag_count] of flags that take a row; else NAN */
    size_t parts;                   /* of one server */
    bool by_ranks;                  /* each part says which attention ranks it has */
};

struct launch_part {
    enum launch_role role;
    size_t server, part;            /* of its pool, of its server */
    size_t host, first_chip, index; /* the index counts servers of a host */
    double chips, local, start;     /* its attention ranks, by_ranks: how many, from which */
    const char *here, *address;     /* its host, as it calls itself and as others call it */
    const char *leader, *rank;      /* the host of its server's first part; its number */
};

struct launch {
    struct deployment *deployment;
    struct arena *arena;
    const char *engine, *title, *model;
    struct launch_flag *flags;      /* of the engine, in the order of the sheet */
    size_t flag_count, flag_room;
    bool manifest, pools;
    double host_chips;
    struct launch_pool pool[LAUNCH_ROLES];  /* count 0: there is none */
    struct launch_part *parts;
    size_t part_count, part_room, hosts;
};

struct launch_start {               /* what starts a part */
    struct doc *words;              /* array of strings */
    struct doc *file;               /* object, or NULL */
    struct doc *environment;        /* object of strings, maybe empty */
};

/* Is it an engine or a form that --emit knows? */
extern const char *const launch_targets[];      /* what can be written, then NULL */
/* The engine of `name` (--emit) and `engine` (--engine, or NULL), and whether it can serve the
 * model, its formats and its machine at all. */
bool launch_open(struct launch *launch, struct arena *arena, struct deployment *deployment,
                 const char *name, const char *engine, struct error *error);
/* Take a deployment's pools. If the engine cannot run them, *reason says why and *way_out what to
 * change; otherwise both are NULL. False only for errors. */
bool launch_take(struct launch *launch, struct deployment *deployment, const char **reason,
                 const char **way_out, struct error *error);
/* Write what starts the deployment that was taken, as text and into `doc`. */
bool launch_write(struct launch *launch, struct buffer *out, struct doc *doc, struct error *error);

/* ---- flags --------------------------------------------------------------------------- */
void launch_read_flags(struct launch *launch);
/* The fact of an engine: "version"; of several that which says `family`; NULL: none. */
const struct launch_flag *launch_about(const struct launch *launch, const char *name,
                                       const char *family);
/* Rows of a pool, and what the engine cannot run as the reason and a way out. */
bool launch_values(struct launch *launch, enum launch_role role, const char **reason,
                   const char **way_out, struct error *error);
void launch_start(const struct launch *launch, const struct launch_part *part,
                  struct launch_start *start);

/* ---- hosts --------------------------------------------------------------------------- */
/* Divide pools into parts and place the parts on hosts. */
void launch_place(struct launch *launch);

/* ---- text and documents ---------------------------------------------------------------- */
/* "# ..." of a script or a manifest: a line, whatever the words in it are. */
void launch_comment(struct buffer *out, const char *format, ...) BASE_PRINTF(2, 3);
/* A word as a shell takes it, literally. */
void launch_word(struct buffer *out, const char *word);
void launch_yaml(struct buffer *out, const struct doc *doc);
void launch_shell(const struct launch *launch, struct buffer *out, struct doc *doc);
bool launch_manifest(const struct launch *launch, const char *family, struct buffer *out,
                     struct doc *doc, struct error *error);
enum { LAUNCH_PORT = 8000 };

#endif
