/* In a page nothing stands in the place of calibrate_evidence.c: it calibrates nothing. */
#include "ask/calibrate/calibrate.h"
