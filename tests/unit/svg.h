/* svg -- what a picture shows, read off its SVG, and what holds for every one of them: no two texts meet,
 * none is cut, each axis has two labels or more, a label says the value at its place, and decades are
 * labelled alone where there are many. */
#ifndef TESTS_UNIT_SVG_H
#define TESTS_UNIT_SVG_H

#include "test.h"

#include "report/picture.h"

#include <math.h>

enum { TEXTS_MOST = 2000, FRAMES_MOST = 32 };

struct seen_text {
    double x, y, size;
    char anchor;
    bool bold;
    char class[40], text[1200];
};

struct seen_axis { double from, to; bool log, there; };

struct seen_frame {
    double left, top, width, height;
    struct seen_axis x, y;
    size_t first, last;             /* its texts */
};

struct seen {
    double width, height;
    struct seen_text texts[TEXTS_MOST];
    size_t text_count;
    struct seen_frame frames[FRAMES_MOST];
    size_t frame_count;
};

/* ---- reading the SVG ------------------------------------------------------------------------- */

/* An attribute of the tag at `tag`, up to its quote; "" where it has none. */
static inline void attribute(const char *tag, const char *name, char *out, size_t size)
{
    const char *end = strchr(tag, '>');
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *at = strstr(tag, key);
    *out = 0;
    if (!at || at > end)
        return;
    at += strlen(key);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

static inline double number_of(const char *tag, const char *name)
{
    char text[64];
    attribute(tag, name, text, sizeof text);
    assert_true(*text);
    return strtod(text, NULL);
}

static inline void unescape(const char *from, size_t size, char *out, size_t room)
{
    static const struct { const char *name; char is; } names[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' } };
    size_t made = 0;
    for (size_t i = 0; i < size && made + 1 < room;) {
        size_t taken = 1;
        char is = from[i];
        for (size_t k = 0; k < COUNT(names); k++)
            if (!strncmp(from + i, names[k].name, strlen(names[k].name)))
                is = names[k].is, taken = strlen(names[k].name);
        assert_true(from[i] != '&' || taken > 1);
        out[made++] = is;
        i += taken;
    }
    out[made] = 0;
}

static inline void see_text(struct seen *seen, const char *tag)
{
    assert_true(seen->text_count < TEXTS_MOST);
    struct seen_text *text = &seen->texts[seen->text_count++];
    const char *begin = strchr(tag, '>') + 1;
    char anchor[16];
    *text = (struct seen_text){ .x = number_of(tag, "x"), .y = number_of(tag, "y") };
    attribute(tag, "text-anchor", anchor, sizeof anchor);
    attribute(tag, "class", text->class, sizeof text->class);
    text->anchor = *anchor ? *anchor : 's';
    const bool title = strstr(text->class, "title") != NULL, panel = strstr(text->class, "panel") != NULL;
    text->size = title ? 15.5 : panel ? 13.5 : 12.5;
    text->bold = title || panel || strstr(text->class, "strong") || strstr(text->class, "name");
    unescape(begin, strcspn(begin, "<"), text->text, sizeof text->text);
    assert_true(*text->text);
}

static inline void see_axis(const char *tag, const char *name, struct seen_axis *axis)
{
    char text[100], kind[16];
    attribute(tag, name, text, sizeof text);
    axis->there = *text;
    if (!*text)
        return;
    assert_int_equal(sscanf(text, "%lf %lf %15s", &axis->from, &axis->to, kind), 3);
    axis->log = !strcmp(kind, "log");
    assert_true(axis->from < axis->to && isfinite(axis->from) && isfinite(axis->to));
    assert_true(!axis->log || axis->from > 0);
}

static inline void see_frame(struct seen *seen, const char *tag)
{
    char box[100];
    assert_true(seen->frame_count < FRAMES_MOST);
    struct seen_frame *frame = &seen->frames[seen->frame_count++];
    attribute(tag, "data-box", box, sizeof box);
    assert_int_equal(sscanf(box, "%lf %lf %lf %lf", &frame->left, &frame->top, &frame->width, &frame->height),
                     4);
    see_axis(tag, "data-x", &frame->x);
    see_axis(tag, "data-y", &frame->y);
    frame->first = frame->last = seen->text_count;
}

/* Every tag; what is opened is closed, in order. */
static inline void see(const char *svg, struct seen *seen)
{
    char open[16][16];
    size_t depth = 0, frame_depth = 0;
    *seen = (struct seen){ .width = number_of(svg, "width"), .height = number_of(svg, "height") };
    for (const char *at = svg; (at = strchr(at, '<')); at++) {
        const char *end = strchr(at, '>');
        char name[16];
        assert_non_null(end);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1 + (at[1] == '/'), " >/"),
                 at + 1 + (at[1] == '/'));
        if (at[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
            if (!strcmp(name, "g") && seen->frame_count && depth == frame_depth)
                seen->frames[seen->frame_count - 1].last = seen->text_count;
            continue;
        }
        if (!strcmp(name, "text"))
            see_text(seen, at);
        if (!strncmp(at, "<g class=\"frame\"", 16)) {
            see_frame(seen, at);
            frame_depth = depth;
        }
        if (end[-1] != '/') {
            assert_true(depth < 16);
            strcpy(open[depth++], name);
        }
    }
    assert_int_equal(depth, 0);
}

/* ---- what holds ------------------------------------------------------------------------------------ */

struct box { double left, top, right, bottom; };

static inline struct box box_of(const struct seen_text *text)
{
    const double width = picture_text_width(text->text, text->size, text->bold);
    const double left = text->anchor == 's' ? text->x : text->anchor == 'e' ? text->x - width
                                                                            : text->x - width / 2;
    return (struct box){ left + 0.2, text->y - 0.75 * text->size, left + width - 0.2,
                         text->y + 0.22 * text->size };
}

static inline void check_texts(const struct seen *seen, const char *where)
{
    for (size_t i = 0; i < seen->text_count; i++) {
        const struct box a = box_of(&seen->texts[i]);
        if (a.left < 0 || a.top < 0 || a.right > seen->width || a.bottom > seen->height)
            fail_msg("%s: '%s' is cut: %.1f %.1f %.1f %.1f", where, seen->texts[i].text, a.left, a.top,
                     a.right,
                     a.bottom);
        for (size_t k = 0; k < i; k++) {
            const struct box b = box_of(&seen->texts[k]);
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
                fail_msg("%s: '%s' meets '%s'", where, seen->texts[k].text, seen->texts[i].text);
        }
    }
}

static inline double value_at(const struct seen_axis *axis, double share)
{
    return axis->log ? axis->from * pow(axis->to / axis->from, share)
        : axis->from + (axis->to - axis->from) * share;
}

/* Does it begin with 1, 2 or 5, and nothing but zeros behind? */
static inline bool round_number(double value)
{
    const double mantissa = value / pow(10, floor(log10(value) + 1e-9));
    return fabs(mantissa - 1) < 1e-6 || fabs(mantissa - 2) < 1e-6 || fabs(mantissa - 5) < 1e-6;
}

/* "1,500", "2.5 M", "−3", "2·10⁻⁵" as a number; NAN: of a clock. */
static inline double label_value(const char *text)
{
    static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char plain[64];
    size_t made = 0;
    int exponent = 0, sign = 1;
    double factor = 1;
    bool power = false;
    for (const char *at = text; *at && made + 1 < sizeof plain;) {
        bool digit = false;
        for (int i = 0; i < 10; i++)
            if (!strncmp(at, digits[i], strlen(digits[i]))) {
                exponent = 10 * exponent + i;
                at += strlen(digits[i]);
                digit = true;
                break;
            }
        if (digit)
            continue;
        if (!strncmp(at, "⁻", 3))
            sign = -1, at += 3;
        else if (!strncmp(at, "−", 3))
            plain[made++] = '-', at += 3;
        else if (!strncmp(at, "·10", 4))
            power = true, at += 4;
        else if (*at == ',')
            at++;
        else
            plain[made++] = *at++;
    }
    plain[made] = 0;
    char *end;
    double value = strtod(plain, &end);
    if (exponent && !power)                     /* "10⁵" */
        value = 1;
    factor = !strcmp(end, " M") ? 1e6 : !strcmp(end, " B") ? 1e9 : !strcmp(end, " T") ? 1e12 : 1;
    if (*end && factor == 1)
        return NAN;
    return value * factor * pow(10, sign * exponent);
}

static inline void check_label(const struct seen_axis *axis, double share, const char *text,
                               const char *where)
{
    const double value = value_at(axis, share), said = label_value(text);
    const double off = axis->log ? fabs(log(said / value)) / log(axis->to / axis->from)
                                 : fabs(said - value) / (axis->to - axis->from);
    if (!(off < 0.004))
        fail_msg("%s: the label '%s' stands at %g", where, text, value);
    if (axis->log && !round_number(said))
        fail_msg("%s: the label '%s' is no 1, 2 or 5", where, text);
    if (axis->log && axis->to / axis->from > 400 && log10(said) != floor(log10(said) + 0.5) &&
        fabs(log10(said) - floor(log10(said) + 0.5)) > 1e-9)
        fail_msg("%s: the label '%s' is no decade", where, text);
}

static inline void check_frame(const struct seen *seen, const struct seen_frame *frame, bool clock,
                               const char *where)
{
    size_t xs = 0, ys = 0;
    for (size_t i = frame->first; i < frame->last; i++) {
        const struct seen_text *text = &seen->texts[i];
        if (strcmp(text->class, "soft"))
            continue;
        if (text->anchor == 'm' && fabs(text->y - frame->top - frame->height - 19) < 0.2) {
            xs++;
            if (!clock)
                check_label(&frame->x, (text->x - frame->left) / frame->width, text->text, where);
        } else if (text->anchor == 'e' && frame->y.there && fabs(text->x - frame->left + 8) < 0.2) {
            ys++;
            check_label(&frame->y, 1 - (text->y - 4.5 - frame->top) / frame->height, text->text, where);
        }
    }
    if (xs < 2 || (frame->y.there && ys < 2))
        fail_msg("%s: %zu labels along x, %zu along y", where, xs, ys);
    assert_true(frame->width >= 30 && frame->height >= 20);
    assert_true(frame->left >= 0 && frame->left + frame->width <= seen->width + 0.1);
}

/* A colour is said by its class alone, and a class has one colour. */
static inline void check_colours(const char *svg, const char *where)
{
    const char *body = strstr(svg, "</style>");
    for (const char *at = body ? body : svg; (at = strstr(at, "=\"#")); at++)
        fail_msg("%s: a colour outside of the style: %.20s", where, at);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf\""));
}

#endif
