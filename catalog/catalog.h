/* catalog -- facts about machines, engines, models, tiers and prices, one fact per row.
 *
 *     hardware.csv                                      facts of a scenario
 *     name        fact          value unit  source ...
 *     h100-sxm    peak_fp8      1979  TFLOP/s  ...  ->  peak_fp8 = 1.979e15
 *     h100-sxm    alias         H100  text              peak_fp4 = "peak_fp8"
 *
 * A sheet is one CSV file. Its rows are grouped by name; where two sources disagree, both rows are kept
 * and one of them is marked "not chosen". Numbers are stored in the units of their source and converted
 * to base units here.
 *
 * An entry is found by name or alias, without regard to case, spaces, '_', '-' and '.'. Instead of a
 * name, a user may write "FILE.csv" (its only entry) or "FILE.csv:NAME" to read a sheet of his own with
 * the same columns. Every error in a sheet names file and line.
 *
 * The sheets of data/ are parsed when the program is built. A user's sheet lives in the arena of its
 * catalog; entries point into the catalog, so a catalog must not be moved. */
#ifndef CATALOG_H
#define CATALOG_H

#include "base/base.h"
#include "rows/facts.h"

enum catalog_kind { CATALOG_MACHINE, CATALOG_MODEL, CATALOG_TIER, CATALOG_PRICE, CATALOG_ENGINE, CATALOG_KINDS };

struct catalog_sheet;

struct catalog_entry {          /* one machine, model, tier, or provider's model */
    const char *name;           /* "h100-sxm"; of a price "openai/gpt-5" */
    const char *title;          /* how to print it: "H100 SXM" */
    const struct catalog_sheet *sheet;
    size_t first, rows;         /* its rows in the sheet */
};

struct catalog_row {            /* an empty cell is "", never NULL */
    const char *fact;           /* a row's name; of a model the key: "text_config.hidden_size" */
    const char *value, *unit, *source, *date, *mark, *note;
    int line;
    bool chosen;                /* not marked "not chosen" */
};

struct catalog_sheet {
    enum catalog_kind kind;
    struct csv csv;
    int name, fact, value, unit, source, date, mark, note, model;       /* indices of its columns */
    const struct catalog_entry *entries;
    size_t count;
};

struct catalog {
    struct arena *arena;
    struct catalog_sheet sheets[CATALOG_KINDS];
    struct catalog_sheet devices;       /* more machines: those of data/devices.csv */
    const struct catalog_sheet *named;      /* the sheet of a model of data/shapes.csv (model_shape); NULL: none */
    const struct csv *instances;            /* names of several chips (catalog/instance.h); NULL: none */
    struct catalog_met *met;                /* the machine's name that was looked up first; NULL: none is kept */
};

/* "data/hardware.csv" */
const char *catalog_file(enum catalog_kind kind);
/* The sheets of data/. This catalog has no arena, so no other sheet can be read into it. */
const struct catalog *catalog_built_in(void);
/* Make a catalog of the same sheets with an arena, into which a user's sheets can be read. */
void catalog_open(struct catalog *catalog, struct arena *arena);
/* Read one sheet and check every row. It replaces the catalog's sheet of that kind. */
bool catalog_read(struct catalog *catalog, enum catalog_kind kind, const char *file,
                  struct text text, struct error *error);
/* Read data/devices.csv and data/device_sources.csv as more machines (devices.h). Without `check` the lines are
 * taken as the build has checked them. */
bool catalog_read_devices(struct catalog *catalog, const struct csv *wide, const struct csv *sources, bool check,
                          struct error *error);

/* ---- reading entries, for `list` and `show` ----------------------------------------- */

/* The entry of this name or alias in the catalog's own sheet; NULL: none. */
const struct catalog_entry *catalog_known(const struct catalog *catalog, enum catalog_kind kind, const char *name);
/* Find an entry by name or alias, or in a user's sheet; a machine also by a name that people or drivers have for it
 * (catalog_machine_called). If there is none, `error` suggests the most similar name. */
const struct catalog_entry *catalog_find(const struct catalog *catalog, enum catalog_kind kind,
                                         const char *name, struct error *error);
size_t catalog_count(const struct catalog *catalog, enum catalog_kind kind);
const struct catalog_entry *catalog_entry(const struct catalog *catalog, enum catalog_kind kind,
                                          size_t index);
struct catalog_row catalog_row(const struct catalog_entry *entry, size_t index);
bool catalog_row_number(const struct catalog_row *row, double *value);  /* false: it is a text */
/* The chosen text or number (in base units) of a fact; NULL or false where the entry has none. */
const char *catalog_text(const struct catalog_entry *entry, const char *fact);
bool catalog_number(const struct catalog_entry *entry, const char *fact, double *value);

/* ---- entries as facts of a scenario ------------------------------------------------- */

/* A machine by a name as people, drivers and clouds write it: "NVIDIA GeForce RTX 4060 Ti 16GB", "m3 max", "11th Gen
 * Intel Core i7-1185G7 @ 3.00GHz (tigerlake)", "g5.12xlarge", "v5litepod-16", "2x gb10". */
struct catalog_cards {          /* a kind of "4x h100-sxm + l4" */
    const struct catalog_entry *entry;
    double memory, chips;       /* of one, bytes, where the name says it, or 0; how many */
};
struct catalog_called {
    const struct catalog_entry *entry;
    double memory;              /* bytes that the name says beside a machine of another size; 0: none */
    double chips;               /* linked to each other, where the name says how many; 0: it does not */
    const char *cloud;          /* that rents them out as one host; NULL: the name is not an instance */
    double price;               /* of a chip of that instance, USD/h; NAN: not known */
    const char *price_source;   /* with its date */
    const char *note;           /* what was chosen where the name fits several machines; NULL */
    const struct catalog_cards *cards;      /* of several kinds, which a + joins; `entry` is the first; NULL: one kind */
    size_t kinds;
    const char *title;          /* of these: "RTX 4090 + RTX 4070 Ti" */
};
/* A machine's name and what it means: to look one up that is no entry's own name costs 2 ms, and a question does so ten
 * times. Scenarios of one machine may share it; the arena of the first that looks it up has its texts. */
struct catalog_met {
    const char *name;                       /* NULL: no name was looked up */
    const struct catalog_entry *found;      /* by catalog_find; NULL: not asked yet */
    struct catalog_called called;           /* by catalog_machine_called, if it has an entry */
    bool none;                              /* it found none */
};
/* Does its GPU share the memory of its host (Apple's chips, GB10, Strix Halo)? */
bool catalog_shares_memory(const struct catalog_entry *machine);
/* Is it a card, several of which a host takes on its PCI Express bus? */
bool catalog_is_card(const struct catalog_entry *machine);
/* Is it no card, with no link to others of its kind that is known? */
bool catalog_stands_alone(const struct catalog_entry *machine);
/* What is kept of this name, to be filled in; NULL: nothing. */
struct catalog_met *catalog_met(const struct catalog *catalog, const char *name);
/* False: no machine or several of different speed, which `error` names. */
bool catalog_machine_called(const struct catalog *catalog, const char *name, struct catalog_called *called,
                            struct error *error);
/* Set every chosen number of a machine. A missing compute rate is set to that of the next wider data
 * type (fp4 to fp8's). Unverified and unknown facts become notes. */
bool catalog_machine(const struct catalog *catalog, const char *name, struct facts *facts,
                     struct error *error);
/* Set the efficiencies of chips and engines. Later entries override earlier ones: "any", the family of
 * chips, the engine, what engines of its time have in common (`generation` names their entry), and the
 * version of the engine (`version_of` names its engine); after each of the last three its backend. A family
 * without an entry was not measured. `family` and `machine`, as the catalog names them, may be NULL. */
bool catalog_engine(const struct catalog *catalog, const char *name, const char *family,
                    const char *machine, struct facts *facts, struct error *error);
/* The backend of an engine (`backend_of`) of whose `families` one begins the name of the family or of the
 * machine, each of which may be NULL; NULL: it has none for them. */
const struct catalog_entry *catalog_backend(const struct catalog *catalog, const char *engine, const char *family,
                                            const char *machine);
/* The name of an engine in the catalog; a name without an entry, such as a user's file, as it is; for
 * NULL "any". */
const char *catalog_engine_name(const struct catalog *catalog, const char *name);
/* The same without its version: "vllm" for an entry that is a version of it. */
const char *catalog_engine_base(const struct catalog *catalog, const char *name);
/* The entry of an engine, or of one at a version: for "vllm@0.11" the entry with the constants of older versions whose `until`
 * is the lowest that is not below 0.11, or vllm's. A version is known from the first to the last that the flags, rules and chips
 * of the engine name. NULL: not known; `error`, which may be NULL, lists what is. */
const struct catalog_entry *catalog_engine_at(const struct catalog *catalog, const char *name, struct error *error);
/* The name of the entry of an engine at the version that a sheet states, of whatever range: "vllm-0.13" for vllm and 0.11.1.
 * The name itself, where it is an entry of a version or unknown, and where the version is NULL or no number ("nightly"). */
const char *catalog_engine_then(const struct catalog *catalog, const char *name, const char *version);
/* Below 0, 0, above 0 as the version 0.9.2 is before, the same as or after 0.11. */
int catalog_version_order(const char *a, const char *b);
/* 0.11 of "vllm@0.11"; of a name alone the version whose flags and scheduler chalkline follows (data/flags.csv); NULL: none. */
const char *catalog_engine_version(const struct catalog *catalog, const char *name);
/* Is the entry of an engine sheet a family of chips instead of an engine? */
bool catalog_is_family(const struct catalog_entry *entry);
/* The model as the document its config.json would be; of an entry, also one of a user's sheet. */
bool catalog_entry_config(const struct catalog *catalog, const struct catalog_entry *entry, struct doc **config,
                          struct error *error);
bool catalog_model(const struct catalog *catalog, const char *name, struct doc **config,
                   struct error *error);
/* The model that has the same config.json and no `same_as`: often the entry itself. */
const struct catalog_entry *catalog_model_network(const struct catalog *catalog, const struct catalog_entry *entry);
/* The model whose numbers are assumed to be this one's, its context window among them; NULL: it has its own. */
const struct catalog_entry *catalog_model_base(const struct catalog *catalog, const struct catalog_entry *entry);
/* A model by a name that people have for it: with a publisher before it, with what was done to its weights behind
 * it, or with a colon as Ollama writes it. `precision` is the format, the GGUF file type or the bits of ExLlama
 * ("4.25bpw-h6") that the name says, `cache` the format of the KV cache ("FP8-KV"), or NULL. NULL: no model of the
 * catalog. */
const struct catalog_entry *catalog_model_called(struct arena *arena, const struct catalog *catalog,
                                                 const char *name, const char **precision, const char **cache);
/* Fill the table "tier" with an entry for each tier that has a capacity. */
void catalog_tiers(const struct catalog *catalog, struct facts *facts);
/* Is there a tier, and has every one a capacity, a bandwidth and a rent? */
bool catalog_tiers_needed(const struct catalog *catalog, struct error *error);

#endif
