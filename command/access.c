/* Who may ask a command that listens. */
#include "command/options.h"

#include <stdlib.h>

static const struct option list[] = {
    { "bind", "ADDRESS", OPTION_TEXT, .otherwise = "127.0.0.1, local only",
      .help = "address to bind; 0.0.0.0 or :: for all interfaces" },
    { "token-file", "FILE", OPTION_FILE, .otherwise = "CHALKLINE_TOKEN",
      .help = "file with the token that clients must send" },
    { "insecure", NULL, OPTION_SWITCH, .help = "listen beyond this machine without a token" },
    { 0 } };
const struct option_group access_options = { "Access", list };

bool access_unused(const struct command *command, struct error *error)
{
    for (const struct option *option = list; option->name; option++)
        if (command_given(command, option->name)) {
            error_set(error, "--%s without --listen", option->name);
            return error_expected(error, "chalkline %s ... --listen PORT, in a terminal", command->verb->name);
        }
    return true;
}

bool secret_read(struct arena *arena, const struct command *command, const char *option, const char *variable,
                 const char **secret, struct error *error)
{
    enum { MOST = 512 };
    const char *path = command_text(command, option), *set = getenv(variable);
    struct text text = text_of(set ? set : "");
    if (path && !file_read(arena, path, 1 << 16, &text, error))
        return false;
    text = text_trim(text);
    *secret = text.size ? arena_copy(arena, text.data, text.size) : NULL;
    if (text.size <= MOST && text_plain(text, "") == text.size && (text.size || !path))
        return true;
    if (path)
        error_set(error, "--%s %.200s: not a key", option, path);
    else
        error_set(error, "%s: not a key", variable);
    return error_expected(error, "one line of at most %d characters", MOST);
}

bool access_read(struct arena *arena, const struct command *command, struct access *access, struct error *error)
{
    const char *address = command_text(command, "bind");
    *access = (struct access){ .address = address ? address : "127.0.0.1",
                               .insecure = command_given(command, "insecure") };
    return secret_read(arena, command, "token-file", "CHALKLINE_TOKEN", &access->token, error);
}
