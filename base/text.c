#include "base/base.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text text_of(const char *string)
{
    return (struct text){ string, strlen(string) };
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct text text_trim(struct text text)
{
    while (text.size && is_space(text.data[0]))
        text.data++, text.size--;
    while (text.size && is_space(text.data[text.size - 1]))
        text.size--;
    return text;
}

struct text text_line(struct text *rest)
{
    const char *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    struct text line = { rest->data, end ? (size_t)(end - rest->data) : rest->size };
    size_t taken = line.size + (end != NULL);
    rest->data += taken;
    rest->size -= taken;
    if (line.size && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

bool text_is(struct text text, const char *string)
{
    return text.size == strlen(string) && !memcmp(text.data, string, text.size);
}

bool text_number(struct text text, double *number)
{
    char copy[64];
    if (!text.size || text.size >= sizeof copy || is_space(text.data[0]))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    if (strspn(copy, "0123456789+-.eE") != text.size)
        return false;                       /* no hex, nan, inf */
    char *end;
    double value = strtod(copy, &end);      /* the program never calls setlocale */
    if (*end || end == copy || !isfinite(value))
        return false;
    *number = value;
    return true;
}

/* ---- names ------------------------------------------------------------------- */

static int name_next(const char **name)
{
    while (**name == ' ' || **name == '_' || **name == '-' || **name == '.')
        ++*name;
    return **name ? tolower((unsigned char)*(*name)++) : 0;
}

bool name_same(const char *a, const char *b)
{
    for (;;) {
        int x = name_next(&a), y = name_next(&b);
        if (x != y)
            return false;
        if (!x)
            return true;
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Damerau's distance (one swap of neighbours counts one), on short names. */
static int name_distance(const char *a, const char *b)
{
    enum { LONGEST = 80 };
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n >= LONGEST || m >= LONGEST)
        return n + m;
    int row[3][LONGEST + 1];
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *up = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            now[j] = least(least(up[j] + 1, now[j - 1] + 1), up[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], two[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

const char *name_nearest(const char *name, const char *const *names, size_t count)
{
    const char *best = NULL;
    int limit = (int)strlen(name) / 3 + 1, best_distance = limit + 1;
    for (size_t i = 0; i < count; i++) {
        int distance = name_distance(name, names[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    for (size_t i = 0; !best && i < count && strlen(name) >= 3; i++)
        if (strstr(names[i], name))
            best = names[i];
    return best;
}

/* ---- buffer -------------------------------------------------------------------- */

static void buffer_room(struct buffer *buffer, size_t more)
{
    if (buffer->data && buffer->size + more + 1 <= buffer->room)
        return;
    size_t room = 2 * buffer->room + more + 256;
    char *data = arena_alloc(buffer->arena, room);
    if (buffer->size)
        memcpy(data, buffer->data, buffer->size);
    buffer->data = data;
    buffer->room = room;
}

void buffer_add(struct buffer *buffer, const char *data, size_t size)
{
    buffer_room(buffer, size);
    if (size)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    buffer_room(buffer, (size_t)size);
    va_start(list, format);
    vsnprintf(buffer->data + buffer->size, (size_t)size + 1, format, list);
    va_end(list);
    buffer->size += (size_t)size;
}
