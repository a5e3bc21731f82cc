/* packed -- formulas and tables as the build has read them, in short runs of bytes that are loaded
 * without being read again. The page has them so: tables of C are quicker still, but take more to
 * fetch.
 *
 * Like stands with like, in parts that compress well: texts, each ended by a 0, to which what was loaded
 * points; and counts of one byte or more. Whoever unpacks calls in the order in which it was packed; the
 * bytes are not checked. */
#ifndef ROWS_PACKED_H
#define ROWS_PACKED_H

#include "rows/rows.h"

enum pack_part {
    PACK_COUNTS, PACK_ROWS, PACK_OPERATORS, PACK_PLACES, PACK_OPERANDS, PACK_VALUES,
    PACK_TEXTS, PACK_NAMES, PACK_MEANINGS, PACK_SOURCES, PACK_FORMULAS,
    PACK_PARTS
};

struct packer {
    struct buffer parts[PACK_PARTS];
};

void packer_open(struct packer *packer, struct arena *arena);
void pack_count(struct packer *packer, enum pack_part part, size_t count);
void pack_text(struct packer *packer, enum pack_part part, const char *text);
void pack_csv(struct packer *packer, const struct csv *csv);
/* The formulas of every condition, [FORMULAS_ALL + 1], which have the same names in the same order; without
 * the prose of chapters, which only the reference prints. */
void pack_formulas(struct packer *packer, const struct formulas *sets);

struct unpacker {
    struct arena *arena;
    const char *parts[PACK_PARTS];      /* what comes next in each */
};

size_t unpack_count(struct unpacker *unpacker, enum pack_part part);
const char *unpack_text(struct unpacker *unpacker, enum pack_part part);
void unpack_csv(struct unpacker *unpacker, struct csv *csv);
void unpack_formulas(struct unpacker *unpacker, struct formulas *sets);

#endif
