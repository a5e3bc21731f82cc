/* calibrate -- the factors of one server from its own measurements, as a file that every verb takes.
 *
 *     files -> points of one server -> fit -> what moved and why, a file of facts, the load to measure next */
#ifndef ASK_CALIBRATE_H
#define ASK_CALIBRATE_H

#include "ask/ask.h"
#include "score/calibration.h"
#include "score/score.h"

struct calibrate {
    struct arena *arena;
    const struct command *command;
    struct error *error;
    struct answer *answer;
    struct section *section;
    struct measured_list points;            /* of all files */
    const struct measured *server;          /* the first point that is calibrated: what the server is */
    struct calibration calibration;
    size_t measured;                        /* its first points; those after them are loads to choose from */
    const char *engine_note;                /* which engine is assumed, and why; NULL: the points say */
    size_t thinned;                         /* points that are predicted alone: enough others are fitted */
    bool strange;                           /* the misfit is too large: another server than was stated */
    bool aside;                     /* a value was set aside: nothing is suggested */
};

/* Prefix of the file's facts, and what the server is. */
bool calibrate_write(struct calibrate *calibrate, const char *path);
/* What other server the values look like, as a section and a member of the document; after the fit. */
void calibrate_evidence(struct calibrate *calibrate);
/* The same as text, for a file of this name. */
bool calibrate_text(struct calibrate *calibrate, const char *path, struct buffer *out);
/* Loads that could be measured, as points without values; before the fit. */
void calibrate_loads(struct calibrate *calibrate);
/* The load that tells most, as a section and a member of the document. */
void calibrate_next(struct calibrate *calibrate);

#endif
