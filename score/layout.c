/* Layouts of foreign sheets: read from data/layouts, applied line by line to each row (layout.h). */
#include "score/layout.h"

#include "base/embedded.h"
#include "rows/rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CONDITIONS = 8, COLUMNS_MOST = 128 };

struct layout_condition {
    const char *left, *relation, *right;
    struct pattern *pattern;            /* of "~" and "!~", while the layout is applied */
};

struct layout_rule {
    int line;
    const char *name, *value, *reason;  /* name NULL: "when"; reason NULL: the sheet's own */
    bool local, arithmetic;             /* "let"; "= " */
    struct layout_condition conditions[CONDITIONS];
    int condition_count;
};

struct layout_columns {
    const char **names;
    size_t count;
};

struct file_layout {
    const char *path, *tool;
    struct layout_columns *has, lacks;  /* [has_count], of which one suffices */
    size_t has_count, has_room;
    struct layout_rule *rules;
    size_t rule_count;
};

struct file_layouts {
    struct file_layout **layouts;
    size_t count, room;
};

/* ---- reading layouts ----------------------------------------------------------------------- */

static bool has_pattern(const struct layout_condition *condition)
{
    return condition->relation && strchr(condition->relation, '~');
}

static bool wrong_line(struct error *error, const struct file_layout *layout, int line, const char *what)
{
    return error_set(error, "%s:%d: %s", layout->path, line, what);
}

/* Cuts what stands before the next two spaces; NULL at the end of the line. */
static const char *field(struct arena *arena, struct text *rest)
{
    *rest = text_trim(*rest);
    size_t size = 0;
    while (size < rest->size &&
           !(rest->data[size] == ' ' && size + 1 < rest->size && rest->data[size + 1] == ' '))
        size++;
    if (!size)
        return NULL;
    const char *one = arena_copy(arena, rest->data, size);
    *rest = (struct text){ rest->data + size, rest->size - size };
    return one;
}

/* Words separated by single spaces. */
static const char **words_of(struct arena *arena, const char *text, size_t *count)
{
    const char **words = NULL;
    size_t room = 0;
    for (*count = 0; *(text += strspn(text, " "));) {
        const size_t size = strcspn(text, " ");
        *(const char **)arena_push(arena, &words, count, &room, sizeof *words) =
            arena_copy(arena, text, size);
        text += size;
    }
    return words;
}

static void read_condition(struct arena *arena, char *text, struct layout_condition *condition)
{
    static const char *const relations[] = { " !~ ", " != ", " <= ", " >= ", " ~ ", " = ", " < ", " > " };
    *condition = (struct layout_condition){ .left = text };
    if (!strncmp(text, "no ", 3)) {
        *condition = (struct layout_condition){ .left = text + 3, .relation = "no" };
        return;
    }
    char *first = NULL;
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        char *at = strstr(text, relations[i]);
        if (!at || (first && at >= first))
            continue;
        const size_t size = strlen(relations[i]);
        first = at;
        condition->right = at + size;
        condition->relation = arena_copy(arena, relations[i] + 1, size - 2);
    }
    if (first)
        *first = 0;
}

static bool read_conditions(struct arena *arena, const char *text, struct layout_rule *rule)
{
    char *rest = arena_copy(arena, text, strlen(text));
    while (rest) {
        char *next = strstr(rest, " and ");
        if (next)
            *next = 0;
        if (rule->condition_count == CONDITIONS)
            return false;
        read_condition(arena, rest, &rule->conditions[rule->condition_count++]);
        rest = next ? next + strlen(" and ") : NULL;
    }
    return true;
}

static bool read_rule(struct arena *arena, struct text line, struct layout_rule *rule)
{
    if (line.size > 5 && !strncmp(line.data, "when ", 5))
        return read_conditions(arena, arena_copy(arena, line.data + 5, line.size - 5), rule);
    const char *name = field(arena, &line), *part;
    rule->value = field(arena, &line);
    if (!name || !rule->value || !strncmp(rule->value, "if ", 3) || !strncmp(rule->value, "because ", 8))
        return false;
    rule->local = !strncmp(name, "let ", 4);
    rule->name = rule->local ? name + 4 : name;
    rule->arithmetic = !strncmp(rule->value, "= ", 2);
    rule->value += rule->arithmetic ? 2 : 0;
    while ((part = field(arena, &line)) != NULL)
        if (!strncmp(part, "because ", 8))
            rule->reason = part + 8;
        else if (strncmp(part, "if ", 3) || !read_conditions(arena, part + 3, rule))
            return false;
    return true;
}

static bool read_line(struct arena *arena, struct file_layout *layout, struct text line, int number, size_t *room)
{
    const char *text = arena_copy(arena, line.data, line.size);
    if (!strncmp(text, "has ", 4)) {
        struct layout_columns *has = arena_push(arena, &layout->has, &layout->has_count, &layout->has_room, sizeof *has);
        has->names = words_of(arena, text + 4, &has->count);
        return true;
    }
    if (!strncmp(text, "lacks ", 6)) {
        layout->lacks.names = words_of(arena, text + 6, &layout->lacks.count);
        return true;
    }
    if (!strncmp(text, "tool ", 5)) {
        layout->tool = text + 5;
        return true;
    }
    struct layout_rule *rule = arena_push(arena, &layout->rules, &layout->rule_count, room, sizeof *rule);
    *rule = (struct layout_rule){ .line = number };
    return read_rule(arena, line, rule);
}

/* A name is that of a column or of a "let", never of both: "[x]" would be either. */
static bool names_apart(const struct file_layout *layout, struct error *error)
{
    for (size_t i = 0; i < layout->rule_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct layout_rule *one = &layout->rules[k], *other = &layout->rules[i];
            if (!one->name || !other->name || one->local == other->local || strcmp(one->name, other->name))
                continue;
            error_set(error, "%s:%d: '%s' is a column and a 'let'", layout->path, other->line, other->name);
            return error_expected(error, "another name after 'let' than that of a column");
        }
    return true;
}

struct file_layout *layout_read(struct arena *arena, const char *path, struct text text, struct error *error)
{
    struct file_layout *layout = arena_alloc(arena, sizeof *layout);
    size_t room = 0;
    *layout = (struct file_layout){ .path = path };
    for (int number = 1; text.size; number++) {
        const struct text line = text_trim(text_line(&text));
        if (!line.size || line.data[0] == '#' || read_line(arena, layout, line, number, &room))
            continue;
        wrong_line(error, layout, number, "not a line of a layout");
        error_expected(error, "COLUMN  VALUE  [if CONDITION and ...]  [because REASON]");
        return NULL;
    }
    if (!layout->has_count) {
        wrong_line(error, layout, 1, "no line that begins with 'has'");
        error_expected(error, "has COLUMN...");
        return NULL;
    }
    return names_apart(layout, error) ? layout : NULL;
}

/* Every layout of this program, with the lines alone that say what it is a layout of. */
static struct file_layouts read_heads(struct arena *arena)
{
    struct file_layouts layouts = { 0 };
    size_t room = 0;
    for (const struct embedded *file = embedded_data; file->path; file++) {
        struct text rest = { file->data, file->size };
        if (!ends_with(file->path, ".layout"))
            continue;
        struct file_layout *layout = arena_alloc(arena, sizeof *layout);
        *layout = (struct file_layout){ .path = file->path };
        while (rest.size) {
            const struct text line = text_line(&rest);
            if (text_starts_with(line, "has ") || text_starts_with(line, "lacks ") || text_starts_with(line, "tool "))
                read_line(arena, layout, text_trim(line), 0, &room);
        }
        *(struct file_layout **)arena_push(arena, &layouts.layouts, &layouts.count, &layouts.room, sizeof layout) =
            layout;
    }
    return layouts;
}

/* The layouts of this program are right, as a test of each shows. */
static struct file_layout *read_built_in(struct arena *arena, const char *path)
{
    const struct embedded *file = embedded_data;
    struct error error;
    while (strcmp(file->path, path))
        file++;
    struct file_layout *layout = layout_read(arena, path, (struct text){ file->data, file->size }, &error);
    assert(layout);
    return layout;
}

static size_t columns_found(const struct layout_columns *columns, const struct csv *csv)
{
    size_t found = 0;
    for (size_t i = 0; i < columns->count; i++)
        found += csv_column(csv, columns->names[i]) >= 0;
    return found;
}

struct file_layout *layout_of(struct arena *arena, const struct csv *csv)
{
    const struct file_layouts layouts = read_heads(arena);
    for (size_t i = 0; i < layouts.count && csv_column(csv, LAYOUT_UNREAD) < 0; i++) {
        const struct file_layout *layout = layouts.layouts[i];
        for (size_t k = 0; k < layout->has_count && !columns_found(&layout->lacks, csv); k++)
            if (columns_found(&layout->has[k], csv) == layout->has[k].count)
                return read_built_in(arena, layout->path);
    }
    return NULL;
}

const char *layout_tool(const struct file_layout *layout)
{
    return layout->tool;
}

const char *layout_tools(struct arena *arena)
{
    const struct file_layouts layouts = read_heads(arena);
    struct buffer tools = { .arena = arena };
    buffer_add(&tools, "", 0);
    for (size_t i = 0; i < layouts.count; i++) {
        const char *tool = layouts.layouts[i]->tool;
        if (tool && !strstr(tools.data, tool))
            buffer_print(&tools, "%s%s", tools.size ? ", " : "", tool);
    }
    return tools.data;
}

const char *layout_closest(struct arena *arena, const struct csv *csv, const char **missing)
{
    const struct file_layouts layouts = read_heads(arena);
    const char *tool = NULL;
    size_t most = 1;                                /* one name alone is found anywhere */
    for (size_t i = 0; i < layouts.count; i++) {
        const struct file_layout *layout = layouts.layouts[i];
        for (size_t k = 0; k < layout->has_count && layout->tool; k++) {
            const struct layout_columns *has = &layout->has[k];
            const size_t found = columns_found(has, csv);
            if (found <= most || 2 * found < has->count || found == has->count)
                continue;
            struct buffer lacks = { .arena = arena };
            for (size_t j = 0; j < has->count; j++)
                if (csv_column(csv, has->names[j]) < 0)
                    buffer_print(&lacks, "%s%s", lacks.size ? ", " : "", has->names[j]);
            most = found;
            tool = layout->tool;
            *missing = lacks.data;
        }
    }
    return tool;
}

bool layout_unknown(struct arena *arena, const struct csv *csv, struct error *error)
{
    const struct file_layouts layouts = read_heads(arena);
    struct buffer known = { .arena = arena };
    buffer_add(&known, "", 0);
    for (size_t i = 0; i < layouts.count; i++)
        if (!layouts.layouts[i]->tool)
            buffer_print(&known, "%s%s", known.size ? ", " : "", layouts.layouts[i]->path);
    error_set(error, "%s: not the columns of measurements", csv->file);
    return error_expected(error, "model, machine and names of rows (docs/formats.md, Measurements), or a "
                                 "sheet that one of these describes: %s", known.data);
}

static bool names_column(const char *text, const char *column)
{
    const size_t size = strlen(column);
    for (const char *at = text; at && (at = strchr(at, '{')) != NULL; at++)
        if (!strncmp(at + 1, column, size) && (at[1 + size] == '}' || at[1 + size] == '|'))
            return true;
    return false;
}

static bool reads_column(const struct file_layout *layout, const char *column)
{
    for (size_t i = 0; i < layout->rule_count; i++) {
        const struct layout_rule *rule = &layout->rules[i];
        bool reads = names_column(rule->value, column);
        for (int k = 0; k < rule->condition_count; k++)
            reads |= names_column(rule->conditions[k].left, column) || names_column(rule->conditions[k].right, column);
        if (reads)
            return true;
    }
    return false;
}

size_t layout_unread(struct arena *arena, const struct file_layout *layout, const struct csv *csv, int **columns)
{
    size_t count = 0;
    *columns = arena_array(arena, csv->columns + 1, sizeof **columns);
    for (size_t at = 0; at < csv->columns && !layout->tool; at++) {
        size_t row = 0;
        while (row < csv->rows && !*csv_cell(csv, row, (int)at))
            row++;
        if (row < csv->rows && !reads_column(layout, csv_header(csv, at)))
            (*columns)[count++] = (int)at;
    }
    return count;
}

/* Patterns are compiled while a layout is applied. A pattern that is none is the layout's mistake. */
static bool compile_patterns(struct arena *arena, struct file_layout *layout, struct error *error)
{
    for (size_t i = 0; i < layout->rule_count; i++)
        for (int k = 0; k < layout->rules[i].condition_count; k++) {
            struct layout_condition *condition = &layout->rules[i].conditions[k];
            if (!has_pattern(condition))
                continue;
            condition->pattern = pattern_open(arena, condition->right);
            if (!condition->pattern)
                return wrong_line(error, layout, layout->rules[i].line, "not an extended regular expression");
        }
    return true;
}

static void free_patterns(struct file_layout *layout)
{
    for (size_t i = 0; i < layout->rule_count; i++)
        for (int k = 0; k < layout->rules[i].condition_count; k++) {
            struct layout_condition *condition = &layout->rules[i].conditions[k];
            pattern_close(condition->pattern);
            condition->pattern = NULL;
        }
}

/* ---- applying one ------------------------------------------------------------------------------ */

struct cell { const char *text, *reason; };         /* of an output column; text NULL: not set */

struct cell_memo { const char *text; double value; };

struct applying {
    struct arena *arena;
    const struct file_layout *layout;
    const struct csv *csv;
    size_t row;
    const char *names[COLUMNS_MOST];                /* what rules set, in the order of the layout */
    bool local[COLUMNS_MOST];
    int name_count;
    struct cell now[COLUMNS_MOST];                  /* of this row */
    const char *groups[PATTERN_GROUPS];                     /* of the last pattern that matched */
    struct cell_memo *memos;                             /* [MEMOS] results of arithmetic, by its text */
    struct error *error;
};

enum { MEMOS = 4096 };

static int number_of(const struct applying *applying, const char *name)
{
    for (int i = 0; i < applying->name_count; i++)
        if (!strcmp(applying->names[i], name))
            return i;
    return -1;
}

/* What stands in "{name}" or "[name]"; "" where that is empty. */
static const char *place(const struct applying *applying, const char *name, char kind)
{
    if (kind == '[') {
        const int at = number_of(applying, name);
        return at >= 0 && applying->now[at].text ? applying->now[at].text : "";
    }
    if (name[0] >= '1' && name[0] <= '9' && !name[1])
        return applying->groups[name[0] - '1'] ? applying->groups[name[0] - '1'] : "";
    return csv_cell(applying->csv, applying->row, csv_column(applying->csv, name));
}

/* The text with its places filled; *complete is false if one of them is empty. */
static const char *fill_places(const struct applying *applying, const char *text, bool *complete)
{
    struct buffer out = { .arena = applying->arena };
    buffer_add(&out, "", 0);
    while (*text) {
        const size_t plain = strcspn(text, "{[");
        buffer_add(&out, text, plain);
        text += plain;
        if (!*text)
            break;
        const size_t size = strcspn(text + 1, "}]"), name = strcspn(text + 1, "|}]");
        if (!text[1 + size]) {                      /* no place: it is not closed */
            buffer_print(&out, "%s", text);
            break;
        }
        const char *cell = place(applying, arena_copy(applying->arena, text + 1, name), *text);
        if (!*cell && name < size)
            cell = arena_copy(applying->arena, text + 2 + name, size - name - 1);
        *complete &= *cell != 0;
        buffer_print(&out, "%s", cell);
        text += size + 2;
    }
    return out.data;
}

static void keep_groups(struct applying *applying, const struct text *groups)
{
    for (int i = 0; i < PATTERN_GROUPS; i++)
        applying->groups[i] = groups[i].data ? arena_copy(applying->arena, groups[i].data, groups[i].size) : NULL;
}

static bool holds(struct applying *applying, const struct layout_condition *condition)
{
    bool ignored = true;
    const char *left = fill_places(applying, condition->left, &ignored);
    const char *relation = condition->relation;
    if (!relation || !strcmp(relation, "no"))
        return (*left != 0) == !relation;
    if (strchr(relation, '~')) {
        struct text groups[PATTERN_GROUPS];
        const bool found = pattern_find(condition->pattern, left, groups);
        if (found)
            keep_groups(applying, groups);
        return found == (*relation == '~');
    }
    const char *right = fill_places(applying, condition->right, &ignored);
    if (!strcmp(relation, "=") || !strcmp(relation, "!="))
        return !strcmp(left, right) == (*relation == '=');
    double a, b;
    if (!text_number(text_of(left), &a) || !text_number(text_of(right), &b))
        return false;
    return *relation == '<' ? (relation[1] ? a <= b : a < b) : relation[1] ? a >= b : a > b;
}

/* Arithmetic without names; sheets repeat the same. */
static bool calculate(struct applying *applying, const char *text, double *value)
{
    struct cell_memo *memo = &applying->memos[hash_text(HASH_START, text) % MEMOS];
    if (!memo->text || strcmp(memo->text, text)) {
        static const int no_name = 0;
        const struct formulas none = { .arena = applying->arena, .index = &no_name, .index_size = 1 };
        const struct facts facts = { 0 };
        const struct expr *expr;
        struct graph graph;
        if (!expr_parse(&none, NULL, 0, text_of(text), &expr, applying->error) ||
            !graph_build(applying->arena, &none, &facts, &expr, 1, &graph, applying->error))
            return false;
        graph_value(applying->arena, &graph, NULL, NULL, value);
        *memo = (struct cell_memo){ text, *value };
    }
    *value = memo->value;
    return true;
}

static bool all_hold(struct applying *applying, const struct layout_rule *rule)
{
    for (int i = 0; i < rule->condition_count; i++)
        if (!holds(applying, &rule->conditions[i]))
            return false;
    return true;
}

/* The sheet's line too: what stands there is what the layout's line did not expect. */
static bool wrong_cell(const struct applying *applying, const struct layout_rule *rule)
{
    struct error cause = *applying->error;
    error_set(applying->error, "%s:%d: %s:%d: %s", applying->csv->file, applying->csv->lines[applying->row],
              applying->layout->path, rule->line, cause.what);
    return error_hint_of(applying->error, &cause);
}

static bool follow(struct applying *applying, const struct layout_rule *rule)
{
    bool complete = true;
    const char *text = fill_places(applying, rule->value, &complete);
    if (!complete)
        return true;
    double value;
    if (rule->arithmetic) {
        if (!calculate(applying, text, &value))
            return wrong_cell(applying, rule);
        text = isfinite(value) ? arena_print(applying->arena, "%.15g", value) : NULL;
    }
    applying->now[number_of(applying, rule->name)] =
        (struct cell){ text && strcmp(text, "-") ? text : NULL, rule->reason };
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void name_columns(struct applying *applying)
{
    for (size_t i = 0; i < applying->layout->rule_count; i++) {
        const struct layout_rule *rule = &applying->layout->rules[i];
        if (!rule->name || number_of(applying, rule->name) >= 0)
            continue;
        assert(applying->name_count < COLUMNS_MOST);
        applying->local[applying->name_count] = rule->local;
        applying->names[applying->name_count++] = rule->name;
    }
}

static bool has_reasons(const struct applying *applying, int at, const struct cell *cells)
{
    for (size_t row = 0; row < applying->csv->rows; row++)
        if (cells[row * COLUMNS_MOST + (size_t)at].text && cells[row * COLUMNS_MOST + (size_t)at].reason)
            return true;
    return false;
}

static void write_rows(const struct applying *applying, const struct cell *cells, struct buffer *out)
{
    bool shown[COLUMNS_MOST], reasons[COLUMNS_MOST];
    buffer_print(out, "line");
    for (int i = 0; i < applying->name_count; i++) {
        shown[i] = false;
        for (size_t row = 0; row < applying->csv->rows && !applying->local[i]; row++)
            shown[i] |= cells[row * COLUMNS_MOST + (size_t)i].text != NULL;
        reasons[i] = shown[i] && has_reasons(applying, i, cells);
        if (shown[i])
            buffer_print(out, reasons[i] ? ",%s,%s_from" : ",%s", applying->names[i], applying->names[i]);
    }
    for (size_t row = 0; row < applying->csv->rows; row++) {
        buffer_print(out, "\n%d", applying->csv->lines[row]);
        for (int i = 0; i < applying->name_count; i++) {
            const struct cell *cell = &cells[row * COLUMNS_MOST + (size_t)i];
            if (!shown[i])
                continue;
            buffer_print(out, ",");
            csv_write_cell(out, cell->text);
            if (reasons[i]) {
                buffer_print(out, ",");
                csv_write_cell(out, cell->text ? cell->reason : NULL);
            }
        }
    }
    buffer_print(out, "\n");
}

static bool apply_to_row(struct applying *applying)
{
    bool here = true;                               /* what the last "when" says */
    for (size_t i = 0; i < applying->layout->rule_count; i++) {
        const struct layout_rule *rule = &applying->layout->rules[i];
        if (!rule->name)
            here = all_hold(applying, rule);
        else if (here && all_hold(applying, rule) && !follow(applying, rule))
            return false;
    }
    return true;
}

static bool apply_rules(struct applying *applying, struct cell *cells)
{
    for (applying->row = 0; applying->row < applying->csv->rows; applying->row++) {
        memset(applying->now, 0, sizeof applying->now);
        memset(applying->groups, 0, sizeof applying->groups);
        if (!apply_to_row(applying))
            return false;
        memcpy(cells + applying->row * COLUMNS_MOST, applying->now, sizeof applying->now);
    }
    return true;
}

bool layout_apply(struct arena *arena, struct file_layout *layout, const struct csv *csv, struct buffer *out,
                  struct error *error)
{
    struct applying applying = { .arena = arena, .layout = layout, .csv = csv, .error = error };
    struct cell *cells = arena_array(arena, (csv->rows + 1) * COLUMNS_MOST, sizeof *cells);
    applying.memos = arena_array(arena, MEMOS, sizeof *applying.memos);
    name_columns(&applying);
    const bool applied = compile_patterns(arena, layout, error) && apply_rules(&applying, cells);
    free_patterns(layout);
    if (applied)
        write_rows(&applying, cells, out);
    return applied;
}
