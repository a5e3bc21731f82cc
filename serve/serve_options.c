/* The options of `serve`. */
#include "base/embedded.h"
#include "serve/web.h"

#include <unistd.h>

bool serve_read(struct arena *arena, const struct command *command, struct serve_options *to, struct error *error)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *to = (struct serve_options){
        .port = (unsigned)command_number(command, "port"),
        .seconds = command_number(command, "time-limit"),
        .memory = command_count(command, "memory-limit"),
        .body = command_count(command, "body-limit"),
        .at_once = cores > 1 ? (size_t)cores : 1, .page = embedded_page };
    command_take_count(command, "at-once", &to->at_once);
    to->waiting = command_count(command, "max-waiting") * to->at_once;
    return access_read(arena, command, &to->access, error);
}

static const struct option serve_list[] = {
    { "port", "N", OPTION_COUNT, .low = 0, .high = 65535, .fallback = "8080",
      .help = "port to listen on; 0: any free port" },
    { "time-limit", "TIME", OPTION_QUANTITY, .unit = "s", .low = 0.1, .high = 86400,
      .fallback = "30s", .help = "time limit of a request, and of receiving it" },
    { "memory-limit", "SIZE", OPTION_QUANTITY, .unit = "B", .low = 64e6, .high = 1e12,
      .fallback = "2GB", .help = "memory limit of a request" },
    { "body-limit", "SIZE", OPTION_QUANTITY, .unit = "B", .low = 1e3, .high = 256e6,
      .fallback = "16MB", .help = "size limit of a request, with its files" },
    { "at-once", "N", OPTION_COUNT, .low = 1, .high = 256, .otherwise = "one per core",
      .help = "requests answered concurrently; others wait" },
    { "max-waiting", "N", OPTION_COUNT, .low = 1, .high = 1e6, .fallback = "64",
      .help = "requests that wait per --at-once; more are refused" },
    { 0 } };
static const struct option_group serve_group = { "Server", serve_list };

const struct verb verb_serve = {
    "serve", "", "Serve the page and every command as JSON over HTTP.",
    { "chalkline serve --port 8080", "chalkline serve --bind 0.0.0.0 --token-file token" },
    { &serve_group, &access_options, &output_options }, .ask = NULL };
