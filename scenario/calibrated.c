/* A scenario whose server was measured (calibrated.h). */
#include "scenario/calibrated.h"

#include "build/row_names.h"
#include "catalog/sheet.h"

#include <string.h>

const char *const calibrated_factors[POSTERIOR_FACTORS] = {
    NAME_fixed_factor, NAME_sequence_factor, NAME_work_factor, NAME_prefill_factor, NAME_ttft_base_factor,
    NAME_ttft_work_factor };
const struct calibrated_field calibrated_fields[POSTERIOR_FIELDS] = {
    { NAME_tpot_factor, NAME_tpot_residual, NAME_tpot_found, NAME_given_tpot_weight },
    { NAME_ttft_factor, NAME_ttft_residual, NAME_ttft_found, NAME_given_ttft_weight } };
const char *const calibrated_axes[POSTERIOR_AXES] = { NAME_load_running, NAME_prompt_tokens, NAME_output_tokens };

double calibrated_number(const char *name, const char *fact)
{
    struct sheet sheet;
    sheet_open("data/calibration.csv", &sheet);
    return sheet_number(&sheet, name, fact);
}

void calibrated_prior(struct posterior_prior *prior)
{
    static const char spread[] = "spread";
    *prior = (struct posterior_prior){ .length = calibrated_number("field", "length"),
                                       .freedom = calibrated_number("scale", "freedom"),
                                       .field = { calibrated_number("tpot_field", spread),
                                                  calibrated_number("ttft_field", spread) },
                                       .noise = { calibrated_number("tpot_noise", spread),
                                                  calibrated_number("ttft_noise", spread) } };
    for (int k = 0; k < POSTERIOR_FACTORS; k++) {
        const double sd = calibrated_number(calibrated_factors[k], spread);
        prior->covariance[k][k] = sd * sd;
    }
}
