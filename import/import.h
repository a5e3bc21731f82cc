/* import -- turn model files (config.json, GGUF) into facts.
 *
 *     config.json --json_read--> doc --model_config--+
 *                                                    +--> facts: scalars, table "operator",
 *     model.gguf  --gguf_read--> doc --model_gguf----+           table "layer", notes
 *
 * An import finds the shapes of a model; the formulas compute what they cost. An entry of the table
 * "operator" is one kind of weight matrix, with equal layers grouped; an entry of "layer" is one kind of
 * attention or recurrent state. formulas/model/architecture.chalk names the columns of both. Together
 * the operators have exactly the parameters of the forward pass:
 *
 *     total  = sum of layers * copies * in * out        (operator_stored)
 *     active = sum of layers * used   * in * out        (operator_active)
 *
 * so that multi-token-prediction layers, which decoding of text does not run, are left out, with a note; the
 * weights of a vision tower or an encoder are one number beside the operators, tower_params. A vector (norm,
 * bias) is a matrix with one output. A head that is tied to the embedding is a single operator, `lm_head`.
 *
 * Nothing is guessed silently. An unknown architecture, a missing field or an impossible value is an
 * error that names the file, the field and what would have been accepted. With `assume`, an unknown
 * architecture is read as a plain transformer instead, with a note for every assumed field.
 *
 * Results live in the arena of the facts. Every fact's source is the file's name. */
#ifndef IMPORT_H
#define IMPORT_H

#include "base/base.h"
#include "catalog/formats.h"
#include "rows/facts.h"

/* ---- documents ----------------------------------------------------------------------- */
bool model_is_gguf(struct text head);
bool model_is_safetensors(struct text head);
/* Bytes at the start of a GGUF file that are read: enough for any header, a fraction of the weights. */
enum { gguf_head_limit = 64 << 20 };
/* Read the header of a GGUF file (version 2 or 3) from the first bytes of the file. The document has the
 * metadata under their own names, and an array "tensors" of objects with name, type and dims. An array
 * of more than 4096 elements is replaced by its length. */
bool gguf_read(struct arena *arena, const char *file, struct text header, struct doc **doc,
               struct error *error);

struct file_type;

/* ---- models -------------------------------------------------------------------------- */
struct model_options {
    const struct formats *formats;
    const char *weights;        /* format of the quantized weights, or a file type; NULL: the checkpoint's */
    const char *experts;        /* format of the routed experts; NULL: as `weights` */
    const char *kv;             /* format of the KV cache; NULL: bf16 */
    const char *as;             /* read the configuration as this family; NULL: by its model_type */
    struct text families;       /* rows that are looked up before data/families.csv, checked by families_check; empty: none */
    bool assume;                /* read an unknown architecture as a plain transformer */
    bool shown;                 /* what is read is shown, nothing predicted from it: heads may be unknown */
};

/* Check a sheet with the columns of data/families.csv. False: the error names the file, the line and the column of the first
 * invalid cell. */
bool families_check(const char *file, struct text sheet, struct error *error);

/* A GGUF file type by its name ("Q4_K_M"), and the format that most of its weights have; NULL: no such
 * type. */
const struct file_type *file_type_find(struct arena *arena, const char *name);
/* Its name as GGUF files have it: "Q4_K_M" of "q4km". */
const char *file_type_name(const struct file_type *type);
const char *file_type_base(const struct file_type *type);
/* The names of those that people download, the largest first; at most `most`. */
size_t file_types_usual(struct arena *arena, const char **names, size_t most);

bool model_config(struct arena *arena, const struct doc *config, const char *file,
                  const struct model_options *options, struct facts *facts,
                  struct error *error);
/* ModelOpt writes the quantization to hf_quant_config.json beside config.json, AutoGPTQ to quantize_config.json, AutoAWQ
 * to quant_config.json. The first that exists is used if config.json has no quantization_config. */
bool model_beside(struct arena *arena, const char *path, struct doc *config, struct error *error);
/* The same from a GGUF header, which has the shapes and formats of the tensors themselves. */
bool model_gguf(struct arena *arena, const struct doc *gguf, const char *file,
                const struct model_options *options, struct facts *facts,
                struct error *error);
/* A model from a path: a configuration, a GGUF file, a safetensors file or one of its parts, an index of
 * these. config.json and the other parts are read where they stand beside it. */
bool model_file(struct arena *arena, const char *path, const struct model_options *options,
                struct facts *facts,
                struct error *error);
/* The file to read in a folder; NULL: none. */
const char *model_path(struct arena *arena, const char *folder);
/* A configuration whose index says how many bytes it must make: what differs is said in notes. */
bool model_index(struct arena *arena, const struct doc *config, const struct doc *index, const char *file,
                 const struct model_options *options, struct facts *facts, struct error *error);
/* Bind the cells of operators that equal the facts "experts" and "top_k" to these facts, so that a user
 * who sets one of them changes the whole model. */
void model_follow_experts(struct facts *facts);

#define MODEL_READS_NOTE "%s answers with %s and writes no tokens: of these figures those of memory and of prompts " \
                         "(prefill_speed, predicted_ttft) are its own"

#endif
