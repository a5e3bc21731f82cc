/* Facts and tables of facts, in an arena.
 *
 * Scalars are an array in the order in which they were first set; a fact set again replaces the
 * earlier one in place. A copy has scalars and notes of its own and shares the tables. Tables are
 * small: adding an entry or a column lays out all cells anew. */
#include "rows/facts.h"

#include <stdio.h>
#include <string.h>

/* FNV-1a; most names begin alike. */
static unsigned hash_of(const char *name)
{
    unsigned hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

static struct fact *find(const struct facts *facts, const char *name, unsigned hash)
{
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (facts->scalars[i].hash == hash && !strcmp(facts->scalars[i].name, name))
            return &facts->scalars[i];
    return NULL;
}

static const char *copy(struct facts *facts, const char *string)
{
    return string ? arena_copy(facts->arena, string, strlen(string)) : NULL;
}

struct facts facts_copy(const struct facts *facts)
{
    struct facts copy = *facts;
    copy.scalar_room = facts->scalar_count + 8, copy.note_room = facts->note_count + 8;
    copy.scalars = arena_array(facts->arena, copy.scalar_room, sizeof *copy.scalars);
    copy.notes = arena_array(facts->arena, copy.note_room, sizeof *copy.notes);
    if (facts->scalar_count)
        memcpy(copy.scalars, facts->scalars, facts->scalar_count * sizeof *copy.scalars);
    if (facts->note_count)
        memcpy(copy.notes, facts->notes, facts->note_count * sizeof *copy.notes);
    return copy;
}

static uint64_t hash_facts(uint64_t hash, const struct fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = hash_numbers(hash_text(hash, facts[i].name ? facts[i].name : ""), &facts[i].value, 1);
        hash = hash_text(hash, facts[i].expression ? facts[i].expression : "");
    }
    return hash_mix(hash, count);
}

uint64_t facts_hash(uint64_t hash, const struct facts *facts)
{
    hash = hash_facts(hash, facts->scalars, facts->scalar_count);
    for (size_t t = 0; t < facts->table_count; t++)
        hash = hash_facts(hash, facts->tables[t].cell, facts->tables[t].entries * facts->tables[t].columns);
    return hash;
}

static const char *again(struct facts *facts, const char *before, const char *string)
{
    return before && string && !strcmp(before, string) ? before : copy(facts, string);
}

/* A fact of this name becomes another, which keeps the copies of texts that are the same, or is added. */
static void set(struct facts *facts, const char *name, struct fact fact)
{
    fact.hash = hash_of(name);
    struct fact *place = find(facts, name, fact.hash);
    if (!place) {
        place = arena_push(facts->arena, &facts->scalars, &facts->scalar_count, &facts->scalar_room, sizeof *place);
        *place = (struct fact){ .name = copy(facts, name) };
    }
    fact.name = place->name;
    fact.expression = again(facts, place->expression, fact.expression);
    fact.source = again(facts, place->source, fact.source);
    *place = fact;
}

void facts_set_range(struct facts *facts, const char *name, double low, double high,
                     enum origin origin, const char *source)
{
    set(facts, name, (struct fact){ .value = low + (high - low) / 2, .low = low, .high = high,
                                    .distribution = DISTRIBUTION_RANGE, .origin = origin, .source = source });
}

void facts_set(struct facts *facts, const char *name, double value, enum origin origin, const char *source)
{
    set(facts, name, (struct fact){ .value = value, .low = value, .high = value, .origin = origin,
                                    .source = source });
}

void facts_bind(struct facts *facts, const char *name, const char *expression, enum origin origin, const char *source)
{
    set(facts, name, (struct fact){ .expression = expression, .origin = origin,
                                    .source = source });
}

void facts_remove(struct facts *facts, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < facts->scalar_count; i++)
        if (strcmp(facts->scalars[i].name, name))
            facts->scalars[kept++] = facts->scalars[i];
    facts->scalar_count = kept;
}

const struct fact *facts_find(const struct facts *facts, const char *name)
{
    return find(facts, name, hash_of(name));
}

bool fact_given(const struct fact *fact)
{
    return fact && fact->origin == ORIGIN_GIVEN;
}

void facts_note(struct facts *facts, const char *format, ...)
{
    va_list list;
    char note[512];
    va_start(list, format);
    vsnprintf(note, sizeof note, format, list);
    va_end(list);
    *(const char **)arena_push(facts->arena, &facts->notes, &facts->note_count,
                               &facts->note_room, sizeof *facts->notes) = copy(facts, note);
}

void facts_note_once(struct facts *facts, const char *note)
{
    if (!name_listed(facts->notes, facts->note_count, note))
        facts_note(facts, "%s", note);
}

/* ---- tables --------------------------------------------------------------------- */

const struct fact_table *facts_table_find(const struct facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->table_count; i++)
        if (!strcmp(facts->tables[i].name, name))
            return &facts->tables[i];
    return NULL;
}

struct fact_table *facts_table(struct facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->table_count; i++)
        if (!strcmp(facts->tables[i].name, name))
            return &facts->tables[i];
    struct fact_table *table = arena_push(facts->arena, &facts->tables, &facts->table_count,
                                          &facts->table_room, sizeof *facts->tables);
    table->name = copy(facts, name);
    return table;
}

/* Tables are small; a new entry or column copies all cells. */
static void table_resize(struct facts *facts, struct fact_table *table, size_t entries,
                         size_t columns)
{
    struct fact *cell = arena_array(facts->arena, entries * columns, sizeof *cell);
    for (size_t i = 0; i < table->entries; i++)
        for (size_t j = 0; j < table->columns; j++)
            cell[i * columns + j] = table->cell[i * table->columns + j];
    table->cell = cell;
    table->entries = entries;
    table->columns = columns;
}

static const char **names_grow(struct facts *facts, const char **names, size_t count,
                               const char *name)
{
    const char **grown = arena_array(facts->arena, count + 1, sizeof *grown);
    for (size_t i = 0; i < count; i++)
        grown[i] = names[i];
    grown[count] = copy(facts, name);
    return grown;
}

size_t facts_entry(struct facts *facts, struct fact_table *table, const char *entry)
{
    table->entry = names_grow(facts, table->entry, table->entries, entry);
    table_resize(facts, table, table->entries + 1, table->columns);
    return table->entries - 1;
}

static struct fact *table_place(struct facts *facts, struct fact_table *table, size_t entry,
                                const char *column)
{
    const size_t j = name_index(table->column, table->columns, column);
    if (j == table->columns) {
        table->column = names_grow(facts, table->column, table->columns, column);
        table_resize(facts, table, table->entries, table->columns + 1);
    }
    return &table->cell[entry * table->columns + j];
}

void facts_cell(struct facts *facts, struct fact_table *table, size_t entry,
                const char *column, double value, enum origin origin, const char *source)
{
    struct fact *cell = table_place(facts, table, entry, column);
    *cell = (struct fact){ .name = copy(facts, column), .value = value, .low = value,
                           .high = value, .origin = origin, .source = copy(facts, source) };
}

void facts_cell_bind(struct facts *facts, struct fact_table *table, size_t entry,
                     const char *column, const char *expression, enum origin origin, const char *source)
{
    struct fact *cell = table_place(facts, table, entry, column);
    *cell = (struct fact){ .name = copy(facts, column), .expression = copy(facts, expression),
                           .origin = origin, .source = copy(facts, source) };
}
