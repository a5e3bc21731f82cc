/* template_parts -- a parsed template, which template_read.c makes and template.c prints. */
#ifndef REPORT_TEMPLATE_PARTS_H
#define REPORT_TEMPLATE_PARTS_H

#include "report/template.h"

enum part_kind { PART_TEXT, PART_FIGURE, PART_IF, PART_EACH, PART_CELLS };
enum compare { HAS_VALUE, HAS_INTERVAL, HAS_RANGE, LESS, MORE, AT_MOST, AT_LEAST, EQUAL, UNEQUAL };

struct template_condition {
    const char *name;
    bool negated;
    enum compare compare;
    double number;                  /* the right side is a number, */
    const char *word, *other;       /*   or a word, or the figure of this name */
    const struct template_condition *next;   /* another condition that must hold too */
};

struct template_part {
    enum part_kind kind;
    int line;
    const char *text;               /* TEXT; of CELLS what stands before them */
    const char *name;               /* of a FIGURE, or of the section of an EACH */
    char format;                    /* : # - ~ % . @ = < */
    int digits;                     /* or columns, or records at most */
    bool range;                     /* behind the value */
    bool right;                     /* a cell that is aligned to the right */
    double scale;                   /* of the unit after a '.' or a '#' */
    const struct template_condition *condition;
    struct template_part *then, *other;      /* of an IF; of an EACH a record, and what was left out */
    struct template_part *cells, *next;      /* of CELLS: each an IF without condition, or an EACH */
};

struct template {
    const char *file;
    struct template_part *parts;
};

#endif
