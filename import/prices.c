/* Price lists of others: LiteLLM's JSON, models.dev's CSV and our own format, read into one list
 * of prices.
 *
 * An entry is kept if it has an input and an output price. Prices become USD per token; one above
 * 1 USD per token is an error of units and is refused. Names such as "..._above_200k_tokens" give
 * a long-context step, of which the first counts. A price of 0 is not kept: it is counted, and the
 * quantity has no price. Nothing is read from prose. */
#include "import/prices.h"

#include "catalog/catalog.h"

#include <math.h>
#include <string.h>

/* A million dollars a million tokens: what is more is a mistake of units, and of no use. */
static const double PRICE_MOST = 1;

struct price_reader {
    struct arena *arena;
    struct price_sheet *sheet;
    struct error *error;
    const char *date;
};

/* NULL: one of the names is no plain text. `line`: 0, the file has none. */
static struct price *add_price(struct price_reader *reader, int line, const char *seller,
                               const char *model)
{
    const char *file = reader->sheet->file;
    const char *place = line ? arena_print(reader->arena, "%s:%d", file, line) : file;
    if (!text_check(text_of(seller), place, reader->error) ||
        !text_check(text_of(model), place, reader->error))
        return NULL;
    struct price_sheet *sheet = reader->sheet;
    struct price *price = arena_push(reader->arena, &sheet->prices, &sheet->count, &sheet->room,
                                     sizeof *price);
    *price = (struct price){ .seller = seller, .model = model, .date = reader->date, .line = line,
                             .storage = NAN, .threshold = NAN, .fast = NAN, .context = NAN };
    for (int tier = 0; tier < SERVICE_TIERS; tier++)
        for (int above = 0; above < 2; above++)
            for (int class = 0; class < PRICE_CLASSES; class++)
                price->at[tier][above][class] = NAN;
    return price;
}

/* Without an input and an output price an entry says nothing. */
static void keep_if_priced(struct price_reader *reader)
{
    const struct price *price = &reader->sheet->prices[reader->sheet->count - 1];
    if (price->at[0][0][PRICE_INPUT] > 0 && price->at[0][0][PRICE_OUTPUT] > 0)
        return;
    reader->sheet->count--;
    reader->sheet->left_out++;
}

static void set_price(struct price *price, double *place, double value)
{
    if (value > 0)
        *place = value;
    else
        price->free++;
}

/* "prices_2026-08-01.json" has its date in its name. */
static const char *date_of_name(struct arena *arena, const char *file)
{
    static const char shape[] = "dddd-dd-dd";
    const char *found = "";
    for (const char *at = file; *at; at++) {
        size_t i = 0;
        while (i < sizeof shape - 1 &&
               (shape[i] == 'd' ? at[i] >= '0' && at[i] <= '9' : at[i] == shape[i]))
            i++;
        if (i == sizeof shape - 1)
            found = arena_copy(arena, at, i);
    }
    return found;
}

/* ---- LiteLLM ----------------------------------------------------------------------------- */

static const struct { const char *field; enum price_class class; } classes[] = {
    { "input_cost_per_token", PRICE_INPUT },
    { "output_cost_per_token", PRICE_OUTPUT },
    { "cache_read_input_token_cost", PRICE_HIT },
    { "input_cost_per_token_cache_hit", PRICE_HIT },
    { "cache_creation_input_token_cost", PRICE_WRITE_SHORT },
    { "cache_creation_input_token_cost_above_1hr", PRICE_WRITE_LONG },
};

static const char *const tier_ends[SERVICE_TIERS] = { "", "_batches", "_flex", "_priority" };

static bool cut_end(struct text *name, const char *end)
{
    size_t size = strlen(end);
    if (name->size < size || memcmp(name->data + name->size - size, end, size))
        return false;
    name->size -= size;
    return true;
}

/* "..._above_200k_tokens": cut it off; the tokens, or 0 for none. */
static double cut_threshold(struct text *name)
{
    static const char above[] = "_above_";
    struct text rest = *name;
    double tokens;
    if (!cut_end(&rest, "k_tokens"))
        return 0;
    size_t digits = 0;
    while (digits < rest.size && rest.data[rest.size - 1 - digits] >= '0' &&
           rest.data[rest.size - 1 - digits] <= '9')
        digits++;
    struct text number = { rest.data + rest.size - digits, digits };
    rest.size -= digits;
    if (!cut_end(&rest, above) || !text_number(number, &tokens) || !(tokens > 0))
        return 0;
    *name = rest;
    return 1000 * tokens;
}

struct price_terms {
    enum service_tier tier;
    enum price_class class;
    double threshold;               /* 0: below any */
};

static bool find_place(const char *key, struct price_terms *place)
{
    struct text name = text_of(key);
    *place = (struct price_terms){ SERVICE_STANDARD, PRICE_INPUT, 0 };
    for (int tier = 1; tier < SERVICE_TIERS; tier++)
        if (cut_end(&name, tier_ends[tier])) {
            place->tier = (enum service_tier)tier;
            break;
        }
    place->threshold = cut_threshold(&name);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (text_is(name, classes[i].field)) {
            place->class = classes[i].class;
            return true;
        }
    return false;
}

static bool price_number(struct price_reader *reader, const char *entry, const struct doc *field,
                         double *value)
{
    *value = field->number;
    if (field->kind == DOC_NUMBER && *value >= 0 && *value <= PRICE_MOST)
        return true;
    if (field->kind != DOC_NUMBER)
        error_set(reader->error, "%.200s: '%.100s': %s is not a number", reader->sheet->file, entry,
                  field->key);
    else
        error_set(reader->error, "%.200s: '%.100s': %s = %g is out of range", reader->sheet->file, entry,
                  field->key, *value);
    return error_expected(reader->error, "USD per token, from 0 to %g", PRICE_MOST);
}

/* The first step counts: prices above a second one are left out. */
static bool read_field(struct price_reader *reader, struct price *price, const char *entry,
                       const struct doc *field)
{
    struct price_terms place;
    double value;
    if (!find_place(field->key, &place) || field->kind == DOC_NULL)
        return true;
    if (!price_number(reader, entry, field, &value))
        return false;
    if (place.threshold && place.threshold > price->threshold)
        return true;
    if (place.threshold && place.threshold < price->threshold)
        for (int tier = 0; tier < SERVICE_TIERS; tier++)
            for (int class = 0; class < PRICE_CLASSES; class++)
                price->at[tier][1][class] = NAN;
    if (place.threshold)
        price->threshold = place.threshold;
    set_price(price, &price->at[place.tier][place.threshold > 0][place.class], value);
    return true;
}

static double number_of(const struct doc *object, const char *key)
{
    const double number = doc_number(object, key, NAN);
    return number > 0 ? number : NAN;
}

static bool read_entry(struct price_reader *reader, const struct doc *entry)
{
    const char *mode = doc_text(entry, "mode", "");
    if (strcmp(mode, "chat") && strcmp(mode, "responses")) {
        reader->sheet->left_out++;
        return true;
    }
    struct price *price = add_price(reader, 0, doc_text(entry, "litellm_provider", ""), entry->key);
    if (!price)
        return false;
    for (const struct doc *field = entry->first; field; field = field->next)
        if (!read_field(reader, price, entry->key, field))
            return false;
    const struct doc *more = doc_get(entry, "provider_specific_entry");
    price->fast = number_of(more && more->kind == DOC_OBJECT ? more : NULL, "fast");
    price->context = number_of(entry, "max_input_tokens");
    price->storage = number_of(entry, "cache_storage_cost_per_token_per_second");
    keep_if_priced(reader);
    return true;
}

static bool read_litellm(struct price_reader *reader, struct text text)
{
    struct doc *doc;
    if (!json_read(reader->arena, reader->sheet->file, text, &doc, reader->error))
        return false;
    reader->sheet->kind = "LiteLLM";
    for (const struct doc *entry = doc->first; entry; entry = entry->next) {
        if (entry->kind != DOC_OBJECT) {
            error_set(reader->error, "%.200s: '%.100s' is not an object", reader->sheet->file,
                      entry->key ? entry->key : "");
            return error_expected(reader->error, "\"MODEL\": { \"input_cost_per_token\": 3e-6, ... }");
        }
        if (strcmp(entry->key, "sample_spec") && !read_entry(reader, entry))
            return false;
    }
    return true;
}

/* ---- models.dev -------------------------------------------------------------------------- */

static const struct { const char *column; enum price_class class; int above; } columns[] = {
    { "input", PRICE_INPUT, 0 },             { "output", PRICE_OUTPUT, 0 },
    { "cache_read", PRICE_HIT, 0 },          { "cache_write", PRICE_WRITE_SHORT, 0 },
    { "tier_input", PRICE_INPUT, 1 },        { "tier_output", PRICE_OUTPUT, 1 },
    { "tier_cache_read", PRICE_HIT, 1 },     { "tier_cache_write", PRICE_WRITE_SHORT, 1 },
};

static bool cell_number(struct price_reader *reader, const struct csv *csv, size_t row,
                        const char *column, double *value)
{
    const char *cell = csv_cell(csv, row, csv_column(csv, column));
    *value = NAN;
    if (!*cell || (text_number(text_of(cell), value) && *value >= 0))
        return true;
    error_set(reader->error, "%s:%d: invalid %s '%.60s'", csv->file, csv->lines[row], column, cell);
    return error_expected(reader->error, "a number from 0 on, or an empty cell");
}

static bool read_row(struct price_reader *reader, const struct csv *csv, size_t row)
{
    const double per_token = 1e-6;              /* the file counts millions */
    struct price *price = add_price(reader, csv->lines[row],
                                    csv_cell(csv, row, csv_column(csv, "provider")),
                                    csv_cell(csv, row, csv_column(csv, "model")));
    double value;
    if (!price)
        return false;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (!cell_number(reader, csv, row, columns[i].column, &value))
            return false;
        if (value * per_token > PRICE_MOST) {
            error_set(reader->error, "%s:%d: %s is %g", csv->file, csv->lines[row],
                      columns[i].column, value);
            return error_expected(reader->error, "USD for a million tokens, from 0 to %g",
                                  PRICE_MOST / per_token);
        }
        if (!isnan(value))
            set_price(price, &price->at[0][columns[i].above][columns[i].class],
                      value * per_token);
    }
    if (!cell_number(reader, csv, row, "tier_tokens", &price->threshold) ||
        !cell_number(reader, csv, row, "context", &price->context))
        return false;
    keep_if_priced(reader);
    return true;
}

static bool read_models_dev(struct price_reader *reader, const struct csv *csv)
{
    reader->sheet->kind = "models.dev";
    for (size_t row = 0; row < csv->rows; row++)
        if (!read_row(reader, csv, row))
            return false;
    return true;
}

/* ---- our own ----------------------------------------------------------------------------- */

static const struct { const char *fact; enum service_tier tier; int above; enum price_class class; }
facts_of[] = {
    { "input", 0, 0, PRICE_INPUT },                     { "output", 0, 0, PRICE_OUTPUT },
    { "cached_read", 0, 0, PRICE_HIT },                 { "cache_write", 0, 0, PRICE_WRITE_SHORT },
    { "cache_write_5m", 0, 0, PRICE_WRITE_SHORT },      { "cache_write_1h", 0, 0, PRICE_WRITE_LONG },
    { "input_above", 0, 1, PRICE_INPUT },               { "output_above", 0, 1, PRICE_OUTPUT },
    { "cached_read_above", 0, 1, PRICE_HIT },
    { "cache_write_5m_above", 0, 1, PRICE_WRITE_SHORT },
    { "cache_write_1h_above", 0, 1, PRICE_WRITE_LONG },
    { "input_batch", SERVICE_BATCH, 0, PRICE_INPUT },
    { "output_batch", SERVICE_BATCH, 0, PRICE_OUTPUT },
};

static bool read_own(struct price_reader *reader, struct text text)
{
    struct catalog *catalog = arena_alloc(reader->arena, sizeof *catalog);
    catalog_open(catalog, reader->arena);
    reader->sheet->kind = "chalkline";
    if (!catalog_read(catalog, CATALOG_PRICE, reader->sheet->file, text, reader->error))
        return false;
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_PRICE); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_PRICE, i);
        const char *slash = strchr(entry->name, '/');
        struct catalog_row first = catalog_row(entry, 0);
        struct price *price = add_price(reader, first.line,
            arena_copy(reader->arena, entry->name, (size_t)(slash - entry->name)), slash + 1);
        double value;
        if (!price)
            return false;
        price->date = first.date;
        for (size_t k = 0; k < sizeof facts_of / sizeof *facts_of; k++)
            if (catalog_number(entry, facts_of[k].fact, &value) && value <= PRICE_MOST)
                set_price(price, &price->at[facts_of[k].tier][facts_of[k].above][facts_of[k].class],
                          value);
        if (catalog_number(entry, "threshold", &value))
            price->threshold = value;
        if (catalog_number(entry, "storage", &value) && value > 0)
            price->storage = value;
        keep_if_priced(reader);
    }
    return true;
}

/* ---- which of them ----------------------------------------------------------------------- */

static bool read_csv(struct price_reader *reader, struct text text)
{
    struct csv csv;
    if (!csv_read_any(reader->arena, reader->sheet->file, text, &csv, reader->error))
        return false;
    if (csv_column(&csv, "fact") >= 0 && csv_column(&csv, "value") >= 0)
        return read_own(reader, text);
    if (csv_column(&csv, "provider") >= 0 && csv_column(&csv, "model") >= 0 &&
        csv_column(&csv, "input") >= 0 && csv_column(&csv, "output") >= 0)
        return read_models_dev(reader, &csv);
    error_set(reader->error, "%s: not the columns of a price list", reader->sheet->file);
    return error_expected(reader->error, "provider,model,input,output,... in USD per million tokens, or "
                          "provider,model,fact,value,unit,source,date,mark; or LiteLLM's JSON");
}

bool prices_read(struct arena *arena, const char *file, struct text text,
                 struct price_sheet *sheet, struct error *error)
{
    struct text start = text_trim(text);
    *sheet = (struct price_sheet){ .file = file };
    struct price_reader reader = { arena, sheet, error, date_of_name(arena, file) };
    bool json = start.size && (*start.data == '{' || *start.data == '[');
    if (!(json ? read_litellm(&reader, text) : read_csv(&reader, text)))
        return false;
    if (sheet->count)
        return true;
    error_set(error, "%s: no entry with an input and an output price above 0 per token", file);
    return error_expected(error, "a chat model with both");
}

const char *price_model(const struct price *price)
{
    const char *slash = strrchr(price->model, '/');
    return slash && slash[1] ? slash + 1 : price->model;
}
