/* Vision towers beside a language model, with the projector to its width: how many weights they have.
 *
 * A step of decoding does not run a tower; it takes memory beside the language model, so it is one number
 * (tower_params) and no operators. A tower of an unknown kind is left out, with a note. */
#include "import/model.h"

#include <math.h>
#include <string.h>

/* The vision part of a configuration, and the width of the language model. */
struct tower {
    const struct doc *vision;
    struct config *config;
    double out;
};

/* A count of the tower, or what its class says. */
static double of(const struct tower *tower, const char *key, double absent)
{
    const struct doc *doc = doc_get(tower->vision, key);
    if (!doc || doc->kind == DOC_NULL)
        return absent;
    if (doc->kind != DOC_NUMBER || doc->number < 0 || doc->number > 1e9 || doc->number != floor(doc->number)) {
        config_fail(tower->config, "%s of vision_config is not a count", key);
        return absent;
    }
    return doc->number;
}

/* A layer with biases: attention, two matrices, two norms. */
static double plain_layer(double width, double inner)
{
    return 4 * (width * width + width) + 2 * width * inner + inner + width + 4 * width;
}

/* Patches joined in squares, then two matrices to the language model's width. */
static double merger(double width, double side, double out)
{
    double joined = width * side * side;
    return joined * joined + joined + joined * out + out;
}

/* Each patch of pixels, in three colours and so many frames. */
static double patches(const struct tower *tower, double size, double frames, double width)
{
    double side = of(tower, "patch_size", size);
    return 3 * frames * side * side * width;
}

/* Whole patches along a side of the image. */
static double patches_across(const struct tower *tower, double size, double image)
{
    return floor(of(tower, "image_size", image) / fmax(of(tower, "patch_size", size), 1));
}

/* modeling_qwen2_vl.py */
static double qwen2_tower(const struct tower *tower)
{
    double width = of(tower, "embed_dim", 1280), factor = of(tower, "mlp_ratio", 4);
    return patches(tower, 14, of(tower, "temporal_patch_size", 2), width)
         + of(tower, "depth", 32) * plain_layer(width, width * factor) + 2 * width
         + merger(width, of(tower, "spatial_merge_size", 2), tower->out);
}

/* modeling_qwen2_5_vl.py: gated, norms without biases. */
static double qwen25_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 1280), inner = of(tower, "intermediate_size", 3420);
    double layer = 4 * (width * width + width) + 3 * width * inner + 2 * inner + width + 2 * width;
    return patches(tower, 14, of(tower, "temporal_patch_size", 2), width)
         + of(tower, "depth", 32) * layer + width
         + merger(width, of(tower, "spatial_merge_size", 2), of(tower, "out_hidden_size", tower->out));
}

/* modeling_qwen3_vl.py: learned positions, and mergers of three layers more. */
static double qwen3_tower(const struct tower *tower)
{
    const struct doc *deep = doc_get(tower->vision, "deepstack_visual_indexes");
    double width = of(tower, "hidden_size", 1152), side = of(tower, "spatial_merge_size", 2);
    double merge = merger(width, side, of(tower, "out_hidden_size", tower->out));
    double more = deep && deep->kind == DOC_ARRAY ? (double)deep->count : 3;
    return patches(tower, 16, of(tower, "temporal_patch_size", 2), width) + width
         + of(tower, "num_position_embeddings", 2304) * width
         + of(tower, "depth", 27) * plain_layer(width, of(tower, "intermediate_size", 4304))
         + 2 * width + merge + more * (2 * width * side * side + merge);
}

/* modeling_siglip.py with Gemma 3's projector. */
static double siglip_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 1152), across = patches_across(tower, 14, 896);
    return patches(tower, 14, 1, width) + width + across * across * width
         + of(tower, "num_hidden_layers", 27) * plain_layer(width, of(tower, "intermediate_size", 4304))
         + 2 * width + width + width * tower->out;
}

/* modeling_pixtral.py with Mistral 3's merger: gated, no biases. */
static double pixtral_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 1024), inner = of(tower, "intermediate_size", 4096);
    double side = fmax(floor(doc_number(tower->config->root, "spatial_merge_size", 2)), 1), out = tower->out;
    return patches(tower, 14, 1, width) + width
         + of(tower, "num_hidden_layers", 24) * (4 * width * width + 3 * width * inner + 2 * width)
         + width + side * side * width * width + width * out + out * out;
}

/* modeling_mllama.py: tiles, their positions gated, some layers over all tiles. */
static double mllama_tower(const struct tower *tower)
{
    const struct doc *ratios = doc_get(tower->vision, "supported_aspect_ratios");
    double width = of(tower, "hidden_size", 1280), inner = of(tower, "intermediate_size", 5120);
    double across = patches_across(tower, 14, 448);
    double spots = across * across + 1, tiles = of(tower, "max_num_tiles", 4);
    double shapes = (ratios && ratios->kind == DOC_ARRAY ? (double)ratios->count : 8) + 1;
    double layer = 4 * width * width + 2 * width * inner + inner + width + 4 * width;
    return patches(tower, 14, 1, width) + width + spots * width + shapes * tiles * spots * width + 1
         + 2 * (shapes * tiles * width + 1) + 4 * width
         + of(tower, "num_hidden_layers", 32) * layer + of(tower, "num_global_layers", 8) * (layer + 2)
         + of(tower, "vision_output_dim", 7680) * tower->out + tower->out;
}

/* modeling_clip.py: a token for the whole image, norms at both ends, projections of words and image. */
static double clip_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 768), across = patches_across(tower, 32, 224);
    double projection = config_count_or(tower->config, FIELD_projection, 512);
    return patches(tower, 32, 1, width) + width + (across * across + 1) * width + 4 * width
         + of(tower, "num_hidden_layers", 12) * plain_layer(width, of(tower, "intermediate_size", 3072))
         + projection * (width + tower->out) + 1;
}

/* modeling_qwen.py, visual.py of Qwen-VL: 256 learned positions, and a resampler of 256 queries. */
static double qwen_tower(const struct tower *tower)
{
    double width = of(tower, "width", 1664), out = of(tower, "output_dim", tower->out), spots = 256;
    double inner = floor(width * doc_number(tower->vision, "mlp_ratio", 4.9231));
    double resampler = 4 * (out * out + out) + width * out + 4 * out + 2 * spots * out;
    return patches(tower, 14, 1, width) + spots * width + 2 * width
         + of(tower, "layers", 48) * plain_layer(width, inner) + resampler + out * out + 2 * out;
}

static const struct tower_kind {
    const char *type;           /* model_type of the whole */
    double (*weights)(const struct tower *tower);
} kinds[] = {
    { "qwen2_vl", qwen2_tower }, { "qwen2_5_vl", qwen25_tower }, { "qwen3_vl", qwen3_tower },
    { "qwen3_vl_moe", qwen3_tower }, { "gemma3", siglip_tower }, { "mistral3", pixtral_tower },
    { "mllama", mllama_tower }, { "clip", clip_tower }, { "qwen", qwen_tower },
};

static void left_out(struct config *config)
{
    static const char *const towers[] = { "vision_config", "audio_config", "visual" };
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
        if (config_get(config, towers[i]))
            facts_note(config->facts, "the tower of %s is left out", towers[i]);
}

void towers_add(struct model *model)
{
    struct config *config = model->config;
    const struct doc *vision = config_get(config, "vision_config");
    struct tower tower = { .vision = vision ? vision : config_get(config, "visual"), .config = config,
                           .out = model->hidden };
    size_t i = 0, count = sizeof kinds / sizeof *kinds;
    while (i < count && strcmp(kinds[i].type, doc_text(config->root, "model_type", "")))
        i++;
    if (i == count || !tower.vision || tower.vision->kind != DOC_OBJECT) {
        left_out(config);
        return;
    }
    double weights = kinds[i].weights(&tower);
    model->apart = weights;
    facts_note(config->facts, "the vision tower and its projector have %.0f weights, which decoding does not run",
               weights);
}
