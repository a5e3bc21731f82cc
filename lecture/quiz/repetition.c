/* What was answered so far, kept in a file, so that what was missed comes back soon.
 *
 *     {"answers": 12, "items": {"value:batch.roofline": {"box": 2, "due": 20}}}
 *
 * Time is counted in answers, so that a question does not depend on a clock. */
#include "lecture/quiz/quiz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_WAIT = 4, FILE_MOST = 4 << 20 };

static double number_in(const struct doc *doc, const char *key)
{
    const double number = doc_number(doc, key, NAN);
    return number >= 0 ? number : NAN;
}

static struct item *item_of(const struct quiz *quiz, struct repetition *repetition, const char *name)
{
    for (size_t i = 0; i < repetition->count; i++)
        if (!strcmp(repetition->items[i].name, name))
            return &repetition->items[i];
    struct item *item = arena_push(quiz->arena, &repetition->items, &repetition->count, &repetition->room,
                                   sizeof *item);
    *item = (struct item){ .name = name, .box = 1 };
    return item;
}

static bool not_a_state(const char *path, struct error *error)
{
    error_set(error, "--state: %.200s does not have the answers of a quiz", path);
    return error_expected(error, "a file that `chalkline quiz` wrote, or one that does not exist yet");
}

bool repetition_read(const struct quiz *quiz, struct repetition *repetition, struct error *error)
{
    const char *path = command_text(quiz->command, "state");
    struct text text;
    struct doc *doc;
    *repetition = (struct repetition){ 0 };
    if (!path || !file_there(quiz->arena, path))
        return true;
    if (!file_read(quiz->arena, path, FILE_MOST, &text, error))
        return false;
    const struct doc *items = json_read(quiz->arena, path, text, &doc, error) ? doc_get(doc, "items") : NULL;
    if (!items || items->kind != DOC_OBJECT || isnan(repetition->answers = number_in(doc, "answers")))
        return not_a_state(path, error);
    for (const struct doc *one = items->first; one; one = one->next) {
        struct item *item = item_of(quiz, repetition, one->key);
        const double box = number_in(one, "box");
        item->due = number_in(one, "due");
        if (!(box >= 1 && box <= BOXES) || box != floor(box) || isnan(item->due))
            return not_a_state(path, error);
        item->box = (int)box;
    }
    return true;
}

static int sooner_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const int order = (x->due > y->due) - (x->due < y->due);
    return order ? order : x->box != y->box ? x->box - y->box : strcmp(x->name, y->name);
}

static int lower_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->box != y->box ? x->box - y->box : sooner_first(a, b);
}

size_t repetition_due(struct repetition *repetition)
{
    size_t due = 0;
    if (!repetition->count)
        return 0;
    qsort(repetition->items, repetition->count, sizeof *repetition->items, sooner_first);
    while (due < repetition->count && repetition->items[due].due <= repetition->answers)
        due++;
    qsort(repetition->items, due, sizeof *repetition->items, lower_first);
    return due;
}

void repetition_note(const struct quiz *quiz, struct repetition *repetition, const struct quiz_problem *problem,
                     bool right)
{
    const char *name = arena_print(quiz->arena, "%s:%s", problem_kinds[problem->kind], problem->source->name);
    struct item *item = item_of(quiz, repetition, name);
    item->box = !right ? 1 : item->box < BOXES ? item->box + 1 : BOXES;
    repetition->answers++;
    item->due = repetition->answers + (double)(FIRST_WAIT << (item->box - 1));
}

bool repetition_write(const struct quiz *quiz, const struct repetition *repetition, struct error *error)
{
    const char *path = command_text(quiz->command, "state");
    if (!path)
        return true;
    if (!file_may_write(quiz->arena, path, error))
        return false;
    struct arena *arena = quiz->arena;
    struct doc *doc = doc_new(arena, DOC_OBJECT);
    doc_add_number(arena, doc, "answers", repetition->answers);
    struct doc *items = doc_add(arena, doc, "items", DOC_OBJECT);
    for (size_t i = 0; i < repetition->count; i++) {
        struct doc *one = doc_add(arena, items, repetition->items[i].name, DOC_OBJECT);
        doc_add_number(arena, one, "box", repetition->items[i].box);
        doc_add_number(arena, one, "due", repetition->items[i].due);
    }
    struct buffer out = { .arena = arena };
    doc_print(&out, doc);
    return file_write(arena, "--state", path, (struct text){ out.data, out.size }, error);
}
