/* devices -- data/devices.csv, a machine in each row, as lines of data/hardware.csv. */
#ifndef CATALOG_DEVICES_H
#define CATALOG_DEVICES_H

#include "base/base.h"

#define DEVICES_FILE "data/devices.csv"
#define DEVICE_SOURCES_FILE "data/device_sources.csv"

/* `narrow` has the columns of data/hardware.csv, and the lines of `wide`. False: a source is not there. */
bool devices_expand(struct arena *arena, const struct csv *wide, const struct csv *sources, struct csv *narrow,
                    struct error *error);

/* The name that a machine of this title has where its row has none: "RTX 4060 Ti 16 GB" is rtx-4060-ti-16gb. */
void device_name_of(const char *title, char *name, size_t room);

#endif
