/* packed FILE.csv... -- write C that holds the formulas, the tables and the catalog as the build has
 * read them, packed for the page (rows/packed.h). The order is that in which web/library.c unpacks:
 * formulas; the number of tables, each table; each sheet of the catalog. */
#include "catalog/packed.h"
#include "catalog/sheet.h"

#include <stdio.h>

int main(int count, char **words)
{
    static struct arena arena;
    struct packer packer;
    struct formulas sets[FORMULAS_ALL + 1];
    packer_open(&packer, &arena);
    for (unsigned i = 0; i <= FORMULAS_ALL; i++)
        sets[i] = *formulas_built_in(i);
    pack_formulas(&packer, sets);
    pack_count(&packer, PACK_COUNTS, (size_t)count - 1);
    for (int i = 1; i < count; i++)
        pack_csv(&packer, csv_built_in(words[i]));
    for (int kind = 0; kind < CATALOG_KINDS; kind++)
        pack_sheet(&packer, &catalog_built_in()->sheets[kind]);
    printf("/* Written by tools/packed.c from formulas/ and data/. */\n#include \"base/embedded.h\"\n");
    for (int i = 0; i < PACK_PARTS; i++) {
        const struct buffer *part = &packer.parts[i];
        printf("static const unsigned char part_%d[] = {", i);
        for (size_t at = 0; at < part->size; at++)
            printf(at % 24 ? "%d," : "\n%d,", (unsigned char)part->data[at]);
        printf("\n};\n");
    }
    printf("const char *const embedded_parts[] = {\n");
    for (int i = 0; i < PACK_PARTS; i++)
        printf("    (const char *)part_%d,\n", i);
    printf("};\n");
    arena_free(&arena);
    return ferror(stdout) != 0;
}
