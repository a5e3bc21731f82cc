/* The answers that the endpoint of curl.c gives; they live as long as they are asked for. */
#ifndef FUZZ_WIRE_H
#define FUZZ_WIRE_H

#include "base/base.h"

void wire_open(struct text answers);

#endif
