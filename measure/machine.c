#include "measure/machine.h"
bool ask_machine(struct arena *arena, const struct command *command, struct answer *answer,
                 struct error *error)
{
    (void)arena,(void)command,(void)answer;
    return error_set(error, "measure needs a URL");
}
