/* packed -- a sheet of the catalog as the build has read and checked it (rows/packed.h). */
#ifndef CATALOG_PACKED_H
#define CATALOG_PACKED_H

#include "catalog/catalog.h"
#include "rows/packed.h"

void pack_sheet(struct packer *packer, const struct catalog_sheet *sheet);
/* Its table was unpacked before. The entries point to `sheet`, which must stay where it is. */
void unpack_sheet(struct unpacker *unpacker, enum catalog_kind kind, const struct csv *csv,
                  struct catalog_sheet *sheet);

#endif
