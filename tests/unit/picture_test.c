/* Pictures: what holds for every one of them is read off the SVG. No two texts meet, none is cut, each axis has
 * two labels or more, a label says the value at its place, decades are labelled alone where there are many, and
 * a kind has its colour everywhere. tests/fixtures/pictures.jsonl has the extremes, a description a line. */
#include "test.h"

#include "report/picture.h"

#include <ctype.h>
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
static void attribute(const char *tag, const char *name, char *out, size_t size)
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

static double number_of(const char *tag, const char *name)
{
    char text[64];
    attribute(tag, name, text, sizeof text);
    assert_true(*text);
    return strtod(text, NULL);
}

static void unescape(const char *from, size_t size, char *out, size_t room)
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

static void see_text(struct seen *seen, const char *tag)
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

static void see_axis(const char *tag, const char *name, struct seen_axis *axis)
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

static void see_frame(struct seen *seen, const char *tag)
{
    char box[100];
    assert_true(seen->frame_count < FRAMES_MOST);
    struct seen_frame *frame = &seen->frames[seen->frame_count++];
    attribute(tag, "data-box", box, sizeof box);
    assert_int_equal(sscanf(box, "%lf %lf %lf %lf", &frame->left, &frame->top, &frame->width, &frame->height), 4);
    see_axis(tag, "data-x", &frame->x);
    see_axis(tag, "data-y", &frame->y);
    frame->first = frame->last = seen->text_count;
}

/* Every tag; what is opened is closed, in order. */
static void see(const char *svg, struct seen *seen)
{
    char open[16][16];
    size_t depth = 0, frame_depth = 0;
    *seen = (struct seen){ .width = number_of(svg, "width"), .height = number_of(svg, "height") };
    for (const char *at = svg; (at = strchr(at, '<')); at++) {
        const char *end = strchr(at, '>');
        char name[16];
        assert_non_null(end);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1 + (at[1] == '/'), " >/"), at + 1 + (at[1] == '/'));
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

static struct box box_of(const struct seen_text *text)
{
    const double width = picture_text_width(text->text, text->size, text->bold);
    const double left = text->anchor == 's' ? text->x : text->anchor == 'e' ? text->x - width
                                                                            : text->x - width / 2;
    return (struct box){ left + 0.2, text->y - 0.75 * text->size, left + width - 0.2, text->y + 0.22 * text->size };
}

static void check_texts(const struct seen *seen, const char *where)
{
    for (size_t i = 0; i < seen->text_count; i++) {
        const struct box a = box_of(&seen->texts[i]);
        if (a.left < 0 || a.top < 0 || a.right > seen->width || a.bottom > seen->height)
            fail_msg("%s: '%s' is cut: %.1f %.1f %.1f %.1f", where, seen->texts[i].text, a.left, a.top, a.right,
                     a.bottom);
        for (size_t k = 0; k < i; k++) {
            const struct box b = box_of(&seen->texts[k]);
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
                fail_msg("%s: '%s' meets '%s'", where, seen->texts[k].text, seen->texts[i].text);
        }
    }
}

static double value_at(const struct seen_axis *axis, double share)
{
    return axis->log ? axis->from * pow(axis->to / axis->from, share) : axis->from + (axis->to - axis->from) * share;
}

/* Does it begin with 1, 2 or 5, and nothing but zeros behind? */
static bool round_number(double value)
{
    const double mantissa = value / pow(10, floor(log10(value) + 1e-9));
    return fabs(mantissa - 1) < 1e-6 || fabs(mantissa - 2) < 1e-6 || fabs(mantissa - 5) < 1e-6;
}

/* "1,500", "2.5 M", "−3", "2·10⁻⁵" as a number; NAN: of a clock. */
static double label_value(const char *text)
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

static void check_label(const struct seen_axis *axis, double share, const char *text, const char *where)
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

static void check_frame(const struct seen *seen, const struct seen_frame *frame, bool clock, const char *where)
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
static void check_colours(const char *svg, const char *where)
{
    const char *body = strstr(svg, "</style>");
    for (const char *at = body ? body : svg; (at = strstr(at, "=\"#")); at++)
        fail_msg("%s: a colour outside of the style: %.20s", where, at);
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "inf\""));
}

static void check_picture(struct arena *arena, const struct picture *picture, double width, double height)
{
    static struct seen seen;
    struct buffer first = { .arena = arena }, second = { .arena = arena };
    const char *where = arena_print(arena, "%.40s, %g x %g", picture->title, width, height);
    picture_svg(&first, picture, width, height, PICTURE_LIGHT);
    picture_svg(&second, picture, width, height, PICTURE_LIGHT);
    assert_string_equal(first.data, second.data);
    assert_true(strstr(first.data, "role=\"img\"") && strstr(first.data, "<title>"));
    see(first.data, &seen);
    assert_true(seen.width == width);
    check_texts(&seen, where);
    check_colours(first.data, where);
    assert_int_equal(seen.frame_count, picture->panel_count ? picture->panel_count : 1);
    for (size_t i = 0; i < seen.frame_count; i++) {
        const struct picture *one = picture->panel_count ? &picture->panels[i] : picture;
        check_frame(&seen, &seen.frames[i], one->x.time && one->x.log, where);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------- */

static const double widths[] = { 200, 320, 480, 720, 1200 }, heights[] = { 0, 240, 420 };

static void extremes(void **state)
{
    (void)state;
    struct arena files = { 0 };
    struct text rest;
    struct error error;
    int count = 0;
    assert_true(file_read(&files, "tests/fixtures/pictures.jsonl", 1 << 20, &rest, &error));
    while (rest.size) {
        struct arena arena = { 0 };
        struct picture *picture;
        const struct text line = text_line(&rest);
        if (!picture_read(&arena, arena_print(&arena, "line %d", ++count), line, &picture, &error))
            fail_msg("%s", error.what);
        for (size_t i = 0; i < COUNT(widths); i++)
            for (size_t k = 0; k < COUNT(heights); k++)
                check_picture(&arena, picture, widths[i], heights[k]);
        arena_free(&arena);
    }
    assert_true(count >= 40);
    arena_free(&files);
}

static double draw_value(uint64_t *seed, bool log)
{
    return log ? pow(10, draw_in(seed, -6, 9)) : draw_in(seed, -1, 3) * pow(10, floor(draw_in(seed, -6, 9)));
}

static const char *draw_name(struct arena *arena, uint64_t *seed)
{
    static const char *const words[] = { "read", "weights", "of", "experts", "KV cache", "all-to-all", "80 %",
                                         "token/s", "Llama-4-Maverick-17B-128E", "beyond it", "B*", "μ" };
    const char *name = words[draw_bits(seed) % COUNT(words)];
    for (uint64_t more = draw_bits(seed) % 6; more; more--)
        name = arena_print(arena, "%s %s", name, words[draw_bits(seed) % COUNT(words)]);
    return name;
}

static void draw_lines(struct picture *picture, uint64_t *seed)
{
    const double scale = pow(10, floor(draw_in(seed, -6, 9)));
    for (uint64_t lines = draw_bits(seed) % 9; lines; lines--) {
        struct picture_line *line = picture_line_add(picture, draw_name(picture->arena, seed),
                                                     draw_bits(seed) % PICTURE_KINDS,
                                                     draw_bits(seed) % PICTURE_ROLES);
        line->scenario = draw_bits(seed) % 3;
        line->dots = draw_bits(seed) % 2;
        for (uint64_t points = draw_bits(seed) % 30; points; points--) {
            const double x = draw_value(seed, picture->x.log);
            const double y = picture->y.log ? draw_value(seed, true) : scale * draw(seed);
            picture_point_add(picture, line, x, y);
            if (draw_bits(seed) % 2)
                picture_band_add(picture, line, x, 0.8 * y, 1.5 * y);
        }
    }
    for (uint64_t marks = draw_bits(seed) % 4; marks; marks--)
        picture_mark_add(picture, draw_name(picture->arena, seed), draw_value(seed, picture->x.log),
                         picture->y.log ? draw_value(seed, true) : scale * draw(seed));
    for (uint64_t dots = draw_bits(seed) % 5; dots; dots--)
        picture_dot_add(picture, draw_value(seed, picture->x.log), draw_value(seed, picture->y.log))->scenario =
            draw_bits(seed) % 2;
}

static void draw_bars(struct picture *picture, uint64_t *seed)
{
    for (uint64_t bars = 1 + draw_bits(seed) % 9; bars; bars--) {
        struct picture_bar *bar = picture_bar_add(picture, draw_name(picture->arena, seed));
        bar->total = draw_bits(seed) % 2;
        if (draw_bits(seed) % 3 == 0)
            bar->text = draw_name(picture->arena, seed);
        for (uint64_t parts = draw_bits(seed) % 4; parts; parts--)
            picture_part_add(picture, bar, draw_bits(seed) % PICTURE_KINDS, draw_value(seed, picture->x.log));
        if (!bar->count) {
            const double low = draw_value(seed, true);
            bar->range = (struct picture_range){ low, low * 9 };
            bar->middle = 2 * low;
        }
    }
}

static void random_pictures(void **state)
{
    (void)state;
    uint64_t seed = 20261123;
    for (int i = 0; i < rounds(400); i++) {
        struct arena arena = { 0 };
        struct picture *picture = picture_new(&arena, draw_name(&arena, &seed));
        picture->x = (struct picture_axis){ draw_name(&arena, &seed), "s", draw_bits(&seed) % 2, false, NAN, NAN };
        picture->y = (struct picture_axis){ draw_name(&arena, &seed), "B", draw_bits(&seed) % 2, false, NAN, NAN };
        if (i % 4)
            draw_lines(picture, &seed);
        else
            draw_bars(picture, &seed);
        check_picture(&arena, picture, floor(draw_in(&seed, 200, 1300)), draw_bits(&seed) % 2 ? 380 : 0);
        arena_free(&arena);
    }
}

/* A line, a bar's part and a band of a kind have its class; its colours are those of the design. */
static void a_kind_is_a_colour(void **state)
{
    (void)state;
    static const struct { const char *kind, *light, *dark; } kinds[] = {
        { "compute", "#0b6bc7", "#6c9cfa" }, { "weights", "#946600", "#f0b429" }, { "cache", "#1b7760", "#25c495" },
        { "network", "#72258b", "#e3a6ea" }, { "host", "#6b665f", "#aaa59d" } };
    struct arena arena = { 0 };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct picture *lines = picture_new(&arena, "lines"), *bars = picture_new(&arena, "bars");
        struct buffer drawn = { .arena = &arena }, chart = { .arena = &arena }, dark = { .arena = &arena },
                      page = { .arena = &arena };
        lines->x.name = lines->y.name = bars->x.name = "s";
        struct picture_line *line = picture_line_add(lines, "named", PICTURE_COMPUTE + i, PICTURE_TERM);
        for (int k = 1; k < 3; k++) {
            picture_point_add(lines, line, k, k);
            picture_band_add(lines, line, k, 0.5 * k, 2 * k);
        }
        picture_part_add(bars, picture_bar_add(bars, "bar"), PICTURE_COMPUTE + i, 3)->beyond = true;
        picture_svg(&drawn, lines, 480, 0, PICTURE_AUTO);
        picture_svg(&chart, bars, 480, 0, PICTURE_LIGHT);
        picture_svg(&dark, bars, 480, 0, PICTURE_DARK);
        picture_svg(&page, bars, 480, 0, PICTURE_PAGE);
        const char *class = arena_print(&arena, ".chart .%s{color:%s", kinds[i].kind, kinds[i].light);
        assert_non_null(strstr(drawn.data, class));
        assert_non_null(strstr(chart.data, class));
        assert_non_null(strstr(dark.data, arena_print(&arena, ".chart .%s{color:%s}", kinds[i].kind,
                                                      kinds[i].dark)));
        assert_null(strstr(page.data, "<style"));
        assert_non_null(strstr(drawn.data, arena_print(&arena, "<path class=\"%s line\"", kinds[i].kind)));
        assert_non_null(strstr(drawn.data, arena_print(&arena, "<path class=\"%s\" fill-opacity", kinds[i].kind)));
        assert_non_null(strstr(drawn.data, arena_print(&arena, "class=\"%s name\">named<", kinds[i].kind)));
        assert_non_null(strstr(chart.data, arena_print(&arena, "class=\"%s\" fill=\"none\"", kinds[i].kind)));
        assert_non_null(strstr(chart.data, arena_print(&arena, "class=\"%s\">bar<", kinds[i].kind)));
    }
    arena_free(&arena);
}

/* Where the values of a frame stand can be computed from what it says of itself. */
static void pixels_and_values(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    static struct seen seen;
    struct picture *picture = picture_new(&arena, "");
    struct buffer svg = { .arena = &arena };
    picture->x = (struct picture_axis){ "x", "s", true, false, 1, 1e4 };
    picture->y = (struct picture_axis){ "y", "s", false, false, 0, 50 };
    picture_dot_add(picture, 100, 25);
    picture_svg(&svg, picture, 600, 300, PICTURE_LIGHT);
    see(svg.data, &seen);
    const struct seen_frame *frame = &seen.frames[0];
    const char *circle = strstr(svg.data, "<circle");
    assert_true(frame->x.log && frame->x.from == 1 && frame->x.to == 1e4 && frame->y.to == 50);
    assert_true(fabs(number_of(circle, "cx") - (frame->left + frame->width / 2)) < 0.2);
    assert_true(fabs(number_of(circle, "cy") - (frame->top + frame->height / 2)) < 0.2);
    arena_free(&arena);
}

static void refusals(void **state)
{
    (void)state;
    static const char axes[] = "\"x\": {\"name\": \"x\"}, \"y\": {\"name\": \"y\"}";
    static const struct { const char *json, *what, *hint; } cases[] = {
        { "[]", "no object", "an object" },
        { "{\"title\": \"a\", \"x\": 1}", "x is no object", "an object" },
        { "{\"title\": \"a\"}", "the picture has no 'x'", "an axis" },
        { "{AXES}", "the picture has no 'title'", "a text" },
        { "{\"title\": \"a\", AXES, \"line\": []}", "a member 'line'", "did you mean 'lines'?" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"points\": []}]}", "lines[0] has no 'name'", "a text" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\"}]}", "lines[0] has no 'points'", "[x, y]" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [[1, 2], [3, null]]}]}",
          "lines[0].points[1][1] is no number", "a finite number" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [[1, 2], [3]]}]}",
          "lines[0].points[1] has not as many", "[x, y]" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [[1, 1e31]]}]}", "out of range",
          "between -1e30 and 1e30" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"kind\": \"red\", \"points\": []}]}",
          "lines[0].kind is none of its words", "result, compute, weights, cache, network, host" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [], \"band\": [[1, 3, 2]]}]}",
          "lines[0].band[0] ends before it begins", "[x, low, high]" },
        { "{\"title\": \"a\", \"x\": {\"name\": \"x\", \"log\": true, \"from\": 0}, \"y\": {\"name\": \"y\"}}",
          "x is logarithmic", "from > 0" },
        { "{\"title\": \"a\", \"x\": {\"name\": \"x\", \"from\": 3, \"to\": 3}, \"y\": {\"name\": \"y\"}}",
          "x ends before it begins", "from < to" },
        { "{\"title\": \"a\", \"x\": {\"log\": true}, \"y\": {\"name\": \"y\"}}", "neither name nor unit", "name" },
        { "{\"title\": \"a\\u0007\", AXES}", "a control character", "" },
        { "{\"title\": \"a\", AXES, \"bars\": [{\"name\": \"b\", \"parts\": [{\"kind\": \"host\"}]}]}",
          "bars[0].parts[0] has no 'value'", "a number" },
        { "{\"title\": \"a\", AXES, \"panels\": [{AXES, \"panels\": []}]}", "panels[0] has panels of its own",
          "of the picture alone" },
        { "{\"title\": \"a\", AXES, \"table\": {\"columns\": [\"a\"], \"rows\": [[1, 2]]}}", "table.rows[0] is too long",
          "at most 1" },
        { "{\"title\": \"a\", AXES, \"points\": [{\"x\": 1}]}", "points[0] has no 'y'", "a number" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct error error = { .what = "" };
        struct picture *picture;
        struct buffer json = { .arena = &arena };
        for (const char *at = cases[i].json; *at; at++)
            if (!strncmp(at, "AXES", 4))
                buffer_print(&json, "%s", axes), at += 3;
            else
                buffer_add(&json, at, 1);
        if (picture_read(&arena, "p", text_of(json.data), &picture, &error))
            fail_msg("read: %s", json.data);
        if (!strstr(error.what, cases[i].what) || !strstr(error.hint, cases[i].hint))
            fail_msg("%s\n  %s; %s", json.data, error.what, error.hint);
        arena_free(&arena);
    }
}

/* A value that is none is a gap, not a point at 0. */
static void gaps(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct picture *picture = picture_new(&arena, "");
    struct buffer svg = { .arena = &arena };
    struct picture_line *line = picture_line_add(picture, "a", PICTURE_RESULT, PICTURE_TERM);
    picture->x.name = picture->y.name = "n";
    for (int i = 0; i < 5; i++)
        picture_point_add(picture, line, i, i == 2 ? NAN : i);
    picture_svg(&svg, picture, 400, 0, PICTURE_LIGHT);
    const char *path = strstr(strstr(svg.data, "data-line"), " d=\"") + 4;
    size_t moves = 0, size = strcspn(path, "\"");
    for (size_t i = 0; i < size; i++)
        moves += path[i] == 'M';
    assert_int_equal(moves, 2);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes),
        cmocka_unit_test(random_pictures),
        cmocka_unit_test(a_kind_is_a_colour),
        cmocka_unit_test(pixels_and_values),
        cmocka_unit_test(refusals),
        cmocka_unit_test(gaps),
    };
    return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
