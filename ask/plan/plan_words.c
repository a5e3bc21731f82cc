/* A deployment in words, as a person would tell another: "five workers of five GPUs read prompts, nine
 * workers of one GPU answer". */
#include "ask/plan/plan.h"

#include <string.h>

/* A small number as a word. */
static const char *count_word(struct arena *arena, double count)
{
    static const char *const words[] = { "no", "one", "two", "three", "four", "five", "six", "seven", "eight",
                                         "nine", "ten", "eleven", "twelve" };
    if (count >= 0 && count < sizeof words / sizeof *words && count == (double)(size_t)count)
        return words[(size_t)count];
    return count_text(arena, count, 6);
}

/* "three workers of eight GPUs": how they share the layers is in the short form. */
static void add_servers(struct buffer *out, const char *name, double count, double chips, double experts)
{
    buffer_print(out, "%s %s%s of %s GPU%s", count_word(out->arena, count), name, count > 1 ? "s" : "",
                 count_word(out->arena, chips), chips > 1 ? "s" : "");
    if (experts > 1)
        buffer_print(out, ", experts spread over %s,", count_word(out->arena, experts));
}

static void capitalize(char *text)
{
    if (*text >= 'a' && *text <= 'z')
        *text = (char)(*text - 'a' + 'A');
}

const char *plan_sentence(const struct plan *plan, const struct plan_point *point)
{
    const struct search_point *at = &point->at;
    struct buffer out = { .arena = plan->arena };
    const double copies = point->figures[PLAN_replicas], chips = plan_input(plan, at, NAME_chips);
    const double experts = plan_input(plan, at, NAME_expert_parallel);
    if (plan->variants[at->space].kind != PLAN_POOLS) {
        add_servers(&out, "server", copies, chips, experts);
        buffer_print(&out, copies > 1 ? " read prompts and answer" : " reads prompts and answers");
    } else {
        const double pairs = copies > 1 ? copies : 1;
        const double readers = plan_input(plan, at, NAME_prefill_workers) * pairs;
        const double writers = plan_input(plan, at, NAME_decode_workers) * pairs;
        add_servers(&out, "worker", readers, plan_input(plan, at, NAME_prefill_chips), 1);
        buffer_print(&out, readers > 1 ? " read prompts, " : " reads prompts, ");
        add_servers(&out, "worker", writers, chips, experts);
        buffer_print(&out, writers > 1 ? " answer" : " answers");
    }
    capitalize(out.data);
    return out.data;
}
