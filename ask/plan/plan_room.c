/* What may be rented: how many of each machine, at which price, within a budget or a site's power, with hosts to spare.
 *
 *     --on h100-sxm=64@2.1USD/h,mi300x=32 --budget 50000USD/month --spare-hosts 1 */
#include "ask/plan/plan.h"
#include "scenario/values.h"

#include <math.h>
#include <string.h>

bool plan_read_machine(struct plan *plan, const char *text, struct machine_wanted *wanted)
{
    const char *price = text ? strchr(text, '@') : NULL, *most = text ? strchr(text, '=') : NULL;
    *wanted = (struct machine_wanted){ .name = text };
    if (most && price && most > price)
        most = NULL;
    if (!price && !most)
        return true;
    wanted->name = arena_copy(plan->arena, text, (size_t)((most ? most : price) - text));
    wanted->price = price ? price + 1 : NULL;
    if (!most)
        return true;
    const size_t size = price ? (size_t)(price - most - 1) : strlen(most + 1);
    const char *number = arena_copy(plan->arena, most + 1, size);
    if (text_number(text_of(number), &wanted->most) && wanted->most >= 1 && wanted->most == floor(wanted->most))
        return true;
    error_set(plan->error, "--on: invalid number of GPUs '%.40s' of %.60s", number, wanted->name);
    return error_expected(plan->error, "a whole number, as in --on h100-sxm=64@2.1USD/h,mi300x=32");
}

bool plan_set_price(struct plan *plan, struct scenario *scenario, const struct machine_wanted *wanted)
{
    return !wanted->price || scenario_set_row(scenario, NAME_chip_price, wanted->price, ORIGIN_AXIS, "--on", plan->error);
}

/* What limits the GPUs besides their number: the row that is given, the GPUs that it allows, and the fewest that it is spent on. */
static const struct cap {
    const char *row, *chips, *fewest, *option, *does, *one, *whole;
} caps[] = {
    { NAME_rent_budget, NAME_budget_chips, NAME_least_rented, "--budget", "pays for", "--budget 5000USD/month", "--budget 50000USD/month" },
    { NAME_site_power, NAME_site_chips, NAME_board_chips, "--site-power", "powers", "--site-power 10kW", "--site-power 1MW" } };
enum { CAPS = sizeof caps / sizeof *caps };

bool plan_capped(const struct scenario *scenario)
{
    bool capped = false;
    for (int i = 0; i < CAPS; i++)
        capped |= fact_given(facts_find(&scenario->facts, caps[i].row));
    return capped;
}

static bool take_cap(struct plan *plan, struct scenario *scenario, const struct cap *cap, double *room)
{
    const char *const rows[] = { cap->chips, cap->fewest };
    struct values values;
    if (!fact_given(facts_find(&scenario->facts, cap->row)))
        return true;
    if (!values_of(scenario, rows, 2, &values, plan->error))
        return false;
    *room = fmin(*room, values.at[0]);
    if (values.at[0] > 0)
        return true;
    const bool one = values.at[1] <= 1;
    error_set(plan->error, "%s %s no %s of %s", cap->option, cap->does, one ? "GPU" : "host", scenario->machine);
    return error_expected(plan->error, one ? "more, as in %s, for single GPUs" : "more, as in %s, for whole hosts of %.0f GPUs",
                          one ? cap->one : cap->whole, values.at[1]);
}

bool plan_read_room(struct plan *plan, struct scenario *scenario, const struct machine_wanted *wanted, double *gpus)
{
    static const char *const rows[] = { NAME_spare_hosts, NAME_least_rented, NAME_board_chips };
    struct values values;
    double room = wanted->most > 0 ? fmin(plan->gpus, wanted->most) : plan->gpus;
    if (!values_of(scenario, rows, 3, &values, plan->error))
        return false;
    for (int i = 0; i < CAPS; i++)
        if (!take_cap(plan, scenario, &caps[i], &room))
            return false;
    const double spare = ceil(values.at[0]), board = values.at[2];
    /* A spare host is as large as the others: a board at most, and where parts of boards are rented no larger than the
     * deployment that fills them. */
    *gpus = room < ENDLESS ? room - spare * board : room;
    if (values.at[1] < board && room < ENDLESS)
        *gpus = fmax(*gpus, floor(room / (1 + spare)));
    if (!(*gpus >= 1)) {
        error_set(plan->error, "--spare-hosts %g: no GPU of %.0f is left for replicas on %s", values.at[0], room,
                  scenario->machine);
        return error_expected(plan->error, "fewer spare hosts, or more GPUs");
    }
    if (*gpus != plan->gpus)
        facts_set(&scenario->facts, NAME_deployment_chips, *gpus, ORIGIN_AXIS, "plan");
    return true;
}

static const struct option room_list[] = {
    { "users", "N", OPTION_ROW, .row = NAME_users_demand, .otherwise = "from --rate",
      .help = "requests in flight that the deployment is to serve" },
    { NAME_concurrency, "N", OPTION_ROW, .row = NAME_concurrency_most, .otherwise = "no limit",
      .help = "requests in flight of one replica, at most" },
    { "budget", "USD/month", OPTION_ROW, .row = NAME_rent_budget, .bare = "USD/month",
      .plausible = "10USD/month..2e8USD/month", .otherwise = "no limit",
      .help = "rent of the whole deployment, at most" },
    { "site-power", "W", OPTION_ROW, .row = NAME_site_power, .bare = "W", .plausible = "1kW..10GW", .otherwise = "no limit",
      .help = "power of the site, host, network and cooling included" },
    { "spare-hosts", "N", OPTION_ROW, .row = NAME_spare_hosts, .otherwise = "0",
      .help = "hosts beside those that serve, for one that fails" },
    { 0 } };
const struct option_group room_options = { "Room", room_list };
