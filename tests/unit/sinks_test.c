/* A data file must not run commands: hostile titles through every place that text leaves by. Each
 * title goes to a picture, gnuplot, a shell, YAML, JSON inside a page and a terminal as a writer quotes it
 * there, readers or none before it; then every reader refuses those that are no plain text, and
 * the program is run with machines that are called by the others. "Not executed" is asked of the
 * programs themselves: gnuplot, sh, Python's YAML; what a title ran would make a file `canary`. */
#include "test.h"

#include "emit_readers.h"

#include "deploy/launch/launch.h"
#include "report/plot.h"
#include "catalog/catalog.h"
#include "import/import.h"
#include "import/prices.h"
#include "serve/web.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { TITLES = 200, RUN = 30, LONG = 5000 };

/* ---- titles ------------------------------------------------------------------------------- */

static const char *const pieces[] = {
    "'", "''", "\"", "\\", "\\\\", "\n", "\r", "\r\n", "\t", "\x01", "\x7f", "$(touch canary)",
    "`touch canary`", "; touch canary; ", "&& touch canary #", "| touch canary", "\ntouch canary\n",
    "system(\"touch canary\")", "'\nsystem(\"touch canary\")\n", "\nsystem('touch canary')\n#",
    "\ne\nsystem(\"touch canary\")\n", "' . system('touch canary') . '", "\" . system(\"touch canary\")",
    "@touch", "@eval", "\neval \"system('touch canary')\"\n", "\n!touch canary\n", "\nEND\ntouch canary\n",
    "{/Symbol a}", "a_{b}^c", "\\033[31m", "%n%s%d", "\x1b[31m", "\x1b]0;owned\x07", "\x1b[2J\x1b[H",
    ("\xc2\x9b" "31m"), "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xae", "\xe2\x81\xa6",
    "\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xef\xbf\xbe", "\xf0\x9f\x98\x80",
    "\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "\xcc\x81", "</script>", "<script>alert(1)</script>",
    "<!--", "-->", "]]>", "<img src=x onerror=alert(1)>", "&amp;", "&#60;", "<", ">",
    ": ", "- ", "# ", " #", "? ", "! ", "& ", "* ", "*a", "&a", "!!python/object", "|", ">-", "|\n",
    "{", "[", "}", "]", ",", "\n---\n", "\n- injected: true\n", "\nkind: Secret\n", "true", "null",
    "0x1f", "1e3", "2026-11-21", "~", "=", "yes", " ", "  ", "$HOST", "$HOST_1", "${PATH}", "$$", "-x",
    "--help", "<<'END'", "a,b", "\"\"", "H100 SXM", "plain words", "..", "/etc/passwd",
};

/* One piece alone, then some in a row; one is very long. */
static const char *title(struct arena *arena, size_t index)
{
    uint64_t seed = 20261122 + index;
    struct buffer out = { .arena = arena };
    if (index < COUNT(pieces))
        return arena_print(arena, "x%s", pieces[index]);
    if (index == COUNT(pieces)) {
        char *most = arena_alloc(arena, LONG + 1);
        memset(most, 'a', LONG);
        return most;
    }
    for (size_t n = 2 + draw_bits(&seed) % 5; n; n--)
        buffer_print(&out, "%s%s", pieces[draw_bits(&seed) % COUNT(pieces)], n % 2 ? "" : " x");
    return out.data;
}

static bool is_plain_title(const char *text)
{
    return text_plain(text_of(text), "") == strlen(text);
}

/* As a writer of JSON keeps it: bytes that are no UTF-8 are U+FFFD. */
static const char *in_utf8(struct arena *arena, const char *text)
{
    struct buffer out = { .arena = arena };
    buffer_add(&out, "", 0);
    for (struct text rest = text_of(text); rest.size;) {
        uint32_t code;
        size_t size = text_character(rest, &code);
        if (size)
            buffer_add(&out, rest.data, size);
        else
            buffer_print(&out, "\xef\xbf\xbd");
        rest.data += size ? size : 1, rest.size -= size ? size : 1;
    }
    return out.data;
}

static const char *plain(struct arena *arena, const char *text)
{
    struct buffer out = { .arena = arena };
    buffer_add_plain(&out, text_of(text), "");
    return out.data;
}

/* ---- a folder of its own, programs run in it ---------------------------------------------- */

struct place {
    struct arena arena;
    char folder[40], *before;
    const char *program;
};

static void write_file(struct place *place, const char *name, const char *data, size_t size)
{
    FILE *file = fopen(arena_print(&place->arena, "%s/%s", place->folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static struct text read_file(struct place *place, const char *name)
{
    struct text text = { "", 0 };
    struct error error;
    if (!file_read(&place->arena, arena_print(&place->arena, "%s/%s", place->folder, name), 1 << 26,
                   &text, &error))
        fail_msg("%s", error.what);
    return text;
}

static int place_open(void **state)
{
    static struct place place;
    place = (struct place){ .folder = "/tmp/chalkline-sinks-XXXXXX" };
    const char *program = getenv("CHALKLINE");
    *state = &place;
    place.before = getcwd(NULL, 0);
    place.program = realpath(program ? program : "./chalkline", NULL);
    return place.program && mkdtemp(place.folder) ? 0 : -1;
}

static int place_close(void **state)
{
    struct place *place = *state;
    int status = system(arena_print(&place->arena, "rm -rf %s", place->folder));
    assert_int_equal(chdir(place->before), 0);
    arena_free(&place->arena);
    free(place->before);
    free((void *)(uintptr_t)place->program);
    return status;
}

/* Its exit status; output and errors in the files `out` and `err`. */
static int run(struct place *place, const char *program, const char *const *words)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, "err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(chdir(place->folder), 0);
    if (posix_spawnp(&child, program, &actions, NULL, (char **)(uintptr_t)words, environ))
        fail_msg("%s does not run", program);
    assert_int_equal(waitpid(child, &status, 0), child);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(chdir(place->before), 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void no_canary(struct place *place, const char *what)
{
    if (!access(arena_print(&place->arena, "%s/canary", place->folder), F_OK))
        fail_msg("%s was executed", what);
}

/* "vllm" and the like, in place of the real ones: each word of their command lines into `words`. */
static void put_engines(struct place *place)
{
    static const char fake[] = "#!/bin/sh\nprintf '%s\\0' \"$#\" \"$@\" >>\"${0%/*}/words\"\n";
    write_file(place, "vllm", fake, sizeof fake - 1);
    write_file(place, "words", "", 0);
    assert_int_equal(chmod(arena_print(&place->arena, "%s/vllm", place->folder), 0700), 0);
}

/* As it would be piped to a shell, with those engines. */
static int run_shell(struct place *place, const char *script)
{
    const char *line = arena_print(&place->arena, "PATH=%s:$PATH; . ./%s", place->folder, script);
    const char *const words[] = { "sh", "-c", line, NULL };
    return run(place, "sh", words);
}

/* ---- sinks -------------------------------------------------------------------------------- */

static void add_entities(struct buffer *out, const char *text)
{
    for (; *text; text++)
        buffer_print(out, *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;"
                     : *text == '"' ? "&quot;" : "%c", *text);
}

/* It is the title, an axis, a line, a mark, a point and the place of the reader. */
static struct picture *titled_picture(struct arena *arena, const char *text)
{
    struct picture *picture = picture_new(arena, text);
    struct picture_line *line = picture_line_add(picture, text, PICTURE_RESULT, PICTURE_TERM);
    picture->x.name = picture->y.name = picture->x.unit = text;
    picture_point_add(picture, line, 1, 1);
    picture_point_add(picture, line, 2, 2);
    picture_mark_add(picture, text, 1, 2)->sets = text;
    struct picture_dot *dot = picture_dot_add(picture, 2, 1);
    dot->what = dot->source = dot->date = text;
    picture->here = (struct picture_mark){ text, text, 1.5, 1.5 };
    picture->has_here = true;
    return picture;
}

/* Each text of the SVG is the title whole, and Python's reader of XML takes it. */
static void picture_shows_it(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    static const char *const check[] = { "python3", "-c",
        "import glob, xml.dom.minidom as m; [m.parse(f) for f in glob.glob('*.svg')]", NULL };
    for (size_t i = 0; i < TITLES; i++) {
        struct buffer svg = { .arena = arena }, wanted = { .arena = arena };
        const char *text = plain(arena, title(arena, i));
        picture_svg(&svg, titled_picture(arena, title(arena, i)), 9000, 0, (enum picture_theme)(i % 4));
        add_entities(&wanted, text);
        size_t found = 0;
        for (const char *at = svg.data; (at = strstr(at, wanted.data)); at++)
            found++;
        if (wanted.size < 300 && !strstr(text, "  ") && text[strlen(text) - 1] != ' ' && found < 6)
            fail_msg("%zu times in its picture: %s", found, wanted.data);
        assert_int_equal(text_plain((struct text){ svg.data, svg.size }, "\n"), svg.size);
        assert_null(strstr(svg.data, "<script"));
        assert_null(strstr(svg.data, "<img"));
        write_file(place, arena_print(arena, "%zu.svg", i), svg.data, svg.size);
    }
    if (!has_program("python3"))
        skip();
    assert_int_equal(run(place, "python3", check), 0);
}

/* On the terminal gnuplot draws it. */
static void gnuplot_draws_it(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    struct buffer script = { .arena = arena };
    static const char *const draw[] = { "gnuplot", "script", NULL };
    for (size_t i = 0; i < TITLES; i++) {
        assert_true(is_plain_title(plot_quoted(arena, title(arena, i))));
        plot_script(titled_picture(arena, title(arena, i)), &script);
    }
    write_file(place, "script", script.data, script.size);
    if (!has_program("gnuplot"))
        skip();
    assert_int_equal(run(place, "gnuplot", draw), 0);
    no_canary(place, "a title in a script of gnuplot");
    assert_non_null(strstr(read_file(place, "out").data, "plain words"));
}

/* Names of pictures that a program would take for a command, an option or a folder of somebody. */
static void pictures_are_files(void **state)
{
    struct place *place = *state;
    static const char *const paths[] = { "|touch canary; cat >x", "~x", "$(touch canary)", "`touch canary`",
                                         "@x", "-o", "--help" };
    static const char *const ends[] = { ".svg", ".png" };
    const size_t kinds = has_program("rsvg-convert") ? COUNT(ends) : 1;
    struct error error;
    for (size_t i = 0; i < COUNT(paths) * kinds; i++) {
        const char *path = arena_print(&place->arena, "%s%s", paths[i / kinds], ends[i % kinds]);
        assert_int_equal(chdir(place->folder), 0);
        const bool drawn = plot_check(&place->arena, path, &error) &&
                           plot_write(titled_picture(&place->arena, "x"), path, &error);
        const bool there = file_there(&place->arena, path);
        assert_int_equal(chdir(place->before), 0);
        if (!drawn || !there)
            fail_msg("%s: %s", path, drawn ? "no such file" : error.what);
        no_canary(place, path);
    }
}

static void shell_takes_it(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    struct buffer script = { .arena = arena };
    for (size_t i = 0; i < TITLES; i++) {
        const char *text = title(arena, i);
        launch_comment(&script, "%s on %s", text, text);
        buffer_print(&script, "vllm serve ");
        launch_word(&script, text);
        buffer_print(&script, " \\\n    --port 8000\n");
    }
    put_engines(place);
    write_file(place, "script", script.data, script.size);
    const char *const check[] = { "sh", "-n", "script", NULL };
    assert_int_equal(run(place, "sh", check), 0);
    assert_int_equal(run_shell(place, "script"), 0);
    no_canary(place, "a title in a script of the shell");
    struct text words = read_file(place, "words");
    const char *at = words.data;
    for (size_t i = 0; i < TITLES; i++) {
        const char *const wanted[] = { "4", "serve", title(arena, i), "--port", "8000" };
        for (size_t k = 0; k < COUNT(wanted); k++, at += strlen(at) + 1)
            assert_string_equal(at, wanted[k]);
    }
    assert_true(at == words.data + words.size);
}

/* Python's reader and that of the tests: the same texts, as values, items and keys. */
static void yaml_reads_it(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    struct buffer out = { .arena = arena };
    struct doc *doc = doc_new(arena, DOC_OBJECT), *theirs;
    struct error error;
    for (size_t i = 0; i < TITLES; i++)
        doc_add_string(arena, doc, arena_print(arena, "key-%zu", i), title(arena, i));
    for (size_t i = 0; i < TITLES; i++)
        launch_comment(&out, "%s", title(arena, i));
    size_t comments = out.size;
    launch_yaml(&out, doc);
    assert_int_equal(text_plain((struct text){ out.data, out.size }, "\n"), out.size);
    const struct doc *ours = yaml_read(arena, out.data + comments);
    for (size_t i = 0; i < TITLES; i++)
        assert_string_equal(doc_get(ours, arena_print(arena, "key-%zu", i))->string,
                            in_utf8(arena, title(arena, i)));
    struct doc *list = doc_add(arena, doc, "list", DOC_ARRAY), *keys = doc_add(arena, doc, "keys",
                                                                              DOC_OBJECT);
    for (size_t i = 0; i < TITLES; i++) {
        const char *key = in_utf8(arena, title(arena, i));
        doc_add_string(arena, list, NULL, title(arena, i));
        if (strlen(key) < 900 && !doc_get(keys, key))       /* YAML has no longer ones */
            doc_add_string(arena, keys, key, "here");
    }
    out.size = comments;
    launch_yaml(&out, doc);
    write_file(place, "all.yaml", out.data, out.size);
    const char *const words[] = { "python3", "-c", "import json, yaml\nprint(json.dumps(yaml.safe_load("
                                  "open('all.yaml', encoding='utf-8'))))", NULL };
    if (!has_program("python3"))
        skip();
    if (run(place, "python3", words)) {
        if (strstr(read_file(place, "err").data, "No module")) {
            print_message("skipped: needs python3-yaml\n");
            skip();
        }
        fail_msg("%s", read_file(place, "err").data);
    }
    assert_true(json_read(arena, "python", read_file(place, "out"), &theirs, &error));
    const struct doc *item = doc_get(theirs, "list")->first;
    for (size_t i = 0; i < TITLES; i++, item = item->next) {
        const char *wanted = in_utf8(arena, title(arena, i));
        assert_string_equal(doc_get(theirs, arena_print(arena, "key-%zu", i))->string, wanted);
        assert_string_equal(item->string, wanted);
        if (strlen(wanted) < 900)
            assert_string_equal(doc_get(doc_get(theirs, "keys"), wanted)->string, "here");
    }
    assert_int_equal(doc_get(theirs, "keys")->count, keys->count);
}

/* JSON is plain text; inside a script of the page it has no "<" either. */
static void page_holds_it(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    for (size_t i = 0; i < TITLES; i++) {
        struct buffer json = { .arena = arena }, html = { .arena = arena };
        struct doc *doc = doc_new(arena, DOC_OBJECT), *read;
        struct error error;
        const char *text = title(arena, i);
        doc_add_string(arena, doc, text, text);
        doc_print(&json, doc);
        assert_int_equal(text_plain((struct text){ json.data, json.size }, "\n"), json.size);
        report_add_json(&html, json.data);
        assert_null(strchr(html.data, '<'));
        assert_true(json_read(arena, "page", text_of(html.data), &read, &error));
        assert_string_equal(read->first->key, in_utf8(arena, text));
        assert_string_equal(read->first->string, in_utf8(arena, text));
    }
}

/* An argument that a message quotes, and an answer: bytes that a terminal acts on are escaped. */
static void terminal_shows_it(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    for (size_t i = 0; i < TITLES; i++) {
        const char *text = title(arena, i);
        const char *const words[] = { "chalkline", "show", "--", text, NULL };
        struct error error;
        error_set(&error, "%s", text);
        error_expected(&error, "%s", text);
        assert_true(is_plain_title(plain(arena, text)));
        assert_true(strlen(text) > 500 || (is_plain_title(error.what) && is_plain_title(error.hint)));
        assert_int_equal(run(place, place->program, words), 2);
        struct text said = read_file(place, "err");
        assert_int_equal(text_plain(said, "\n"), said.size);
        assert_int_equal(read_file(place, "out").size, 0);
    }
}

/* ---- readers ------------------------------------------------------------------------------ */

static const char *in_cell(struct arena *arena, const char *text)
{
    struct buffer out = { .arena = arena };
    buffer_print(&out, "\"");
    for (; *text; text++)
        buffer_print(&out, *text == '"' ? "\"\"" : "%c", *text);
    buffer_print(&out, "\"");
    return out.data;
}

/* H100 under another title. */
static const char *machine(struct arena *arena, const char *name)
{
    struct buffer out = { .arena = arena };
    struct text rest;
    struct error error;
    assert_true(file_read(arena, "data/hardware.csv", 1 << 24, &rest, &error));
    buffer_print(&out, "name,fact,value,unit,source,date,mark,note\n"
                 "h100-sxm,title,%s,text,a test,2026-11-22,,\n", in_cell(arena, name));
    while (rest.size) {
        struct text line = text_line(&rest);
        const char *row = arena_copy(arena, line.data, line.size);
        if (!strncmp(row, "h100-sxm,", 9) && strncmp(row + 9, "title,", 6))
            buffer_print(&out, "%s\n", row);
    }
    return out.data;
}

static const char *in_json(struct arena *arena, const char *format, const char *text)
{
    struct buffer out = { .arena = arena };
    doc_print(&out, &(struct doc){ .kind = DOC_STRING, .string = text });
    out.data[--out.size] = 0;
    return arena_print(arena, format, out.data);
}

static bool read_prices(struct arena *arena, const char *text, struct error *error)
{
    struct price_sheet sheet;
    return prices_read(arena, "prices", text_of(text), &sheet, error);
}

static bool read_catalog(struct arena *arena, const char *text, struct error *error)
{
    struct catalog catalog;
    catalog_open(&catalog, arena);
    return catalog_read(&catalog, CATALOG_MACHINE, "machine.csv", text_of(text), error);
}

static bool read_book(struct arena *arena, const char *text, struct error *error)
{
    struct formulas *formulas = arena_alloc(arena, sizeof *formulas);
    formulas_open(formulas, arena, 0);
    return formulas_read(formulas, "mine.chalk", text_of(text), error);
}

static bool read_config(struct arena *arena, const char *text, struct error *error)
{
    struct doc *doc;
    struct formats formats = { 0 };
    struct facts facts = { .arena = arena };
    return json_read(arena, "config.json", text_of(text), &doc, error) &&
           model_config(arena, doc, "config.json",
                        &(struct model_options){ .formats = &formats, .assume = true }, &facts, error);
}

/* What is no plain text is refused by all, with a message that says where and shows it escaped. */
static void readers_refuse(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    size_t refused = 0;
    for (size_t i = 0; i < TITLES; i++) {
        const char *text = title(arena, i), *utf8 = in_utf8(arena, text);
        char *words[] = { "chalkline", "eval", "bound_step", "--set", arena_print(arena, "%s=1", text) };
        struct command command = { .verbs = verbs };
        struct error error;
        bool clean = is_plain_title(text), clean_utf8 = is_plain_title(utf8);
        refused += !clean;
        if (read_catalog(arena, machine(arena, text), &error) != clean)
            fail_msg("title: %s", clean ? error.what : plain(arena, text));
        assert_true(clean || (!strncmp(error.what, "machine.csv:2: value: ", 22) &&
                              is_plain_title(error.what)));
        if (read_prices(arena, arena_print(arena, "provider,model,input,output\n%s,m,1,2\n",
                                           in_cell(arena, text)), &error) != clean)
            fail_msg("seller: %s", clean ? error.what : plain(arena, text));
        if (read_prices(arena, in_json(arena, "{%s: {\"mode\": \"chat\", \"litellm_provider\": \"a\", "
                                       "\"input_cost_per_token\": 1e-6, \"output_cost_per_token\": "
                                       "2e-6}}", text), &error) != clean_utf8)
            fail_msg("model: %s", clean_utf8 ? error.what : plain(arena, text));
        assert_int_equal(command_read(arena, COUNT(words), words, &command, &error), clean);
        bool lines = text_plain(text_of(text), "\n\r\t") == strlen(text);
        if (!lines && read_book(arena, arena_print(arena, "x : 1 = 1 in 0..2\n    %s (test)\n", text),
                                &error))
            fail_msg("meaning: %s", plain(arena, text));
        bool read = read_config(arena, in_json(arena, "{\"model_type\": %s}", text), &error);
        assert_false(read);                             /* it has no fields */
        assert_true(is_plain_title(error.what) && is_plain_title(error.hint));
        assert_true(!strncmp(error.what, "config.json: model_type: ", 25) == !clean_utf8);
    }
    assert_true(refused > TITLES / 4 && refused < TITLES - RUN);
    printf("%zu of %d titles are no plain text\n", refused, TITLES);
}

/* ---- the program -------------------------------------------------------------------------- */

static void ask_machine(struct place *place, const char *const *words, int status)
{
    int got = run(place, place->program, words);
    if (got != status)
        fail_msg("%s: exit %d, %s", words[1], got, read_file(place, "err").data);
}

/* From the file to the picture, the commands and the manifest; refused titles make none. */
static void files_run_nothing(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    static const char *const curve[] = { "chalkline", "curve", "bound_step", "batch=1..64", "--model",
                                         "llama-3.1-8b", "--on", "m.csv", "--plot", "o.svg", NULL };
    static const char *const plan[] = { "chalkline", "plan", "llama-3.1-8b", "--on", "m.csv", "--gpus",
                                        "1", "--emit", "vllm", NULL };
    static const char *const manifest[] = { "chalkline", "plan", "llama-3.1-8b", "--on", "m.csv",
                                            "--gpus", "1", "--emit", "k8s", NULL };
    size_t run_count[2] = { 0, 0 };
    for (size_t i = 0; i < TITLES; i++) {
        const char *text = title(arena, i), *sheet = machine(arena, text);
        bool clean = is_plain_title(text);
        if (run_count[clean]++ >= RUN)
            continue;
        write_file(place, "m.csv", sheet, strlen(sheet));
        unlink(arena_print(arena, "%s/o.svg", place->folder));
        ask_machine(place, curve, clean ? 0 : 2);
        assert_true(clean == file_there(arena, arena_print(arena, "%s/o.svg", place->folder)));
        ask_machine(place, plan, clean ? 0 : 2);
        struct text script = read_file(place, "out");
        no_canary(place, text);
        if (!clean) {
            assert_int_equal(script.size, 0);
            ask_machine(place, manifest, 2);
            continue;
        }
        assert_memory_equal(script.data, arena_print(arena, "# Llama-3.1-8B on %s: ", text),
                            strlen(text) + strlen("# Llama-3.1-8B on : "));
        put_engines(place);
        write_file(place, "script", script.data, script.size);
        assert_int_equal(run_shell(place, "script"), 0);
        struct text words = read_file(place, "words");
        assert_string_equal(words.data + strlen(words.data) + 1, "serve");
        no_canary(place, text);
        ask_machine(place, manifest, 0);
        script = read_file(place, "out");
        while (*script.data == '#')
            text_line(&script);
        assert_memory_equal(script.data, "---\n", 4);
    }
    assert_true(run_count[true] >= RUN && run_count[false] >= RUN);
}

/* A model whose name a shell would run: a folder with a config.json is called so. */
static void models_run_nothing(void **state)
{
    struct place *place = *state;
    struct arena *arena = &place->arena;
    static const char *const names[] = { "$(touch canary)", "`touch canary`", "'; touch canary; '",
                                         "$HOST$(touch canary)", "$HOST_1", "a b", "\"; touch canary; \"" };
    struct text config;
    struct error error;
    assert_true(file_read(arena, "tests/fixtures/configs/qwen2.5-7b.json", 1 << 20, &config, &error));
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *path = arena_print(arena, "%s/config.json", names[i]);
        const char *const plan[] = { "chalkline", "plan", path, "--on", "h100-sxm", "--gpus", "1",
                                     "--emit", "vllm", NULL };
        assert_int_equal(mkdir(arena_print(arena, "%s/%s", place->folder, names[i]), 0700), 0);
        write_file(place, path, config.data, config.size);
        ask_machine(place, plan, 0);
        struct text script = read_file(place, "out");
        put_engines(place);
        write_file(place, "script", script.data, script.size);
        assert_int_equal(run_shell(place, "script"), 0);
        no_canary(place, names[i]);
        const char *word = read_file(place, "words").data;
        for (int k = 0; k < 2; k++)
            word += strlen(word) + 1;
        assert_string_equal(word, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(picture_shows_it, place_open, place_close),
        cmocka_unit_test_setup_teardown(gnuplot_draws_it, place_open, place_close),
        cmocka_unit_test_setup_teardown(pictures_are_files, place_open, place_close),
        cmocka_unit_test_setup_teardown(shell_takes_it, place_open, place_close),
        cmocka_unit_test_setup_teardown(yaml_reads_it, place_open, place_close),
        cmocka_unit_test_setup_teardown(page_holds_it, place_open, place_close),
        cmocka_unit_test_setup_teardown(terminal_shows_it, place_open, place_close),
        cmocka_unit_test_setup_teardown(readers_refuse, place_open, place_close),
        cmocka_unit_test_setup_teardown(files_run_nothing, place_open, place_close),
        cmocka_unit_test_setup_teardown(models_run_nothing, place_open, place_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
