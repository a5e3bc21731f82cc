/* Templates: each that is built in reads, and names nothing that its answer does not have; every mark
 * prints what report/template.h says; what is wrong is found, with file and line. */
#include "test.h"

#include "ask/ask.h"
#include "base/embedded.h"
#include "report/document.h"

#include <math.h>

static const struct record *record_named(const char *name, size_t size)
{
    for (size_t i = 0; verbs[i]; i++)
        if (strlen(verbs[i]->name) == size && !strncmp(verbs[i]->name, name, size))
            return verbs[i]->answers;
    return NULL;
}

/* "ask/step.template" -> the record of `step`, "ask/market/schedule.template" that of `market`; NULL: no such verb declares
 * its keys. */
static const struct record *record_of(const char *path)
{
    const char *name = strrchr(path, '/') + 1, *folder = name - 1;
    const struct record *own = record_named(name, strcspn(name, "."));
    while (folder > path && folder[-1] != '/')
        folder--;
    return own ? own : record_named(folder, strcspn(folder, "/"));
}

static void built_in_templates(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct embedded *file = embedded_data; file->path; file++) {
        struct arena arena = { 0 };
        struct template *template;
        struct error error;
        if (!strstr(file->path, ".template"))
            continue;
        if (!record_of(file->path))
            fail_msg("%s: no verb of that name declares the keys of its answer", file->path);
        if (!template_read(&arena, file->path, (struct text){ file->data, file->size }, &template, &error) ||
            !template_check(template, record_of(file->path), &error))
            fail_msg("%s", error.what);
        count++;
        arena_free(&arena);
    }
    assert_true(count >= 2);
}

/* The parts of a report name what the answer has, where the verb declares the keys of its answer. */
static void built_in_reports(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct embedded *file = embedded_data; file->path; file++) {
        struct arena arena = { 0 };
        struct document_template templates;
        struct error error;
        if (!strstr(file->path, ".report"))
            continue;
        if (!document_read(&arena, file->path, (struct text){ file->data, file->size }, &templates, &error))
            fail_msg("%s", error.what);
        const struct record *record = record_of(file->path);
        for (int i = 0; record && i < DOCUMENT_PARTS; i++)
            if (templates.parts[i] && !template_check(templates.parts[i], record, &error))
                fail_msg("%s", error.what);
        count++;
        arena_free(&arena);
    }
    assert_int_equal(count, 12);
}

/* What is wrong in such a file is found, with its line. */
static void bad_reports(void **state)
{
    (void)state;
    static const struct { const char *text, *what; } cases[] = {
        { "= question\na\n", "r: a report needs a question and an answer" },
        { "= question\na\n= answers\nb\n", "r:3: no part of a report: = answers" },
        { "= question\na\n= answer\nb\n= question\n", "r:5: a part stands here twice: question" },
        { "# it\n= question\na\n= answer\n{b\n", "r:5: " },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena arena = { 0 };
        struct document_template templates;
        struct error error = { .what = "" };
        assert_false(document_read(&arena, "r", text_of(cases[i].text), &templates, &error));
        if (strncmp(error.what, cases[i].what, strlen(cases[i].what)))
            fail_msg("%s", error.what);
        arena_free(&arena);
    }
}

/* ---- an answer to print --------------------------------------------------------------------------- */

static const struct record part_record = { "Part", (const struct answer_field[]){
    { FIELD_NUMBER, .key = "time", .unit = "s" }, { FIELD_TEXT, .key = "label" },
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "share" }, .count = 1 }, { 0 } } };
static const struct record answer_record = { "Answer", (const struct answer_field[]){
    { FIELD_NUMBER, .key = "time" }, { FIELD_NUMBER, .key = "cost" }, { FIELD_NUMBER, .key = "params" },
    { FIELD_TEXT, .key = "limit" }, { FIELD_LIST, .key = "parts", .record = &part_record },
    { FIELD_RECORD, .key = "longest", .record = &part_record },
    { FIELD_RECORD, .key = "shortest", .record = &part_record, .null = true },
    { FIELD_SWITCH, .key = "known" }, { FIELD_LIST, .key = "first_part", .record = &part_record },
    { FIELD_TEXTS, .key = "notes" }, { 0 } } };

static void add_part(struct section *list, const char *label, double time)
{
    struct section *part = section_add(list, NULL, SECTION_RECORD);
    section_word(part, "label", label);
    section_number(part, "time", time, unit_second);
    section_number(part, "share", time / 0.01, unit_one)->text_only = true;
}

static struct section *example(struct arena *arena)
{
    struct section *answer = section_new(arena);
    struct figure *time = section_number(answer, "time", 0.01, unit_second);
    time->low = 0.008;
    time->high = 0.0125;
    time->range = (struct range){ 0.005, 0.02, "range" };
    section_number(answer, "cost", NAN, unit_one);
    section_number(answer, "params", 6.71e11, unit_one);
    section_word(answer, "limit", "KV cache");
    struct section *parts = section_add(answer, "parts", SECTION_LIST);
    add_part(parts, "reading", 0.0075);
    add_part(parts, "sums", 0.002);
    add_part(parts, "rest", 0.0005);
    struct section *most = section_add(answer, "longest", SECTION_RECORD);
    section_number(most, "time", 0.0075, unit_second);
    section_nothing(answer, "shortest");
    section_switch(answer, "known", true);
    section_share(section_add(answer, "first_part", SECTION_LIST), parts->inside[0]);
    struct section *notes = section_add(answer, "notes", SECTION_TEXTS);
    section_word(notes, NULL, "one price");
    section_word(notes, NULL, "two tiers");
    return answer;
}

static void printed(const char *text, const char *want)
{
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena };
    struct template *template;
    struct error error;
    if (!template_read(&arena, "a.template", text_of(text), &template, &error) ||
        !template_check(template, &answer_record, &error))
        fail_msg("%s", error.what);
    buffer_add(&out, "", 0);
    template_print(template, example(&arena), &out);
    assert_string_equal(out.data, want);
    arena_free(&arena);
}

static void formats(void **state)
{
    (void)state;
    printed("{time:3} {time:3-} {time-2}\n", "10 ms 10 ms (range 5 to 20 ms) 5 to 20 ms\n");
    printed("{time~3}; {time.2 us}; {time#2}\n", "8 to 12.5 ms; 10000.00; 0.01\n");
    printed("{time#3 ms} {time#2 us}\n", "10 10,000\n");
    printed("{params@} {params.0} {time%1}\n", "671 B 6.71e11 1.0 %\n");
    printed("{limit}, {cost:3}\n", "KV cache, unknown\n");
    printed("a  {notes<12}\n", "a  one price;\n   two tiers\n");
    printed("a \\\n    b\n# not this\n\nc\n", "a b\n\nc\n");
}

static void conditions(void **state)
{
    (void)state;
    printed("[limit='KV cache'|yes|no] [limit!='KV cache'|yes|no]\n", "yes no\n");
    printed("[cost|known|unknown] [!cost|unknown] [cost<1|low][cost>=1|high]\n", "unknown unknown \n");
    printed("[time<params & time>=0.01|both][time>params|never|else]\n", "bothelse\n");
    printed("[time~|80 %][params~|no|none] [time-|range][params-|no]\n", "80 %none range\n");
    printed("[longest|is][shortest|no|not] [known=1|known]\n", "isnot known\n");
    printed("? cost\na\n: time>1\nb\n: parts\nc\n:\nd\n.\n", "c\n");
    printed("? time\n? cost\na\n:\nb\n.\nc\n.\n", "b\nc\n");
}

static void records(void **state)
{
    (void)state;
    printed("* parts 2\n{label}: {time:2} of {^time:2}, {limit}\n:\nand {more} smaller\n.\n",
            "reading: 7.5 ms of 10 ms, KV cache\nsums: 2 ms of 10 ms, KV cache\nand 1 smaller\n");
    printed("* parts 2\n  | part | > time |\n  | {label} | {time:2} | [share>0.5|{share=4}]\n.\n",
            "  part       time\n  reading  7.5 ms  \u2588\u2588\u2588\n  sums       2 ms\n");
    printed("* longest\n{time:2}\n.\n* shortest\nno\n.\n* first_part\n{label}\n.\n",
            "7.5 ms\nreading\n");
    printed("* parts\n  | a | > time |\n  | b | ms |\n  | {label} | {time#2 ms} |\n.\n",
            "  a        time\n  b          ms\n  reading   7.5\n  sums        2\n  rest      0.5\n");
    printed("* first_part\n  | > time | *parts > {label} | limit\n"
            "  | {^time:2} | *parts {time:2} | {limit}\n.\n",
            "   time  reading  sums    rest  limit\n  10 ms   7.5 ms  2 ms  500 us  KV cache\n");
    printed("* parts 1\n  | part | [cost|cost] | > time\n  | {label} | [cost|{cost:2}] | {time:2}\n.\n",
            "  part       time\n  reading  7.5 ms\n");
    printed("* notes\n[first|notes|     ] {text}\n.\n{notes}\n",
            "notes one price\n      two tiers\none price; two tiers\n");
}

static void refused(const char *text, const char *what)
{
    struct arena arena = { 0 };
    struct template *template;
    struct error error;
    if (template_read(&arena, "a.template", text_of(text), &template, &error) &&
        template_check(template, &answer_record, &error))
        fail_msg("'%s' is a template", text);
    if (!strstr(error.what, what))
        fail_msg("'%s': %s", text, error.what);
    arena_free(&arena);
}

static void errors(void **state)
{
    (void)state;
    refused("a\n{time:3\n", "a.template:2: a brace is not closed");
    refused("[time|a\n", "a.template:1: a bracket is not closed");
    refused("a }\n", "a.template:1: nothing is open here");
    refused("a\n.\n", "a.template:2: nothing is open here");
    refused("? time\na\n", "a.template:2: a block is not closed");
    refused("{time:x}\n", "a.template:1: no format of a figure: 'time:x'");
    refused("{time.2 parsecs}\n", "a.template:1: no unit: 'parsecs'");
    refused("[time<'a'|b]\n", "a.template:1: words are equal or not");
    refused("[time<2s|b]\n", "a.template:1: neither a number");
    refused("a\n\n{tme}\n", "a.template:3: the answer has no 'tme'");
    refused("? time & limits='a'\nb\n.\n", "a.template:1: the answer has no 'limits'");
    refused("[time<tmie|b]\n", "a.template:1: the answer has no 'tmie'");
    refused("* part\n{label}\n.\n", "a.template:1: the answer has no 'part'");
    refused("{label}\n", "a.template:1: the answer has no 'label'");
    refused("* parts\n{^label}\n.\n", "a.template:2: the answer has no '^label'");
    refused("a\n| {time} |\n", "a.template:2: no table of records");
    refused("* parts\n| a | b\n| {label}\n.\n", "a.template:2: no table of records");
    refused("* parts\na\n| {label}\n.\n", "a.template:3: no table of records");
    refused("* parts\n| a\n| *parts b\n.\n", "a.template:2: no table of records");
    refused("* parts\n| *paths {label}\n.\n", "a.template:2: the answer has no 'paths'");
    refused("* parts many\n.\n", "a.template:1: no number of records: 'many'");
}

/* ---- JSON and CSV of the same figures --------------------------------------------------------------- */

static void documents(void **state)
{
    (void)state;
    struct arena arena = { 0 };
    struct buffer out = { .arena = &arena }, csv = { .arena = &arena }, chosen = { .arena = &arena };
    static const char *const columns[] = { "label", "share", "cost" };
    struct doc *doc = doc_new(&arena, DOC_OBJECT);
    const struct section *answer = example(&arena);
    section_document(answer, doc);
    doc_print(&out, doc_get(doc, "notes"));
    assert_string_equal(out.data, "[\n  \"one price\",\n  \"two tiers\"\n]\n");
    assert_true(unit_same(section_quantity(section_new(&arena), "time", 1, "s")->unit, unit_second));
    assert_true(doc_get(doc, "params")->number == 6.71e11);
    assert_int_equal(doc_get(doc, "cost")->kind, DOC_NUMBER);
    assert_int_equal(doc_get(doc, "parts")->count, 3);
    assert_null(doc_get(doc_get(doc, "parts")->first, "share"));
    assert_true(doc_get(doc, "known")->kind == DOC_BOOL && doc_get(doc, "known")->boolean);
    assert_int_equal(doc_get(doc, "shortest")->kind, DOC_NULL);
    assert_int_equal(doc_get(doc, "first_part")->count, 1);
    section_csv_of(section_inside(answer, "first_part"), columns, 3, &chosen);
    assert_string_equal(chosen.data, "label,share,cost\nreading,0.75,\n");
    section_csv(section_inside(answer, "parts"), &csv);
    assert_string_equal(csv.data, "label,time\nreading,0.0075\nsums,0.002\nrest,0.0005\n");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_templates),
        cmocka_unit_test(built_in_reports),
        cmocka_unit_test(bad_reports), cmocka_unit_test(formats), cmocka_unit_test(conditions),
        cmocka_unit_test(records), cmocka_unit_test(errors), cmocka_unit_test(documents) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
