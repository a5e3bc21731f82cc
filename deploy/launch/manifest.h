/* manifest -- what the writers of a cluster's documents share: the parts of a document, names, containers. */
#ifndef ASK_LAUNCH_MANIFEST_H
#define ASK_LAUNCH_MANIFEST_H

#include "deploy/launch/launch.h"

struct manifest {
    const struct launch *launch;
    struct arena *arena;
    struct doc *list;               /* of the objects */
    const char *base;               /* what all names begin with */
    const char *image, *resource;
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

/* ---- one document each --------------------------------------------------------------------- */
void manifest_dynamo(struct manifest *manifest);
void manifest_llmd(struct manifest *manifest, const char *family);
void manifest_kserve(struct manifest *manifest);
void manifest_ray(struct manifest *manifest);
/* The steps of an sbatch script. */
void launch_slurm(const struct launch *launch, struct buffer *out, struct doc *doc);

#endif
