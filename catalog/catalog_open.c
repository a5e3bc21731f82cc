#include "catalog/catalog.h"
#include "catalog/sheet.h"

void catalog_open(struct catalog *catalog, struct arena *arena)
{
    *catalog = *catalog_built_in();
    catalog->arena = arena;
    catalog->instances = csv_built_in("data/instances.csv");
}
