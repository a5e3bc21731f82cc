#include "catalog/catalog.h"

void catalog_open(struct catalog *catalog, struct arena *arena)
{
    *catalog = *catalog_built_in();
    catalog->arena = arena;
}
