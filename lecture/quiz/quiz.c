/* quiz: problems from the lecture and the rows, and grades for their answers.
 *
 * Without --seed, what was missed before comes first, if --state has it; the rest is drawn. --grade
 * makes the problem of an id again, grades the answer, explains it, and notes it in the state. The
 * command line asks one problem after another on a terminal (cli/quiz.c). */
#include "lecture/quiz/quiz.h"
#include "base/output.h"

#include <math.h>
#include <string.h>

static const char *const number_hint = "a number with its unit, or in base units";

/* ---- posing ---------------------------------------------------------------------------------- */

static void add_choices(const struct quiz_problem *problem, struct section *one)
{
    if (!problem->choice_count) {
        section_nothing(one, "choices");
        return;
    }
    struct section *choices = section_add(one, "choices", SECTION_TEXTS);
    struct section *shown = section_add(one, "options", SECTION_LIST);
    shown->text_only = true;
    for (size_t i = 0; i < problem->choice_count; i++) {
        struct section *line = section_add(shown, NULL, SECTION_RECORD);
        section_word(line, "letter", arena_print(one->arena, "%c", (int)('a' + i)));
        section_word(line, "choice", problem->choices[i]);
        section_word(choices, NULL, problem->choices[i]);
    }
}

static void add_answer(const struct quiz_problem *problem, struct section *one)
{
    if (problem->choice_count)
        section_word(one, "answer", problem->choices[problem->right]);
    else
        section_number(one, "answer", problem->answer, problem->unit);
}

static void add_problem(const struct quiz_problem *problem, struct section *list)
{
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "id", problem->id);
    section_word(one, "kind", problem_kinds[problem->kind]);
    section_number(one, "chapter", problem->source->chapter, unit_one);
    section_word(one, "question", problem->question);
    struct section *given = section_add(one, "given", SECTION_RECORD);
    struct section *values = section_add(one, "values", SECTION_LIST);
    values->text_only = true;
    const bool prose = problem->source->question != NULL;
    for (size_t i = 0; i < problem->given_count; i++) {
        section_word(given, problem->given[i].row, problem->given[i].text);
        if (prose)
            continue;
        struct section *value = section_add(values, NULL, SECTION_RECORD);
        section_word(value, "row", problem->given[i].row);
        section_word(value, "text", problem->given[i].text);
    }
    section_word(one, "asks", problem->asks);
    section_word(one, "unit", unit_name(list->arena, problem->unit));
    add_choices(problem, one);
    add_answer(problem, one);
    section_number(one, "tolerance", problem->tolerance, unit_one);
}

/* ---- choosing problems ----------------------------------------------------------------------- */

static bool wanted(const struct quiz *quiz, const struct problem_source *source, int kind)
{
    const double chapter = command_number(quiz->command, "chapter");
    const int only = command_choice(quiz->command, "kind");
    return (!(chapter > 0) || source->chapter == (int)chapter) && (only < 0 || only == kind);
}

/* Pose a kind of a source that was answered before, with new numbers; false where that cannot be done. */
static bool pose_again(struct quiz *quiz, const char *name, struct random *random, struct quiz_problem *problem)
{
    enum { TRIES = 50, SEEDS = 1000000 };
    const char *colon = strchr(name, ':');
    const struct problem_source *source = colon ? quiz_source(quiz, colon + 1) : NULL;
    int kind = 0;
    while (source && problem_kinds[kind] && (strncmp(name, problem_kinds[kind], (size_t)(colon - name)) ||
                                             problem_kinds[kind][colon - name]))
        kind++;
    if (!source || !problem_kinds[kind] || !wanted(quiz, source, kind))
        return false;
    for (int i = 0; i < TRIES; i++)
        if (problem_make(quiz, (enum problem_kind)kind, source, random_below(random, SEEDS), quiz->arena,
                         problem))
            return true;
    return false;
}

static bool posed(const struct quiz_problem *problems, size_t count, const struct quiz_problem *one)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(problems[i].id, one->id))
            return true;
    return false;
}

static bool choose_problems(struct quiz *quiz, size_t count, struct quiz_problem *problems, struct error *error)
{
    enum { TRIES = 200 };
    const struct command *command = quiz->command;
    const bool seeded = command_given(command, "seed");
    const double chapter = command_number(command, "chapter");
    const int kind = command_choice(command, "kind");
    struct repetition repetition;
    struct random random;
    size_t found = 0, tries = 0;
    if (!repetition_read(quiz, &repetition, error))
        return false;
    const double seed = seeded ? command_number(command, "seed") : 1 + repetition.answers;
    random_stream(&random, (uint64_t)seed, "quiz", 0);
    const size_t due = seeded ? 0 : repetition_due(&repetition);
    for (size_t i = 0; i < due && found < count; i++)
        found += pose_again(quiz, repetition.items[i].name, &random, &problems[found]);
    while (found < count) {
        if (!problem_draw(quiz, &random, kind < 0 ? PROBLEM_KINDS : kind, chapter > 0 ? (int)chapter : 0,
                          &problems[found], error))
            return false;
        if (!posed(problems, found, &problems[found]) || ++tries > TRIES * count)
            found++;
    }
    return true;
}

/* ---- grading --------------------------------------------------------------------------------- */

static bool grade_one(struct quiz *quiz, const char *text, struct repetition *repetition,
                      struct section *list, struct error *error)
{
    const char *equals = strchr(text, '=');
    struct quiz_problem problem;
    struct grade grade;
    if (!equals) {
        error_set(error, "--grade: '%.100s' has no answer", text);
        return error_expected(error, "ID=ANSWER: the ID is in the first line of each problem that `chalkline quiz` poses, the answer "
                              "is a letter or %s", number_hint);
    }
    if (!problem_again(quiz, arena_copy(quiz->arena, text, (size_t)(equals - text)), &problem, error) ||
        !problem_grade(&problem, quiz->arena, equals + 1, &grade, error))
        return false;
    repetition_note(quiz, repetition, &problem, grade.right);
    struct section *one = section_add(list, NULL, SECTION_RECORD);
    section_word(one, "id", problem.id);
    section_switch(one, "right", grade.right);
    add_answer(&problem, one);
    section_word(one, "unit", unit_name(list->arena, problem.unit));
    section_word(one, "why", problem_why(quiz, &problem));
    if (grade.slip)
        section_word(one, "slip", grade.slip);
    if (grade.wrong_unit)
        section_word(one, "asked_unit", grade.wrong_unit);
    return true;
}

static bool grade_all(struct quiz *quiz, const char *const *texts, size_t count, struct section *section,
                      struct error *error)
{
    struct repetition repetition;
    struct section *list = section_add(section, "graded", SECTION_LIST);
    struct holding *lock = output_lock(quiz->arena, command_text(quiz->command, "state"));
    bool good = repetition_read(quiz, &repetition, error);
    for (size_t i = 0; i < count && good; i++)
        good = grade_one(quiz, texts[i], &repetition, list, error);
    good = good && repetition_write(quiz, &repetition, error);
    if (lock)
        arena_let_go(lock);
    return good;
}

/* ---- cards ----------------------------------------------------------------------------------- */

/* A cell of the table that Anki imports: neither tabs nor line ends. */
static void print_cell(struct buffer *out, const char *text, char end)
{
    for (; *text; text++)
        if (*text == '\n')
            buffer_print(out, "<br>");
        else if (*text == '<' || *text == '>' || *text == '&')
            buffer_print(out, *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&amp;");
        else
            buffer_add(out, *text == '\t' ? " " : text, 1);
    buffer_add(out, &end, 1);
}

static void print_problem_card(struct quiz *quiz, const struct quiz_problem *problem, struct buffer *out)
{
    struct buffer front = { .arena = quiz->arena }, back = { .arena = quiz->arena };
    buffer_print(&front, "%s", problem->question);
    for (size_t i = 0; i < problem->given_count && !problem->source->question; i++)
        buffer_print(&front, "\n%s = %s", problem->given[i].row, problem->given[i].text);
    for (size_t i = 0; i < problem->choice_count; i++)
        buffer_print(&front, "\n%c  %s", (int)('a' + i), problem->choices[i]);
    buffer_print(&back, "%s\n%s", problem->choice_count ? problem->choices[problem->right]
                 : quantity_text(quiz->arena, problem->answer, problem->unit, 4), problem_why(quiz, problem));
    print_cell(out, front.data, '\t');
    print_cell(out, back.data, '\t');
    print_cell(out, arena_print(quiz->arena, "chapter-%d %s", problem->source->chapter,
                                problem_kinds[problem->kind]), '\n');
}

/* Front: the statement; back: its equation, what the deck gives, and why. */
static void print_statement_card(struct quiz *quiz, const struct statement *statement, struct buffer *out)
{
    struct buffer back = { .arena = quiz->arena };
    buffer_print(&back, "%s\n", statement->equation);
    if (*statement->asks)
        buffer_print(&back, "%s = %s\n", statement->asks, statement->exact);
    buffer_print(&back, "%s", statement->reason);
    print_cell(out, arena_print(quiz->arena, "%s Why?", statement->sentence), '\t');
    print_cell(out, back.data, '\t');
    print_cell(out, arena_print(quiz->arena, "chapter-%d statement", statement->chapter), '\n');
}

/* Every statement and every problem of our own, of the chapter if one is given. */
static void print_stock(struct quiz *quiz, struct buffer *out)
{
    for (size_t i = 0; i < quiz->count; i++) {
        const struct problem_source *source = &quiz->sources[i];
        struct quiz_problem problem;
        const int kind = source->question ? (int)source->only : PROBLEM_REASON;
        if (!wanted(quiz, source, kind))
            continue;
        if (source->statement)
            print_statement_card(quiz, source->statement, out);
        else if (source->question && problem_make(quiz, source->only, source, 0, quiz->arena, &problem))
            print_problem_card(quiz, &problem, out);
    }
}

/* ---- the verb -------------------------------------------------------------------------------- */

static bool alone(const struct command *command, struct error *error)
{
    static const char *const poses[] = { "chapter", "count", "kind", "seed", "anki" };
    for (size_t i = 0; i < sizeof poses / sizeof *poses && command_given(command, "grade"); i++)
        if (command_given(command, poses[i])) {
            error_set(error, "--grade and --%s exclude each other", poses[i]);
            return error_expected(error, "one of them");
        }
    return true;
}

static bool ask_quiz(struct arena *arena, const struct command *command, struct answer *answer,
                     struct error *error)
{
    struct quiz quiz;
    const char *const *texts;
    if (!alone(command, error))
        return false;
    quiz_open(&quiz, arena, command);
    struct section *section = section_new(arena);
    const size_t graded = command_texts(arena, command, "grade", &texts);
    const size_t count = command_count(command, "count");
    struct quiz_problem *problems = arena_array(arena, count + 1, sizeof *problems);
    if (graded && !grade_all(&quiz, texts, graded, section, error))
        return false;
    if (!graded && !choose_problems(&quiz, count, problems, error))
        return false;
    struct section *list = graded ? NULL : section_add(section, "problems", SECTION_LIST);
    for (size_t i = 0; i < count && list; i++)
        add_problem(&problems[i], list);
    section_document(section, answer->doc);
    if (!command_given(command, "anki")) {
        template_print(template_built_in(arena, "lecture/quiz/quiz.template"), section, &answer->text);
        return true;
    }
    buffer_print(&answer->text, "#separator:tab\n#html:true\n#tags column:3\n");
    if (!command_given(command, "count"))
        print_stock(&quiz, &answer->text);
    for (size_t i = 0; i < count && command_given(command, "count"); i++)
        print_problem_card(&quiz, &problems[i], &answer->text);
    return true;
}

/* ---- the keys -------------------------------------------------------------------------------- */

static const struct record value_record = { "QuizValue", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "row", "text" }, .count = 2 }, { 0 } } };
static const struct record option_record = { "QuizOption", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "letter", "choice" }, .count = 2 }, { 0 } } };

static const struct record problem_record = { "QuizProblem", (const struct answer_field[]){
    { FIELD_TEXT, "id", .help = "kind, source and seed, from which the problem can be made again", .always = true },
    { FIELD_TEXT, "kind", .help = "what kind of problem it is", .names = problem_kinds,
      .count = PROBLEM_KINDS, .always = true },
    { FIELD_NUMBER, "chapter", .help = "chapter of the lecture; 0: none", .always = true },
    { FIELD_TEXT, "question", .help = "the question", .always = true },
    { FIELD_RECORD, "given", .help = "values of rows, as texts with units", .always = true },
    { FIELD_TEXT, "asks", .help = "the row or expression that is asked for; empty for a reason",
      .always = true },
    { FIELD_TEXT, "unit", .help = "unit of the answer", .always = true },
    { FIELD_TEXTS, "choices", .help = "answers to choose from; null: a number is asked for", .always = true,
      .null = true },
    { FIELD_VALUE, "answer", .help = "the right choice, or the number in base units", .always = true },
    { FIELD_NUMBER, "tolerance", .help = "factor by which a right number may be off", .always = true },
    { FIELD_TEXT_ONLY, "values", .record = &value_record },
    { FIELD_TEXT_ONLY, "options", .record = &option_record },
    { 0 } } };

static const struct record graded_record = { "QuizGraded", (const struct answer_field[]){
    { FIELD_TEXT, "id", .help = "id of the problem", .always = true },
    { FIELD_SWITCH, "right", .help = "whether the answer is right", .always = true },
    { FIELD_VALUE, "answer", .help = "the right choice, or the number in base units", .always = true },
    { FIELD_TEXT, "unit", .help = "unit of the answer", .always = true },
    { FIELD_TEXT, "why", .help = "why that is the answer", .always = true },
    { FIELD_TEXT, "slip", .help = "the mistake that explains the number given" },
    { FIELD_TEXT, "asked_unit",
      .help = "base unit of the quantity that was asked for, where another kind was given" },
    { 0 } } };

static const struct record answer_quiz = { "Quiz", (const struct answer_field[]){
    { FIELD_LIST, "problems", .help = "problems with their answers", .record = &problem_record },
    { FIELD_LIST, "graded", .help = "grades, in the order of the answers", .record = &graded_record },
    { 0 } } };

static const struct option quiz_list[] = {
    { "chapter", "N", OPTION_COUNT, .low = 1, .high = 7, .otherwise = "all",
      .help = "pose problems of one chapter of the lecture" },
    { "count", "N", OPTION_COUNT, .low = 1, .high = 1000, .fallback = "10", .help = "number of problems" },
    { "kind", "KIND", OPTION_CHOICE, .choices = problem_kinds, .otherwise = "all",
      .help = "pose problems of one kind" },
    { "seed", "N", OPTION_COUNT, .otherwise = "what was missed before, then new problems",
      .help = "seed of the drawn problems" },
    { "grade", "ID=ANSWER", OPTION_TEXT, .many = true, .help = "grade the answer to a problem" },
    { "anki", NULL, OPTION_SWITCH,
      .help = "print cards for Anki: the whole stock, or --count drawn" },
    { "state", "FILE", OPTION_FILE, .written = true, .otherwise = "on the command line $XDG_STATE_HOME/chalkline/quiz.json",
      .help = "remember answers, so that what was missed comes back" },
    { 0 } };
static const struct option_group quiz_options = { "Quiz", quiz_list };

const struct verb verb_quiz = {
    "quiz", "", "Pose problems about the lecture with drawn numbers, grade the answers and explain them.",
    { "chalkline quiz --chapter 1 --count 5", "chalkline quiz --kind inverse --seed 3",
      "chalkline quiz --grade value:problem.2:0=4800" },
    { &quiz_options, &output_options }, ANSWERS(answer_quiz), .ask = ask_quiz };
