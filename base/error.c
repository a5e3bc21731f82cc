#include "base/base.h"

#include <stdio.h>

bool error_set(struct error *error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->what, sizeof error->what, format, list);
    va_end(list);
    error->hint[0] = 0;
    return false;
}

bool error_hint(struct error *error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->hint, sizeof error->hint, format, list);
    va_end(list);
    return false;
}
