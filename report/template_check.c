/* template_check: are the names in a template those of the answer? */
#include "report/template_parts.h"

#include <string.h>

/* Records whose keys may stand here: the innermost, then those around it. */
struct known_record {
    const struct record *record;
    const struct known_record *outer;
};

struct template_checker {
    const char *file;
    struct error *error;
};

static bool is_key(const struct answer_field *field, const char *name)
{
    if (field->key)
        return !strcmp(field->key, name);
    for (size_t i = 0; i < field->count; i++)
        if (field->names[i] && !strcmp(field->names[i], name))
            return true;
    return false;
}

static const struct answer_field *find_key(const struct record *record, const char *name)
{
    const struct answer_field *found = NULL;
    for (const struct answer_field *field = record->fields; field->kind && !found; field++)
        found = field->kind == FIELD_ALSO ? find_key(field->record, name)
                : is_key(field, name)     ? field : NULL;
    return found;
}

static const struct answer_field *find_known(const struct known_record *known, const char *name)
{
    const struct answer_field *found = NULL;
    for (; *name == '^' && known->outer; name++)
        known = known->outer;
    for (; known && !found; known = known->outer)
        found = find_key(known->record, name);
    return found;
}

static bool unknown(const struct template_checker *checker, const struct template_part *part, const char *name)
{
    return error_set(checker->error, "%s:%d: the answer has no '%s'", checker->file, part->line, name);
}

static bool check_parts(const struct template_checker *checker, const struct known_record *known,
                        const struct template_part *part);

/* What there is of each text of a list, and of the records that are left out. */
static const struct record text_record = { "text", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "text", "first" }, .count = 2 }, { 0 } } };
static const struct record more_record = { "more", (const struct answer_field[]){
    { FIELD_TEXT_ONLY, .names = (const char *const[]){ "more" }, .count = 1 }, { 0 } } };

/* The figures of a section's records, and of what stands for those left out. */
static bool check_each(const struct template_checker *checker, const struct known_record *known, const struct template_part *part)
{
    const struct answer_field *field = find_known(known, part->name);
    if (!field || (field->kind != FIELD_TEXTS && !field->record))
        return unknown(checker, part, part->name);
    const struct record *record = field->kind == FIELD_TEXTS ? &text_record : field->record;
    /* Of an object of objects each is a record. */
    const struct answer_field *first = record->fields;
    if ((first->kind == FIELD_OTHERS || first->kind == FIELD_RECORD) && !first->key && first->record)
        record = record->fields->record;
    return check_parts(checker, &(struct known_record){ record, known }, part->then) &&
           check_parts(checker, &(struct known_record){ &more_record, known }, part->other);
}

static bool check_parts(const struct template_checker *checker, const struct known_record *known,
                        const struct template_part *part)
{
    for (; part; part = part->next) {
        if (part->kind == PART_EACH) {
            if (!check_each(checker, known, part))
                return false;
            continue;
        }
        if (part->kind == PART_FIGURE && !find_known(known, part->name))
            return unknown(checker, part, part->name);
        for (const struct template_condition *one = part->condition; one; one = one->next)
            if (!find_known(known, one->name) || (one->other && !find_known(known, one->other)))
                return unknown(checker, part, find_known(known, one->name) ? one->other : one->name);
        if (!check_parts(checker, known, part->then) || !check_parts(checker, known, part->other) ||
            !check_parts(checker, known, part->cells))
            return false;
    }
    return true;
}

bool template_check(const struct template *template, const struct record *record, struct error *error)
{
    const struct template_checker checker = { template->file, error };
    return check_parts(&checker, &(struct known_record){ record, NULL }, template->parts);
}
