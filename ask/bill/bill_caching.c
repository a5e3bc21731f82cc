/* How sellers bill cached tokens (data/caching.csv): minimum prefix, granularity, lifetimes,
 * whether outputs are cached.
 *
 * A rule matches by parts of the seller's or the model's name; the longest match wins, and "other"
 * is for entries without a match. A fact that a rule does not state is taken from the rule that it
 * is "as". Ranges are kept as such: bill.c notes where it uses their middle. */
#include "ask/bill/bill.h"
#include "build/row_names.h"
#include "catalog/sheet.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *const FILE_NAME = "data/caching.csv";

const char *const rule_facts[RULES_FACTS] = { NAME_cache_minimum, NAME_cache_step, NAME_output_cached,
    NAME_time_to_live_short, NAME_time_to_live_long, NAME_automatic_life, NAME_stored_life };

/* What a rule matches comes line by line; the facts are read once all rules are known, since one that
 * a rule does not state is taken from the rule that it is "as". */
void caching_read(struct arena *arena, struct caching *caching)
{
    struct sheet sheet;
    size_t room = 0;
    *caching = (struct caching){ 0 };
    sheet_open(FILE_NAME, &sheet);
    for (size_t i = 0; i < sheet.csv.rows; i++) {
        const char *name = csv_cell(&sheet.csv, i, sheet.name);
        const char *fact = csv_cell(&sheet.csv, i, sheet.fact);
        const bool seller = !strcmp(fact, "seller");
        struct caching_rule *rule = NULL;
        for (size_t k = 0; k < caching->count && !rule; k++)
            if (!strcmp(caching->rule[k].name, name))
                rule = &caching->rule[k];
        if (!rule) {
            rule = arena_push(arena, &caching->rule, &caching->count, &room, sizeof *rule);
            *rule = (struct caching_rule){ .name = name };
        }
        if (rule->match_count == sizeof rule->match / sizeof *rule->match ||
            (!seller && strcmp(fact, "matches")))
            continue;
        rule->match[rule->match_count].part = csv_cell(&sheet.csv, i, sheet.value);
        rule->match[rule->match_count++].seller = seller;
    }
    for (size_t k = 0; k < caching->count; k++) {
        struct caching_rule *rule = &caching->rule[k];
        const char *base = sheet_text(&sheet, rule->name, "as");
        const char *writes = sheet_text(&sheet, base ? base : rule->name, "writes");
        rule->asked = writes && !strcmp(writes, "asked");
        for (int i = 0; i < RULES_FACTS; i++) {
            const char *name = rule->name;
            rule->at[i] = sheet_number(&sheet, name, rule_facts[i]);
            if (isnan(rule->at[i]) && base)
                rule->at[i] = sheet_number(&sheet, name = base, rule_facts[i]);
            rule->mark[i] = sheet_mark(&sheet, name, rule_facts[i]);
        }
    }
}

/* Without regard to case, and with one mark for '.', '_' and '-'. */
static bool contains(const char *name, const char *part)
{
    for (; *name; name++) {
        size_t i = 0;
        for (; part[i] && name[i]; i++) {
            char a = (char)tolower((unsigned char)name[i]), b = part[i];
            if ((a == '.' || a == '_' ? '-' : a) != (b == '.' || b == '_' ? '-' : b))
                break;
        }
        if (!part[i])
            return true;
    }
    return false;
}

/* The longest match wins; the last rule, "other", is for entries without a match. */
const struct caching_rule *caching_find(const struct caching *caching, const struct price *price)
{
    const struct caching_rule *found = &caching->rule[caching->count - 1];
    size_t longest = 0;
    for (size_t i = 0; i < caching->count; i++)
        for (size_t k = 0; k < caching->rule[i].match_count; k++) {
            const char *part = caching->rule[i].match[k].part;
            bool fits = caching->rule[i].match[k].seller
                        ? !strcmp(price->seller, part)
                        : contains(price->seller, part) || contains(price->model, part);
            if (!fits || strlen(part) <= longest)
                continue;
            longest = strlen(part);
            found = &caching->rule[i];
        }
    return found;
}
