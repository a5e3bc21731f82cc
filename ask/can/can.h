/* can -- what one's own card or processor can do with a model: the verb `can`.
 *
 *     can.c           the question: the load, the table over file types, the best of them
 *       can_type.c    one file type on the machine: figures, and what fits
 *       can_change.c  what to change: another type, the cache, layers on the host
 *       can_rank.c    without a model: the models of the catalog that the machine runs */
#ifndef ASK_CAN_CAN_H
#define ASK_CAN_CAN_H

#include "ask/ask.h"
#include "scenario/values.h"

/* Types are listed with the largest first; none before Q8_0, the second, is ever the best. */
enum { CAN_TYPES_MOST = 12, CAN_LARGEST = 1, CAN_FOUR_BITS = 4 /* the place of Q4_K_M */ };

/* What is asked of every type, in the order of the keys. */
#define CAN_ROWS(X)                                                                                      \
    X(weights_stored) X(gguf_bytes) X(memory_needed) X(memory_usable) X(recurrent_state)                  \
    X(speed_per_user) X(prefill_speed) X(predicted_ttft) X(context_most)
enum can_row {
#define X(name) CAN_##name,
    CAN_ROWS(X)
#undef X
    CAN_ROW_COUNT
};

struct can {
    struct arena *arena;
    const struct command *command;
    struct subject subject;         /* model and machine, and llama.cpp unless another engine is named */
    double context;                 /* tokens of one conversation, */
    double prompt, answer;          /* those before an answer, and of it at most */
    double window;                  /* tokens that the model was made for */
    double speed, ttft;             /* tokens per second that are enough, and the latest first token, s */
};

/* One file type, with layers on the host or without. */
struct can_type {
    const char *precision;          /* as --precision takes it; NULL: as the GGUF file has it */
    const char *cache;              /* as --kv-precision does; NULL: as asked */
    double host_layers, host_expert_layers;
    struct scenario scenario;
    struct values values;           /* of the rows above */
    struct section *figures;        /* the same, as figures under the rows' names */
    bool fits;
};

/* The context, and how much of it is prompt: as given, else filled to a share. */
bool can_lengths(struct can *can, struct scenario *scenario, struct error *error);
/* The speed and TTFT that were asked for, and the model's window; an error where the engine is not llama.cpp. */
bool can_wants(struct can *can, struct scenario *scenario, struct error *error);
/* The types to try: that of --precision or of the name, or all. A checkpoint whose experts have four bits is published in
 * those alone. */
bool can_types(struct can *can, struct scenario *checkpoint, struct can_type *types, size_t *count, struct error *error);
/* All of them: the checkpoint as it is in a GGUF file, then the types that people download (data/file_types.csv). */
size_t can_usual(struct arena *arena, struct can_type *types);
/* One conversation on all the cards that were given or named, split by layers as llama.cpp does. */
void can_load(const struct can *can, struct scenario *scenario);
/* Open the scenario of a type; fill in what the machine does with it. */
bool can_open(const struct can *can, struct can_type *type, struct error *error);
bool can_read(const struct can *can, struct can_type *type, struct error *error);
double can_at(const struct can_type *type, enum can_row row);
const char *can_type_name(const struct can_type *type);
/* Bits of a weight, of a file of so many bytes. */
double can_bits(double bytes, double params);
double can_cards(const struct can_type *type);
bool can_unlike(const struct scenario *scenario);       /* are its cards of several kinds? */
const char *can_machine(const struct scenario *scenario);      /* "2 x RTX 3090" */
/* The figures of a type under the keys of the answer: for people, and for programs. */
void can_figures(const struct can_type *type, struct section *section);
void can_document(const struct can_type *type, struct doc *doc);
/* The command that starts llama.cpp's server with this type, and a note on what it needs beside it; NULL with an
 * error if there is none. Of the command the flags that depend on the machine; "" if there is none. */
const char *can_launch(const struct can *can, struct can_type *type, struct error *error);
const char *can_flags(const struct can *can, const struct can_type *type);

/* --emit: what starts the engine with this type, in place of the text. */
bool can_emit(const struct can *can, const struct can_type *type, struct answer *answer, struct error *error);

/* The type with as few layers on the host as memory allows: whole layers, or, of a model with routed experts,
 * the faster of whole layers and experts alone. Returns false if it does not fit even so. */
bool can_split(const struct can *can, const struct can_type *type, struct can_type *split, struct error *error);
/* What could be changed, a sentence each, added to `changes`; `best` is NULL where no type fits. */
void can_changes(const struct can *can, const struct can_type *types, size_t count,
                 const struct can_type *best, struct section *changes);

/* Without a model: the models of the catalog that the machine runs, and its options. */
bool can_rank(struct can *can, struct answer *answer, struct error *error);
extern const struct option_group can_rank_options;
extern const struct record can_ranked_record, can_left_out_record;

#endif
