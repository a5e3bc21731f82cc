/* The picture of `life`: the compute over a model's life that reaches the loss of the answer, by the tokens
 * that it is trained on: few tokens need many parameters, and many tokens cost themselves. */
#include "ask/life/life.h"
#include "build/row_names.h"
#include "report/picture.h"
#include "scenario/values.h"

#include <math.h>

enum { POINTS = 121 };
static const double reach = 100;    /* times the best tokens, either way */
static const double trillion = 1e12;

/* One law: times the least compute. Where no size reaches the loss there is no point. */
static bool add_law(struct life *life, const struct life_law *law, struct picture *picture)
{
    static const char *const texts[] = { NAME_rule_room, NAME_rule_excess };
    double x[POINTS], room[POINTS], excess[POINTS], *const y[] = { room, excess };
    struct scenario at = life_apart(&law->scenario);
    for (int i = 0; i < POINTS; i++)
        x[i] = log_between(law->tokens / reach, law->tokens * reach, (double)i / (POINTS - 1));
    facts_set(&at.facts, NAME_params_active, law->params, ORIGIN_DERIVED, "life");
    if (!values_along(&at, texts, 2, NAME_pretrain_tokens, x, POINTS, y, life->error))
        return false;
    struct picture_line *line = picture_line_add(picture, law->title,
                                                 law->chosen ? PICTURE_COMPUTE : PICTURE_HOST,
                                                 law->chosen ? PICTURE_PREDICTED : PICTURE_BOUND);
    for (int i = 0; i < POINTS; i++)
        picture_point_add(picture, line, x[i] / trillion, room[i] > 0 ? 1 + excess[i] : NAN);
    return true;
}

/* NULL: the law says nothing of it. */
bool life_picture(struct life *life, struct picture **out)
{
    const struct life_law *chosen = life->chosen;
    *out = NULL;
    if (!chosen->reached || chosen->frontier)
        return true;
    struct picture *picture = picture_new(life->arena,
                                          "Compute over the model's life at the same loss, by the "
                                                       "tokens it is trained on");
    picture->x = (struct picture_axis){ "tokens of training", "trillions", true, false,
                                        chosen->tokens / reach / trillion,
                                            chosen->tokens * reach / trillion };
    picture->y = (struct picture_axis){ "times the least compute", "", true, false, 1, 10 };
    for (size_t i = 0; i < life->count; i++)
        if (life->laws[i].reached && !life->laws[i].frontier && !add_law(life, &life->laws[i], picture))
            return false;
    picture_mark_add(picture, arena_print(life->arena, "the least: %s tokens",
                                          large_text(life->arena, chosen->tokens)), chosen->tokens / trillion,
                                              1);
    *out = picture;
    return true;
}
