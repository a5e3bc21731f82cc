/* Text: slices, buffers, checks of text that others wrote, and distances between names.
 *
 * A struct text is a pointer and a size and is not terminated. Text from files and clients is
 * checked to be valid UTF-8 without control characters before it can reach a message or an answer.
 * Names are compared without case and punctuation; the nearest name is found by Damerau's distance
 * (a swap of neighbours counts one), with a limit beyond which nothing is suggested. A buffer
 * grows in its arena and is never freed alone. */
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

struct text text_without_mark(struct text text)
{
    const size_t size = text_starts_with(text, "\xef\xbb\xbf") ? 3 : 0;
    return (struct text){ text.data + size, text.size - size };
}

struct text text_trim(struct text text)
{
    while (text.size && is_space(text.data[0]))
        text.data++, text.size--;
    while (text.size && is_space(text.data[text.size - 1]))
        text.size--;
    return text;
}

struct text text_until(struct text *rest, char mark)
{
    const char *end = rest->size ? memchr(rest->data, mark, rest->size) : NULL;
    struct text head = { rest->data, end ? (size_t)(end - rest->data) : rest->size };
    size_t taken = head.size + (end != NULL);
    rest->data += taken;
    rest->size -= taken;
    return head;
}

struct text text_line(struct text *rest)
{
    struct text line = text_until(rest, '\n');
    if (line.size && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

bool starts_with(const char *string, const char *start)
{
    return !strncmp(string, start, strlen(start));
}

bool text_starts_with(struct text text, const char *start)
{
    const size_t size = strlen(start);
    return text.size >= size && !memcmp(text.data, start, size);
}

bool text_has_word(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length == size && !memcmp(at, word, size))
            return true;
        at += length;
    }
    return false;
}

bool ends_with(const char *string, const char *end)
{
    const size_t size = strlen(string), tail = strlen(end);
    return size >= tail && !strcmp(string + size - tail, end);
}

bool text_is(struct text text, const char *string)
{
    if (text.size && *text.data != *string)         /* mostly */
        return false;
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
    double value = strtod(copy, &end);      /* the locale is C: the program sets none, the library sets it */
    if (*end || end == copy || !isfinite(value))
        return false;
    *number = value;
    return true;
}

/* ---- text that others wrote ------------------------------------------------------- */

size_t text_character(struct text text, uint32_t *code)
{
    const unsigned char *at = (const unsigned char *)text.data;
    *code = 0;
    if (!text.size)
        return 0;
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3
                : at[0] < 0xf5 ? 4 : 0;
    if (!size || size > text.size)
        return 0;
    uint32_t made = size == 1 ? at[0] : at[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        made = made << 6 | (at[i] & 0x3f);
    }
    bool longer = (size == 3 && made < 0x800) || (size == 4 && made < 0x10000);
    bool none = (made >= 0xd800 && made < 0xe000) || made > 0x10ffff;      /* surrogates */
    if (longer || none)
        return 0;
    *code = made;
    return size;
}

static const char *character_fault(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        return "a control character";
    if (code == 0x2028 || code == 0x2029)
        return "a separator of lines";
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
        return "a mark that turns the direction of writing";
    return code == 0xfffe || code == 0xffff ? "no character" : NULL;
}

size_t text_plain(struct text text, const char *allowed)
{
    size_t at = 0;
    while (at < text.size) {
        uint32_t code;
        while (at < text.size && text.data[at] >= 0x20 && text.data[at] < 0x7f)
            at++;                                       /* nearly all of it */
        if (at == text.size)
            break;
        size_t size = text_character((struct text){ text.data + at, text.size - at }, &code);
        if (!size || (character_fault(code) && !(code && code < 0x80 && strchr(allowed, (int)code))))
            break;
        at += size;
    }
    return at;
}

bool text_check(struct text text, const char *place, struct error *error)
{
    const size_t at = text_plain(text, ""), around = 40;
    if (at == text.size)
        return true;
    uint32_t code;
    const char *fault = !text_character((struct text){ text.data + at, text.size - at }, &code)
                        ? "bytes that are not UTF-8" : character_fault(code);
    size_t from = at > around ? at - around : 0, size = text.size - from;
    while (from < at && (text.data[from] & 0xc0) == 0x80)
        from++, size--;
    error_set(error, "%s: %s in '%.*s'", place, fault, (int)(size < 2 * around ? size : 2 * around),
              text.data + from);
    return error_expected(error, "plain text in UTF-8, without line breaks, tabs and other control "
                          "characters");
}

bool text_check_lines(struct text text, const char *file, struct error *error)
{
    static const char allowed[] = "\n\r\t";
    size_t at = text_plain(text, allowed);
    if (at == text.size)
        return true;
    int number = 0;
    struct text rest = text, line;
    do
        line = text_line(&rest), number++;
    while (line.data + line.size <= text.data + at && rest.size);
    char place[300];
    snprintf(place, sizeof place, "%.250s:%d", file, number);
    size_t column = (size_t)(text.data + at - line.data);
    text_check((struct text){ text.data + at, line.size > column ? line.size - column : 1 }, place,
               error);
    return error_expected(error, "plain text in UTF-8");
}

/* ---- names ------------------------------------------------------------------- */

static int name_next(const char **name)
{
    while (**name == ' ' || **name == '_' || **name == '-' || **name == '.')
        ++*name;
    return **name ? tolower((unsigned char)*(*name)++) : 0;
}

int name_order(const char *a, const char *b)
{
    for (;;) {
        int x = name_next(&a), y = name_next(&b);
        if (x != y || !x)
            return x - y;
    }
}

bool name_same(const char *a, const char *b)
{
    return name_order(a, b) == 0;
}

bool name_within(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t same = 0;
        while (word[same] && tolower((unsigned char)text[same]) == tolower((unsigned char)word[same]))
            same++;
        if (!word[same])
            return true;
    }
    return false;
}

size_t name_index(const char *const *names, size_t count, const char *name)
{
    size_t at = 0;
    while (at < count && strcmp(names[at], name))
        at++;
    return at;
}

bool name_listed(const char *const *names, size_t count, const char *name)
{
    return name_index(names, count, name) < count;
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
    if (!buffer->arena)
        return;
    buffer_room(buffer, size);
    if (size)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
    va_list list;
    if (!buffer->arena)
        return;
    buffer_room(buffer, 0);
    const size_t room = buffer->room - buffer->size;
    va_start(list, format);
    const size_t size = (size_t)vsnprintf(buffer->data + buffer->size, room, format, list);
    va_end(list);
    if (size >= room) {                             /* once more, with room for all of it */
        buffer_room(buffer, size);
        va_start(list, format);
        vsnprintf(buffer->data + buffer->size, size + 1, format, list);
        va_end(list);
    }
    buffer->size += size;
}

void buffer_add_plain(struct buffer *buffer, struct text text, const char *allowed)
{
    buffer_add(buffer, "", 0);
    while (text.size) {
        size_t plain = text_plain(text, allowed), taken = plain ? plain : 1;
        if (plain)
            buffer_add(buffer, text.data, plain);
        else
            buffer_print(buffer, "\\x%02x", (unsigned char)*text.data);
        text.data += taken, text.size -= taken;
    }
}

uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = hash_mix(hash, (unsigned char)*text);
    return hash;
}

uint64_t hash_numbers(uint64_t hash, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = hash_mix(hash, bits);
    }
    return hash_mix(hash, count);
}
