/* The picture of a training step: its time part after part, and the memory of a GPU. */
#include "ask/train/train.h"
#include "report/picture.h"
#include "scenario/figures.h"

#include <string.h>

static const double shown_share = 0.01;     /* of a step; smaller parts are added up */

/* What is no communication and no waiting is arithmetic, or reads the state of the optimizer. */
static enum picture_kind kind_of(const char *label)
{
    const enum picture_kind kind = picture_kind_of(label);
    if (!strcmp(label, "optimizer"))
        return PICTURE_WEIGHTS;
    if (!strcmp(label, "pipeline fill"))
        return PICTURE_HOST;
    return kind == PICTURE_NETWORK || kind == PICTURE_HOST ? kind : PICTURE_COMPUTE;
}

/* The time of all parts with this label. */
static double time_of(const struct breakdown *parts, const char *label)
{
    double sum = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (!strcmp(parts->at[i].label, label))
            sum += parts->at[i].value;
    return sum;
}

static bool is_first(const struct breakdown *parts, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!strcmp(parts->at[i].label, parts->at[index].label))
            return false;
    return true;
}

/* Arithmetic first, then what links and waiting add. */
static void add_times(const struct train_point *point, struct picture *panel)
{
    static const enum picture_kind order[] = { PICTURE_COMPUTE, PICTURE_WEIGHTS, PICTURE_NETWORK,
                                               PICTURE_HOST };
    const struct breakdown *parts = &point->parts;
    double smaller = 0, told = 0;
    panel->x = (struct picture_axis){ "time of a step", "s", false, false, 0,
                                      point->figures[TRAIN_train_step] };
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < parts->count; i++) {
            const double time = time_of(parts, parts->at[i].label);
            if (kind_of(parts->at[i].label) != order[k] || !is_first(parts, i))
                continue;
            told += time;
            if (time < shown_share * parts->whole)
                smaller += time;
            else
                picture_part_add(panel, picture_bar_add(panel, parts->at[i].label), order[k], time);
        }
    smaller += parts->whole - told;
    if (smaller > 1e-6 * parts->whole)
        picture_part_add(panel, picture_bar_add(panel, "smaller ones"), PICTURE_HOST, smaller);
    struct picture_bar *whole = picture_bar_add(panel, "the step");
    picture_part_add(panel, whole, PICTURE_RESULT, point->figures[TRAIN_train_step]);
    whole->total = true;
}

static void add_memory(const struct train_point *point, struct picture *panel)
{
    static const double gigabyte = 1e9;
    const double *at = point->figures;
    const double state = at[TRAIN_train_state] / gigabyte,
        activations = at[TRAIN_train_activations] / gigabyte;
    const double all = at[TRAIN_train_memory] / gigabyte, has = at[TRAIN_hbm_reported] / gigabyte;
    panel->x = (struct picture_axis){ "memory of a GPU", "GB", false, false, 0, has > all ? has : all };
    struct picture_bar *bar = picture_bar_add(panel, "used");
    bar->total = true;
    picture_part_add(panel, bar, PICTURE_WEIGHTS, state)->name = "weights, gradients, optimizer";
    picture_part_add(panel, bar, PICTURE_CACHE, activations)->name = "activations";
    picture_part_add(panel, bar, PICTURE_HOST, all - state - activations)->name = "buffers";
    struct picture_bar *size = picture_bar_add(panel, "there is");
    picture_part_add(panel, size, PICTURE_RESULT, has);
    size->total = size->thin = true;
}

struct picture *train_picture(const struct train *train, const struct train_point *point)
{
    struct picture *picture = picture_new(train->arena, "");
    add_times(point, picture_panel(picture, "Where the time of a step goes"));
    add_memory(point, picture_panel(picture, "What fills the memory"));
    picture->title = arena_print(train->arena, "A step of %s", train_layout(train, point));
    return picture;
}
