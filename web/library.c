/* What is built into the page. It is read when first asked for: as tables of C, which the
 * program has, formulas and sheets would take a fifth more to load. There is one thread. */
#include "base/embedded.h"
#include "rows/rows.h"

#include <assert.h>

static struct arena arena;

/* The tests read all that is built in: no text of it has a fault. */
const struct book *book_built_in(unsigned conditions)
{
    static struct book books[BOOK_ALL + 1];
    struct book *book = &books[conditions];
    struct error error;
    if (book->count)
        return book;
    book_open(book, &arena, conditions);
    for (const struct embedded *file = embedded_formulas; file->path; file++) {
        bool read = book_read(book, file->path, (struct text){ file->data, file->size }, &error);
        assert(read);
        (void)read;
    }
    return book;
}
