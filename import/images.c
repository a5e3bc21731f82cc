/* Tokens that an image, or a second of sound, adds to the prompt, where the configuration tells: a fixed
 * number, or one for each square of several patches, within the bounds of the model's image processor.
 * Those of Qwen3-VL are in preprocessor_config.json alone and not known here; separators between rows of
 * patches are not counted. */
#include "import/model.h"

#include "build/row_names.h"

#include <math.h>
#include <string.h>

/* What the class of a model has where its file says nothing; patch 0: a fixed number, image 0: by size. */
static const struct image_kind {
    const char *type;           /* model_type of the whole */
    double patch, merge, image, least, most;
} kinds[] = {
    { "qwen2_vl", 14, 2, 0, 4, 16384 }, { "qwen2_5_vl", 14, 2, 0, 4, 16384 },
    { "qwen3_vl", 16, 2, 0, 1, 1e6 }, { "qwen3_vl_moe", 16, 2, 0, 1, 1e6 },
    { "mistral3", 14, 2, 0, 1, 3025 },          /* sides of 1,540 pixels at most */
    { "llava", 14, 1, 336, 0, 0 }, { "gemma3", 0, 0, 0, 256, 256 },
};

/* The tower of Gemma 3 pools the patches of a square image of this size into a fixed number of tokens. */
enum { pooled_image = 896, pooled_patch = 14 };

/* Seconds of the sound that an encoder of 1,500 positions takes, and its positions to one token. */
enum { sound_seconds = 30, voxtral_group = 4 };

static double count_in(const struct doc *object, const char *key, double absent)
{
    const double number = doc_number(object, key, absent);
    return number >= 1 && number <= 1e5 ? floor(number) : absent;
}

static void images_fact(struct config *config, const struct image_kind *kind)
{
    const struct doc *vision = config_get(config, "vision_config");
    const double patch = count_in(vision, "patch_size", kind->patch);
    const double merge = count_in(vision, "spatial_merge_size", count_in(config->root, "spatial_merge_size",
                                                                         kind->merge));
    double least = kind->least, most = kind->most;
    if (kind->patch == 0)
        least = most = count_in(config->root, "mm_tokens_per_image", kind->most);
    else if (kind->image > 0)
        least = most = pow(floor(count_in(vision, "image_size", kind->image) / patch), 2);
    if (kind->patch > 0)
        facts_set(config->facts, NAME_image_token_side, patch * merge, ORIGIN_MODEL, config->file);
    const double side = floor(count_in(vision, "image_size", pooled_image) / count_in(vision, "patch_size", pooled_patch));
    facts_set(config->facts, NAME_image_token_patches, kind->patch > 0 ? merge * merge : side * side / most,
              ORIGIN_MODEL, config->file);
    facts_set(config->facts, NAME_image_tokens_least, least, ORIGIN_MODEL, config->file);
    facts_set(config->facts, NAME_image_tokens_most, most, ORIGIN_MODEL, config->file);
}

void images_add(struct model *model)
{
    struct config *config = model->config;
    const char *type = doc_text(config->root, "model_type", "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].type, type) && doc_get(config->root, "vision_config"))
            images_fact(config, &kinds[i]);
    const struct doc *audio = doc_get(config->root, "audio_config");
    if (!strcmp(type, "voxtral") && audio)
        facts_set(config->facts, NAME_audio_token_rate, count_in(audio, "max_source_positions",
                                                                 1500) / voxtral_group /
                  sound_seconds, ORIGIN_MODEL, config->file);
}
