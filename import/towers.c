/* Vision and audio towers beside a language model, with the projector to its width: how many weights they have.
 *
 * A step of decoding does not run a tower; it takes memory beside the language model, so it is one number
 * (tower_params) and no operators. A tower of an unknown kind, or one that the file does not describe, is left
 * out, with a note. The counts are of the classes of huggingface/transformers and include what their files store
 * beside parameters; cases/families.cases compares them with published totals. */
#include "import/model.h"

#include <math.h>
#include <string.h>

struct tower {
    const char *key;            /* of the tower's part of a configuration */
    const struct doc *part;
    struct config *config;
    double out;                 /* width of the language model */
};

/* A count of the tower, or what its class says. */
static double of(const struct tower *tower, const char *key, double absent)
{
    const struct doc *doc = doc_get(tower->part, key);
    if (!doc || doc->kind == DOC_NULL)
        return absent;
    if (doc->kind != DOC_NUMBER || doc->number < 0 || doc->number > 1e9 || doc->number != floor(doc->number)) {
        config_fail(tower->config, "%s of %s is not a count", key, tower->key);
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

/* modeling_qwen3_vl.py: learned positions, and mergers of three more layers unless the file lists them;
 * modeling_qwen3_5.py: the same without those mergers. */
static double qwen3_tower(const struct tower *tower)
{
    const struct doc *deep = doc_get(tower->part, "deepstack_visual_indexes");
    double more = deep && deep->kind == DOC_ARRAY ? (double)deep->count
                : starts_with(doc_text(tower->config->root, "model_type", ""), "qwen3_5") ? 0 : 3;
    double width = of(tower, "hidden_size", 1152), side = of(tower, "spatial_merge_size", 2);
    double merge = merger(width, side, of(tower, "out_hidden_size", tower->out));
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
    const struct doc *ratios = doc_get(tower->part, "supported_aspect_ratios");
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
    double inner = floor(width * doc_number(tower->part, "mlp_ratio", 4.9231));
    double resampler = 4 * (out * out + out) + width * out + 4 * out + 2 * spots * out;
    return patches(tower, 14, 1, width) + spots * width + 2 * width
         + of(tower, "layers", 48) * plain_layer(width, inner) + resampler + out * out + 2 * out;
}

/* modeling_llama4.py: a token for the whole image, patches joined by two matrices, and one to the width. */
static double llama4_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 768), inner = of(tower, "intermediate_size", 5632);
    double across = patches_across(tower, 14, 448), joined = of(tower, "projector_output_dim", 4096);
    double middle = of(tower, "projector_input_dim", 4096);
    return patches(tower, 14, 1, width) + width + (across * across + 1) * width + 4 * width
         + of(tower, "num_hidden_layers", 34) * plain_layer(width, inner)
         + inner * middle + middle * joined + of(tower, "vision_output_dim", 7680) * tower->out;
}

/* modeling_glm4v.py: gated layers of the inner width `out`, and a merger whose own is that of the file. */
static double glm4v_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 1536), out = of(tower, "out_hidden_size", 4096);
    double side = of(tower, "spatial_merge_size", 2), across = patches_across(tower, 14, 336);
    return patches(tower, 14, of(tower, "temporal_patch_size", 2), width) + width + across * across * width
         + of(tower, "depth", 24) * (4 * width * width + 3 * width * out + 2 * width) + 2 * width
         + side * side * width * out + out + out * out + 2 * out
         + 3 * out * of(tower, "intermediate_size", 13696);
}

/* modeling_gemma4.py: gated, four norms a layer and two of a head's size, positions of both directions. */
static double gemma4_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 768), inner = of(tower, "intermediate_size", 3072);
    double columns = of(tower, "num_attention_heads", 12) * of(tower, "head_dim", 64);
    return patches(tower, 16, 1, width) + 2 * of(tower, "position_embedding_size", 10240) * width
         + of(tower, "num_hidden_layers", 16) *
           (4 * width * columns + 3 * width * inner + 4 * width + 2 * of(tower, "head_dim", 64))
         + (doc_is(doc_get(tower->part, "standardize"), true) ? 2 * width : 0) + width * tower->out;
}

/* modeling_kimi_k25.py, MoonViT: learned positions, a merger of two matrices behind a norm. */
static double moon_tower(const struct tower *tower)
{
    double width = of(tower, "vt_hidden_size", 1152), rows = of(tower, "init_pos_emb_height", 64);
    return patches(tower, 14, 1, width) + width + rows * of(tower, "init_pos_emb_width", 64) * width
         + of(tower, "vt_num_hidden_layers", 27) * plain_layer(width, of(tower, "vt_intermediate_size", 4304))
         + 4 * width + merger(width, 2, tower->out);
}

/* modeling_voxtral.py: the encoder of Whisper, keys without biases, and two matrices over joined frames. */
static double voxtral_tower(const struct tower *tower)
{
    double width = of(tower, "hidden_size", 1280), inner = of(tower, "intermediate_size", 5120), out = tower->out;
    return 3 * of(tower, "num_mel_bins", 128) * width + width + 3 * width * width + width
         + of(tower, "max_source_positions", 1500) * width + 2 * width
         + of(tower, "num_hidden_layers", 32) * (plain_layer(width, inner) - width) + inner * out + out * out;
}

static const char vision_part[] = "vision_config", audio_part[] = "audio_config", qwen_part[] = "visual";

static const struct tower_kind {
    const char *type;           /* model_type of the whole */
    const char *key;            /* of the tower's part */
    double (*weights)(const struct tower *tower);
} kinds[] = {
    { "qwen2_vl", vision_part, qwen2_tower }, { "qwen2_5_vl", vision_part, qwen25_tower },
    { "qwen3_vl", vision_part, qwen3_tower }, { "qwen3_vl_moe", vision_part, qwen3_tower },
    { "qwen3_5", vision_part, qwen3_tower }, { "qwen3_5_moe", vision_part, qwen3_tower },
    { "gemma3", vision_part, siglip_tower }, { "gemma4", vision_part, gemma4_tower },
    { "mistral3", vision_part, pixtral_tower }, { "mllama", vision_part, mllama_tower },
    { "llama4", vision_part, llama4_tower }, { "glm4v", vision_part, glm4v_tower },
    { "glm4v_moe", vision_part, glm4v_tower }, { "kimi_k25", vision_part, moon_tower },
    { "clip", vision_part, clip_tower }, { "voxtral", audio_part, voxtral_tower }, { "qwen", qwen_part, qwen_tower },
};

/* Parts of towers that are not counted: all but `counted`, which may be NULL. */
static void left_out(struct config *config, const char *counted)
{
    const char *const towers[] = { vision_part, audio_part, qwen_part };
    for (size_t i = 0; i < sizeof towers / sizeof *towers; i++)
        if (config_get(config, towers[i]) && (!counted || strcmp(counted, towers[i])))
            facts_note(config->facts, "the tower of %s is left out", towers[i]);
}

void towers_add(struct model *model)
{
    struct config *config = model->config;
    size_t i = 0, count = sizeof kinds / sizeof *kinds;
    while (i < count && strcmp(kinds[i].type, doc_text(config->root, "model_type", "")))
        i++;
    const struct doc *part = i < count ? config_get(config, kinds[i].key) : NULL;
    const bool counted = part && part->kind == DOC_OBJECT;
    const struct doc *sum = config_get(config, "tower_params");     /* of data/shapes.csv */
    if (sum && sum->kind == DOC_NUMBER) {
        model->apart = sum->number;
        facts_note(config->facts, sum->number > 0 ? "tower and projector: %.0f weights, the published total less the language model"
                   : "its tower is not counted: no total with it is known", sum->number);
        return;
    }
    left_out(config, counted ? kinds[i].key : NULL);
    if (i < count && !part && config->text != config->root)
        facts_note(config->facts, "no %s: the tower of %s is left out", kinds[i].key, kinds[i].type);
    if (!counted)
        return;
    const struct tower tower = { .key = kinds[i].key, .part = part, .config = config, .out = model->hidden };
    model->apart = kinds[i].weights(&tower);
    facts_note(config->facts, "%s tower and projector: %.0f weights that decoding does not run",
               kinds[i].key == audio_part ? "audio" : "vision", model->apart);
}
