/* The page has the names of its lists alone: no tables of other names (catalog/model_words.c). */
#include "catalog/model_words.h"

bool model_named(struct arena *arena, const struct catalog *catalog, const char *name, struct model_named *named)
{
    (void)arena, (void)catalog, (void)name;
    *named = (struct model_named){ .formats = "", .why = "" };
    return false;
}

bool model_tag(const char *name)
{
    (void)name;
    return false;
}

bool model_explain(struct arena *arena, const struct catalog *catalog, const char *name, struct error *error)
{
    (void)arena, (void)catalog, (void)name, (void)error;
    return false;
}

const struct catalog_entry *model_shape(struct arena *arena, const char *id)
{
    (void)arena, (void)id;
    return NULL;
}

size_t name_group(const char *at, double *group)
{
    (void)at, (void)group;
    return 0;
}
