/* root -- the fixed number of steps by which ROOT finds its value. Included after rows/lanes.h.
 *
 * Steps 0 and 1 evaluate f at the two ends; each further step bisects the bracket, at the geometric mean
 * if both ends are positive, until the ends agree to the last digits. An end where f is 0 is the root, and
 * the bracket closes on it: what was evaluated last is then at the root, and slopes are taken there. If f
 * has the same sign at both ends, the value is NaN, which the caller reports. */
enum { LANES_ROOT_STEPS = 66 };

struct lanes_root {
    lanes from, to;                 /* as given, the lower one first */
    lanes low, high;                /* the bracket */
    lanes at_low, at_high;          /* f at the ends as given */
};

static inline struct lanes_root lanes_root_open(lanes from, lanes to)
{
    lanes low = lanes_min(from, to), high = lanes_max(from, to);
    return (struct lanes_root){ low, high, low, high, { 0 }, { 0 } };
}

static inline lanes lanes_root_point(const struct lanes_root *root, int turn)
{
    if (turn < 2)
        return turn ? root->to : root->from;
    return lanes_select(root->low > lanes_splat(0),
                        lanes_sqrt(root->low) * lanes_sqrt(root->high),
                        root->low + (root->high - root->low) * 0.5);
}

static inline void lanes_root_narrow(struct lanes_root *root, int turn, lanes x, lanes f)
{
    if (turn == 0)
        root->at_low = f;
    if (turn == 1)
        root->at_high = f;
    if (turn < 2)
        return;
    const lanes zero = lanes_splat(0);
    lanes_bits same = ((f > zero) == (root->at_low > zero)) | (root->at_high == zero);
    same &= root->at_low != zero;
    root->low = lanes_select(same, x, root->low);
    root->high = lanes_select(same, root->high, x);
}

static inline lanes lanes_root_value(const struct lanes_root *root)
{
    const lanes zero = lanes_splat(0);
    lanes_bits crossing = ((root->at_low < zero) & (root->at_high > zero)) |
                          ((root->at_low > zero) & (root->at_high < zero));
    lanes value = lanes_select(crossing, root->high, lanes_splat(__builtin_nan("")));
    value = lanes_select(root->at_high == zero, root->to, value);
    return lanes_select(root->at_low == zero, root->from, value);
}
