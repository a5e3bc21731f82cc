/* import -- model files of others (config.json, GGUF) become facts.
 *
 *     config.json --json_read--> doc --model_config--+
 *                                                    +--> facts: scalars, table "operator",
 *     model.gguf  --gguf_read--> doc --model_gguf----+           table "layer", notes
 *
 * An import says what shapes a model has; what they cost is for the formulas. One entry
 * of "operator" is one kind of weight matrix, equal layers grouped; one entry of "layer"
 * is one kind of attention or state. formulas/model/architecture.chalk names their columns.
 * Together the operators are exactly the parameters of the forward pass:
 *
 *     total  = sum of layers * copies * in * out        (operator_stored)
 *     active = sum of layers * used   * in * out        (operator_active)
 *
 * so multi-token-prediction layers and vision or audio towers, which text decoding does
 * not run, are left out and a note says so. A vector (norm, bias) is a matrix with one
 * output. A tied head is one operator, `lm_head`, that is multiplied with.
 *
 * Nothing is guessed in silence. An unknown architecture, a missing field, a value that
 * makes no sense is an error that names the file, the field and what would have been
 * read; `assume` takes an unknown architecture as a plain transformer instead, with a
 * note for every field it had to assume.
 *
 * Results live in the arena of the facts. Every fact's source is the file's name. */
#ifndef IMPORT_H
#define IMPORT_H

#include "base/base.h"
#include "catalog/formats.h"
#include "rows/facts.h"

/* ---- documents ----------------------------------------------------------------------- */
bool model_is_gguf(struct text head);
/* Of the start of a file, enough for any header: a model is far larger than its header. */
enum { gguf_head_limit = 64 << 20 };
/* The header of a GGUF file (version 2 or 3), of which `header` may be only the start:
 * the metadata under their own names, and an array "tensors" of objects with name, type
 * and dims. Strings and numbers are kept; an array longer than 4096 is kept as its
 * length. */
bool gguf_read(struct arena *arena, const char *file, struct text header, struct doc **doc,
               struct error *error);

/* ---- models -------------------------------------------------------------------------- */
struct model_options {
    const struct formats *formats;
    const char *weights;        /* format of what the checkpoint quantises; NULL: its own */
    const char *experts;        /* format of the routed experts alone; NULL: as the others */
    const char *kv;             /* format of the cache; NULL: bf16 */
    bool assume;                /* read an unknown architecture as a plain transformer */
};

bool model_config(struct arena *arena, const struct doc *config, const char *file,
                  const struct model_options *options, struct facts *facts,
                  struct error *error);
/* NVIDIA's modelopt keeps what it quantised in hf_quant_config.json beside config.json:
 * where that file is and config.json says nothing, it becomes its quantization_config. */
bool model_beside(struct arena *arena, const char *path, struct doc *config, struct error *error);
/* A GGUF header has the shapes and formats of the tensors themselves. */
bool model_gguf(struct arena *arena, const struct doc *gguf, const char *file,
                const struct model_options *options, struct facts *facts,
                struct error *error);
/* Cells of operators that equal the facts "experts" and "top_k" follow them from now on: who sets
 * these asks for another model. */
void model_follow_experts(struct facts *facts);

#endif
