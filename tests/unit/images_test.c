/* Images of a prompt: their tokens join it and their encoder takes time, by hand; what is not known is refused. */
#include "test.h"
#include "lines.h"

#include "ask/ask.h"

#include <math.h>
#include <string.h>

static double value(struct arena *arena, const char *row, const char *words)
{
    struct answer answer;
    struct error error;
    if (!line_asked(arena, arena_print(arena, "eval %s %s", row, words), &answer, &error))
        fail_msg("%s %s: %s (%s)", row, words, error.what, error.hint);
    return doc_get(doc_get(answer.doc, row), "value")->number;
}

#define LOAD "--on h100-sxm --gpus 1 --osl 200 --concurrency 1 --model "

/* 1,024 pixels are 37 squares of 28 to the nearest, of four patches each; a patch is two operations for each
 * weight of the tower. The rest of the prompt is read as if all of it were text. */
static void images_join_the_prompt(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const char two[] = LOAD "qwen2.5-vl-7b --isl 1000 --images 2", text[] = LOAD "qwen2.5-vl-7b --isl 3738";
    assert_true(value(&arena, "prompt_tokens", two) == 1000 + 2 * 37 * 37);
    const double rate = value(&arena, "sustained_bf16", two), weights = value(&arena, "tower_params", two);
    const double encoder = 2 * (37 * 37 * 4) * 2 * weights / rate;
    assert_true(weights > 6e8);
    assert_true(fabs(value(&arena, "image_encode_time", two) / encoder - 1) < 1e-12);
    assert_true(value(&arena, "image_encode_time", text) == 0);
    const double longer = value(&arena, "predicted_ttft", two) - value(&arena, "predicted_ttft", text);
    assert_true(fabs(longer / encoder - 1) < 1e-3);         /* a single user waits for other steps, too */
    assert_true(value(&arena, "predicted_tpot", two) == value(&arena, "predicted_tpot", text));
    const char *cached = arena_print(&arena, "%s --prefix-hit 0.5", two);
    assert_true(fabs(value(&arena, "image_encode_time", cached) / (encoder / 2) - 1) < 1e-12);
    const char *small = arena_print(&arena, "%s --set image_width=280 --set image_height=560", two);
    assert_true(value(&arena, "prompt_tokens", small) == 1000 + 2 * 10 * 20);
    arena_free(&arena);
}

/* Gemma 3: 64 x 64 patches of any image are pooled to 256 tokens. */
static void gemma_pools_its_patches(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static const char words[] = LOAD "gemma-3-27b --isl 1000 --images 3";
    assert_true(value(&arena, "image_token_patches", words) == 16);
    assert_true(value(&arena, "prompt_tokens", words) == 1000 + 3 * 256);
    arena_free(&arena);
}

/* The words of an answer give its figures again. */
static void words_ask_again(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    struct buffer words = { .arena = &arena };
    assert_true(line_asked(&arena, "step qwen2.5-vl-7b --on h100-sxm --isl 1000 --osl 200 --images 2", &answer, &error));
    for (const struct doc *word = doc_get(answer.doc, "words")->first; word; word = word->next)
        buffer_print(&words, "%s%s", words.size ? " " : "", word->string);
    const double tokens = doc_get(answer.doc, "prompt_tokens")->number, ttft = doc_get(answer.doc, "predicted_ttft")->number;
    assert_true(tokens == 3738);
    assert_true(value(&arena, "prompt_tokens", words.data) == tokens);
    assert_true(value(&arena, "predicted_ttft", words.data) == ttft);
    arena_free(&arena);
}

/* However the images and the text are given, each image adds its 1,369 tokens once. */
static void images_count_however_given(void **state)
{
    (void)state;
    static const char *const same[] = {
        LOAD "qwen2.5-vl-7b --isl 1000 --set images=1+1",
        LOAD "qwen2.5-vl-7b --set prompt_tokens=one_token*500*2 --images 2",
        LOAD "qwen2.5-vl-7b --set prompt_tokens=one_token*1000+images*image_tokens --images 2",
        "--isl 1000 --images 2 --set image_tokens=37*37*one_token",
    };
    struct arena arena = { 0 };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (value(&arena, "prompt_tokens", same[i]) != 1000 + 2 * 37 * 37)
            fail_msg("%s: %g tokens", same[i], value(&arena, "prompt_tokens", same[i]));
    arena_free(&arena);
}

static void verbs_vary_images(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    assert_true(line_asked(&arena, "curve prompt_tokens images=0,1,3 --model qwen2.5-vl-7b --isl 1000", &answer,
                           &error));
    assert_non_null(strstr(answer.text.data, "0    1,000 token"));
    assert_non_null(strstr(answer.text.data, "3    5,107 token"));
    assert_true(line_asked(&arena, "solve images --where prompt_tokens=3738 --model qwen2.5-vl-7b --isl 1000", &answer,
                           &error));
    assert_non_null(strstr(answer.text.data, "images = 2"));
    assert_true(line_asked(&arena, "plan qwen2.5-vl-7b --on h100-sxm --gpus 1 --isl 1000 --osl 200 --images 2", &answer,
                           &error));
    assert_non_null(strstr(answer.text.data, "ISL 3,738, OSL 200"));
    arena_free(&arena);
}

/* A GGUF file has no vision tower, whose own file the server is told. */
static void a_tower_has_its_file(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct answer answer;
    struct error error;
    assert_true(line_asked(&arena, "can qwen2.5-vl-7b --on rtx-3060 --precision Q4_K_M", &answer, &error));
    assert_non_null(strstr(doc_get(answer.doc, "command")->string, " -mm MMPROJ.gguf "));
    const double all = doc_get(doc_get(answer.doc, "weights_stored"), "value")->number;
    const double file = doc_get(doc_get(answer.doc, "gguf_bytes"), "value")->number;
    assert_true(fabs(all - file - 2 * 676550144.0) < 1);
    arena_free(&arena);
}

static void unknown_images_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *what, *hint;
    } refused[] = {
        { "step llama-3.1-8b --on h100-sxm --isl 100 --images 1", "how many tokens Llama-3.1-8B makes of an image",
          "set image_tokens=N" },
        { "eval prompt_tokens --isl 100 --images 1", "without a model", "qwen2.5-vl-7b" },
        { "eval prompt_tokens --model qwen2-vl-7b --isl 100..200 --images 1", "--isl is a range", "--isl 1000" },
        { "step qwen2-vl-7b --on h100-sxm --set images=1+1", "--set images: how many tokens the text", "--isl N" },
        { "curve prompt_tokens images=0,1 --model qwen2-vl-7b", "images: how many tokens the text", "--isl N" },
        { "step qwen2-vl-7b --on h100-sxm --images 1", "how many tokens the text", "--isl N" },
        { "step qwen2-vl-7b --on h100-sxm --isl 100 --images -1", "out of range", "0 to 100,000" },
        { "step qwen2.5-vl-7b --on rtx-3060 --precision Q4_K_M --isl 100 --images 1 --concurrency 1 --emit ollama",
          "no setting of its Modelfile", "llamacpp" },
        { "step qwen2.5-vl-7b --on m3-max --isl 100 --images 1 --concurrency 1 --emit mlx", "text only", "llamacpp" },
        { "simulate qwen2-vl-7b --on h100-sxm --images 1", "--images is not an option of simulate", "step" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct arena arena = { 0 };
        struct answer answer;
        struct error error;
        if (line_asked(&arena, refused[i].line, &answer, &error))
            fail_msg("%s: not refused", refused[i].line);
        if (!strstr(error.what, refused[i].what) || !strstr(error.hint, refused[i].hint))
            fail_msg("%s: %s (%s)", refused[i].line, error.what, error.hint);
        arena_free(&arena);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_join_the_prompt),
        cmocka_unit_test(gemma_pools_its_patches),
        cmocka_unit_test(words_ask_again),
        cmocka_unit_test(images_count_however_given),
        cmocka_unit_test(verbs_vary_images),
        cmocka_unit_test(a_tower_has_its_file),
        cmocka_unit_test(unknown_images_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
