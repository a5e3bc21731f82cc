/* Any bytes as a picture: SVG whose tags are closed and whose texts are escaped, or an error with its
 * place. */
#include "report/picture.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct buffer *svg)
{
    if (strncmp(svg->data, "<svg ", 5) || strcmp(svg->data + svg->size - 7, "</svg>\n"))
        abort();
    if (strstr(svg->data, "<script"))
        abort();
    if (text_plain((struct text){ svg->data, svg->size }, "\n") < svg->size)
        abort();
    for (const char *at = svg->data; (at = strchr(at, '<')); at++) {
        const char *end = strpbrk(at + 1, "<>");
        if (!end || *end == '<')
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error;
    struct arena arena = { 0 };
    struct buffer svg = { .arena = &arena };
    struct picture *picture;
    if (picture_read(&arena, "fuzz", (struct text){ (const char *)data, size }, &picture, &error)) {
        picture_svg(&svg, picture, 200 + (double)(size % 1000), size % 3 ? 0 : 300,
                    (enum picture_theme)(size % 4));
        check(&svg);
    }
    arena_free(&arena);
    return 0;
}
