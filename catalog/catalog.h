/* catalog -- facts about machines, engines, models, tiers and prices, one fact per row.
 *
 *     hardware.csv                                      facts of a scenario
 *     name        fact          value unit  source ...
 *     h100-sxm    peak_fp8      1979  TFLOP/s  ...  ->  peak_fp8 = 1.979e15
 *     h100-sxm    alias         H100  text              peak_fp4 = "peak_fp8"
 *
 * A sheet is one CSV text. Its rows are grouped by name; where two sources disagree
 * both rows are kept and one of them is marked "not chosen". Numbers are stored as
 * their source writes them and become base units here.
 *
 * Names are found without regard to case, spaces, '_', '-' and '.', by name or alias.
 * Where a name is asked for, "FILE.csv" (its only entry) or "FILE.csv:NAME" reads a
 * user's sheet of the same columns. Every fault of a sheet names file and line.
 * The sheets of data/ are read when the program is built. A user's lives in the arena of its
 * catalog; its entries point into the catalog, which must stay where it is. */
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
    size_t first, rows;
};

struct catalog_row {            /* empty strings, never NULL */
    const char *fact;           /* of a model: the key, "text_config.hidden_size" */
    const char *value, *unit, *source, *date, *mark, *note;
    int line;
    bool chosen;                /* not marked "not chosen" */
};

struct catalog_sheet {
    enum catalog_kind kind;
    struct csv csv;
    int name, fact, value, unit, source, date, mark, note, model;       /* columns */
    const struct catalog_entry *entries;
    size_t count;
};

struct catalog {
    struct arena *arena;
    struct catalog_sheet sheets[CATALOG_KINDS];
};

/* "data/hardware.csv" */
const char *catalog_file(enum catalog_kind kind);
/* The sheets of data/, without an arena. */
const struct catalog *catalog_built_in(void);
/* The same with an arena, for users' sheets beside or instead. */
void catalog_open(struct catalog *catalog, struct arena *arena);
/* Read one sheet and check every row; a second of a kind replaces the first. */
bool catalog_read(struct catalog *catalog, enum catalog_kind kind, const char *file,
                  struct text text, struct error *error);

/* ---- looking: for `list` and `show` ------------------------------------------------ */

/* By name or alias, or from a user's sheet; fills `error` with the nearest name. */
const struct catalog_entry *catalog_find(const struct catalog *catalog, enum catalog_kind kind,
                                         const char *name, struct error *error);
size_t catalog_count(const struct catalog *catalog, enum catalog_kind kind);
const struct catalog_entry *catalog_entry(const struct catalog *catalog, enum catalog_kind kind,
                                          size_t index);
struct catalog_row catalog_row(const struct catalog_entry *entry, size_t index);
bool catalog_row_number(const struct catalog_row *row, double *value);  /* false: a text */
/* The chosen text or number (in base units) of a fact; NULL or false where the entry has none. */
const char *catalog_text(const struct catalog_entry *entry, const char *fact);
bool catalog_number(const struct catalog_entry *entry, const char *fact, double *value);

/* ---- using ------------------------------------------------------------------------- */

/* Set every chosen number of a machine. A rate it lacks is bound to the next wider
 * type's; facts from memory and facts nobody knows become notes. */
bool catalog_machine(const struct catalog *catalog, const char *name, struct facts *facts,
                     struct error *error);
/* Set what chips and engines achieve: the entry "any", then that of the family of chips,
 * then the engine's own; of one version of an engine (`version_of`) the engine's first. A family
 * without an entry was not measured. */
bool catalog_engine(const struct catalog *catalog, const char *name, const char *family,
                    struct facts *facts, struct error *error);
/* An engine as the catalog calls it; what is no entry, a file of one's own, as it is; NULL: "any". */
const char *catalog_engine_name(const struct catalog *catalog, const char *name);
/* The version of an engine whose flags and rules were read, in data/flags.csv; NULL: of none. */
const char *catalog_engine_version(const struct catalog *catalog, const char *name);
/* An entry may be of a family of chips instead of an engine. */
bool catalog_is_family(const struct catalog_entry *entry);
/* The model as the document its config.json would be. */
bool catalog_model(const struct catalog *catalog, const char *name, struct doc **config,
                   struct error *error);
/* Fill the table "tier", one entry for each tier that has a capacity. */
void catalog_tiers(const struct catalog *catalog, struct facts *facts);
/* Is there a tier, and has every one a capacity, a bandwidth and a rent? */
bool catalog_tiers_needed(const struct catalog *catalog, struct error *error);

#endif
