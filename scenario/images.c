/* Images join the prompt as tokens: a prompt that was given becomes the sum of its text and of the tokens of its
 * images. Their encoder's time is a row (formulas/serving/replica.chalk). */
#include "scenario/scenario.h"
#include "scenario/values.h"

#include "build/row_names.h"

#include <string.h>

/* "--images", "--set images", or the row itself where a curve or an equation varies it. */
static const char *asked_by(const struct scenario *scenario, const struct fact *images)
{
    if (!fact_given(images))
        return NAME_images;
    return strcmp(images->source, "--set") ? images->source
                                           : arena_print(scenario->arena, "--set %s", NAME_images);
}

/* An expression of the user's own may count the images already. */
static bool counts_images(const struct scenario *scenario)
{
    static const char *const prompt[] = { NAME_prompt_tokens };
    struct scenario without = *scenario;
    struct values values;
    struct error ignored;
    without.facts = facts_copy(&scenario->facts);
    facts_set(&without.facts, NAME_images, 1, ORIGIN_GIVEN, NAME_images);
    return values_of(&without, prompt, 1, &values, &ignored) &&
           values_depend(scenario->arena, &values, NAME_images);
}

/* How many tokens an image has, and how many the text has. */
static bool lengths_known(struct scenario *scenario, const char *by, const struct fact *prompt, struct error *error)
{
    double tokens;
    if (!fact_given(prompt)) {
        error_set(error, "%s: how many tokens the text beside the images has is not given", by);
        return error_expected(error, "--isl N");
    }
    if (!prompt->expression && prompt->distribution != DISTRIBUTION_NONE) {
        error_set(error, "%s: %s is a range, to which the tokens of images cannot be added", by, prompt->source);
        return error_expected(error, "one number of tokens, as in --isl 1000");
    }
    if (!value_of(scenario, NAME_image_tokens, &tokens, error))
        return false;
    if (tokens > 0)
        return true;
    if (scenario->model)
        error_set(error, "%s: it is not known how many tokens %s makes of an image", by, scenario->model);
    else
        error_set(error, "%s: without a model it is not known how many tokens an image has", by);
    return error_expected(error, "a model that sees images, as in --model qwen2.5-vl-7b, or --set image_tokens=N");
}

bool scenario_images(struct scenario *scenario, struct error *error)
{
    const struct fact *images = facts_find(&scenario->facts, NAME_images);
    const struct fact *prompt = facts_find(&scenario->facts, NAME_prompt_tokens);
    const bool some = fact_given(images) && (images->expression || images->value > 0);
    if (!some && !scenario_varies(scenario, NAME_images))
        return true;
    if (scenario_varies(scenario, NAME_prompt_tokens)) {
        facts_note(&scenario->facts, "%s counts the tokens of the images as well", NAME_prompt_tokens);
        return true;
    }
    if (!lengths_known(scenario, asked_by(scenario, images), prompt, error))
        return false;
    if (prompt->expression && counts_images(scenario))
        return true;
    const char *text = prompt->expression ? prompt->expression
                       : arena_print(scenario->arena, "one_token * %.17g", prompt->value);
    facts_bind(&scenario->facts, NAME_prompt_tokens,
               arena_print(scenario->arena, "(%s) + images * image_tokens", text), prompt->origin, prompt->source);
    return true;
}
