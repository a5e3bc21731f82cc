/* Who may ask a command that listens. */
#include "command/options.h"

#include <stdlib.h>
#include <string.h>

static const struct option list[] = {
    { "bind", "ADDRESS", OPTION_TEXT, .otherwise = "127.0.0.1, local only",
      .help = "address to bind; 0.0.0.0 or :: for all interfaces" },
    { "token-file", "FILE", OPTION_FILE, .otherwise = "CHALKLINE_TOKEN",
      .help = "file with the token that clients must send" },
    { "insecure", NULL, OPTION_SWITCH, .help = "listen beyond this machine without a token" },
    { 0 } };
const struct option_group access_options = { "Access", list };

bool access_read(struct arena *arena, const struct command *command, struct access *access, struct error *error)
{
    const char *address = command_text(command, "bind"), *path = command_text(command, "token-file");
    const char *set = getenv("CHALKLINE_TOKEN");
    struct text token = text_of(set ? set : "");
    *access = (struct access){ .address = address ? address : "127.0.0.1",
                               .insecure = command_given(command, "insecure") };
    if (path && !file_read(arena, path, 1 << 16, &token, error))
        return false;
    token = text_trim((struct text){ token.data, strcspn(token.data, "\r\n") });
    if (token.size)
        access->token = arena_copy(arena, token.data, token.size);
    if (token.size || !path)
        return true;
    error_set(error, "%.200s: its first line is empty", path);
    return error_expected(error, "a token, such as the output of `openssl rand -hex 32`");
}
