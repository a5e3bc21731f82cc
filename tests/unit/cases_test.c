/* Cases: questions with their published or derived answers, as data.
 *
 *     # where the numbers come from
 *     eval drain_time --set hbm_bandwidth=8TB/s
 *     = 24ms  tol 1e-3
 *
 * One expected value per name asked for, with or without a unit; the tolerance is
 * relative, and absolute where zero is expected. Questions are asked in process, exactly
 * as the command line asks them. Runs in the root of the tree. */
#include "test.h"

#include "ask/ask.h"

#include <math.h>
#include <stdio.h>

struct place {
    const char *file, *title;       /* the comment line above the case */
    int line;                       /* of the question */
};

struct tally {
    int run, failed;
};

static void complain(struct tally *tally, const struct place *place, const char *what)
{
    tally->failed++;
    fprintf(stderr, "%s:%d: %s\n    %s\n", place->file, place->line, place->title, what);
}

/* ---- asking -------------------------------------------------------------------------- */

static bool split(struct arena *arena, struct text line, char ***words, int *count)
{
    size_t room = 0, used = 0;
    *words = NULL;
    *(char **)arena_push(arena, words, &used, &room, sizeof **words) = "chalkline";
    for (line = text_trim(line); line.size; line = text_trim(line)) {
        size_t size = 0;
        while (size < line.size && line.data[size] != ' ')
            size++;
        *(char **)arena_push(arena, words, &used, &room, sizeof **words) =
            arena_copy(arena, line.data, size);
        line.data += size, line.size -= size;
    }
    *count = (int)used;
    return used > 1;
}

static bool ask(struct arena *arena, struct text line, struct answer *answer, struct error *error)
{
    struct command command = { .verbs = verbs };
    char **words;
    int count;
    *answer = (struct answer){ .doc = doc_new(arena, DOC_OBJECT), .text.arena = arena,
                               .csv.arena = arena };
    if (!split(arena, line, &words, &count) ||
        !command_read(arena, count, words, &command, error))
        return false;
    return command.verb->ask(arena, &command, answer, error);
}

/* ---- comparing ------------------------------------------------------------------------- */

static bool close_to(double got, double expected, double tolerance)
{
    double scale = expected == 0 ? 1 : fabs(expected);
    return fabs(got - expected) <= tolerance * scale;
}

static void compare(struct arena *arena, struct tally *tally, const struct place *place,
                    const struct doc *one, struct text expected, double tolerance)
{
    struct unit unit;
    double scale;
    struct quantity quantity;
    struct error error = { .what = "no unit" };
    const struct doc *value = doc_get(one, "value"), *words = doc_get(one, "unit");
    if (!value || value->kind != DOC_NUMBER) {
        complain(tally, place, arena_print(arena, "%s has no value", one->key));
        return;
    }
    if (!words || !unit_parse(text_of(words->string), &unit, &scale, &error) ||
        !quantity_parse(expected, unit, &quantity, &error)) {
        complain(tally, place, arena_print(arena, "%s: %s", one->key, error.what));
        return;
    }
    if (!close_to(value->number, quantity.value, tolerance))
        complain(tally, place, arena_print(arena, "%s: got %.12g, expected %.12g %s (tol %g, off "
                 "by %.3g)", one->key, value->number, quantity.value, words->string, tolerance,
                 value->number / quantity.value - 1));
}

/* "= 3ms, 2  tol 1e-3": the next value off the front. */
static bool next_value(struct text *rest, struct text *value)
{
    size_t size = 0;
    while (size < rest->size && !(rest->data[size] == ',' && size + 1 < rest->size &&
                                  rest->data[size + 1] == ' '))
        size++;
    *value = text_trim((struct text){ rest->data, size });
    size_t taken = size < rest->size ? size + 1 : size;
    rest->data += taken, rest->size -= taken;
    return value->size > 0;
}

static bool take_tolerance(struct text *line, double *tolerance)
{
    for (size_t i = line->size; i-- > 0;)
        if (line->size - i > 5 && !memcmp(line->data + i, " tol ", 5)) {
            struct text number = { line->data + i + 5, line->size - i - 5 };
            line->size = i;
            return text_number(text_trim(number), tolerance);
        }
    return false;
}

static void check_case(struct tally *tally, const struct place *place, struct text command,
                       struct text expected)
{
    struct arena arena = { 0 };
    struct answer answer;
    struct error error = { .what = "" };
    double tolerance;
    struct text value, rest = { expected.data + 1, expected.size - 1 };
    tally->run++;
    if (!take_tolerance(&rest, &tolerance)) {
        complain(tally, place, "no tolerance");
    } else if (!ask(&arena, command, &answer, &error)) {
        complain(tally, place, arena_print(&arena, "%s (%s)", error.what, error.hint));
    } else {
        const struct doc *one = answer.doc->first;
        for (; one && one->kind == DOC_OBJECT; one = one->next) {
            if (next_value(&rest, &value))
                compare(&arena, tally, place, one, value, tolerance);
            else
                complain(tally, place, arena_print(&arena, "%s: no value expected", one->key));
        }
        if (next_value(&rest, &value))
            complain(tally, place, arena_print(&arena, "no answer for the expected %.*s",
                     (int)value.size, value.data));
    }
    arena_free(&arena);
}

/* ---- files -------------------------------------------------------------------------------- */

static void check_file(const char *file)
{
    struct arena arena = { 0 };
    struct error error;
    struct text rest, command = { 0 };
    struct place place = { .file = file, .title = "" };
    struct tally tally = { 0 };
    if (!file_read(&arena, file, 1 << 24, &rest, &error))
        fail_msg("%s", error.what);
    for (int number = 1; rest.size; number++) {
        struct text line = text_trim(text_line(&rest));
        if (line.size && line.data[0] == '#') {
            place.title = arena_copy(&arena, line.data + 1, line.size - 1);
        } else if (line.size && line.data[0] == '=' && command.size) {
            check_case(&tally, &place, command, line);
            command.size = 0;
        } else if (line.size) {
            if (command.size)
                complain(&tally, &place, "a question without an answer");
            command = line;
            place.line = number;
        }
    }
    if (command.size)
        complain(&tally, &place, "a question without an answer");
    arena_free(&arena);
    printf("%s: %d cases\n", file, tally.run);
    if (tally.failed || !tally.run)
        fail_msg("%s: %d of %d cases failed", file, tally.failed, tally.run);
}

static void lecture(void **state)
{
    (void)state;
    check_file("tests/cases/lecture.cases");
}

static void scaling_book(void **state)
{
    (void)state;
    check_file("tests/cases/scaling_book.cases");
}

static void prices(void **state)
{
    (void)state;
    check_file("tests/cases/prices.cases");
}

static void limits(void **state)
{
    (void)state;
    check_file("tests/cases/limits.cases");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lecture),
        cmocka_unit_test(scaling_book),
        cmocka_unit_test(prices),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
