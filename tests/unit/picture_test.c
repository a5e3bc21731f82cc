/* Pictures: what holds for every one of them is read off the SVG. No two texts meet, none is cut, each axis
 * has two labels or more, a label says the value at its place, decades are labelled alone where there are
 * many, and a kind has its colour everywhere. tests/fixtures/pictures.jsonl has the extremes, a description
 * a line. */
#include "svg.h"

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
        picture_dot_add(picture, draw_value(seed, picture->x.log),
                        draw_value(seed, picture->y.log))->scenario =
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
        picture->x = (struct picture_axis){ draw_name(&arena, &seed), "s", draw_bits(&seed) % 2, false, NAN,
                                            NAN };
        picture->y = (struct picture_axis){ draw_name(&arena, &seed), "B", draw_bits(&seed) % 2, false, NAN,
                                            NAN };
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
        { "compute", "#0b6bc7", "#6c9cfa" }, { "weights", "#946600", "#f0b429" },
            { "cache", "#1b7760", "#25c495" },
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
        assert_non_null(strstr(drawn.data, arena_print(&arena, "<path class=\"%s\" fill-opacity",
                                                       kinds[i].kind)));
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
        { "[]", "is not an object", "an object" },
        { "{\"title\": \"a\", \"x\": 1}", "x is not an object", "an object" },
        { "{\"title\": \"a\"}", "the picture has no 'x'", "an axis" },
        { "{AXES}", "the picture has no 'title'", "a text" },
        { "{\"title\": \"a\", AXES, \"line\": []}", "a member 'line'", "did you mean 'lines'?" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"points\": []}]}", "lines[0] has no 'name'", "a text" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\"}]}", "lines[0] has no 'points'", "[x, y]" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [[1, 2], [3, null]]}]}",
          "lines[0].points[1][1] is not a number", "a finite number" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [[1, 2], [3]]}]}",
          "lines[0].points[1] has not as many", "[x, y]" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [[1, 1e31]]}]}", "out of range",
          "between -1e30 and 1e30" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"kind\": \"red\", \"points\": []}]}",
          "lines[0].kind is not one of its words", "result, compute, weights, cache, network, host" },
        { "{\"title\": \"a\", AXES, \"lines\": [{\"name\": \"b\", \"points\": [], \"band\": [[1, 3, 2]]}]}",
          "lines[0].band[0] ends before it begins", "[x, low, high]" },
        { "{\"title\": \"a\", \"x\": {\"name\": \"x\", \"log\": true, \"from\": 0}, \"y\": {\"name\": \"y\"}}",
          "x is logarithmic", "from > 0" },
        { "{\"title\": \"a\", \"x\": {\"name\": \"x\", \"from\": 3, \"to\": 3}, \"y\": {\"name\": \"y\"}}",
          "x ends before it begins", "from < to" },
        { "{\"title\": \"a\", \"x\": {\"log\": true}, \"y\": {\"name\": \"y\"}}", "neither name nor unit",
          "name" },
        { "{\"title\": \"a\\u0007\", AXES}", "a control character", "" },
        { "{\"title\": \"a\", AXES, \"bars\": [{\"name\": \"b\", \"parts\": [{\"kind\": \"host\"}]}]}",
          "bars[0].parts[0] has no 'value'", "a number" },
        { "{\"title\": \"a\", AXES, \"panels\": [{AXES, \"panels\": []}]}", "panels[0] has panels of its own",
          "of the picture alone" },
        { "{\"title\": \"a\", AXES, \"table\": {\"columns\": [\"a\"], \"rows\": [[1, 2]]}}",
          "table.rows[0] is too long",
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
