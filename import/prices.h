/* prices -- published price lists, read into one form.
 *
 *     JSON of routers         \
 *     models.dev as CSV       >--prices_read-->  prices: one a model and seller
 *     data/prices.csv         /
 *
 * A price is in USD/token (storage in USD/token/s), NAN where none is published. A published 0
 * is "not charged" and no price: it is counted in `free`. Thresholds in names of fields (LiteLLM) become numbers.
 *
 * Unknown columns are ignored; a price below 0 or above 1e6 USD/Mtoken is an error.
 * A sheet has the date of its rows, or of its file's name. What is not sold by the token as text
 * (images, speech, embeddings) is counted and left out. Everything lives in the arena. */
#ifndef IMPORT_PRICES_H
#define IMPORT_PRICES_H

#include "base/base.h"

enum price_class {
    PRICE_INPUT, PRICE_OUTPUT, PRICE_HIT, PRICE_WRITE_SHORT, PRICE_WRITE_LONG, PRICE_CLASSES
};
enum service_tier { SERVICE_STANDARD, SERVICE_BATCH, SERVICE_FLEX, SERVICE_PRIORITY, SERVICE_TIERS };

/* Prices of requests whose prompt is longer than `from` tokens, at the standard tier. */
struct price_step {
    double from;
    double at[PRICE_CLASSES];
};

/* An entry of a price list, in USD per token; NAN: no such price. */
struct price {
    const char *seller, *model;     /* "anthropic", "claude-opus-4-7"; as the list spells them */
    const char *date;               /* "2026-08-01", or "" */
    int line;                       /* in a CSV file, else 0 */
    double at[SERVICE_TIERS][2][PRICE_CLASSES];     /* [1]: above the threshold */
    double storage;
    double threshold;               /* tokens; NAN: no step */
    double fast;                    /* price of fast mode over the standard price; NAN: none */
    double context;                 /* tokens of the longest prompt; NAN: not stated */
    struct price_step *further;     /* steps above the first, ascending */
    size_t further_count;
    int free;                       /* number of prices that are published as 0 */
    const char *unread;             /* keys of prices that are not of text tokens, "a, b"; NULL: none */
};

struct price_sheet {
    const char *file, *kind;        /* kind: "LiteLLM", "OpenRouter", "models.dev", "chalkline", ... */
    struct price *prices;
    size_t count, room;
    struct price_unread {
        const char *model, *keys;
    } *unpriced;                    /* entries that have other prices only, and the keys of these */
    size_t unpriced_count, unpriced_room;
    size_t left_out;                /* entries that sell something else, or have no price */
};

/* An error names file and line, or file, entry and field. */
bool prices_read(struct arena *arena, const char *file, struct text text,
                 struct price_sheet *sheet, struct error *error);

/* The model without who sells it: "openrouter/anthropic/claude-opus-4-7" and
 * "claude-opus-4-7" are one. */
const char *price_model(const struct price *price);
/* Is the price more than `most` times the usual one, or the usual one more than `most` times the price? Then its unit is wrong. */
bool price_slips(double price, double usual, double most);

#endif
