/* The options of `serve`. */
#include "base/embedded.h"
#include "web/web.h"

#include <unistd.h>

enum { PORT_MOST = 65535, AT_ONCE_MOST = 256 };

static bool read_port(const struct question *question, unsigned *port, struct error *error)
{
    double value = *port;
    if (option_quantity(question, OPTION_PORT, "1", &value, error) && value <= PORT_MOST &&
        value == (unsigned)value) {
        *port = (unsigned)value;
        return true;
    }
    error_set(error, "--port: '%.60s' is no port", question->option[OPTION_PORT]);
    return error_hint(error, "a whole number from 0 to %d", PORT_MOST);
}

/* At least `least` of the unit, so that a server can answer at all. */
static bool read_limit(const struct question *question, enum option option, const char *unit,
                       double least, double most, double *value, struct error *error)
{
    if (!option_quantity(question, option, unit, value, error))
        return false;
    if (*value >= least && *value <= most)
        return true;
    error_set(error, "--%s: '%.60s' is too %s", options[option].name, question->option[option],
              *value < least ? "little" : "much");
    struct arena arena = { 0 };
    struct unit of;
    unit_parse(text_of(unit), &of, &(double){ 0 }, &(struct error){ 0 });
    error_hint(error, "from %s to %s", quantity_text(&arena, least, of, 3),
               quantity_text(&arena, most, of, 3));
    arena_free(&arena);
    return false;
}

bool serve_read(const struct question *question, struct serve_options *to, struct error *error)
{
    double memory = 2e9, body = 16e6;
    size_t waiting = 64;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *to = (struct serve_options){ .address = "127.0.0.1", .port = 8080, .seconds = 30,
                                  .at_once = cores > 1 ? (size_t)cores : 1,
                                  .page = embedded_page };
    if (question->word_count) {
        error_set(error, "serve: '%.60s' means nothing here", question->words[0]);
        return error_hint(error, "questions come over HTTP; `chalkline help serve`");
    }
    if (!read_port(question, &to->port, error) ||
        !read_limit(question, OPTION_TIME_LIMIT, "s", 0.1, 86400, &to->seconds, error) ||
        !read_limit(question, OPTION_MEMORY_LIMIT, "B", 64e6, 1e12, &memory, error) ||
        !read_limit(question, OPTION_BODY_LIMIT, "B", 1e3, 256e6, &body, error) ||
        !option_count(question, OPTION_AT_ONCE, &to->at_once, error) ||
        !option_count(question, OPTION_MAX_WAITING, &waiting, error))
        return false;
    if (to->at_once > AT_ONCE_MOST) {
        error_set(error, "--at-once: %zu questions", to->at_once);
        return error_hint(error, "at most %d", AT_ONCE_MOST);
    }
    if (question->option[OPTION_BIND])
        to->address = question->option[OPTION_BIND];
    to->memory = (size_t)memory;
    to->body = (size_t)body;
    to->waiting = waiting * to->at_once;
    return true;
}
