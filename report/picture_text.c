/* Texts of pictures: how wide they can be, where they break, and numbers as words.
 *
 * Nobody knows which face a reader has. The widths are those of DejaVu Sans, rounded up to hundredths of
 * the size: it is wider than Inter, Helvetica, Arial, Roboto and the faces of the systems, so that what
 * is kept apart here stays apart there. Other letters count as wide as the widest of their script. */
#include "report/picture_parts.h"

#include "rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = 32, LAST = 126 };

static const unsigned char regular_widths[LAST - FIRST + 1] = {
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84 };
static const unsigned char bold_widths[LAST - FIRST + 1] = {
    35, 46, 53, 84, 70, 101, 88, 31, 46, 46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70,
    70, 70, 40, 40, 84, 84, 84, 59, 100, 78, 77, 74, 84, 69, 69, 83, 84, 38, 38, 78, 64, 100, 84, 86,
    74, 86, 78, 73, 69, 82, 78, 111, 78, 73, 73, 46, 37, 46, 84, 50, 50, 68, 72, 60, 72, 68, 44, 72,
    72, 35, 35, 67, 35, 105, 72, 69, 72, 72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72, 84 };

/* The width of a character, in hundredths of the font size. */
static double character_width(uint32_t code, bool bold)
{
    enum { SUPERSCRIPT = 53, LATIN = 100, CYRILLIC = 123, LATIN_LAST = 0x24f, CYRILLIC_LAST = 0x52f,
           OTHER = 160 };
    if (code >= FIRST && code <= LAST)
        return (bold ? bold_widths : regular_widths)[code - FIRST];
    if (code == 0xb7 || code == 0x2019)                         /* · ’ */
        return 38;
    if ((code >= 0x2070 && code <= 0x209f) || code == 0xb2 || code == 0xb3 || code == 0xb9)
        return SUPERSCRIPT;
    return code <= LATIN_LAST ? LATIN : code <= CYRILLIC_LAST ? CYRILLIC
         : code >= 0x2010 && code <= 0x22ff ? LATIN : OTHER;
}

static double slice_width(struct text text, double size, bool bold)
{
    double width = 0;
    while (text.size) {
        uint32_t code;
        size_t bytes = text_character(text, &code);
        width += character_width(bytes ? code : 0xfffd, bold);
        text.data += bytes ? bytes : 1;
        text.size -= bytes ? bytes : 1;
    }
    return width * size / 100;
}

double picture_text_width(const char *text, double size, bool bold)
{
    return text ? slice_width(text_of(text), size, bold) : 0;
}

/* How many bytes of a text stand on its first line: up to the last space that fits, else up to the last
 * character that fits, at least one. */
static size_t line_bytes(struct text text, double width, double size, bool bold)
{
    size_t at = 0, space = 0;
    double taken = 0;
    while (at < text.size) {
        uint32_t code;
        size_t bytes = text_character((struct text){ text.data + at, text.size - at }, &code);
        bytes = bytes ? bytes : 1;
        if (code == ' ' && at + 1 < text.size && text.data[at + 1] != '%')
            space = at;
        taken += character_width(code, bold) * size / 100;
        if (taken > width && at && code != ' ')
            return space ? space : at;
        at += bytes;
    }
    return at;
}

const char **picture_text_lines(struct arena *arena, const char *text, double width, double size, bool bold)
{
    const char **lines = NULL;
    size_t count = 0, room = 0;
    struct text rest = text_trim(text_of(text ? text : ""));
    while (rest.size) {
        size_t bytes = line_bytes(rest, width, size, bold);
        struct text line = text_trim((struct text){ rest.data, bytes });
        *(const char **)arena_push(arena, &lines, &count, &room, sizeof *lines) =
            arena_copy(arena, line.data, line.size);
        rest = text_trim((struct text){ rest.data + bytes, rest.size - bytes });
    }
    *(const char **)arena_push(arena, &lines, &count, &room, sizeof *lines) = NULL;
    return lines;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* "12345.60" as "12,345.6". */
static const char *grouped(struct arena *arena, const char *digits)
{
    char out[80], *to = out;
    size_t whole = strcspn(digits, "."), end = strlen(digits);
    if (digits[whole])
        while (digits[end - 1] == '0')
            end--;
    if (end == whole + 1)
        end--;
    for (size_t i = 0; i < end && to < out + sizeof out - 2; i++) {
        if (i && i < whole && !((whole - i) % 3) && digits[i - 1] != '-')
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    if (*out == '-')                            /* a minus as wide as a plus */
        return arena_print(arena, "\u2212%s", out + 1);
    return arena_print(arena, "%s", out);
}

static const char *superscript(struct arena *arena, int exponent)
{
    static const char *const digits[] = { "\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074", "\u2075",
                                          "\u2076", "\u2077", "\u2078", "\u2079" };
    char text[16];
    const char *out = "";
    snprintf(text, sizeof text, "%d", exponent);
    for (const char *at = text; *at; at++)
        out = arena_print(arena, "%s%s", out, *at == '-' ? "\u207b" : digits[*at - '0']);
    return out;
}

/* With so many decimals, and one of the letters that large numbers have; beyond them as a power. */
const char *picture_decimals(struct arena *arena, double value, int decimals, double largest)
{
    static const struct { double from; const char *letter; } letters[] = {
        { 1e12, " T" }, { 1e9, " B" }, { 1e6, " M" } };
    char text[64];
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (largest >= letters[i].from) {
            int more = (int)floor(log10(letters[i].from) + 0.5);
            snprintf(text, sizeof text, "%.*f", decimals + more > 17 ? 17 : decimals + more < 0 ? 0
                                              : decimals + more, value / letters[i].from);
            return value == 0 ? "0" : arena_print(arena, "%s%s", grouped(arena, text), letters[i].letter);
        }
    snprintf(text, sizeof text, "%.*f", decimals > 17 ? 17 : decimals < 0 ? 0 : decimals, value);
    return grouped(arena, text);
}

/* "3.2·10⁻⁵", "10¹⁵": with the digits that the mantissa needs, at most three. */
const char *picture_power(struct arena *arena, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.2e", value);
    char *e = strchr(text, 'e');
    int exponent = 0;
    sscanf(e + 1, "%d", &exponent);
    *e = 0;
    const char *mantissa = grouped(arena, text);
    return strcmp(mantissa, "1") ? arena_print(arena, "%s\u00b710%s", mantissa, superscript(arena, exponent))
                                 : arena_print(arena, "10%s", superscript(arena, exponent));
}

const char *picture_number(struct arena *arena, double value)
{
    const double size = fabs(value);
    if (value == 0 || !isfinite(value))
        return value == 0 ? "0" : quantity_text(arena, value, unit_one, 3);
    if (size < 1e-3 || size >= 1e15)
        return picture_power(arena, value);
    const int first = (int)floor(log10(size) + 1e-12);          /* of the first digit */
    const int decimals = size < 1e6 && first > 2 ? 0 : 2 - first;
    return picture_decimals(arena, value, decimals, size);
}

/* ---- SVG --------------------------------------------------------------------------------------- */

/* Control characters, which no input should contain, are shown as \x1b. */
void svg_text_add(struct buffer *out, const char *text)
{
    if (text_plain(text_of(text), "") < strlen(text)) {
        struct buffer plain = { .arena = out->arena };
        buffer_add_plain(&plain, text_of(text), "");
        text = plain.data;
    }
    for (const char *at = text; *at; at++)
        switch (*at) {
        case '&': buffer_add(out, "&amp;", 5); break;
        case '<': buffer_add(out, "&lt;", 4); break;
        case '>': buffer_add(out, "&gt;", 4); break;
        case '"': buffer_add(out, "&quot;", 6); break;
        default:  buffer_add(out, at, 1);
        }
}

/* One decimal, without printf: a picture has thousands of them. */
void svg_coordinate(struct buffer *out, double value)
{
    char text[24], *at = text + sizeof text;
    double tenths = floor(fabs(value) * 10 + 0.5);
    unsigned long whole = tenths < 1e9 ? (unsigned long)tenths : 1000000000;
    unsigned long left = whole / 10;
    if (whole % 10) {
        *--at = (char)('0' + whole % 10);
        *--at = '.';
    }
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0 && whole)
        *--at = '-';
    buffer_add(out, at, (size_t)(text + sizeof text - at));
}

void svg_spot(struct buffer *out, const char *command, double x, double y)
{
    buffer_add(out, command, strlen(command));
    svg_coordinate(out, x);
    buffer_add(out, " ", 1);
    svg_coordinate(out, y);
}

void svg_circle(struct buffer *out, double x, double y, double radius, const char *class)
{
    buffer_print(out, "<circle class=\"%s\" r=\"%.1f\" cx=\"", class, radius);
    svg_coordinate(out, x);
    buffer_print(out, "\" cy=\"");
    svg_coordinate(out, y);
    buffer_print(out, "\"");
}
