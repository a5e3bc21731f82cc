/* terminal: how wide the terminal is, and whether it has bold letters. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 10000 };

size_t terminal_columns(int file)
{
    struct winsize size;
    const char *told = getenv("COLUMNS");
    size_t columns = told ? strtoul(told, NULL, 10) : 0;
    if (!columns && isatty(file) && !ioctl(file, TIOCGWINSZ, &size))
        columns = size.ws_col;
    return !columns ? 0 : columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns;
}

bool terminal_bold(void)
{
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") && !(plain && *plain);
}
