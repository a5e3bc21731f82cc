/* The keys of the answers of curve. */
#include "ask/curve/curve.h"

static const struct record column_record = { "CurveColumn", (const struct answer_field[]){
    { FIELD_TEXT, "unit", .help = "unit of the values", .always = true },
    { FIELD_NUMBERS, "values", .help = "value at each point", .always = true },
    { 0 } } };

static const struct record point_record = { "CurvePoint", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "words of the command that gives this point again", .always = true },
    { FIELD_OTHERS, .help = "value of the axis and of each quantity that is a row", .unit = "",
      .null = true },
    { 0 } } };

static const struct record shown_value_record = { "ShownValue", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "quantity", "is" }, .count = 2 },
    { 0 } } };
static const struct record shown_record = { "ShownPoint", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "at" }, .count = 1 },
    { FIELD_TEXT_ONLY, "values", .record = &shown_value_record },
    { 0 } } };

const struct record answer_curve = { "Curve", (const struct answer_field[]){
    { FIELD_LIST, "points", .help = "the points, each with the words that ask for it alone",
      .record = &point_record },
    { FIELD_TEXT, "for", .help = "without a model: the server that the predictions are of" },
    { FIELD_TEXTS, "held", .help = "rows of layout and load that were chosen once, for all points of a row" },
    { FIELD_TEXT, "infeasible", .help = "why no point along a row has a server" },
    { FIELD_LIST, "fits", .help = "where each point has its own layout: whether the model fits in memory and the server keeps up" },
    { FIELD_LIST, "assumed",
      .help = "defaults and assumptions; for an axis of models or machines a list for each" },
    { FIELD_OTHERS, .help = "the axis as an array, and each quantity as it was asked",
      .record = &column_record, .arrays = true },
    { FIELD_TEXT_ONLY, .count = 5, .names = (const char *const[]){
          "quantity", "axis", "axis_word", "model", "machine" } },
    { FIELD_TEXT_ONLY, "first", .record = &shown_record },
    { FIELD_TEXT_ONLY, "turn", .record = &shown_record },
    { FIELD_TEXT_ONLY, "last", .record = &shown_record },
    { FIELD_TEXT_ONLY, "shown", .record = &shown_record },
    { 0 } } };
