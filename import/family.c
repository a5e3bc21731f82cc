/* What a row of data/families.csv says of an architecture; families.c finds and reads the row. All builders ask these, so
 * that they stand below them. */
#include "import/model.h"

bool model_has(const struct model *model, uint64_t trait)
{
    return (model->family->traits & trait) != 0;
}

bool family_default(const struct family *family, const char *field, double *value)
{
    struct text rest = family->defaults;
    while (rest.size) {
        struct text pair = text_until(&rest, ' '), name = text_until(&pair, '=');
        if (text_is(name, field))
            return text_number(pair, value);
    }
    return false;
}
