/* literal -- text as a string literal of C. */
#include "base/base.h"

static inline void write_string(struct buffer *out, struct text text)
{
    buffer_print(out, "\"");
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            buffer_print(out, "\\%03o", c);
        else
            buffer_add(out, text.data + i, 1);
    }
    buffer_print(out, "\"");
}
