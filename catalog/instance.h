/* instance -- names of several chips: instances of clouds ("g5.12xlarge", "VM.GPU.A10.2"), systems ("DGX H100") and
 * counts as people write them ("2x 3090", "H100:8"). data/instances.csv lists them. */
#ifndef CATALOG_INSTANCE_H
#define CATALOG_INSTANCE_H

#include "base/base.h"

struct instance {
    const char *machine;        /* its chip: a name of the catalog, or a part of the name that was looked up */
    double chips;
    const char *cloud;          /* that rents it out; "": it is a system, or several machines */
    double price;               /* of a chip, USD/h; NAN: not known */
    const char *source, *date;
    size_t next;                /* the row from which to continue */
};

/* Find the first row from `from` on that has a pattern for the name; '*' stands for any letters and '#' for a number.
 * `found` is allocated in the arena. False: no further row fits. */
bool instance_called(struct arena *arena, const struct csv *csv, const char *name, size_t from, struct instance *found);

#endif
