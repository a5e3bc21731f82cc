/* In a page nothing stands in the place of calibration.c: it calibrates nothing. */
#include "score/calibration.h"
