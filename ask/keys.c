/* The keys of the answers of curve and solve, whose own files are long enough. */
#include "ask/ask.h"

/* ---- curve -------------------------------------------------------------------------------------- */

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
    { FIELD_LIST, "fits", .help = "for an axis of models or machines: whether the model fits in memory" },
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

/* ---- solve -------------------------------------------------------------------------------------- */

static const struct record interval_record = { "Interval", (const struct answer_field[]){
    { FIELD_NUMBER, "low", .help = "lower end", .unit = "", .always = true },
    { FIELD_NUMBER, "high", .help = "upper end", .unit = "", .always = true },
    { FIELD_SWITCH, "low_closed", .help = "whether the lower end belongs to the interval", .always = true },
    { FIELD_SWITCH, "high_closed", .help = "whether the upper end belongs to the interval", .always = true },
    { 0 } } };

static const struct record closest_record = { "Closest", (const struct answer_field[]){
    { FIELD_NUMBER, "at", .help = "value of the unknown where the sides are nearest", .unit = "",
      .always = true },
    { FIELD_NUMBER, "left", .help = "the left side at that value", .unit = "", .always = true },
    { FIELD_NUMBER, "right", .help = "the right side at that value", .unit = "", .always = true },
    { 0 } } };

static const struct record range_record = { "SearchedRange", (const struct answer_field[]){
    { FIELD_NUMBER, "low", .help = "lower end", .unit = "", .always = true },
    { FIELD_NUMBER, "high", .help = "upper end", .unit = "", .always = true },
    { 0 } } };

static const struct record unknown_record = { "Unknown", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "the first boundary; null: there is no solution", .unit = "",
      .always = true, .null = true },
    { FIELD_TEXT, "unit", .help = "unit of the unknown", .always = true },
    { FIELD_LIST, "intervals", .help = "where the equation holds", .record = &interval_record,
      .always = true },
    { FIELD_NUMBERS, "roots", .help = "solutions that are single points", .always = true },
    { FIELD_NUMBERS, "jumps", .help = "points where the sides jump past each other", .always = true },
    { FIELD_NUMBERS, "whole", .help = "the whole numbers on both sides of a root, for a count" },
    { FIELD_RECORD, "range", .help = "the range that was searched", .record = &range_record, .always = true },
    { FIELD_SWITCH, "proved", .help = "whether the whole range is settled", .always = true },
    { FIELD_RECORD, "closest", .help = "without a solution, the point where the sides are nearest",
      .record = &closest_record, .null = true, .always = true },
    { FIELD_NUMBER, "beyond_range", .help = "a solution outside the range", .unit = "" },
    { 0 } } };

const struct record answer_solve = { "Solve", (const struct answer_field[]){
    { FIELD_TEXT, "where", .help = "the equation", .always = true },
    { FIELD_TEXT, "for", .help = "without a model: the server that the predictions are of" },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the answer", .always = true },
    { FIELD_OTHERS, .help = "the unknown, by its name", .record = &unknown_record },
    { 0 } } };
