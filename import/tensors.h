/* tensors -- the tensors of a file, whatever its kind, and what each of them is (private to import/).
 *
 *     header --safetensors.c--> tensors --modules.c--> modules --tensor_model.c--> operators
 *
 * A tensor is a name, a shape and a run of bytes. A module is what a layer computes with: the packed
 * weights of a matrix together with their scales and zero points, of all experts that are alike. */
#ifndef IMPORT_TENSORS_H
#define IMPORT_TENSORS_H

#include "import/model.h"

enum { tensor_dimensions = 6 };

struct tensor {
    const char *name;
    const char *type;                   /* as the file spells it: "BF16" */
    double dims[tensor_dimensions];     /* as the file has them, the fastest last in safetensors */
    size_t dimensions;
    double bytes;
};

struct tensors {
    struct tensor *at;
    size_t count, room;
};

/* What a matrix belongs to in a breakdown of a step. */
enum weight_part { PART_MIXER, PART_EXPERTS, PART_SHARED, PART_HEAD, PART_ROUTER, PART_DENSE };

/* ---- what a name says ---------------------------------------------------------------- */
/* Rows of data/tensor_classes.csv, and the part of a step's breakdown that each belongs to. */
#define TENSOR_CLASSES(X) \
    X(scale, PART_MIXER) X(buffer, PART_MIXER) X(tower, PART_MIXER) X(projector, PART_MIXER) \
    X(prediction, PART_MIXER) X(correction, PART_ROUTER) X(norm, PART_ROUTER) X(positions, PART_ROUTER) \
    X(embedding, PART_ROUTER) X(head, PART_HEAD) X(shared_expert, PART_SHARED) X(expert, PART_EXPERTS) \
    X(router, PART_ROUTER) X(cross, PART_MIXER) X(convolution, PART_MIXER) X(state_output, PART_MIXER) \
    X(latent, PART_MIXER) X(recurrent, PART_MIXER) X(joined, PART_MIXER) X(query, PART_MIXER) \
    X(key, PART_MIXER) X(value, PART_MIXER) X(attention, PART_MIXER) X(mlp, PART_DENSE) X(other, PART_MIXER)
enum tensor_class {
#define TENSOR_CLASS(name, part) TENSOR_##name,
    TENSOR_CLASSES(TENSOR_CLASS)
#undef TENSOR_CLASS
    TENSOR_CLASS_COUNT
};

enum tensor_class tensor_class_of(const char *name);
const char *tensor_class_name(enum tensor_class kind);
enum weight_part tensor_part(enum tensor_class kind);

/* ---- modules ------------------------------------------------------------------------- */
struct module {
    const char *name;           /* inside its layer, without the number of an expert: "mlp.experts.up_proj" */
    const char *whole;          /* the name of its first tensor */
    const char *type;
    enum tensor_class kind;
    double layer;               /* -1: outside the layers */
    double in, out, copies;
    double elements, bytes;     /* of all copies; bytes with scales */
    double bits;                /* of one stored weight, if they are packed; 0: not packed */
    bool blocks, tabled;        /* a scale for each tile of a matrix; 16 values from a table (nf4) */
};

struct modules {
    struct module *at;
    size_t count;
    double layers;              /* the highest number of a layer of the language model, and one */
    double most_layers;         /* of these, those before next-token layers; 0: all */
};

/* Tensors to modules. `bits` of packed weights whose shapes do not tell; 0: unknown, taken as 4. */
void modules_of(struct arena *arena, const struct tensors *tensors, double bits, struct modules *modules);
/* The first module of a kind in a layer that is a matrix; NULL: none. */
const struct module *module_in(const struct modules *modules, double layer, enum tensor_class kind);

/* ---- files --------------------------------------------------------------------------- */
bool safetensors_read(struct arena *arena, const char *file, struct text header, struct tensors *tensors,
                      struct error *error);
/* Length of the header with the eight bytes before it; 0: an error. */
size_t safetensors_size(const char *file, struct text head, struct error *error);

/* A model from its tensors, and from its configuration where there is one (NULL: none). `apart`: this is a
 * file of its own, which must count as many weights. */
bool model_of_tensors(struct arena *arena, const struct tensors *tensors, const struct doc *config,
                      bool apart,
                      const char *file, const struct model_options *options, struct facts *facts,
                      struct error *error);
/* The layers and caches of a model whose model_type is unknown, or which has none, from the shapes of its
 * tensors; what these do not tell, from the fields of its configuration. */
bool shapes_build(struct model *model, const struct modules *modules);
/* Do an index's names and total agree with the configuration that was read? What differs is said in notes. */
void index_compare(struct model *model, const struct doc *index);

#endif
