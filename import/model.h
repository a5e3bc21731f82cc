/* model -- a model while it is imported (private to import/).
 *
 *     config --> plan of every layer --> builders --> weights and caches, grouped --> facts
 *
 * config.c reads fields, patterns.c finds the kind of each layer, attention.c, state.c and ffn.c are
 * the builders that add weights and caches, weights.c groups those that are equal, precision.c finds
 * the format of each weight in the checkpoint, and data/families.csv lists the builders and traits of
 * each architecture.
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
struct family;
struct config {
    struct arena *arena;
    const char *file;
    const struct doc *root;         /* the whole file */
    const struct doc *text;         /* the language model in it: "text_config" or the root */
    struct facts *facts;            /* for notes */
    struct error *error;
    const struct family *family;    /* whose defaults apply; NULL: none */
    const char *as;                 /* as in model_options */
    struct text families;
    bool assume, assumed;           /* an unknown architecture may be read, and was read, as a plain one */
    bool exact;                     /* the bytes of weights come from tensors: their quantization need not be known */
    bool shown;                     /* facts are shown and nothing is predicted: heads may be unknown */
    bool failed;
    struct field_place {        /* where a field was found, once it was looked for */
        bool looked;
        const char *key;
        const struct doc *doc;
    } places[FIELD_COUNT];
    const struct doc **read;    /* the values that were looked at */
    size_t read_count, read_room;
};

bool config_open(struct config *config, const struct doc *root);
/* The value of a key in the language model's part or else in the whole file; NULL if absent or null. */
const struct doc *config_get(struct config *config, const char *key);
bool config_has(struct config *config, enum field field);
double config_count(struct config *config, enum field field);
double config_count_or(struct config *config, enum field field, double absent);
/* A count inside an object of the configuration, such as one layer's. */
double config_count_in(struct config *config, const struct doc *object, enum field field);
bool config_flag(struct config *config, const char *key, bool absent);
/* Has every number that could matter been read? If an architecture is assumed, an unread one is an error; if the user
 * named the family, a note. */
bool config_all_read(struct config *config);
const char *config_string(struct config *config, const char *key);      /* NULL: absent */
/* An error unless a name from the file is plain text. */
void config_plain(struct config *config, const char *key, const char *string);
/* Record the first error. Returns false. */
bool config_fail(struct config *config, const char *format, ...) BASE_PRINTF(2, 3);
bool config_expected(struct config *config, const char *format, ...) BASE_PRINTF(2, 3);
const char *doc_said(struct arena *arena, const struct doc *doc);       /* "-4", "a string", for a message */

/* ---- which layer is which ------------------------------------------------------------ */
enum mixer { MIXER_NONE, MIXER_FULL, MIXER_SLIDING, MIXER_CHUNKED, MIXER_LINEAR };
enum ffn { FFN_NONE, FFN_DENSE, FFN_MOE };

/* The kind of one layer. */
struct layer_plan {
    enum mixer mixer;
    enum ffn ffn;
    bool sparse;            /* sparse attention: reads only the tokens that an indexer selects */
    bool indexed;           /* the layer has that indexer itself; false: another layer's */
    bool borrowed;          /* reads another layer's KV cache instead of one of its own */
    bool recurrent;         /* a recurrent half beside the attention (Falcon-H1) */
    bool crossed;           /* attends to the tokens of images instead of the text's (Llama 3.2) */
    bool no_keys;           /* its file says that it has no keys, whatever its tensors are called */
    double compression;     /* tokens per cache entry; 0: only the sliding window is cached */
    double query_heads;     /* 0: the model's */
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
struct mixed;               /* the modules that have formats of their own */
struct file_type;           /* a GGUF file type, which says which tensor gets which format */
/* The formats of a checkpoint, by role. */
struct precision {
    const struct format *base, *matrix, *expert, *whole;
    struct ignore *ignore;
    struct mixed *mixed;                /* NULL: formats by role alone */
    bool tables;                        /* embedding and head are quantised too */
    bool copied;                        /* a head that is the embedding is stored beside it */
    const struct format *head;          /* of a quantised head; NULL: as `base`, or as `mixed` says */
    const struct format *cache[2];      /* of keys and values, by the checkpoint, then as the user says; NULL: not said */
    const struct formats *formats;
    struct arena *arena;
    const struct file_type *file;       /* NULL: by role */
    bool native;                        /* the checkpoint's experts are in MXFP4, and stay so in GGUF files of any type */
    bool experts_apart;                 /* the file type is not for the experts, which have a format of their own */
};

/* A row of data/quantizers.csv (quantizer.c). */
struct quantizer {
    size_t row;
};
/* The row of the section's method; NULL: no row has its name. */
const struct quantizer *quantizer_find(struct arena *arena, const struct doc *section);
const char *quantizer_refused(const struct quantizer *by);      /* what to give, as it does not determine the bytes; NULL: it does */
bool quantizer_flag(const struct quantizer *by, const char *flag);
const char *quantizer_methods(struct arena *arena);             /* those that can be read, "gptq, awq, ...", for a message */
/* The format that a description gives, or else the section around it. NULL: `said` is the word that was not understood, or
 * NULL if there is none. */
const struct format *quantizer_format(struct config *config, const struct formats *formats,
                                      const struct quantizer *by, const struct doc *object, const struct doc *section,
                                      const char **said);
/* The format `base` with `bits` for each weight. */
const struct format *format_with_bits(struct arena *arena, const struct format *base, double bits);
/* The format of the head; NULL: it is not quantized. */
const struct format *quantizer_head(struct config *config, const struct formats *formats, const struct quantizer *by,
                                    const struct doc *section, const struct format *matrix);
/* Is each Linear quantized that no list names, the head too? */
bool quantizer_linears(const struct quantizer *by, const struct doc *section);
/* The fields that say what the weights are in, for a message. */
const char *quantizer_fields(struct arena *arena, const struct quantizer *by);
/* False, with an error that names the field: it has the wrong type, or a value that no format has. */
bool quantizer_checked(struct config *config, const struct quantizer *by, const struct doc *section);
/* The lists of modules that are not quantized; returns their number. */
size_t quantizer_left(const struct doc *section, const struct doc **lists, size_t most);
/* The object that describes modules one by one; NULL: none. */
const struct doc *quantizer_own(const struct quantizer *by, const struct doc *section);
/* Adds these modules to `mixed`; those that are not quantized have the format `base`. */
void quantizer_modules(struct config *config, const struct formats *formats, const struct quantizer *by,
                       const struct doc *section, const struct format *base, struct mixed *mixed);
/* Is there a list of the only modules that are quantized? Adds them to `mixed`. */
bool quantizer_some(struct config *config, const struct doc *section, const struct format *format, struct mixed *mixed);
/* The format of the KV cache; NULL: the section does not give one. */
const struct format *quantizer_cache(struct config *config, const struct formats *formats, const struct doc *section);
/* Adds a note for each field that is not understood. */
void quantizer_unread(struct config *config, const struct quantizer *by, const struct doc *section);

bool precision_read(struct config *config, const struct model_options *options,
                    struct precision *precision);
const struct format *precision_of(const struct precision *precision, enum role role,
                                  const char *module);

/* `within`: entries are found anywhere in a name. */
struct ignore *ignore_new(struct config *config, const struct doc *const *lists, size_t count, bool within);
void ignore_seen(struct ignore *ignore, const char *module);            /* the model has this module */
bool ignore_waits(const struct ignore *ignore);                         /* is a name listed that no module had yet? NULL: no */
/* Adds a note for entries that no module has; those of towers, of prediction layers and of tables are no part of it. */
void ignore_unseen(struct config *config, const struct ignore *ignore, double layers, double predicted);
bool ignore_match(const struct ignore *ignore, const char *module);
bool ignore_table(const struct ignore *ignore, const char *name);       /* "lm_head" or "embed_tokens", in a wrapper too */
/* False, with a note: the entry is a regular expression that is not understood. */
bool ignore_known(struct config *config, const char *entry);
/* The part of a module's name from "layers." on; NULL: it is in no layer. */
const char *ignore_from_layers(const char *name);
/* Does an entry of such a list fit: a pattern with '*' or "re:", or parts of the name? */
bool ignore_pattern(const char *entry, const char *module);

/* Python's re.match, for the patterns of such lists (regular.c). A pattern that is not understood matches nothing. */
bool regular_known(const char *pattern);
bool regular_match(const char *pattern, const char *name);

/* Formats by module: entries are added, then closed before the first is looked for. */
struct mixed *mixed_new(struct config *config);
bool mixed_class(const char *name);         /* is a class of modules known: Linear, Embedding? */
bool mixed_tables(const struct mixed *mixed);           /* does an entry name the class of embeddings? */
void mixed_add(struct config *config, struct mixed *mixed, const char *name, const struct format *format);
void mixed_close(struct mixed *mixed);
/* NULL: nothing is said of this module. */
const struct format *mixed_format(struct arena *arena, const struct mixed *mixed, const char *module);

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
    double state_elements, state_inputs, cross_elements, state_macs;
};

struct model {
    struct config *config;
    const struct family *family;
    struct precision precision;
    double layers, hidden, vocabulary;
    double moe_layers, experts, top_k;
    double query_groups;    /* query heads to one head of keys, of the first layer with attention */
    double streams;  /* residual streams: 1, or those of hyper-connections */
    double apart;    /* weights that a step of decoding does not run: of a tower or an encoder */
    double apart_bytes;     /* all their bytes; 0: as the base format has them */
    double state_bytes;     /* of an element of its recurrent states; 0: not stated */
    double layer;    /* of the layer under construction; -1 outside layers */
    struct layer_plan *plan;      /* [layers] */
    struct weight *weights;
    size_t weight_count, weight_room;
    struct cache *caches;
    size_t cache_count, cache_room;
};

/* The name of the format that a file type gives a weight of the layer under construction. */
const char *file_type_of(const struct model *model, const struct file_type *type, const struct weight *weight);
bool file_type_head(const struct file_type *type);          /* is a head stored that the model shares with its embedding? */

void weight_add(struct model *model, struct weight weight);
/* A matrix, or a vector of one output, that every quantiser leaves in 32 bits. */
void weight_float(struct model *model, const char *name, double in, double out);
void weight_matrix(struct model *model, const char *name, double in, double out);
void weight_vector(struct model *model, const char *name, double size);
void cache_add(struct model *model, const struct layer_plan *plan, struct cache cache);
/* A state of fixed size: its elements, multiply-adds for each, and inputs of short convolutions. */
void state_cache(struct model *model, const struct layer_plan *plan, double elements, double macs, double inputs);
void model_facts(const struct model *model);

bool plan_layers(struct model *model);
/* A configuration to weights and caches; then, perhaps with other weights, to facts. */
bool model_build(struct model *model, const struct doc *root, const struct model_options *options);
bool model_finish(struct model *model, const struct model_options *options);

/* ---- families ------------------------------------------------------------------------ */
/* What data/families.csv calls traits, in its words; docs/models.md says what each means. */
enum {
#define TRAIT(name) TRAIT_BIT_##name,
#include "import/traits.def"
#undef TRAIT
    TRAIT_COUNT
};
#define TRAIT_BIT(name) ((uint64_t)1 << TRAIT_BIT_##name)

/* Whether a family has something: always, never, or as a field of the configuration says. */
struct family_rule {
    const char *key;            /* the field; NULL: `absent` always */
    bool absent;                /* the answer where there is no such field */
    bool denied;                /* the field says that it has not */
};

typedef void layer_builder(struct model *model, const struct layer_plan *plan);
/* All that is not the same in each layer, or the whole of a model that has no such layers. */
typedef void model_builder(struct model *model);

/* An architecture: a row of data/families.csv. */
struct family {
    const char *name;           /* its model_type */
    layer_builder *attention, *linear;
    model_builder *whole;       /* NULL: layer by layer */
    struct family_rule qkv_bias, output_bias, ffn_bias, norm_bias, head_bias, qk_norm;
    bool down_bias;             /* of the feed-forward, the last matrix alone has one */
    bool qk_wide;               /* its norms of queries and keys are over all heads, not over each */
    enum { FFN_ABSENT, FFN_GATED, FFN_PLAIN } ffn_kind;      /* three matrices or two */
    bool norm_weights;
    double norms;               /* of the model's width, in a layer */
    bool tied;                  /* head and embedding are one unless the file says not */
    bool windowed, chunked;     /* sliding_window applies without a pattern; its layers are chunked */
    bool window_asked;          /* ... only if use_sliding_window says so */
    double window_pattern;      /* every n-th layer is full; 0: none */
    bool full_first;            /* ... the first of each n, not the last */
    uint64_t traits;
    struct text defaults;       /* "heads=8 kv_heads=4": counts that a file may leave out */
};

/* The family of a configuration, or NULL and an error. */
const struct family *family_find(struct config *config);
/* The value that the class gives a field that is absent; false: none. */
bool family_default(const struct family *family, const char *field, double *value);
bool model_has(const struct model *model, uint64_t trait);
bool model_rule(struct model *model, struct family_rule rule);

/* Is it a Falcon of the newer architecture, with groups of heads and mostly two norms? */
bool falcon_grouped(struct config *config);
layer_builder attention_grouped, attention_latent, attention_twice, attention_compressed, attention_factored;
layer_builder state_delta, state_kimi, state_mamba, state_mamba1, state_lightning, state_convolution;
layer_builder state_recurrent, state_rwkv;
model_builder encoder_ends, encoder_note_class, t5_build, bart_build;
void ffn_dense(struct model *model, const struct layer_plan *plan);
void ffn_experts(struct model *model, const struct layer_plan *plan);
/* Vision and audio towers beside the language model: the fact tower_params, and notes. */
void towers_add(struct model *model);
/* Tokens of an image or a second of sound: facts, where the configuration tells. */
void images_add(struct model *model);

#endif
