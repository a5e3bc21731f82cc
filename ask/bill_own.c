#include "ask/bill.h"
bool bill_own(struct bill *bill)
{
    return error_set(bill->error, "not yet");
}
