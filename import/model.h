/* model -- a model while it is imported (private to import/).
 *
 *     config --> plan of every layer --> builders --> weights and caches, grouped --> facts
 *
 * config.c reads fields, patterns.c finds the kind of each layer, attention.c, state.c and ffn.c are
 * the builders that add weights and caches, weights.c groups those that are equal, precision.c finds
 * the format of each weight in the checkpoint, and families.def lists the builders and traits of each
 * architecture.
 *
 * The first error is kept: a reader that fails returns the smallest valid value, so that the code
 * after it can go on; model_config then discards the result. */
#ifndef IMPORT_MODEL_H
#define IMPORT_MODEL_H

#include "import/import.h"

/* ---- fields of a configuration ------------------------------------------------------- */
enum field {
#define FIELD(name, least, most, ...) FIELD_##name,
#include "import/fields.def"
#undef FIELD
    FIELD_COUNT
};

/* A configuration file that is being read. */
struct config {
    struct arena *arena;
    const char *file;
    const struct doc *root;         /* the whole file */
    const struct doc *text;         /* the language model in it: "text_config" or the root */
    struct facts *facts;            /* for notes */
    struct error *error;
    const char *family;             /* whose defaults apply; NULL: none */
    bool assume;
    bool failed;
    struct field_place {        /* where a field was found, once it was looked for */
        bool looked;
        const char *key;
        const struct doc *doc;
    } places[FIELD_COUNT];
};

bool config_open(struct config *config, const struct doc *root);
/* The value of a key in the language model's part or else in the whole file; NULL if absent or null. */
const struct doc *config_get(const struct config *config, const char *key);
bool config_has(struct config *config, enum field field);
double config_count(struct config *config, enum field field);
double config_count_or(struct config *config, enum field field, double absent);
/* A count inside an object of the configuration, such as one layer's. */
double config_count_in(struct config *config, const struct doc *object, enum field field);
bool config_flag(struct config *config, const char *key, bool absent);
const char *config_string(struct config *config, const char *key);      /* NULL: absent */
/* An error unless a name from the file is plain text. */
void config_plain(struct config *config, const char *key, const char *string);
/* Record the first error. Returns false. */
bool config_fail(struct config *config, const char *format, ...) BASE_PRINTF(2, 3);
bool config_expected(struct config *config, const char *format, ...) BASE_PRINTF(2, 3);

/* ---- which layer is which ------------------------------------------------------------ */
enum mixer { MIXER_NONE, MIXER_FULL, MIXER_SLIDING, MIXER_CHUNKED, MIXER_LINEAR };
enum ffn { FFN_NONE, FFN_DENSE, FFN_MOE };

/* The kind of one layer. */
struct plan {
    enum mixer mixer;
    enum ffn ffn;
    bool sparse;            /* sparse attention: reads only the tokens that an indexer selects */
    bool indexed;           /* the layer has that indexer itself; false: another layer's */
    bool borrowed;          /* reads another layer's KV cache instead of one of its own */
    double compression;     /* tokens per cache entry; 0: only the sliding window is cached */
    double kv_heads;        /* 0: the model's */
    double intermediate;    /* 0: the model's */
};

/* ---- formats ------------------------------------------------------------------------- */
/* What decides the format of a weight in a quantized checkpoint. */
enum role {
    ROLE_MATRIX,            /* a linear layer, which is quantized */
    ROLE_EXPERT,            /* a linear layer of a routed expert */
    ROLE_BASE,              /* not quantized: embeddings, router, norms, biases */
    ROLE_FLOAT,             /* always in 32 bits */
};

struct ignore;              /* the modules that were left out of the quantization */
/* The formats of a checkpoint, by role. */
struct precision {
    const struct format *base, *matrix, *expert, *whole;
    struct ignore *ignore;
};

bool precision_read(struct config *config, const struct model_options *options,
                    struct precision *precision);
const struct format *precision_of(const struct precision *precision, enum role role,
                                  const char *module);

struct ignore *ignore_new(struct config *config, const struct doc *list);
bool ignore_match(const struct ignore *ignore, const char *module);

/* ---- the model under construction ---------------------------------------------------- */
/* A weight matrix, of all layers that have an equal one. */
struct weight {
    const char *name;       /* inside its layer: "self_attn.q_proj" */
    double in, out;
    double copies, used;    /* copies per layer; copies that one token uses; 0: one */
    bool routed, lookup;    /* of a routed expert; an embedding, which is read and not multiplied */
    enum role role;
    const struct format *format;    /* NULL: the checkpoint's, by role */
    double layers;          /* number of layers that have it */
};

/* One kind of cache, as table "layer" of formulas/model/architecture.chalk has it. */
struct cache {
    const char *name;
    double alike, storing;  /* filled in by cache_add */
    double elements, entries_per_token, window, window_fill, top;
    double index_elements, index_bytes, index_macs;
    double cut;             /* ways tensor parallelism can cut it; 0: any */
    const char *kernels;    /* the row that counts the mixer's kernels; NULL: of a recurrent state */
    double query_heads, score, value, prefill_score, prefill_value;
    double state_size, state_macs;
};

struct family;
struct model {
    struct config *config;
    const struct family *family;
    struct precision precision;
    double layers, hidden, vocabulary;
    double moe_layers, experts, top_k;
    double streams;  /* residual streams: 1, or those of hyper-connections */
    double layer;    /* of the layer under construction; -1 outside layers */
    struct plan *plan;      /* [layers] */
    struct weight *weights;
    size_t weight_count, weight_room;
    struct cache *caches;
    size_t cache_count, kv_capacity_per_chip;
};

void weight_add(struct model *model, struct weight weight);
void weight_matrix(struct model *model, const char *name, double in, double out);
void weight_vector(struct model *model, const char *name, double size);
void cache_add(struct model *model, const struct plan *plan, struct cache cache);
void model_facts(const struct model *model, const struct format *kv);

bool plan_layers(struct model *model);
/* A configuration to weights and caches; then, perhaps with other weights, to facts. */
bool model_build(struct model *model, const struct doc *root, const struct model_options *options);
bool model_finish(struct model *model, const struct model_options *options);

/* ---- families ------------------------------------------------------------------------ */
enum {
    QK_NORM        = 1 << 0,    /* norms of head size over queries and keys */
    QK_NORM_WIDE   = 1 << 1,    /* ... or over all heads together */
    QKV_BIAS       = 1 << 2,    /* always, whatever attention_bias says */
    BIAS_QKV_ONLY  = 1 << 3,    /* attention_bias does not reach the output projection */
    SINKS          = 1 << 4,
    GATED_QUERY    = 1 << 5,    /* the query projection also makes an output gate */
    NORMS_FOUR     = 1 << 6,    /* before and after both halves of a layer */
    NORM_ONE       = 1 << 7,    /* a layer is one mixer or one feed-forward */
    TIED           = 1 << 8,    /* head and embedding are one unless the file says not */
    CHUNKED        = 1 << 9,    /* every fourth layer is full, the others in chunks */
    WINDOWED       = 1 << 10,   /* sliding_window applies without a pattern */
    ALTERNATE      = 1 << 11,   /* windows in layers 1, 3, 5, ... unless a pattern is given */
    SIXTH          = 1 << 24,   /* ... in all but every sixth */
    ROUTER_BIAS    = 1 << 12,   /* added to the logits */
    CORRECTION     = 1 << 13,   /* added to choose experts only */
    EXPERT_BIAS    = 1 << 14,
    SHARED_GATE    = 1 << 15,   /* a gate of one output before the shared expert */
    UNGATED        = 1 << 16,   /* two matrices: no gate beside the up-projection */
    MIXTRAL_NAMES  = 1 << 17,   /* block_sparse_moe.experts.w1, w3, w2 */
    SPARSE_MLA     = 1 << 18,   /* latent attention with an index */
    LAYER_SCALE    = 1 << 19,   /* a number that scales what a layer adds */
    STREAMS        = 1 << 20,   /* hyper-connections: several residual streams */
    QK_NORM_ASKED  = 1 << 21,   /* QK_NORM where use_qk_norm says so */
    SHARED_ONE     = 1 << 22,   /* one shared expert of the routed ones' size, unsaid */
    BACKBONE       = 1 << 23,   /* modules are named backbone.layers, not model.layers */
    BIASED         = 1 << 25,   /* matrices have biases unless the file says not */
    NORM_BIAS      = 1 << 26,   /* norms have them too, likewise */
    POSITIONS      = 1 << 27,   /* a table of positions beside that of words, likewise */
};

typedef void layer_builder(struct model *model, const struct plan *plan);

/* An architecture: a row of families.def. */
struct family {
    const char *name;           /* its model_type */
    const char *class_prefix;   /* of its name in "architectures", or NULL */
    layer_builder *attention, *linear, *experts;
    unsigned traits;
};

const struct family *family_find(struct config *config);
bool model_has(const struct model *model, unsigned trait);
bool model_biased(struct model *model, unsigned trait);     /* the trait, and biases not denied */

layer_builder attention_grouped, attention_latent, attention_compressed;
layer_builder state_delta, state_kimi, state_mamba, state_lightning;
layer_builder ffn_experts, ffn_gemma;
void ffn_dense(struct model *model, const struct plan *plan);

#endif
