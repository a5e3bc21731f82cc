/* Reads the sheets of data/ (machines, engines, tiers, models, measurements) and finds entries by
 * name.
 *
 * A sheet is a CSV with one fact per line: entry, fact, value, unit, source, date. A fact is a row
 * of the formulas in its unit, such a row with _low or _high for a range, or one of the listed
 * words that only people read. Every line is checked when it is read: the row must exist, the unit
 * must agree, the date must be a date, and an entry has one chosen line per fact; other lines of
 * the fact remain as alternatives with their sources. Names are compared without case and
 * punctuation, and a miss names the nearest entry. */
#include "catalog/catalog.h"
#include "catalog/devices.h"

#include "rows/rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a sheet may say -------------------------------------------------------------- */

/* A fact is a row of the formulas, in its unit, or such a row with _low or _high behind its name.
 * Beside these, sheets say in words what no row reads, and have facts that are only shown. */
struct known_fact {
    const char *fact, *unit;        /* "text": not a number */
};

static const struct known_fact machine_facts[] = {
    { "memory_kind", "text" },                  { "scale_up_topology", "text" },
    { "host_memory_capacity", "B" },            { "chip_price_kind", "text" },
    { "chip_price_on_demand", "USD/s" },        { "chip_price_spot", "USD/s" },
    { "chip_price_contract_1y", "USD/s" },      { "chip_price_contract_3y", "USD/s" },
    { "chip_price_own_hyperscaler", "USD/s" },  { "chip_price_own_neocloud", "USD/s" },
    { "chip_price_on_demand_low", "USD/s" },    { "chip_price_on_demand_high", "USD/s" },
    { "purchase_price", "USD" },                { "purchase_price_low", "USD" },
    { "purchase_price_high", "USD" },           { "purchase_price_chip", "USD" },
    { "installed_price", "USD" },               { "memory_cost_share_low", "1" },
    { "memory_cost_share_high", "1" },          { "slice_counts", "1" },
};

static const struct known_fact tier_facts[] = {
    { "tier_drain_quoted", "s" }, { "tier_drain_quoted_low", "s" }, { "tier_drain_quoted_high", "s" },
};

static const struct known_fact price_facts[] = {
    { "input", "USD/token" },           { "output", "USD/token" },
    { "cached_read", "USD/token" },     { "cache_write", "USD/token" },
    { "cache_write_5m", "USD/token" },  { "cache_write_1h", "USD/token" },
    { "storage", "USD/token/s" },       { "threshold", "token" },
    { "input_above", "USD/token" },     { "output_above", "USD/token" },
    { "cached_read_above", "USD/token" },
    { "cache_write_5m_above", "USD/token" }, { "cache_write_1h_above", "USD/token" },
    { "input_batch", "USD/token" },     { "output_batch", "USD/token" },
};

static const struct known_fact words[] = {
    { "title", "text" }, { "alias", "text" }, { "family", "text" }, { "version_of", "text" }, { "until", "text" },
    { "generation", "text" }, { "backend_of", "text" }, { "families", "text" }, { "driver_name", "text" },
    { "facts", "1" },               /* of an entry that a program wrote: one that was cut is refused */
};

#define LIST(array) array, sizeof array / sizeof *array

static const struct {
    const char *file, *what, *list;     /* list: NULL: `chalkline list` has none */
    bool rows;                          /* facts may be rows */
    const struct known_fact *facts;
    size_t count;
} kinds[CATALOG_KINDS] = {
    [CATALOG_MACHINE] = { "data/hardware.csv", "machine", "hardware", true, LIST(machine_facts) },
    [CATALOG_MODEL]   = { "data/models.csv", "model", "models", false, NULL, 0 },
    [CATALOG_TIER]    = { "data/tiers.csv", "tier", "tiers", true, LIST(tier_facts) },
    [CATALOG_PRICE]   = { "data/prices.csv", "price", "prices", false, LIST(price_facts) },
    [CATALOG_ENGINE]  = { "data/efficiency.csv", "engine", NULL, true, NULL, 0 },
};

const char *catalog_file(enum catalog_kind kind)
{
    return kinds[kind].file;
}

static const char *const marks[] = { "", "memory", "second-hand", "announced", "assumed", "not chosen", "nominal",
                                     "counts more" };

/* ---- rows ------------------------------------------------------------------------------ */

static struct catalog_row sheet_row(const struct catalog_sheet *sheet, size_t row)
{
    const struct csv *csv = &sheet->csv;
    const char *mark = csv_cell(csv, row, sheet->mark);
    return (struct catalog_row){
        .fact = csv_cell(csv, row, sheet->fact),     .value = csv_cell(csv, row, sheet->value),
        .unit = csv_cell(csv, row, sheet->unit),     .source = csv_cell(csv, row, sheet->source),
        .date = csv_cell(csv, row, sheet->date),     .note = csv_cell(csv, row, sheet->note),
        .mark = mark,                                .line = csv->lines[row],
        .chosen = strcmp(mark, "not chosen") != 0,
    };
}

struct catalog_row catalog_row(const struct catalog_entry *entry, size_t index)
{
    return sheet_row(entry->sheet, entry->first + index);
}

static bool row_is_text(const struct catalog_row *row)
{
    return !strcmp(row->unit, "text") || !strcmp(row->unit, "row");
}

bool catalog_row_number(const struct catalog_row *row, double *value)
{
    double number, scale = 1;
    if (row_is_text(row) || !text_number(text_of(row->value), &number) ||
        (*row->unit && !unit_scale(row->unit, &scale)))
        return false;
    *value = number * scale;
    return true;
}

static bool row_is_of(const struct catalog_entry *entry, size_t index, const char *fact)
{
    return !strcmp(csv_cell(&entry->sheet->csv, entry->first + index, entry->sheet->fact), fact);
}

/* The chosen row of a fact. */
static bool row_find(const struct catalog_entry *entry, const char *fact, struct catalog_row *row)
{
    for (size_t i = 0; i < entry->rows; i++) {
        if (!row_is_of(entry, i, fact))
            continue;
        *row = catalog_row(entry, i);
        if (row->chosen)
            return true;
    }
    return false;
}

const char *catalog_text(const struct catalog_entry *entry, const char *fact)
{
    struct catalog_row row;
    return row_find(entry, fact, &row) ? row.value : NULL;
}

bool catalog_number(const struct catalog_entry *entry, const char *fact, double *value)
{
    struct catalog_row row;
    return row_find(entry, fact, &row) && catalog_row_number(&row, value);
}

static const struct catalog_entry *entry_find(const struct catalog_sheet *sheet, const char *name);

/* ---- reading: every row is checked --------------------------------------------------- */

static bool fault(const struct catalog_sheet *sheet, int line, struct error *error,
                  const char *what, const char *read)
{
    return error_set(error, "%s:%d: %s '%s'", sheet->csv.file, line, what, read);
}

static bool check_unit(const struct catalog_sheet *sheet, const struct catalog_row *row,
                       const char *wanted, struct error *error)
{
    bool text = !strcmp(wanted, "text");
    if (!strcmp(row->unit, "row") && !text)         /* the value of another row */
        return true;
    if (text || !strcmp(row->unit, "text")) {
        if (text && !strcmp(row->unit, "text"))
            return true;
        fault(sheet, row->line, error, "the unit of this fact cannot be", row->unit);
        return error_expected(error, "%s", wanted);
    }
    struct unit have, want;
    double scale;
    struct error why;
    if (!unit_parse(text_of(row->unit), &have, &scale, &why)) {
        fault(sheet, row->line, error, "unknown unit", row->unit);
        return error_hint_of(error, &why);
    }
    if (unit_parse(text_of(wanted), &want, &scale, &why) && unit_same(have, want))
        return true;
    fault(sheet, row->line, error, "the unit of this fact cannot be", row->unit);
    return error_expected(error, "a multiple of %s", wanted);
}

static const struct known_fact *known_find(const struct known_fact *list, size_t count, const char *fact)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].fact, fact))
            return &list[i];
    return NULL;
}

/* The row of that name, without a final _low or _high; NULL: no such row. */
static const struct row *fact_row(const char *fact)
{
    static const char *const ends[] = { "", "_low", "_high" };
    const struct formulas *formulas = formulas_built_in(FORMULAS_ALL);
    char name[64];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t size = strlen(fact), end = strlen(ends[i]);
        if (size <= end || size - end >= sizeof name || strcmp(fact + size - end, ends[i]))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(size - end), fact);
        const int row = formulas_find(formulas, name);
        if (row >= 0)
            return formulas_row(formulas, row);
    }
    return NULL;
}

/* The unit that a fact of this kind has; NULL: no such fact. */
static const char *fact_unit(enum catalog_kind kind, const char *fact)
{
    const struct known_fact *known = known_find(words, sizeof words / sizeof *words, fact);
    known = known ? known : known_find(kinds[kind].facts, kinds[kind].count, fact);
    const struct row *row = !known && kinds[kind].rows ? fact_row(fact) : NULL;
    return known ? known->unit : row ? row_unit_text(row) : NULL;
}

static bool fact_unknown(const struct catalog_sheet *sheet, const struct catalog_row *row,
                         struct error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    struct error row_error;
    size_t count = 0;
    for (size_t i = 0; i < kinds[sheet->kind].count && count < MOST; i++)
        names[count++] = kinds[sheet->kind].facts[i].fact;
    const char *near = name_nearest(row->fact, names, count);
    fault(sheet, row->line, error, "unknown fact", row->fact);
    if (!near && kinds[sheet->kind].rows) {
        formulas_unknown(formulas_built_in(FORMULAS_ALL), row->fact, &row_error);
        return error_hint_of(error, &row_error);
    }
    return near ? error_did_you_mean(error, near, "")
                : error_suggest(error, "data/README.md lists the facts");
}

/* As --set has it: an input of the formulas has a range. */
static bool check_range(const struct catalog_sheet *sheet, const struct catalog_row *row, struct error *error)
{
    const struct row *input = kinds[sheet->kind].rows ? fact_row(row->fact) : NULL;
    struct arena arena = { 0 };
    double value;
    if (!input || !input->input || !catalog_row_number(row, &value) || (value >= input->low && value <= input->high))
        return true;
    error_set(error, "%s:%d: %s = %s%s%s is out of range", sheet->csv.file, row->line, row->fact, row->value,
              strcmp(row->unit, "1") ? " " : "", strcmp(row->unit, "1") ? row->unit : "");
    error_expected(error, "%s to %s", quantity_text(&arena, input->low, input->unit, 4),
                   quantity_text(&arena, input->high, input->unit, 4));
    arena_free(&arena);
    return false;
}

static bool check_fact(const struct catalog_sheet *sheet, const struct catalog_row *row,
                       struct error *error)
{
    double number;
    if (sheet->kind == CATALOG_MODEL)               /* any key, as in config.json */
        return true;
    const char *unit = fact_unit(sheet->kind, row->fact);
    if (!unit)
        return fact_unknown(sheet, row, error);
    if (!check_unit(sheet, row, unit, error))
        return false;
    if (row_is_text(row) || (text_number(text_of(row->value), &number) && number >= 0))
        return check_range(sheet, row, error);
    fault(sheet, row->line, error, "not a number:", row->value);
    return error_expected(error, "digits, at most one point, an exponent; the unit has its own column");
}

static bool date_good(const char *date)     /* 2026, 2026-04 or 2026-04-03 */
{
    static const char shape[] = "dddd-dd-dd";
    size_t size = strlen(date);
    if (size != 4 && size != 7 && size != 10)
        return false;
    for (size_t i = 0; i < size; i++)
        if (shape[i] == 'd' ? date[i] < '0' || date[i] > '9' : date[i] != shape[i])
            return false;
    return true;
}

static bool check_row(const struct catalog_sheet *sheet, size_t index, struct error *error)
{
    struct catalog_row row = sheet_row(sheet, index);
    if (!*csv_cell(&sheet->csv, index, sheet->name))
        return fault(sheet, row.line, error, "a row without a", csv_header(&sheet->csv, (size_t)sheet->name)) ||
               error_expected(error, "the name of its entry in every row");
    if (!*row.value)
        return fault(sheet, row.line, error, "no value for", row.fact) || error_expected(error, "a number or a word in the column 'value'");
    if (!*row.source)
        return fault(sheet, row.line, error, "no source for", row.fact) ||
               error_expected(error, "who states the value, in the column 'source'");
    if (!date_good(row.date)) {
        fault(sheet, row.line, error, "not a date:", row.date);
        return error_expected(error, "2026-04-03, or 2026-04 or 2026 where no more is known");
    }
    if (!name_listed(marks, sizeof marks / sizeof *marks, row.mark)) {
        fault(sheet, row.line, error, "unknown mark", row.mark);
        return error_expected(error, "an empty cell, memory, announced, assumed or not chosen");
    }
    return check_fact(sheet, &row, error);
}

/* One chosen row a fact; names may come often. */
static bool may_repeat(const char *fact)
{
    return !strcmp(fact, "alias") || !strcmp(fact, "driver_name");
}

struct named {
    const char *name;
    size_t at;                      /* in the file */
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int order = name_order(x->name, y->name), exact = order ? order : strcmp(x->name, y->name);
    return exact ? exact : (x->at > y->at) - (x->at < y->at);
}

static bool check_twice(struct arena *arena, const struct catalog_entry *entry, struct error *error)
{
    struct arena scratch = arena_beside(arena);
    struct named *facts = arena_array(&scratch, entry->rows, sizeof *facts);
    const struct named *second = NULL;
    size_t count = 0;
    for (size_t i = 0; i < entry->rows; i++) {
        const struct catalog_row row = catalog_row(entry, i);
        if (row.chosen && !may_repeat(row.fact))
            facts[count++] = (struct named){ row.fact, i };
    }
    qsort(facts, count, sizeof *facts, by_name);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(facts[i - 1].name, facts[i].name) && (!second || facts[i].at < second->at))
            second = &facts[i];
    if (second) {
        error_set(error, "%s:%d: a second '%s' for %s; line %d has the first", entry->sheet->csv.file,
                  catalog_row(entry, second->at).line, second->name, entry->name, catalog_row(entry, second[-1].at).line);
        error_suggest(error, "mark one of them 'not chosen'");
    }
    const bool twice = second != NULL;
    arena_free(&scratch);
    return !twice;
}

/* An entry may say how many facts it has behind that one. */
static bool check_whole(const struct catalog_entry *entry, struct error *error)
{
    double facts;
    if (entry->sheet->kind == CATALOG_MODEL || !catalog_number(entry, "facts", &facts) || facts + 1 == (double)entry->rows)
        return true;
    error_set(error, "%s: %zu of the %.0f facts of %s: the file was cut or changed", entry->sheet->csv.file, entry->rows - 1,
              facts, entry->name);
    return error_expected(error, "the whole file, or one without the row '%s,facts'", entry->name);
}

static const char *sheet_row_name(struct arena *arena, const struct catalog_sheet *sheet, size_t row)
{
    const char *name = csv_cell(&sheet->csv, row, sheet->name);
    if (sheet->kind != CATALOG_PRICE)
        return name;
    return arena_print(arena, "%s/%s", name, csv_cell(&sheet->csv, row, sheet->model));
}

static bool group_rows(struct arena *arena, struct catalog_sheet *sheet, struct error *error)
{
    struct catalog_entry *entries = NULL;
    size_t count = 0, room = 0;
    for (size_t i = 0; i < sheet->csv.rows; i++) {
        const char *name = sheet_row_name(arena, sheet, i);
        if (count && !strcmp(entries[count - 1].name, name)) {
            entries[count - 1].rows++;
            continue;
        }
        *(struct catalog_entry *)arena_push(arena, &entries, &count, &room, sizeof *entries) =
            (struct catalog_entry){ .name = name, .sheet = sheet, .first = i, .rows = 1 };
    }
    struct named *names = arena_array(arena, count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = (struct named){ entries[i].name, entries[i].first };
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++)
        if (name_same(names[i - 1].name, names[i].name)) {
            const struct named *later = &names[names[i].at > names[i - 1].at ? i : i - 1];
            fault(sheet, sheet->csv.lines[later->at], error, "other rows divide those of", later->name);
            return error_suggest(error, "keep the rows of a name together, spelled alike");
        }
    for (size_t i = 0; i < count; i++) {
        if (!check_twice(arena, &entries[i], error) || !check_whole(&entries[i], error))
            return false;
        const char *title = catalog_text(&entries[i], "title");
        entries[i].title = title ? title : entries[i].name;
    }
    sheet->entries = entries;
    sheet->count = count;
    return true;
}

static bool find_columns(struct catalog_sheet *sheet, struct error *error)
{
    bool model = sheet->kind == CATALOG_MODEL, price = sheet->kind == CATALOG_PRICE;
    const struct { const char *name; int *column; bool needed; } wanted[] = {
        { price ? "provider" : "name", &sheet->name, true },
        { model ? "key" : "fact", &sheet->fact, true },
        { "model", &sheet->model, price },
        { "value", &sheet->value, true },
        { "unit", &sheet->unit, !model },
        { "source", &sheet->source, true },
        { "date", &sheet->date, true },
        { "mark", &sheet->mark, true },
        { "note", &sheet->note, false },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].column = csv_column(&sheet->csv, wanted[i].name);
        if (*wanted[i].column < 0 && wanted[i].needed) {
            error_set(error, "%s: no column '%s'", sheet->csv.file, wanted[i].name);
            return error_expected(error, "%s", price ? "provider,model,fact,value,unit,source,date,mark"
                                  : model ? "name,key,value,source,date,mark"
                                  : "name,fact,value,unit,source,date,mark,note");
        }
    }
    return true;
}

static bool sheet_group(struct arena *arena, struct catalog_sheet *sheet, bool check, struct error *error)
{
    if (!find_columns(sheet, error))
        return false;
    for (size_t i = 0; check && i < sheet->csv.rows; i++)
        if (!check_row(sheet, i, error))
            return false;
    return group_rows(arena, sheet, error);
}

static bool sheet_read(struct arena *arena, struct catalog_sheet *sheet, enum catalog_kind kind,
                       const char *file, struct text text, struct error *error)
{
    *sheet = (struct catalog_sheet){ .kind = kind };
    return csv_read(arena, file, text, &sheet->csv, error) && sheet_group(arena, sheet, true, error);
}

bool catalog_read(struct catalog *catalog, enum catalog_kind kind, const char *file,
                  struct text text, struct error *error)
{
    if (kind == CATALOG_MACHINE)
        catalog->devices.count = 0;
    return sheet_read(catalog->arena, &catalog->sheets[kind], kind, file, text, error);
}

bool catalog_read_devices(struct catalog *catalog, const struct csv *wide, const struct csv *sources, bool check,
                          struct error *error)
{
    struct catalog_sheet *devices = &catalog->devices;
    *devices = (struct catalog_sheet){ .kind = CATALOG_MACHINE };
    if (!devices_expand(catalog->arena, wide, sources, &devices->csv, error) ||
        !sheet_group(catalog->arena, devices, check, error))
        return false;
    for (size_t i = 0; check && i < devices->count; i++)
        if (entry_find(&catalog->sheets[CATALOG_MACHINE], devices->entries[i].name))
            return error_set(error, "%s: %s is a machine of %s too", wide->file, devices->entries[i].name,
                             catalog_file(CATALOG_MACHINE));
    return true;
}

/* ---- finding --------------------------------------------------------------------------- */

size_t catalog_count(const struct catalog *catalog, enum catalog_kind kind)
{
    return catalog->sheets[kind].count + (kind == CATALOG_MACHINE ? catalog->devices.count : 0);
}

const struct catalog_entry *catalog_entry(const struct catalog *catalog, enum catalog_kind kind,
                                          size_t index)
{
    const struct catalog_sheet *sheet = &catalog->sheets[kind];
    return index < sheet->count ? &sheet->entries[index] : &catalog->devices.entries[index - sheet->count];
}

static bool entry_called(const struct catalog_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->rows; i++)
        if (row_is_of(entry, i, "alias") && name_same(catalog_row(entry, i).value, name))
            return true;
    return false;
}

static const struct catalog_entry *entry_find(const struct catalog_sheet *sheet, const char *name)
{
    for (size_t i = 0; i < sheet->count; i++)
        if (name_same(sheet->entries[i].name, name))
            return &sheet->entries[i];
    for (size_t i = 0; i < sheet->count; i++)
        if (entry_called(&sheet->entries[i], name))
            return &sheet->entries[i];
    return NULL;
}

static const char *entry_names(struct arena *arena, const struct catalog_sheet *sheet)
{
    enum { MOST = 16 };
    struct buffer all = { .arena = arena };
    buffer_add(&all, "", 0);
    for (size_t i = 0; i < sheet->count && i < MOST; i++)
        buffer_print(&all, "%s%s", i ? ", " : "", sheet->entries[i].name);
    buffer_print(&all, "%s", sheet->count > MOST ? ", ..." : "");
    return all.data;
}

static const char *past_marks(const char *at)
{
    while (*at && !isalnum((unsigned char)*at))
        at++;
    return at;
}

/* Does the text begin with the name, ignoring case and marks? Digits match as whole numbers: "llama3" begins
 * "llama-3.3", "llama33" does not. */
static bool begins_like(const char *text, const char *name)
{
    bool digit = false;
    for (;; text++, name++) {
        const char *next = past_marks(text), *wanted = past_marks(name);
        const bool apart = digit && isdigit((unsigned char)*next) && (next == text) != (wanted == name);
        if (!*wanted)
            return !(digit && next == text && isdigit((unsigned char)*next));
        if (apart || tolower((unsigned char)*next) != tolower((unsigned char)*wanted))
            return false;
        digit = isdigit((unsigned char)*next);
        text = next;
        name = wanted;
    }
}

/* "llama3": one of several models whose names begin so. False: none does. */
static bool suggest_family(struct arena *arena, const struct catalog_sheet *sheet, const char *name,
                           struct error *error)
{
    enum { MOST = 6 };
    const char *like[MOST];
    struct buffer all = { .arena = arena };
    size_t count = 0;
    for (size_t i = 0; i < sheet->count && strlen(name) > 2; i++) {
        if (!begins_like(sheet->entries[i].name, name))
            continue;
        if (count < MOST)
            like[count] = sheet->entries[i].name;
        count++;
    }
    for (size_t i = 0; i < count && i < MOST; i++)
        buffer_print(&all, "%s'%s'", !i ? "" : i + 1 == count ? " or " : ", ", like[i]);
    if (!count)
        return false;
    error_suggest(error, "did you mean %s%s?", all.data, count > MOST ? " or another" : "");
    for (size_t i = 0; i < count && i < MOST; i++)
        error_similar(error, like[i]);
    return true;
}

/* "deepseek-v4x": a name up to its version, and a letter or two that none has. */
static bool suggest_version(struct arena *arena, const struct catalog_sheet *sheet, const char *name, struct error *error)
{
    size_t size = strlen(name);
    while (size > 0 && isalpha((unsigned char)name[size - 1]))
        size--;
    return size > 3 && strlen(name) - size <= 2 && isdigit((unsigned char)name[size - 1]) &&
           suggest_family(arena, sheet, arena_copy(arena, name, size), error);
}

/* `chalkline list` does not have the names of a user's sheet, so the message lists them. */
static void name_unknown(struct arena *arena, const struct catalog_sheet *sheet, bool built_in,
                         const char *name, struct error *error)
{
    const char **names = NULL;
    size_t count = 0, room = 0;
    if (!error)
        return;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct catalog_entry *entry = &sheet->entries[i];
        *(const char **)arena_push(arena, &names, &count, &room, sizeof *names) = entry->name;
        for (size_t j = 0; j < entry->rows; j++)
            if (!strcmp(catalog_row(entry, j).fact, "alias"))
                *(const char **)arena_push(arena, &names, &count, &room, sizeof *names) =
                    catalog_row(entry, j).value;
    }
    const char *list = kinds[sheet->kind].list, *near = name_nearest(name, names, count);
    error_set(error, "unknown %s '%s'", kinds[sheet->kind].what, name);
    if (suggest_family(arena, sheet, name, error) || suggest_version(arena, sheet, name, error))
        return;
    if (near)
        error_did_you_mean(error, near, "");
    else if (built_in && list)
        error_expected(error, "one of the %zu names of `chalkline list %s`, or the path of a file",
                       sheet->count, list);
    else
        error_expected(error, "one of: %s", entry_names(arena, sheet));
}

/* "FILE.csv" or "FILE.csv:NAME": how many bytes of it are the file; 0 for a name. */
static size_t file_part(const char *name)
{
    for (const char *at = strstr(name, ".csv"); at; at = strstr(at + 1, ".csv"))
        if (at > name && (!at[4] || at[4] == ':'))
            return (size_t)(at - name) + 4;
    return 0;
}

static const struct catalog_entry *file_find(const struct catalog *catalog,
                                             enum catalog_kind kind, const char *name,
                                             size_t size, struct error *error)
{
    enum { LARGEST = 16 << 20 };
    const char *file = arena_copy(catalog->arena, name, size);
    struct catalog_sheet *sheet = arena_alloc(catalog->arena, sizeof *sheet);
    struct text text;
    if (!file_read(catalog->arena, file, LARGEST, &text, error) ||
        !sheet_read(catalog->arena, sheet, kind, file, text, error))
        return NULL;
    const struct catalog_entry *found = NULL;
    if (name[size] == ':') {
        found = entry_find(sheet, name + size + 1);
        if (!found)
            name_unknown(catalog->arena, sheet, false, name + size + 1, error);
    } else if (sheet->count == 1) {
        found = &sheet->entries[0];
    } else {
        error_set(error, "%s has %zu entries", file, sheet->count);
        if (sheet->count)
            error_expected(error, "%s:%s", file, sheet->entries[0].name);
        else
            error_expected(error, "a row for each fact below the header");
    }
    return found;
}

const struct catalog_entry *catalog_known(const struct catalog *catalog, enum catalog_kind kind, const char *name)
{
    const struct catalog_entry *found = entry_find(&catalog->sheets[kind], name);
    if (!found && kind == CATALOG_MODEL && catalog->named)
        return entry_find(catalog->named, name);
    return found || kind != CATALOG_MACHINE ? found : entry_find(&catalog->devices, name);
}

struct catalog_met *catalog_met(const struct catalog *catalog, const char *name)
{
    struct catalog_met *met = catalog->met;
    if (met && !met->name)
        met->name = arena_copy(catalog->arena, name, strlen(name));
    return met && !strcmp(met->name, name) ? met : NULL;
}

const struct catalog_entry *catalog_find(const struct catalog *catalog, enum catalog_kind kind,
                                         const char *name, struct error *error)
{
    struct catalog_met *met = kind == CATALOG_MACHINE ? catalog_met(catalog, name) : NULL;
    if (met && met->found)
        return met->found;
    const struct catalog_entry *found = catalog_known(catalog, kind, name);
    struct catalog_called called;
    size_t size = found ? 0 : file_part(name);
    if (size)
        found = file_find(catalog, kind, name, size, error);
    else if (!found && kind == CATALOG_MACHINE)
        found = catalog_machine_called(catalog, name, &called, error) ? called.entry : NULL;
    if (met)
        met->found = found;
    if (found || size || kind == CATALOG_MACHINE)
        return found;
    name_unknown(catalog->arena, &catalog->sheets[kind], true, name, error);
    return NULL;
}
