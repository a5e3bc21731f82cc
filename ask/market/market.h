/* market -- what sellers of open models earn: their price lists beside the predicted cost of serving.
 *
 *     price lists --market_read--> offers --+
 *     models of them --market_serve--> the cheapest deployment of each, and how well its cost is known
 *                                           +--market.c--> a margin each */
#ifndef ASK_MARKET_H
#define ASK_MARKET_H

#include "ask/ask.h"
#include "catalog/catalog.h"
#include "import/prices.h"

/* What a seller asks for a model of the catalog. */
struct market_offer {
    const struct price *price;
    const char *model;              /* its name in the catalog */
    const struct price *before;     /* the same offer in an older list; NULL: none */
    size_t served;                  /* place of the model in market.served */
};

enum { MARKET_BAND, MARKET_RENT, MARKET_ENGINE, MARKET_USE, MARKET_CAUSES };
extern const char *const market_causes[MARKET_CAUSES];
/* Choices: data/market.csv. The first row of a kind at `from` or after it. */
#define MARKET_NO_CHOICE ((size_t)-1)
extern const char market_choices[];
size_t market_choice_next(const char *kind, size_t from);
const char *market_choice(size_t row, const char *column);

/* The deployment that serves a model cheapest. */
struct market_served {
    const char *model;
    const char *why;                /* there is none: why; NULL: there is one */
    bool wrong;                     /* `plan` refused the question */
    const char *machine, *deployment, *binds;
    const struct doc *words;        /* what `eval` is asked with for the same figures */
    double token, input, output;    /* USD: of a token of either kind, of each */
    const char *token_row, *input_row, *output_row;
    double tpot;
    double prompt_tokens, output_tokens, hits;      /* of a request; share of the prompt that a cache has */
    double hit;                     /* NAN: not known */
    double rent;                    /* of a chip, USD/s */
    struct { double low, high; } cause[MARKET_CAUSES];      /* the cost at this end over the cost; 1: it is known */
};

struct market {
    struct arena *arena;
    const struct command *command;
    struct catalog catalog;
    struct market_offer *offers;
    size_t count, room;
    struct price_sheet **sheets;    /* the lists, in the order of their dates where they are built in */
    size_t sheet_count, sheet_room;
    struct market_served *served;
    size_t served_count, served_room;
    size_t unknown;                 /* offers of models that the catalog does not have */
    struct error *error;
};

/* Options that set or redefine rows, which the margins follow too. */
bool market_of_rows(const struct option *option);
/* Read the list that the command names, or the built-in ones, and the one of closed models with them. */
bool market_sheets(struct market *market, bool closed_too);
/* --changes: prices of two dates. */
bool market_changes(struct market *market, struct answer *answer);
extern const struct record market_change_record;
/* Read the list that the command names, or the built-in ones, and keep each seller's last offer of each model. */
bool market_read(struct market *market);
struct market_option {
    const char *name, *value;
};
/* The cost of one kind of token by `row`, kind_cost or sold_cost, of what it costs and what keeping it costs; NAN: none. */
double market_part(const struct scenario *scenario, const char *row, double part, double kept);
/* Find the cheapest deployment of one model, with `options` in the place of those that the command gives. Where `plan` refuses
 * the question, market->error says why. */
void market_serve_one(struct market *market, struct market_served *served, const struct market_option *options, size_t count);
/* Ask `eval` for a row under the words of a deployment, or none, and an option more; NAN: it has no answer. */
double market_eval(struct arena *arena, const struct command *command, const struct doc *words, const char *row, const char *option,
                   const char *value);
/* --schedule: the price list that the cost of a model implies. */
bool market_schedule(struct market *market, const char *model, struct answer *answer);
extern const struct record market_schedule_record, market_said_record;
/* --watch: published figures beside the lecture's statements. */
bool market_watch(const struct command *command, struct arena *arena, struct answer *answer, struct error *error);
extern const struct record market_disclosure_record, market_pair_record, market_trigger_record, market_share_record, market_today_record;
/* --closed: models that are not open, into a list "closed". */
bool market_closed(struct market *market, const struct scenario *scenario, struct section *section);
extern const struct record market_closed_record;
/* Find the cheapest deployment of each model of an offer. False: the question is wrong. */
bool market_serve(struct market *market);

#endif
