/* lecture 7 --run: the last chapter as computations that run here: a net that trains and takes it all
 * back, with its memory and FLOPs beside the rows; a cipher, step by step; and an attack on it. */
#include "lecture/tell/lecture.h"
#include "scenario/values.h"

#include "build/row_names.h"
#include "lecture/reverse/feistel.h"
#include "lecture/reverse/net.h"
#include "rows/random.h"

enum {
    SEED = 1, LAYERS = 16, WIDTH = 8, POINTS = 40, STEPS = 80, LOSSES = 9,       /* the net */
    ROUNDS = 8, BLOCKS = 300, PAIRS = 8, FLIPPED = 40,                          /* the cipher */
    NUMBER_BYTES = 8
};

/* ---- the net ---------------------------------------------------------------------------------------- */

static void add_losses(struct net *net, struct section *section)
{
    struct section *list = section_add(section, "training", SECTION_LIST);
    for (int i = 0; i < STEPS; i++) {
        struct net_bill bill = { 0 };
        const double loss = net_step(net, NET_UNDOES, &bill);
        if (i % (STEPS / (LOSSES - 1)))
            continue;
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_number(one, "step", i, unit_one);
        section_number(one, "loss", loss, unit_one);
    }
    struct section *last = section_add(list, NULL, SECTION_RECORD);
    section_number(last, "step", STEPS, unit_one);
    section_number(last, "loss", net_loss(net), unit_one);
}

/* A row computed from the net's own layers and activations. */
static bool row_of_net(struct scenario *scenario, const char *row, double *value, struct error *error)
{
    const double bytes = 2 * WIDTH * NUMBER_BYTES;
    facts_set(&scenario->facts, NAME_stacked_layers, LAYERS, ORIGIN_GIVEN, "the net");
    facts_set(&scenario->facts, NAME_activation_bytes_per_layer, bytes, ORIGIN_GIVEN, "the net");
    return value_of(scenario, row, value, error);
}

static bool add_bills(struct net *net, struct scenario *scenario, struct section *section, struct error *error)
{
    struct net_bill kept = { 0 }, undone = { 0 };
    double *gradients[2];
    bool same = true;
    double rows[3];
    for (int i = 0; i < 2; i++)
        gradients[i] = arena_array(section->arena, net_weights(net), sizeof **gradients);
    net_gradient(net, NET_KEEPS, gradients[0], &kept);
    net_gradient(net, NET_UNDOES, gradients[1], &undone);
    for (size_t i = 0; i < net_weights(net); i++)
        same &= gradients[0][i] == gradients[1][i];
    if (!row_of_net(scenario, NAME_activations_kept, &rows[0], error) ||
        !row_of_net(scenario, NAME_activations_reversible, &rows[1], error) ||
        !row_of_net(scenario, NAME_reversible_flops, &rows[2], error))
        return false;
    section_switch(section, "same_gradient", same);
    section_quantity(section, "kept_measured", (double)kept.most * NUMBER_BYTES, "B");
    section_quantity(section, NAME_activations_kept, rows[0], "B");
    section_quantity(section, "undone_measured", (double)undone.most * NUMBER_BYTES, "B");
    section_quantity(section, NAME_activations_reversible, rows[1], "B");
    section_number(section, "flops_measured", (double)undone.products / (double)kept.products, unit_one);
    section_number(section, NAME_reversible_flops, rows[2], unit_one);
    return true;
}

static bool add_net(struct arena *arena, struct scenario *scenario, struct section *section, struct error *error)
{
    struct net *net = net_open(arena, SEED, LAYERS, WIDTH, POINTS);
    const uint64_t state = net_state(net);
    section_number(section, "depth", LAYERS, unit_one);
    section_number(section, "width", 2 * WIDTH, unit_one);
    section_number(section, "weights", (double)net_weights(net), unit_one);
    section_number(section, "loss_before", net_loss(net), unit_one);
    add_losses(net, section);
    section_number(section, "loss_after", net_loss(net), unit_one);
    section_switch(section, "layers_undone", net_undoes(net));
    if (!add_bills(net, scenario, section, error))
        return false;
    for (int i = 0; i < STEPS; i++)
        net_step_back(net);
    section_number(section, "steps", STEPS, unit_one);
    section_number(section, "loss_undone", net_loss(net), unit_one);
    section_switch(section, "training_undone", net_state(net) == state);
    return true;
}

/* ---- the cipher --------------------------------------------------------------------------------------- */

static const char *hex_text(struct arena *arena, struct cipher_block block)
{
    return arena_print(arena, "%08x %08x", (unsigned)block.left, (unsigned)block.right);
}

/* A block and the same with one bit flipped, round by round, and taken back. */
static void add_rounds(struct section *section)
{
    struct random random;
    uint32_t keys[ROUNDS];
    random_stream(&random, SEED, "keys", 0);
    for (int i = 0; i < ROUNDS; i++)
        keys[i] = random_bits(&random);
    const struct cipher_block first = { 0x43686c6b, 0x6c696e65 };
    struct cipher_block a = first, b = { first.left ^ 1u << (FLIPPED - 32), first.right };
    struct section *list = section_add(section, "rounds", SECTION_LIST);
    for (int round = 0; round <= ROUNDS; round++) {
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_number(one, "round", round, unit_one);
        section_word(one, "block", hex_text(section->arena, a));
        section_word(one, "flipped", hex_text(section->arena, b));
        section_number(one, "differ", block_distance(a, b), unit_one);
        section_number(one, "share", feistel_avalanche(SEED, round, BLOCKS), unit_one);
        if (round < ROUNDS) {
            a = feistel_round(a, keys[round]);
            b = feistel_round(b, keys[round]);
        }
    }
    section_word(section, "block_undone", hex_text(section->arena, feistel_back(a, keys, ROUNDS)));
    section_switch(section, "block_back", block_distance(feistel_back(a, keys, ROUNDS), first) == 0);
}

static void add_attack(struct section *section)
{
    struct attack attack;
    feistel_attack(SEED, PAIRS, &attack);
    section_number(section, "pairs", attack.pairs, unit_one);
    section_number(section, "followed", attack.followed, unit_one);
    section_number(section, "tried", (double)attack.tried, unit_one);
    section_number(section, "left", (double)attack.left, unit_one);
    section_word(section, "keys", arena_print(section->arena, "%04x %04x", (unsigned)attack.keys[0],
                                              (unsigned)attack.keys[1]));
    section_word(section, "found", arena_print(section->arena, "%04x %04x", (unsigned)attack.found[0],
                                               (unsigned)attack.found[1]));
    section_switch(section, "broken", attack.broken);
}

static void add_net_avalanche(struct arena *arena, struct section *section)
{
    struct net *net = net_open(arena, SEED, LAYERS, WIDTH, POINTS);
    struct section *list = section_add(section, "net", SECTION_LIST);
    for (int layers = 0; layers <= LAYERS; layers += 2) {
        struct section *one = section_add(list, NULL, SECTION_RECORD);
        section_number(one, "depth", layers, unit_one);
        section_number(one, "share", net_avalanche(net, SEED, layers, BLOCKS), unit_one);
    }
}

bool lecture_run(struct arena *arena, const struct command *command, struct section *section, struct error *error)
{
    struct scenario scenario;
    struct section *run = section_add(section, "run", SECTION_RECORD);
    if (!scenario_read(&scenario, arena, command, command_no_subject(command), error) ||
        !add_net(arena, &scenario, section_add(run, "net", SECTION_RECORD), error))
        return false;
    struct section *cipher = section_add(run, "cipher", SECTION_RECORD);
    add_rounds(cipher);
    add_net_avalanche(arena, section_add(run, "avalanche", SECTION_RECORD));
    add_attack(section_add(run, "attack", SECTION_RECORD));
    return true;
}

/* ---- the keys ---------------------------------------------------------------------------------------- */

static const struct record step_record = { "RunStep", (const struct answer_field[]){
    { FIELD_NUMBER, .names = (const char *const[]){ "step", "loss" }, .count = 2, .help = "steps taken, and the loss",
      .always = true },
    { 0 } } };

static const struct record net_record = { "RunNet", (const struct answer_field[]){
    { FIELD_NUMBER, .names = (const char *const[]){ "depth", "width", "weights", "steps" }, .count = 4,
      .help = "size of the net, and steps of training", .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "loss_before", "loss_after", "loss_undone" }, .count = 3,
      .help = "mean loss before training, after it, and when it is undone", .always = true },
    { FIELD_LIST, "training", .help = "the loss on the way", .record = &step_record, .always = true },
    { FIELD_SWITCH, "layers_undone", .help = "whether the input came back from the output, to the bit",
      .always = true },
    { FIELD_SWITCH, "training_undone", .help = "whether every bit of the weights came back", .always = true },
    { FIELD_SWITCH, "same_gradient", .help = "whether undoing gave the gradient of keeping, to the bit",
      .always = true },
    { FIELD_NUMBER, .names = (const char *const[]){ "kept_measured", "undone_measured" }, .count = 2, .unit = "B",
      .help = "activations held at most, as counted", .always = true },
    { FIELD_NUMBER, "flops_measured", .help = "multiply-adds of undoing over those of keeping, as counted",
      .always = true },
    { FIELD_ROWS, .names = (const char *const[]){ NAME_activations_kept, NAME_activations_reversible,
                                                  NAME_reversible_flops }, .count = 3, .always = true },
    { 0 } } };

static const struct record round_record = { "RunRound", (const struct answer_field[]){
    { FIELD_NUMBER, "round", .help = "rounds done", .always = true },
    { FIELD_TEXT, "block", .help = "both halves in hexadecimal", .always = true },
    { FIELD_TEXT, "flipped", .help = "the same with one bit of the input flipped", .always = true },
    { FIELD_NUMBER, "differ", .help = "bits that differ", .always = true },
    { FIELD_NUMBER, "share", .help = "mean share of bits that differ, over random blocks, keys and bits",
      .always = true },
    { 0 } } };

static const struct record cipher_record = { "RunCipher", (const struct answer_field[]){
    { FIELD_LIST, "rounds", .help = "the block round by round", .record = &round_record, .always = true },
    { FIELD_TEXT, "block_undone", .help = "the block after all rounds were undone", .always = true },
    { FIELD_SWITCH, "block_back", .help = "whether that is the block of the beginning", .always = true },
    { 0 } } };

static const struct record depth_record = { "RunDepth", (const struct answer_field[]){
    { FIELD_NUMBER, .names = (const char *const[]){ "depth", "share" }, .count = 2,
      .help = "layers passed, and the mean share of bits that a flipped bit changes", .always = true },
    { 0 } } };

static const struct record avalanche_record = { "RunAvalanche", (const struct answer_field[]){
    { FIELD_LIST, "net", .help = "the net of above, before training", .record = &depth_record, .always = true },
    { 0 } } };

static const struct record attack_record = { "RunAttack", (const struct answer_field[]){
    { FIELD_NUMBER, .names = (const char *const[]){ "pairs", "followed", "tried", "left" }, .count = 4,
      .help = "pairs asked, pairs in which the difference came through, keys tried, keys of round 2 left",
      .always = true },
    { FIELD_TEXT, "keys", .help = "the keys, in hexadecimal", .always = true },
    { FIELD_TEXT, "found", .help = "the keys found", .always = true },
    { FIELD_SWITCH, "broken", .help = "whether these are the only ones left, and right", .always = true },
    { 0 } } };

const struct record run_record = { "LectureRun", (const struct answer_field[]){
    { FIELD_RECORD, "net", .help = "a reversible net, trained and untrained", .record = &net_record, .always = true },
    { FIELD_RECORD, "cipher", .help = "a Feistel cipher", .record = &cipher_record, .always = true },
    { FIELD_RECORD, "avalanche", .help = "one flipped bit in the net", .record = &avalanche_record, .always = true },
    { FIELD_RECORD, "attack", .help = "two rounds broken by differences", .record = &attack_record,
      .always = true },
    { 0 } } };
