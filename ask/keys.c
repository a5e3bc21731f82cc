/* The keys of the answers of curve and solve, whose own files are long enough. */
#include "ask/ask.h"

/* ---- curve -------------------------------------------------------------------------------------- */

static const struct record column_record = { "CurveColumn", (const struct answer_field[]){
    { FIELD_TEXT, "unit", .help = "of the values", .always = true },
    { FIELD_NUMBERS, "values", .help = "at each point", .always = true },
    { 0 } } };

static const struct record point_record = { "CurvePoint", (const struct answer_field[]){
    { FIELD_TEXTS, "words", .help = "the question that gives this point again", .always = true },
    { FIELD_OTHERS, .help = "the axis, and the quantities that are rows", .unit = "", .null = true },
    { 0 } } };

const struct record answer_curve = { "Curve", (const struct answer_field[]){
    { FIELD_LIST, "points", .help = "each as a question of its own", .record = &point_record },
    { FIELD_LIST, "fits", .help = "over names: does it fit in memory there?" },
    { FIELD_LIST, "assumed", .help = "what nobody gave, and what to know of it; over names a list for each" },
    { FIELD_OTHERS, .help = "the axis as an array, and each quantity as it was asked",
      .record = &column_record, .arrays = true },
    { 0 } } };

/* ---- solve -------------------------------------------------------------------------------------- */

static const struct record interval_record = { "Interval", (const struct answer_field[]){
    { FIELD_NUMBER, "low", .help = "its lower end", .unit = "", .always = true },
    { FIELD_NUMBER, "high", .help = "its upper end", .unit = "", .always = true },
    { FIELD_SWITCH, "low_closed", .help = "does the lower end belong to it?", .always = true },
    { FIELD_SWITCH, "high_closed", .help = "does the upper end?", .always = true },
    { 0 } } };

static const struct record closest_record = { "Closest", (const struct answer_field[]){
    { FIELD_NUMBER, "at", .help = "where the sides are nearest", .unit = "", .always = true },
    { FIELD_NUMBER, "left", .help = "the left side there", .unit = "", .always = true },
    { FIELD_NUMBER, "right", .help = "the right side there", .unit = "", .always = true },
    { 0 } } };

static const struct record range_record = { "SearchedRange", (const struct answer_field[]){
    { FIELD_NUMBER, "low", .help = "from here", .unit = "", .always = true },
    { FIELD_NUMBER, "high", .help = "to here", .unit = "", .always = true },
    { 0 } } };

static const struct record unknown_record = { "Unknown", (const struct answer_field[]){
    { FIELD_NUMBER, "value", .help = "the first boundary; null: there is no solution", .unit = "",
      .always = true, .null = true },
    { FIELD_TEXT, "unit", .help = "of the unknown", .always = true },
    { FIELD_LIST, "intervals", .help = "where the equation holds", .record = &interval_record,
      .always = true },
    { FIELD_NUMBERS, "roots", .help = "those that are single points", .always = true },
    { FIELD_NUMBERS, "jumps", .help = "where the sides jump past each other", .always = true },
    { FIELD_NUMBERS, "whole", .help = "the whole numbers beside a root of what is counted" },
    { FIELD_RECORD, "range", .help = "what was searched", .record = &range_record, .always = true },
    { FIELD_SWITCH, "proved", .help = "is all of the range settled?", .always = true },
    { FIELD_RECORD, "closest", .help = "without a solution, where the sides are nearest",
      .record = &closest_record, .null = true, .always = true },
    { FIELD_NUMBER, "beyond_range", .help = "a solution outside the range", .unit = "" },
    { 0 } } };

const struct record answer_solve = { "Solve", (const struct answer_field[]){
    { FIELD_TEXT, "where", .help = "the equation", .always = true },
    { FIELD_TEXTS, "assumed", .help = "what nobody gave, and what to know of it", .always = true },
    { FIELD_OTHERS, .help = "the unknown, by its name", .record = &unknown_record },
    { 0 } } };
