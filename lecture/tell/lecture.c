/* lecture: the statements of the lecture, with its own numbers and with the user's.
 *
 * `lecture` lists the chapters, `lecture 2` shows one, `lecture experts.two_racks` one statement;
 * any other word is looked for in them. lecture.template is the text. */
#include "lecture/tell/lecture.h"
#include "lecture/question.h"
#include "lecture/sentence.h"
#include "scenario/figures.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct telling {
    struct arena *arena;
    const struct command *command;
    struct lecture lecture;
    const struct lecture_chapter *chapters;
    struct scenario here;           /* the user's model on a machine, as eval has it, if has_here */
    bool has_here;
    bool full;                      /* print every statement in full, not only those of the short form */
    struct error *error;
};

/* ---- which statements ---------------------------------------------------------------------------- */

static int chapter_count(const struct telling *telling)
{
    int count = 0;
    while (telling->chapters[count].id)
        count++;
    return count;
}

/* "2", "experts": the number of a chapter; 0: none. */
static int chapter_of(const struct telling *telling, const char *word)
{
    for (int i = 0; telling->chapters[i].id; i++)
        if (!strcmp(word, telling->chapters[i].id) || (atoi(word) == i + 1 && !word[strspn(word, "0123456789")]))
            return i + 1;
    return 0;
}

static bool matches(const struct statement *statement, const char *word)
{
    return name_within(statement->id, word) || name_within(statement->sentence, word) || name_within(statement->asks, word);
}

/* Mark the statements that are asked for: all, a chapter's, one, or those with the words. */
static bool choose_statements(const struct telling *telling, bool *wanted, struct error *error)
{
    const struct command *command = telling->command;
    const struct lecture *lecture = &telling->lecture;
    const char *word = command->word_count ? command->words[0] : NULL;
    const int chapter = word ? chapter_of(telling, word) : 0;
    size_t count = 0;
    for (size_t i = 0; i < lecture->count; i++)
        wanted[i] = !word || (chapter ? lecture->at[i].chapter == chapter : !strcmp(lecture->at[i].id, word));
    for (size_t i = 0; i < lecture->count; i++)
        count += wanted[i];
    const bool chapters_only = command->word_count == 1 && *word && !word[strspn(word, "0123456789")];  /* not "3.9 GB" */
    for (size_t i = 0; i < lecture->count && !count && !chapters_only; i++) {
        wanted[i] = true;
        for (size_t k = 0; k < command->word_count; k++)
            wanted[i] &= matches(&lecture->at[i], command->words[k]);
    }
    for (size_t i = 0; i < lecture->count; i++)
        count += wanted[i];
    if (count)
        return true;
    error_set(error, chapters_only ? "lecture: unknown chapter %.60s" : "lecture: no statement matches '%.60s'",
              word);
    return error_expected(error, "a chapter from 1 to %d, the id of a statement such as %s, or words from one",
                          chapter_count(telling), lecture->at[0].id);
}

/* ---- one statement ----------------------------------------------------------------------------------- */

static void add_holds(struct section *section, const char *key, enum holds holds)
{
    if (holds == HOLDS_UNKNOWN)
        section_nothing(section, key);
    else
        section_switch(section, key, holds == HOLDS);
}

static void add_figure(const struct scenario *scenario, const char *text, double value, struct section *section)
{
    if (isfinite(value))
        section_number(section, "value", value, scenario_unit(scenario, text));
    else
        section_nothing(section, "value");
    if (*text)
        section_word(section, "unit", unit_name(section->arena, scenario_unit(scenario, text)));
}

static void add_outcome(enum holds holds, const char *conclusion, struct section *section)
{
    add_holds(section, "holds", holds);
    if (conclusion)
        section_word(section, "conclusion", conclusion);
    else
        section_nothing(section, "conclusion");
}

/* "batch_crossover = 2,400; said 2,400: agrees" */
static void add_example(const struct scenario *scenario, const struct statement *statement,
                        const struct verdict *verdict, struct section *section)
{
    enum { DIGITS = 4 };
    const struct unit unit = scenario_unit(scenario, statement->asks);
    struct buffer out = { .arena = section->arena };
    struct quantity said;
    struct error ignored;
    if (*statement->asks && isfinite(verdict->asks.value)) {
        buffer_print(&out, "%s = %s", statement->asks, quantity_text(section->arena, verdict->asks.value, unit, DIGITS));
        if (*statement->says && quantity_parse(text_of(statement->says), unit, &said, &ignored))
            buffer_print(&out, "; said %s: %s", quantity_text(section->arena, said.value, unit, DIGITS),
                         statement_agrees(scenario, statement, verdict->asks.value) == HOLDS ? "agrees" : "differs");
        section_word(section, "example", out.data)->text_only = true;
    }
    if (verdict->turns)
        section_word(section, "turns", arena_print(section->arena, "%s = %s", statement->input, quantity_text(
            section->arena, verdict->root, scenario_unit(scenario, statement->input), DIGITS)))->text_only = true;
}

static void add_head(const struct scenario *scenario, const struct statement *statement,
                     const struct verdict *verdict, struct section *section)
{
    struct quantity said;
    struct error ignored;
    section_word(section, "id", statement->id);
    section_number(section, "chapter", statement->chapter, unit_one);
    section_word(section, "time", statement->time);
    section_word(section, "statement", statement->sentence);
    section_word(section, "kind", statement->kind);
    section_word(section, "equation", statement->equation);
    section_word(section, "asks", statement->asks);
    if (*statement->says &&
        quantity_parse(text_of(statement->says), scenario_unit(scenario, statement->asks), &said, &ignored))
        section_number(section, "says", said.value, scenario_unit(scenario, statement->asks));
    else
        section_nothing(section, "says");
    add_holds(section, "agrees", statement_agrees(scenario, statement, verdict->asks.value));
    section_word(section, "reason", statement->reason);
    section_word(section, "deck", statement->deck);
    section_switch(section, "short", statement->brief);
}

/* The statement asked of the model; `held`: what it comes to. */
static void add_here(struct telling *telling, const struct statement *statement, struct section *one, enum holds *held)
{
    struct section *section = section_add(one, "here", SECTION_RECORD);
    struct reply *reply = arena_alloc(telling->arena, sizeof *reply);
    question_ask(&telling->here, statement, QUESTION_KEEPS, reply);
    question_turns(reply, statement);
    section_switch(section, "applies", !reply->lacks);
    section_word(section, "lacks", reply->lacks ? reply->lacks : "");
    add_figure(&reply->scenario, statement->question.figure, reply->figure, section);
    add_outcome(reply->holds, reply->conclusion, section);
    question_section(statement, reply, section);
    flips_section(&reply->scenario, statement->question.turning, reply->lacks ? "" : reply->equation, reply->turns,
                  reply->root, reply->now, section);
    *held = reply->lacks ? HOLDS_UNKNOWN : reply->holds == HOLDS_UNKNOWN && reply->conclusion ? HOLDS : reply->holds;
    if (reply->lacks || reply->holds == HOLDS_NOT)
        section_word(one, "in_short", reply->lacks ? "does not apply here" : "does not hold here")->text_only = true;
}

/* With a model, what the command sets is about that model; else about the lecture's deck. A question that asks nothing of
 * a model has one answer for all, so that of the deck. */
static bool add_statement(struct telling *telling, const struct statement *statement, struct section *list,
                          enum holds *held)
{
    const struct command bare = telling->has_here ? command_rows_only(telling->arena, telling->command)
                                                  : *telling->command;
    struct scenario scenario;
    struct verdict first;
    struct reply *reply = arena_alloc(telling->arena, sizeof *reply);
    int sign = 0;
    if (!statement_sign(telling->arena, telling->command, statement, &sign, telling->error) ||
        !statement_open(&scenario, &bare, statement, telling->arena, telling->error))
        return false;
    verdict_of(&scenario, statement, sign, &first);
    verdict_turns(&scenario, statement, &first);
    question_ask(&scenario, statement, QUESTION_OF_DECK, reply);
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    add_head(&scenario, statement, &first, one);
    add_figure(&scenario, statement->asks, first.asks.value, one);
    add_outcome(first.holds, first.conclusion, one);
    question_section(statement, reply, one);
    flips_section(&scenario, statement->input, statement->turns, first.turns, first.root, first.now, one);
    add_example(&scenario, statement, &first, one);
    *held = first.holds;
    if (telling->has_here && (*statement->question.asks_of || statement->question.kind == QUESTION_EXAMPLE))
        add_here(telling, statement, one, held);
    else if (telling->has_here)
        section_switch(one, "for_all", true)->text_only = true;
    if (telling->full || statement->brief)
        section_switch(one, "full", true)->text_only = true;
    if (list->inside_count > 1)
        section_switch(one, "later", true)->text_only = true;
    return true;
}

/* ---- the answer ------------------------------------------------------------------------------------ */

struct statement_tally {
    int statements, hold, fail, open;       /* open: unknown, or does not apply */
};

static void add_chapters(const struct telling *telling, const struct statement_tally *tallies, struct section *section)
{
    struct section *list = section_add(section, "chapters", SECTION_LIST);
    for (int i = 0; telling->chapters[i].id; i++) {
        const struct lecture_chapter *chapter = &telling->chapters[i];
        const struct statement_tally *tally = &tallies[i];
        if (!tally->statements)
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_number(one, "chapter", i + 1, unit_one);
        section_word(one, "id", chapter->id);
        section_word(one, "title", chapter->title);
        section_word(one, "time", chapter->time);
        section_word(one, "question", chapter->question);
        section_word(one, "main", chapter->main);
        section_number(one, "count", tally->statements, unit_one);
        section_number(one, "hold", tally->hold, unit_one);
        section_number(one, "fail", tally->fail, unit_one);
        section_number(one, "open", tally->open, unit_one);
    }
}

static bool open_here(struct telling *telling)
{
    const struct subject subject = command_subject(telling->command);
    if (!subject.model && !subject.machine)
        return true;
    telling->has_here = true;
    if (!subject.model || !subject.machine) {
        error_set(telling->error, "lecture: %s is given without %s", subject.model ? "a model" : "a machine",
                  subject.model ? "a machine" : "a model");
        return error_expected(telling->error, "both, as in `%s`", telling->command->verb->examples[2]);
    }
    static const char *const point[] = { NAME_bound_step, NAME_hbm_share };
    return scenario_open(&telling->here, telling->arena, telling->command, subject, telling->error) &&
           scenario_choose(&telling->here, point, sizeof point / sizeof *point, telling->error);
}

/* Only the last chapter has something to run. */
static bool run_belongs(const struct telling *telling)
{
    const struct command *command = telling->command;
    const int last = chapter_count(telling);
    if (!command_given(command, "run") || (command->word_count && chapter_of(telling, command->words[0]) == last))
        return true;
    error_set(telling->error, "lecture: --run is for chapter %d", last);
    return error_expected(telling->error, "`chalkline lecture %d --run`", last);
}

bool ask_lecture(struct arena *arena, const struct command *command, struct answer *answer, struct error *error)
{
    struct telling *telling = arena_alloc(arena, sizeof *telling);
    *telling = (struct telling){ .arena = arena, .command = command, .error = error };
    if (command_given(command, "slips")) {
        struct section *slips = section_new(arena);
        section_add(slips, "statements", SECTION_LIST), section_add(slips, "chapters", SECTION_LIST);
        if (!lecture_slips(arena, command, slips, error))
            return false;
        section_document(slips, answer->doc);
        template_print(template_built_in(arena, "lecture/tell/lecture.template"), slips, &answer->text);
        return true;
    }
    statements_read(arena, &telling->lecture);
    telling->chapters = lecture_chapters(arena);
    const size_t count = telling->lecture.count;
    bool *wanted = arena_array(arena, count + 1, sizeof *wanted);
    struct statement_tally *tallies = arena_array(arena, (size_t)chapter_count(telling) + 1, sizeof *tallies);
    if (!run_belongs(telling) || !open_here(telling) || !choose_statements(telling, wanted, error))
        return false;
    struct section *section = section_new(arena);
    struct section *list = section_add(section, "statements", SECTION_LIST);
    telling->full = command_given(command, "all") || !command->word_count || !chapter_of(telling, command->words[0]);
    for (size_t i = 0; i < count; i++) {
        const struct statement *statement = &telling->lecture.at[i];
        struct statement_tally *tally = &tallies[statement->chapter - 1];
        enum holds held;
        if (!wanted[i])
            continue;
        if (!add_statement(telling, statement, list, &held))
            return false;
        tally->statements++;
        tally->hold += held == HOLDS;
        tally->fail += held == HOLDS_NOT;
        tally->open += held == HOLDS_UNKNOWN;
    }
    add_chapters(telling, tallies, section);
    if (!command->word_count)
        section_switch(section, "all", true)->text_only = true;
    if (telling->has_here) {
        section_word(section, "model", telling->here.model);
        section_word(section, "machine", telling->here.machine);
        section_word(section, "point", sentence_fill(&telling->here, "batch {batch} on {chips} chips at {context}", NULL))
            ->text_only = true;
        figures_words(&telling->here, section);
        figures_notes(&telling->here, section);
    }
    if (command_given(command, "run") && !lecture_run(arena, command, section, error))
        return false;
    section_document(section, answer->doc);
    template_print(template_built_in(arena, "lecture/tell/lecture.template"), section, &answer->text);
    return true;
}

/* ---- the keys ---------------------------------------------------------------------------------------- */

#define VERDICT_FIELDS \
    { FIELD_NUMBER, "value", .help = "value of what the statement asks, in base units", .unit = "", \
      .always = true, .null = true }, \
    { FIELD_TEXT, "unit", .help = "unit of the value" }, \
    { FIELD_SWITCH, "holds", .help = "whether the statement holds; null: unknown", .always = true, .null = true }, \
    { FIELD_TEXT, "conclusion", .help = "what follows, in a sentence", .always = true, .null = true }, \
    { FIELD_RECORD, "flips", .help = "what turns the verdict; null: nothing", .record = &flips_record, \
      .always = true, .null = true }, \
    QUESTION_FIELDS(true)

static const struct record here_record = { "LectureHere", (const struct answer_field[]){
    { FIELD_SWITCH, "applies", .help = "false: it does not concern this model or deployment", .always = true },
    { FIELD_TEXT, "lacks", .help = "why it does not apply; empty: it does", .always = true },
    VERDICT_FIELDS,
    { 0 } } };

static const struct record statement_record = { "LectureStatement", (const struct answer_field[]){
    { FIELD_TEXT, "id", .help = "chapter and name", .always = true },
    { FIELD_NUMBER, "chapter", .help = "1 to 7", .always = true },
    { FIELD_TEXT, "time", .help = "where it is said; empty: it follows from what is said", .always = true },
    { FIELD_TEXT, "statement", .help = "the statement in a sentence", .always = true },
    { FIELD_TEXT, "kind", .help = "what kind of statement it is",
      .names = (const char *const[]){ "identity", "argument", "comparison", "number", "example" }, .count = 5,
      .always = true },
    { FIELD_TEXT, "equation", .help = "the equation as the lecture writes it", .always = true },
    { FIELD_TEXT, "asks", .help = "the row or expression that it is about", .always = true },
    { FIELD_NUMBER, "says", .help = "the figure spoken, in base units; null: none was", .unit = "", .always = true,
      .null = true },
    { FIELD_SWITCH, "agrees", .help = "whether that figure agrees with the value; null: none was said",
      .always = true, .null = true },
    { FIELD_TEXT, "reason", .help = "why it is so", .always = true },
    { FIELD_TEXT, "deck", .help = "the inputs that the lecture uses", .always = true },
    { FIELD_SWITCH, "short", .help = "whether it is in the short form", .always = true },
    VERDICT_FIELDS,
    { FIELD_RECORD, "here", .help = "the same for the model on the machine", .record = &here_record },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "example", "turns", "for_all", "full", "later", "in_short" },
      .count = 6 },
    { 0 } } };

static const struct record chapter_record = { "LectureChapter", (const struct answer_field[]){
    { FIELD_NUMBER, "chapter", .help = "1 to 7", .always = true },
    { FIELD_TEXT, "id", .help = "name", .always = true },
    { FIELD_TEXT, "title", .help = "title", .always = true },
    { FIELD_TEXT, "time", .help = "where it begins", .always = true },
    { FIELD_TEXT, "question", .help = "the question that it answers", .always = true },
    { FIELD_TEXT, "main", .help = "id of the statement with its main equation", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "count", "hold", "fail", "open" }, .count = 4,
      .help = "statements asked for, and how many hold, do not, and are unknown or do not apply", .always = true },
    { 0 } } };

static const struct record answer_lecture = { "Lecture", (const struct answer_field[]){
    { FIELD_LIST, "statements", .help = "in the lecture's order", .record = &statement_record, .always = true },
    { FIELD_LIST, "chapters", .help = "the chapters of these statements", .record = &chapter_record, .always = true },
    { FIELD_TEXT, "model", .help = "title" },
    { FIELD_TEXT, "machine", .help = "title" },
    { FIELD_TEXTS, "words", .help = "words of the command that gives these figures again" },
    { FIELD_TEXTS, "assumed", .help = "defaults and assumptions behind the figures of the model" },
    { FIELD_RECORD, "run", .help = "what --run ran", .record = &run_record },
    { FIELD_LIST, "slips", .help = "with --slips, and no statements: where summaries contradict the lecture",
      .record = &slip_record },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "all", "point" }, .count = 2 },
    { 0 } } };

static const struct option lecture_list[] = {
    { "all", NULL, OPTION_SWITCH, .help = "show every statement of a chapter in full" },
    { "slips", NULL, OPTION_SWITCH, .help = "show where summaries contradict each other or the lecture" },
    { "run", NULL, OPTION_SWITCH, .help = "run chapter 7: a net that undoes itself, a cipher, an attack" },
    { 0 } };
static const struct option_group lecture_options = { "Lecture", lecture_list };

const struct verb verb_lecture = {
    "lecture", "[CHAPTER|STATEMENT|WORD...]",
    "Go through the lecture: each statement with its numbers, whether it holds for a model, and where that flips.",
    { "chalkline lecture 2", "chalkline lecture experts.two_racks",
      "chalkline lecture 2 --model deepseek-v3 --on gb200-nvl72" },
    { &lecture_options, SERVING_OPTIONS, &output_options }, ANSWERS(answer_lecture), .ask = ask_lecture, .ranges = true };
