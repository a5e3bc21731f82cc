/* facts -- what is known in one scenario: values stored under the names of rows.
 *
 * A scalar fact overrides any row, input or formula. A table (layers, operators,
 * tiers) has entries; its columns are the inputs of the chapter that says EACH table.
 *
 *     facts                              table "layer"
 *       chips          = 72                           dense   moe
 *       hbm_bandwidth  = 8e12                 layers_alike      3    58
 *       peak_flops     = "peak_fp8"           cache_elements  576   576
 *
 * Numbers are in base units (s, B, FLOP, token, USD, J; 1 for counts and bytes per
 * weight are B). A fact may instead be an expression over other rows. */
#ifndef ROWS_FACTS_H
#define ROWS_FACTS_H

#include "base/base.h"

/* Where a value comes from, in rising order of how directly the user decided it. `source` says the same
 * in words for people; no code reads these words. */
enum origin {
    ORIGIN_DEFAULT,                 /* the row's default */
    ORIGIN_DERIVED,                 /* computed from other values of the same question */
    ORIGIN_SHEET,                   /* a sheet of machines, tiers, prices or scaling laws, or a workload */
    ORIGIN_MODEL,                   /* a config.json or GGUF file */
    ORIGIN_FITTED,                  /* an efficiency of a chip or engine, fitted to measurements */
    ORIGIN_CHOSEN,                  /* not given: a rule of the program chose it */
    ORIGIN_GIVEN,                   /* the user gave it */
    ORIGIN_AXIS                     /* a search, a curve or a set of measurements varies it */
};

enum distribution { DISTRIBUTION_NONE, DISTRIBUTION_RANGE, DISTRIBUTION_UNIFORM,
                    DISTRIBUTION_NORMAL, DISTRIBUTION_LOGNORMAL };

struct fact {
    const char *name;       /* the row */
    unsigned hash;          /* of the name; 0 of a cell */
    const char *given_as;   /* the alias of the row that the user wrote, or NULL */
    double value;
    double low, high;       /* equal to value, or what `distribution` says: bounds, mean and
                               deviation, median and factor */
    enum distribution distribution;
    const char *expression; /* if not NULL, used instead of the number */
    enum origin origin;
    const char *source;     /* "data/hardware.csv", "config.json", "--set", ... */
};

/* The columns of an EACH chapter, with a value for each of its entries (layers, operators, tiers). */
struct fact_table {
    const char *name;
    size_t entries, columns;
    const char **entry;     /* [entries] names: "dense", "moe", "ddr" */
    const char **column;    /* [columns] names of rows */
    struct fact *cell;      /* [entries * columns], row-major by entry; a cell whose
                               name is NULL keeps the row's default */
};

struct facts {
    struct arena *arena;
    struct fact *scalars;
    size_t scalar_count, scalar_room;
    struct fact_table *tables;
    size_t table_count, table_room;
    const char **notes;     /* assumptions, printed below the answer */
    size_t note_count, note_room;
};

/* A copy whose scalars and notes can change without the original; the tables are shared. */
struct facts facts_copy(const struct facts *facts);
/* Of all names, values and expressions. */
uint64_t facts_hash(uint64_t hash, const struct facts *facts);
/* A later fact of the same name replaces the earlier one. */
void facts_set(struct facts *facts, const char *name, double value, enum origin origin, const char *source);
void facts_set_range(struct facts *facts, const char *name, double low, double high,
                     enum origin origin, const char *source);
/* Set a row to an expression over other rows. */
void facts_bind(struct facts *facts, const char *name, const char *expression, enum origin origin, const char *source);
void facts_remove(struct facts *facts, const char *name);
const struct fact *facts_find(const struct facts *facts, const char *name);        /* NULL: none */
/* Did the user give the fact? False for NULL. */
bool fact_given(const struct fact *fact);
void facts_note(struct facts *facts, const char *format, ...) BASE_PRINTF(2, 3);
void facts_note_once(struct facts *facts, const char *note);

/* Tables: get (or create) a table, add an entry, set a cell of the last or a named
 * entry. Column names are created as they are first used. */
struct fact_table *facts_table(struct facts *facts, const char *name);
const struct fact_table *facts_table_find(const struct facts *facts, const char *name);
size_t facts_entry(struct facts *facts, struct fact_table *table, const char *entry);
void facts_cell(struct facts *facts, struct fact_table *table, size_t entry,
                const char *column, double value, enum origin origin, const char *source);
void facts_cell_bind(struct facts *facts, struct fact_table *table, size_t entry,
                     const char *column, const char *expression, enum origin origin, const char *source);

#endif
