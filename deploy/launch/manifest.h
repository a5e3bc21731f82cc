/* manifest -- what the writers of a cluster's documents share: the parts of a document, names, containers. */
#ifndef ASK_LAUNCH_MANIFEST_H
#define ASK_LAUNCH_MANIFEST_H

#include "deploy/launch/launch.h"

struct manifest {
    const struct launch *launch;
    struct arena *arena;
    struct buffer *out;             /* what a script is written to */
    struct doc *doc;                /* of the answer */
    struct doc *list;               /* documents, written as YAML. NULL unless pods, as the next three */
    const char *base;               /* what all names begin with */
    const char *image, *resource;   /* of a container, and the resource that its GPUs are */
};

/* Members of an object, or with NULL for a key, of an array. */
struct doc *manifest_object(struct manifest *manifest, struct doc *parent, const char *key);
struct doc *manifest_array(struct manifest *manifest, struct doc *parent, const char *key);
void manifest_text(struct manifest *manifest, struct doc *parent, const char *key, const char *value);
void manifest_number(struct manifest *manifest, struct doc *parent, const char *key, double value);
/* A new document, with its apiVersion, kind and name. */
struct doc *manifest_begin(struct manifest *manifest, const char *version, const char *kind, const char *name);

/* The first part of the servers of a role, which are all alike. */
const struct launch_part *manifest_part(const struct manifest *manifest, enum launch_role role);
/* The token of Hugging Face, where there is one, and what the part's command has in its environment. */
void manifest_environment(struct manifest *manifest, struct doc *container, const struct launch_start *start);
/* The GPUs of a part. */
void manifest_gpus(struct manifest *manifest, struct doc *container, const struct launch_part *part);
/* Words of a command from `first` on, as a list. */
void manifest_words(struct manifest *manifest, struct doc *parent, const char *key, const struct doc *first);
/* The words after those of the command itself: its arguments. */
const struct doc *manifest_arguments(const struct manifest *manifest, enum launch_role role, const struct doc *words);

/* ---- the rows of targets.def ----------------------------------------------------------------- */

struct target {
    const char *word;               /* of --emit */
    bool pods;                      /* a cluster places the parts, and names them; else it is a script */
    void (*write)(struct manifest *manifest);
    /* Why it cannot start the servers of a pool, or NULL. Called before hosts are known: a pool has no parts yet. */
    const char *(*bars)(const struct launch *launch, const struct launch_pool *pool);
};
#define ENGINE(word)
#define DOCUMENT(word, pods, writer, ...) void writer(struct manifest *manifest); \
    __VA_OPT__(const char *__VA_ARGS__(const struct launch *launch, const struct launch_pool *pool);)
#include "deploy/launch/targets.def"
#undef ENGINE
#undef DOCUMENT

#endif
