/* instance -- names that say how many chips stand in one host: instances of clouds ("g5.12xlarge", "VM.GPU.A10.2"),
 * systems ("DGX H100") and words of people ("2x 3090", "H100:8"). data/instances.csv has them. */
#ifndef CATALOG_INSTANCE_H
#define CATALOG_INSTANCE_H

#include "base/base.h"

struct instance {
    const char *machine;        /* its chip: a name of the catalog, or a part of the name that was asked for */
    double chips;
    const char *cloud;          /* who rents it; "": nobody, it is a system or several machines */
    double price;               /* of a chip, USD/h; NAN: none is known */
    const char *source, *date;
    size_t next;                /* where to go on looking */
};

/* The first row of the table from `from` on that a name fits, by '*' for any letters and '#' for a number; in `found`,
 * allocated in the arena. False: no row is left. */
bool instance_called(struct arena *arena, const struct csv *csv, const char *name, size_t from, struct instance *found);

#endif
