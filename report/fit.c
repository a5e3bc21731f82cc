#include "report/fit.h"

#include <string.h>

size_t text_columns(struct text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return count;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "1,234.5", "~", "(20.6", "1e-9": the words that a unit follows. */
static bool is_number(struct text word)
{
    bool digit = false;
    while (word.size && strchr("(~+-=<>", *word.data))
        word.data++, word.size--;
    for (size_t i = 0; i < word.size; i++) {
        const char c = word.data[i];
        digit |= is_digit(c);
        if (!is_digit(c) && !strchr(".,", c) && !(i && (c == 'e' || c == '-')))
            return false;
    }
    return digit && is_digit(word.data[word.size - 1]);
}

/* "TP", "ISL", "PP": capitals that a number follows. */
static bool is_measure(struct text word)
{
    for (size_t i = 0; i < word.size; i++)
        if (word.data[i] < 'A' || word.data[i] > 'Z')
            return false;
    return word.size > 1 && word.size < 5;
}

/* May a line end after `before`, and the next one begin with `after`? */
static bool breaks(struct text before, struct text after)
{
    if (!before.size || !after.size)
        return true;
    if (is_number(before))
        return !(is_letter(*after.data) || *after.data == '%' || (unsigned char)*after.data >= 0x80);
    if (before.size == 1 && strchr("~xkMBTP", *before.data))        /* "2 x TP 4", "15 T tokens" */
        return false;
    return !(is_measure(before) && is_digit(*after.data));
}

static struct text next_word(struct text *rest)
{
    struct text word = *rest;
    word.size = 0;
    while (word.size < rest->size && word.data[word.size] != ' ')
        word.size++;
    rest->data += word.size, rest->size -= word.size;
    while (rest->size && *rest->data == ' ')
        rest->data++, rest->size--;
    return word;
}

/* The first run of words that stay together. */
static struct text next_run(struct text *rest)
{
    struct text run = next_word(rest), last = run;
    while (rest->size) {
        struct text after = *rest;
        const struct text word = next_word(&after);
        if (breaks(last, word))
            break;
        run.size = (size_t)(word.data + word.size - run.data);
        last = word;
        *rest = after;
    }
    return run;
}

struct text text_part(struct text text, size_t width, struct text *rest)
{
    *rest = text;
    struct text part = next_run(rest);
    size_t columns = text_columns(part);
    while (rest->size) {
        struct text after = *rest;
        const struct text run = next_run(&after);
        const struct text more = { part.data + part.size, (size_t)(run.data + run.size - part.data) - part.size };
        columns += text_columns(more);
        if (columns > width)
            break;
        part.size += more.size;
        *rest = after;
    }
    return part;
}

size_t text_least(struct text text)
{
    size_t least = 0;
    while (text.size) {
        const size_t columns = text_columns(next_run(&text));
        least = columns > least ? columns : least;
    }
    return least;
}

/* ---- lines ------------------------------------------------------------------------------------ */

static void add_line(struct buffer *out, size_t indent, struct text text, const char *end)
{
    buffer_print(out, "%*s%.*s%s\n", (int)indent, "", (int)text.size, text.data, end);
}

/* A run that is wider than the terminal, such as a path, is cut where it must be. */
static void add_cut(struct buffer *out, size_t indent, struct text text, size_t width)
{
    while (text_columns(text) > width) {
        size_t size = 0;
        for (size_t columns = 0; columns <= width; size++)
            columns += ((unsigned char)text.data[size] & 0xc0) != 0x80;
        size--;
        add_line(out, indent, (struct text){ text.data, size }, "");
        text.data += size, text.size -= size;
    }
    add_line(out, indent, text, "");
}

/* Where the words behind a label begin: after the first two spaces between words. */
static size_t label_end(struct text line, size_t indent)
{
    for (size_t i = indent; i + 2 < line.size; i++)
        if (line.data[i] == ' ' && line.data[i + 1] == ' ') {
            while (i < line.size && line.data[i] == ' ')
                i++;
            return i;
        }
    return indent;
}

/* Under the words behind the label, if enough columns are left there. */
static void fit_words(struct buffer *out, struct text line, size_t indent, size_t label, size_t width)
{
    const size_t column = text_columns((struct text){ line.data, label });
    const size_t under = label > indent && column <= width / 2 ? column : indent > width / 2 ? 2
                       : indent < 4 ? indent + 2 : indent;
    struct text rest, words = { line.data + indent, line.size - indent };
    struct text part = text_part(words, width > indent ? width - indent : 1, &rest);
    add_cut(out, 0, (struct text){ line.data, indent + part.size }, width);
    while (rest.size) {
        words = rest;
        part = text_part(words, width - under, &rest);
        add_cut(out, under, part, width - under);
    }
}

/* One word of a shell, with what is quoted in it. */
static struct text shell_word(struct text *rest)
{
    struct text word = { rest->data, 0 };
    for (char quote = 0; word.size < rest->size && (quote || word.data[word.size] != ' '); word.size++) {
        const char c = word.data[word.size];
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
    }
    rest->data += word.size, rest->size -= word.size;
    while (rest->size && *rest->data == ' ')
        rest->data++, rest->size--;
    return word;
}

/* Does a command begin here, that a reader copies? */
static bool is_command(struct text text)
{
    static const char *const programs[] = { "chalkline ", "vllm ", "python3 ", "llama-server ", "trtllm-serve " };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (text_starts_with(text, programs[i]))
            return true;
    return false;
}

/* Behind the first `head` bytes of the line, which are a label and spaces. */
static void fit_command(struct buffer *out, struct text line, size_t head, size_t width)
{
    size_t at = 0, further = head < width / 3 ? head + 4 : 6;
    struct text rest = { line.data + head, line.size - head }, part = shell_word(&rest);
    part = (struct text){ line.data, head + part.size };
    while (rest.size) {
        struct text after = rest;
        struct text word = shell_word(&after);
        if (word.size > 1 && word.data[0] == '-' && after.size && *after.data != '-') {     /* with its value */
            const struct text value = shell_word(&after);
            word.size = (size_t)(value.data + value.size - word.data);
        }
        const struct text longer = { part.data, (size_t)(word.data + word.size - part.data) };
        if (text_columns(longer) + at + (after.size ? 2 : 0) > width) {
            add_line(out, at, part, " \\");
            at = further + text_columns(word) + 2 <= width ? further : 6;
            part = word;
        } else {
            part = longer;
        }
        rest = after;
    }
    add_line(out, at, part, "");
}

void text_fit(struct buffer *out, struct text text, size_t width)
{
    while (width && text.size) {
        const bool ended = memchr(text.data, '\n', text.size) != NULL;
        const struct text line = text_line(&text);
        size_t indent = 0;
        while (indent < line.size && line.data[indent] == ' ')
            indent++;
        const size_t label = label_end(line, indent);
        if (text_columns(line) <= width)
            buffer_print(out, "%.*s%s", (int)line.size, line.data, ended ? "\n" : "");
        else if (is_command((struct text){ line.data + indent, line.size - indent }))
            fit_command(out, line, indent, width);
        else if (is_command((struct text){ line.data + label, line.size - label }))
            fit_command(out, line, label, width);
        else
            fit_words(out, line, indent, label, width);
    }
    buffer_add(out, text.data, text.size);
}
