/* --images: images join the prompt as tokens, so that a prompt which was given as a number becomes the sum of
 * its text and of the tokens of its images. Their encoder's time is a row (formulas/serving/replica.chalk). */
#include "scenario/scenario.h"

#include "build/row_names.h"

bool scenario_images(struct scenario *scenario, struct error *error)
{
    const struct fact *images = facts_find(&scenario->facts, NAME_images);
    const struct fact *prompt = facts_find(&scenario->facts, NAME_prompt_tokens);
    double tokens;
    if (!fact_given(images) || images->expression || !(images->value > 0))
        return true;
    if (!fact_given(prompt)) {
        error_set(error, "--images: beside how many tokens of text?");
        return error_expected(error, "--isl N, the tokens of the text");
    }
    if (!value_of(scenario, NAME_image_tokens, &tokens, error))
        return false;
    if (!(tokens > 0)) {
        error_set(error, "--images: the tokens of an image are not known for %s",
                  scenario->model ? scenario->model : "no model");
        return error_expected(error, "a model that sees images, such as qwen2.5-vl-7b; or "
                              "--set image_tokens=N, --set image_tokens_most=N");
    }
    if (!prompt->expression)
        facts_bind(&scenario->facts, NAME_prompt_tokens,
                   arena_print(scenario->arena, "one_token * %.17g + images * image_tokens", prompt->value),
                   prompt->origin, prompt->source);
    return true;
}
