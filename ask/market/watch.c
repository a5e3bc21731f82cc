/* market --watch: what published figures say of the lecture's statements.
 *
 * A row of data/disclosures.csv is one figure. Its kind (data/disclosure_kinds.csv) names the statement that it touches, the comparison
 * that is true where it supports the statement, and the unknown that it is one equation for. Both are asked in the statement's own deck
 * with the figure in the place of {}. Two kinds of figures that one seller publishes and that give one unknown determine it
 * twice; the factor between the two values is what cannot be cost in both. data/triggers.csv compares figures with each other: a thesis
 * turns where its comparison becomes true. */
#include "ask/market/market.h"
#include "catalog/sheet.h"
#include "lecture/question.h"
#include "report/template.h"
#include "scenario/equation.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

static const char rows_file[] = "data/disclosures.csv", kinds_file[] = "data/disclosure_kinds.csv", triggers_file[] = "data/triggers.csv";

struct disclosure {
    const char *date, *who, *kind, *of, *on, *source, *mark, *note;     /* of a model, on a machine, or of either alone */
    size_t line;                    /* of the kind, in its sheet */
    double value;                   /* in base units */
    const struct statement *statement;
    enum holds supports;
    double implied;                 /* the unknown; NAN: it has no value there */
    struct unit unit, implied_unit;
};

struct market_figures {
    struct market market;
    struct lecture lecture;
    const struct csv *rows, *kinds;
    struct disclosure *at;
    size_t count;
};

static const char *cell(const struct csv *csv, size_t row, const char *column)
{
    return csv_cell(csv, row, csv_column(csv, column));
}

static const char *of_kind(const struct market_figures *watch, const struct disclosure *one, const char *column)
{
    return cell(watch->kinds, one->line, column);
}

/* The text with the figure in the place of each {}, and what the lecture says in that of {said}. */
static const char *filled(struct arena *arena, const char *text, double value, const char *said)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (const char *next; (next = strchr(text, '{')); text = strchr(next, '}') + 1) {
        buffer_add(&out, text, (size_t)(next - text));
        if (next[1] == '}')
            buffer_print(&out, "%.17g", value);
        else
            buffer_print(&out, "%s", said);
    }
    buffer_add(&out, text, strlen(text));
    return out.data;
}

/* ---- the figure --------------------------------------------------------------------------------- */

/* Date, source and mark of a fact, where the disclosure has none of its own. */
static void take_source(struct arena *arena, const struct catalog_entry *entry, const char *fact, struct disclosure *one)
{
    for (size_t i = 0; !*one->date && i < entry->rows; i++) {
        const struct catalog_row row = catalog_row(entry, i);
        if (row.chosen && !strcmp(row.fact, fact)) {
            one->date = row.date;
            one->source = arena_print(arena, "%s: %s", one->source, row.source);
            one->mark = row.mark;
        }
    }
}

/* "output/input" of the entry WHO/OF of data/prices.csv, or one fact of it. */
static double price_of(struct market_figures *watch, const char *text, struct disclosure *one)
{
    struct arena *arena = watch->market.arena;
    const struct catalog_entry *entry = catalog_find(&watch->market.catalog, CATALOG_PRICE,
                                                     arena_print(arena, "%s/%s", one->who, one->of), NULL);
    const size_t size = strcspn(text, "/");
    const char *fact = arena_copy(arena, text, size);
    double value, under = 1;
    if (!entry || !catalog_number(entry, fact, &value) || (text[size] && !catalog_number(entry, text + size + 1, &under)))
        return NAN;
    take_source(arena, entry, fact, one);
    return value / under;
}

/* An expression over rows of a machine, and of a model where the figure is one's. */
static double row_of(struct market_figures *watch, const char *text, struct disclosure *one)
{
    struct arena *arena = watch->market.arena;
    const struct catalog_entry *entry = catalog_find(&watch->market.catalog, CATALOG_MACHINE, one->on, NULL);
    struct doc *words = doc_new(arena, DOC_ARRAY);
    if (*one->of) {
        doc_add_string(arena, words, NULL, "--model");
        doc_add_string(arena, words, NULL, one->of);
    }
    if (entry)
        take_source(arena, entry, text, one);
    return entry ? market_eval(arena, watch->market.command, words, text, "--on", one->on) : NAN;
}

static double figure_of(struct market_figures *watch, const char *text, const char *unit, struct disclosure *one)
{
    struct unit own;
    struct quantity quantity;
    struct error ignored;
    double scale;
    if (!strcmp(unit, "price"))
        return price_of(watch, text, one);
    if (!strcmp(unit, "row"))
        return row_of(watch, text, one);
    return unit_parse(text_of(unit), &own, &scale, &ignored) &&
           quantity_parse(text_of(arena_print(watch->market.arena, "%s%s", text, strcmp(unit, "1") ? unit : "")), own, &quantity, &ignored)
           ? quantity.value : NAN;
}

/* ---- verdict and implied value ------------------------------------------------------------------ */

/* Ask the kind's comparison and its unknown in the statement's deck. */
static bool ask_kind(struct market_figures *watch, struct disclosure *one)
{
    struct arena *arena = watch->market.arena;
    struct statement there = *one->statement;
    struct scenario scenario;
    struct equation equation;
    double left, right;
    const char *said = of_kind(watch, one, "said");
    there.deck = arena_print(arena, "%s; %s", there.deck, filled(arena, of_kind(watch, one, "sets"), one->value, said));
    if (!statement_open(&scenario, command_only(arena, watch->market.command, market_of_rows), &there, arena, watch->market.error))
        return false;
    one->supports = predicate_holds(&scenario, filled(arena, of_kind(watch, one, "supports"), one->value, said), &equation, &left, &right);
    const char *solves = filled(arena, of_kind(watch, one, "solves"), one->value, said);
    one->implied = value_or_nan(&scenario, solves);
    one->implied_unit = scenario_unit(&scenario, solves);
    return true;
}

static bool read_row(struct market_figures *watch, size_t row, struct disclosure *one)
{
    const struct csv *rows = watch->rows;
    struct error *error = watch->market.error;
    double scale;
    *one = (struct disclosure){ .date = cell(rows, row, "date"), .who = cell(rows, row, "who"), .kind = cell(rows, row, "kind"),
                                .of = cell(rows, row, "of"), .on = cell(rows, row, "on"), .source = cell(rows, row, "source"), .mark = cell(rows, row, "mark"),
                                .note = cell(rows, row, "note") };
    while (one->line < watch->kinds->rows && strcmp(of_kind(watch, one, "kind"), one->kind))
        one->line++;
    const char *id = one->line < watch->kinds->rows ? of_kind(watch, one, "statement") : "";
    for (size_t i = 0; i < watch->lecture.count; i++)
        if (!strcmp(watch->lecture.at[i].id, id))
            one->statement = &watch->lecture.at[i];
    one->value = figure_of(watch, cell(rows, row, "value"), cell(rows, row, "unit"), one);
    if (one->statement && !isnan(one->value))
        return unit_parse(text_of(of_kind(watch, one, "unit")), &one->unit, &scale, error) && ask_kind(watch, one);
    error_set(error, "%s:%d: '%s' of %s has no %s", rows_file, rows->lines[row], one->kind, one->who,
              one->statement ? "value" : "statement");
    return false;
}

/* ---- the answer --------------------------------------------------------------------------------- */

static void add_disclosure(const struct market_figures *watch, const struct disclosure *one, struct section *list)
{
    struct section *line = section_add(list, NULL, SECTION_RECORD);
    section_word(line, "date", one->date);
    section_word(line, "who", one->who);
    section_word(line, "kind", one->kind);
    section_word(line, "of", one->of);
    section_word(line, "on", one->on);
    section_number(line, "value", one->value, one->unit);
    section_word(line, "unit", unit_name(watch->market.arena, one->unit));
    section_word(line, "statement", one->statement->id);
    section_word(line, "verdict", one->supports == HOLDS ? "supports" : one->supports == HOLDS_NOT ? "contradicts" : "open");
    section_word(line, "unknown", of_kind(watch, one, "unknown"));
    if (isfinite(one->implied)) {
        section_number(line, "implied", one->implied, one->implied_unit);
        section_word(line, "implied_unit", unit_name(watch->market.arena, one->implied_unit));
    }
    section_word(line, "source", one->source);
    if (*one->mark)
        section_word(line, "mark", one->mark);
    if (*one->note)
        section_word(line, "note", one->note);
}

static bool is_shared(const struct market_figures *watch, const struct disclosure *one)
{
    return !strcmp(of_kind(watch, one, "whose"), "all");
}

/* Is no figure of this kind and seller newer? Of one date the later row is. */
static bool is_last(const struct market_figures *watch, size_t i)
{
    const struct disclosure *one = &watch->at[i];
    for (size_t k = 0; k < watch->count; k++) {
        const struct disclosure *other = &watch->at[k];
        const int order = strcmp(other->date, one->date);
        if (!strcmp(other->kind, one->kind) && (is_shared(watch, one) || !strcmp(other->who, one->who)) &&
            strcmp(other->mark, "announced") && (order > 0 || (!order && k > i)))
            return false;
    }
    return strcmp(one->mark, "announced") != 0;
}

static bool same_subject(const struct disclosure *one, const struct disclosure *other)
{
    return !strcmp(one->of, other->of) && !strcmp(one->on, other->on);
}

static const char *subject_of(struct arena *arena, const struct disclosure *one)
{
    return *one->of && *one->on ? arena_print(arena, "%s on %s", one->of, one->on) : *one->on ? one->on : one->of;
}

/* Has the seller a figure of the other kind too for the same model? */
static bool has_both(const struct market_figures *watch, const struct disclosure *one, const char *kind)
{
    for (size_t k = 0; k < watch->count; k++)
        if (!strcmp(watch->at[k].kind, kind) && !strcmp(watch->at[k].who, one->who) && same_subject(&watch->at[k], one))
            return true;
    return false;
}

static void add_pair(const struct market_figures *watch, const struct disclosure *one, const struct disclosure *other, struct section *list)
{
    struct section *pair = section_add(list, NULL, SECTION_RECORD);
    section_word(pair, "unknown", of_kind(watch, one, "unknown"));
    section_word(pair, "who", one->who);
    section_word(pair, "kind", one->kind);
    section_word(pair, "of", subject_of(watch->market.arena, one));
    section_number(pair, "implied", one->implied, one->implied_unit);
    section_word(pair, "other_who", other->who);
    section_word(pair, "other_kind", other->kind);
    section_word(pair, "other_of", subject_of(watch->market.arena, other));
    section_number(pair, "other_implied", other->implied, other->implied_unit);
    section_number(pair, "factor", fmax(one->implied / other->implied, other->implied / one->implied), unit_one);
}

/* Two figures of different kinds for one unknown: of one model, else the newest of each kind; of one seller, or of any where the
 * unknown is not a seller's. */
static bool are_pair(const struct market_figures *watch, size_t i, size_t k)
{
    const struct disclosure *one = &watch->at[i], *other = &watch->at[k];
    if (!strcmp(one->kind, other->kind) || strcmp(of_kind(watch, one, "unknown"), of_kind(watch, other, "unknown")) ||
        !(one->implied > 0) || !(other->implied > 0))
        return false;
    if (is_shared(watch, one))
        return is_last(watch, i) && is_last(watch, k);
    if (strcmp(one->who, other->who))
        return false;
    return same_subject(one, other) || (is_last(watch, i) && is_last(watch, k) && !has_both(watch, one, other->kind) &&
                                           !has_both(watch, other, one->kind));
}

static void add_pairs(const struct market_figures *watch, struct section *list)
{
    for (size_t i = 0; i < watch->count; i++)
        for (size_t k = i + 1; k < watch->count; k++)
            if (are_pair(watch, i, k))
                add_pair(watch, &watch->at[i], &watch->at[k], list);
}

/* ---- what would turn a thesis ------------------------------------------------------------------- */

/* The figure that represents its kind today, never an announced one. NULL: there is none. */
static const struct disclosure *present(const struct market_figures *watch, const char *kind)
{
    const struct disclosure *best = NULL;
    for (size_t i = 0; i < watch->count; i++) {
        const struct disclosure *one = &watch->at[i];
        if (strcmp(one->kind, kind) || !strcmp(one->mark, "announced"))
            continue;
        const char *pick = of_kind(watch, one, "pick");
        if (!best || (!strcmp(pick, "newest") ? strcmp(one->date, best->date) >= 0
                      : !strcmp(pick, "highest") ? one->value > best->value : one->value < best->value))
            best = one;
    }
    return best;
}

/* The comparison with the present figure in the place of each {kind}, which `figures` lists. */
static const char *at_present(const struct market_figures *watch, const char *flips, struct section *figures)
{
    struct arena *arena = watch->market.arena;
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (size_t size; *flips; flips += size) {
        size = strcspn(flips, "{");
        buffer_add(&out, flips, size);
        if (!flips[size])
            break;
        const size_t end = strcspn(flips + size, "}");
        const struct disclosure *one = present(watch, arena_copy(arena, flips + size + 1, end - 1));
        buffer_print(&out, "%.17g", one ? one->value : NAN);
        struct section *figure = section_add(figures, NULL, SECTION_RECORD);
        section_word(figure, "kind", arena_copy(arena, flips + size + 1, end - 1));
        section_number(figure, "value", one ? one->value : NAN, one ? one->unit : unit_one);
        section_word(figure, "who", one ? one->who : "");
        section_word(figure, "date", one ? one->date : "");
        size += end + 1;
    }
    return out.data;
}

static bool add_trigger(const struct market_figures *watch, size_t row, struct section *list)
{
    const struct csv *csv = csv_built_in(triggers_file);
    const struct command bare = command_rows_only(watch->market.arena, watch->market.command);
    struct section *trigger = section_add(list, NULL, SECTION_RECORD);
    struct scenario scenario;
    struct equation equation;
    double left, right;
    section_word(trigger, "trigger", cell(csv, row, "id"));
    section_word(trigger, "statement", cell(csv, row, "statement"));
    section_word(trigger, "thesis", cell(csv, row, "thesis"));
    section_word(trigger, "flips", cell(csv, row, "flips"));
    const char *text = at_present(watch, cell(csv, row, "flips"), section_add(trigger, "figures", SECTION_LIST));
    if (!scenario_read(&scenario, watch->market.arena, &bare, command_no_subject(&bare), watch->market.error))
        return false;
    section_switch(trigger, "flipped", predicate_holds(&scenario, text, &equation, &left, &right) == HOLDS);
    section_number(trigger, "left", left, unit_one);
    section_number(trigger, "right", right, unit_one);
    section_number(trigger, "distance", fmax(left / right, right / left), unit_one);
    return true;
}

/* ---- memory's share ----------------------------------------------------------------------------- */

enum { HBM, DDR, FLASH, MEMORIES };
static const char *const memory_kinds[MEMORIES] = { "hbm_price", "ddr_price", "flash_price" },
    *const memory_rows[MEMORIES] = { NAME_hbm_cost, NAME_host_memory_cost, NAME_flash_cost };

/* The lowest and the highest published price of each kind of memory. */
static void memory_prices(const struct market_figures *watch, double low[MEMORIES], double high[MEMORIES])
{
    for (int k = 0; k < MEMORIES; k++) {
        low[k] = INFINITY, high[k] = 0;
        for (size_t i = 0; i < watch->count; i++)
            if (!strcmp(watch->at[i].kind, memory_kinds[k]))
                low[k] = fmin(low[k], watch->at[i].value), high[k] = fmax(high[k], watch->at[i].value);
    }
}

/* Memory's share of a machine and of a fleet of such machines: at the machine's own prices, at the lowest and the highest. */
static const struct {
    const char *row, *names[3];
} shared[] = { { NAME_memory_share_of_cost, { "share", "share_low", "share_high" } },
               { NAME_memory_share_of_fleet, { "fleet", "fleet_low", "fleet_high" } } };

static void add_share(struct market_figures *watch, const struct disclosure *machine, struct section *list)
{
    struct arena *arena = watch->market.arena;
    struct section *line = section_add(list, NULL, SECTION_RECORD);
    struct doc *words[3] = { NULL, doc_new(arena, DOC_ARRAY), doc_new(arena, DOC_ARRAY) };
    double ends[2][MEMORIES];
    section_word(line, "machine", machine->on);
    memory_prices(watch, ends[0], ends[1]);
    for (int k = 0; k < 2 * MEMORIES; k++) {
        doc_add_string(arena, words[1 + k % 2], NULL, "--set");
        doc_add_string(arena, words[1 + k % 2], NULL, arena_print(arena, "%s=%.17gUSD/B", memory_rows[k / 2], ends[k % 2][k / 2]));
    }
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        for (int k = 0; k < 3; k++)
            section_number(line, shared[i].names[k],
                           market_eval(arena, watch->market.command, words[k], shared[i].row, "--on", machine->on), unit_one);
}

/* What the lecture says of memory's share, and what is published today. */
static void add_today(struct market_figures *watch, struct section *section)
{
    const struct disclosure *today = present(watch, "memory_share");
    struct section *half = section_add(section, "memory_today", SECTION_RECORD);
    section_number(half, NAME_memory_share_quoted, market_eval(watch->market.arena, watch->market.command, NULL, NAME_memory_share_quoted,
                                                               NULL, NULL), unit_one);
    section_number(half, "published", today ? today->value : NAN, unit_one);
    section_word(half, "published_by", today ? today->who : "");
    section_word(half, "published_date", today ? today->date : "");
}

bool market_watch(const struct command *command, struct arena *arena, struct answer *answer, struct error *error)
{
    static const char *const columns[] = { "date", "who", "kind", "of", "on", "value", "unit", "statement", "verdict", "unknown", "implied",
                                           "implied_unit", "source", "mark", "note" };
    struct market_figures watch = { .market = { .arena = arena, .command = command, .error = error },
                           .rows = csv_built_in(rows_file), .kinds = csv_built_in(kinds_file) };
    struct section *section = section_new(arena), *list = section_add(section, "disclosures", SECTION_LIST),
                   *pairs = section_add(section, "pairs", SECTION_LIST), *triggers = section_add(section, "triggers", SECTION_LIST),
                   *shares = section_add(section, "memory", SECTION_LIST);
    size_t supports = 0, contradicts = 0;
    catalog_open(&watch.market.catalog, arena);
    statements_read(arena, &watch.lecture);
    watch.at = arena_array(arena, watch.rows->rows, sizeof *watch.at);
    for (; watch.count < watch.rows->rows; watch.count++) {
        struct disclosure *one = &watch.at[watch.count];
        if (!read_row(&watch, watch.count, one))
            return false;
        add_disclosure(&watch, one, list);
        supports += one->supports == HOLDS;
        contradicts += one->supports == HOLDS_NOT;
    }
    add_pairs(&watch, pairs);
    for (size_t i = 0; i < csv_built_in(triggers_file)->rows; i++)
        if (!add_trigger(&watch, i, triggers))
            return false;
    for (size_t i = 0; i < watch.count; i++)
        if (!strcmp(watch.at[i].kind, "machine_memory_share"))
            add_share(&watch, &watch.at[i], shares);
    add_today(&watch, section);
    section_number(section, "supports", (double)supports, unit_one);
    section_number(section, "contradicts", (double)contradicts, unit_one);
    section_csv_of(list, columns, sizeof columns / sizeof *columns, &answer->csv);
    section_number(section, "all", (double)watch.count, unit_one)->text_only = true;
    section_document(section, answer->doc);
    answer->section = section;
    if (command_given(command, "most") && command_count(command, "most") < watch.count)
        list->inside_count = command_count(command, "most");
    section_number(section, "shown", (double)list->inside_count, unit_one)->text_only = true;
    template_print(template_built_in(arena, "ask/market/watch.template"), section, &answer->text);
    return true;
}

const struct record market_disclosure_record = { "MarketDisclosure", (const struct answer_field[]){
    { FIELD_TEXT, .names = (const char *const[]){ "date", "who", "kind", "of", "on" }, .count = 5,
      .help = "of the figure: its date, who published it, its kind in data/disclosure_kinds.csv, its model, its machine", .always = true },
    { FIELD_NUMBER, "value", .help = "in `unit`", .unit = "", .always = true }, { FIELD_TEXT, "unit", .always = true },
    { FIELD_TEXT, "statement", .help = "of the lecture, that the figure touches", .always = true },
    { FIELD_TEXT, "verdict", .help = "supports or contradicts it, by the kind's comparison; open: a side has no value", .always = true },
    { FIELD_TEXT, "unknown", .help = "the unknown that the figure determines", .always = true },
    { FIELD_NUMBER, "implied", .help = "its value, in `implied_unit`", .unit = "" }, { FIELD_TEXT, "implied_unit", .help = "base unit" },
    { FIELD_TEXT, "source", .always = true }, { FIELD_TEXT, "mark", .help = "how far the source is to be trusted: data/README.md" },
    { FIELD_TEXT, "note", .help = "further words of the source" }, { 0 } } };
const struct record market_pair_record = { "MarketPair", (const struct answer_field[]){
    { FIELD_TEXT, .names = (const char *const[]){ "unknown", "who", "kind", "of", "other_who", "other_kind", "other_of" }, .count = 7,
      .help = "the unknown, and the two figures that determine it", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "implied", "other_implied" }, .count = 2, .help = "its value by each, in base units",
      .unit = "", .always = true },
    { FIELD_NUMBER, "factor", .help = "between the two", .always = true }, { 0 } } };
static const struct record trigger_figure_record = { "MarketTriggerFigure", (const struct answer_field[]){
    { FIELD_TEXT, .names = (const char *const[]){ "kind", "who", "date" }, .count = 3, .help = "of the figure", .always = true },
    { FIELD_NUMBER, "value", .help = "in base units", .unit = "", .always = true }, { 0 } } };
const struct record market_trigger_record = { "MarketTrigger", (const struct answer_field[]){
    { FIELD_TEXT, .names = (const char *const[]){ "trigger", "statement", "thesis", "flips" }, .count = 4,
      .help = "its name, the lecture's statement, the thesis, and the comparison that is true once the thesis is wrong", .always = true },
    { FIELD_LIST, "figures", .help = "that stand in it", .record = &trigger_figure_record },
    { FIELD_SWITCH, "flipped", .help = "true: the comparison is true today", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "left", "right" }, .count = 2, .help = "its sides, in base units", .unit = "" },
    { FIELD_NUMBER, "distance", .help = "factor between its sides" }, { 0 } } };
const struct record market_share_record = { "MarketMemoryShare", (const struct answer_field[]){
    { FIELD_TEXT, "machine", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "share", "share_low", "share_high", "fleet", "fleet_low", "fleet_high" }, .count = 6,
      .help = "memory's share of its price and of a fleet of it, and those at the lowest and highest published prices of memory" },
    { 0 } } };
const struct record market_today_record = { "MarketMemoryToday", (const struct answer_field[]){
    { FIELD_ROWS, .names = (const char *const[]){ NAME_memory_share_quoted }, .count = 1 },
    { FIELD_NUMBER, "published", .help = "memory's share of what data centres spend, the newest that is published" },
    { FIELD_TEXT, .names = (const char *const[]){ "published_by", "published_date" }, .count = 2 }, { 0 } } };
