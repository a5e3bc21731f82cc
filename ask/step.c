#include "ask/ask.h"
bool ask_step(struct arena *arena, const struct question *question, struct answer *answer,
              struct error *error)
{
    (void)arena; (void)question; (void)answer;
    return error_set(error, "step");
}
