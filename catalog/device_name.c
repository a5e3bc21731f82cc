/* Machines by the names that people type, that drivers print and that clouds rent by.
 *
 * A name is cut into words. Words that say no more than who made it ("NVIDIA GeForce", "AMD", "Processor",
 * "8-Core", "11th Gen") are left out of the name that was asked for and of all names of the catalog, and what is
 * left is compared without marks and spaces. A size of memory beside the name chooses among machines that share a
 * driver's name; where none is said, machines of the same speed are one answer and others are refused. */
#include "catalog/catalog.h"
#include "catalog/instance.h"

#include "build/row_names.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_MOST = 128, WORDS_MOST = 32, SHARED_MOST = 12 };
static const double gib = 1073741824;
static const double same_size = 0.15;       /* drivers keep some of it, and tables round: relative */

struct spelled {
    char key[KEY_MOST];                     /* "rtx4060ti16gb" */
    char named[KEY_MOST];                   /* without the size at the end, which a table puts behind a name */
    char bare[KEY_MOST];                    /* without sizes: "rtx4060ti" */
    double memory;                          /* bytes; 0: none is said */
};

struct device_words {
    char text[KEY_MOST];
    char *word[WORDS_MOST];
    size_t count;
    bool apple;                             /* "30-core" without more counts the GPU's cores */
};

/* ---- words ------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    for (; *with; text++, with++)
        if (tolower((unsigned char)*text) != *with)
            return false;
    return true;
}

/* "(16 GB)" and "(10-core GPU)" tell machines apart; what else stands in brackets is a remark. */
static bool tells(const char *open, const char *close)
{
    for (const char *at = open; at < close; at++)
        if ((begins(at, "gb") && at > open && (isdigit((unsigned char)at[-1]) || at[-1] == ' ')) ||
            begins(at, "core"))
            return true;
    return false;
}

/* Lower case without brackets, marks and what follows an "@" or a "with". */
static void tidy(const char *name, char *out)
{
    size_t size = 0;
    for (const char *at = name; *at && *at != '@' && size + 1 < KEY_MOST; at++) {
        const char *close = *at == '(' ? strchr(at, ')') : NULL;
        if (begins(at, " with ") || begins(at, " w/"))
            break;
        if (close && !tells(at, close)) {
            at = close;
            out[size++] = ' ';
        } else if (isalnum((unsigned char)*at)) {
            out[size++] = (char)tolower((unsigned char)*at);
        } else if (*at != '.' && ((unsigned char)*at < 0x80 || starts_with(at, "\xe2\x80"))) {
            out[size++] = ' ';                      /* a mark, such as the hyphen that breaks no line */
        }
    }
    out[size] = 0;
}

static void split(const char *name, struct device_words *words)
{
    tidy(name, words->text);
    words->count = 0;
    for (char *at = words->text; *at && words->count < WORDS_MOST;) {
        while (*at == ' ')
            *at++ = 0;
        if (*at)
            words->word[words->count++] = at;
        while (*at && *at != ' ')
            at++;
    }
}

/* Digits, then `ending`. */
static bool counts(const char *word, const char *ending)
{
    const size_t digits = strspn(word, "0123456789");
    return digits && digits < 5 && !strcmp(word + digits, ending);
}

static bool is_size(const char *word)
{
    return counts(word, "gb") || counts(word, "gib") || counts(word, "g");
}

static const char *after(const struct device_words *words, size_t at)
{
    return at + 1 < words->count ? words->word[at + 1] : "";
}

/* How many words from `at` on say nothing of which machine it is. */
static size_t idle(const struct device_words *words, size_t at)
{
    static const char *const makers[] = { "nvidia", "geforce", "amd", "radeon", "intel", "apple", "tesla",
                                          "instinct", "processor", "cpu", "gpu", "gpus", "cards", "graphics", "generation", "asrock",
                                          "asus", "beelink", "dell", "evga", "framework", "gigabyte", "gmktec", "hp",
                                          "lenovo", "minisforum", "msi", "nimo", "palit", "pny", "sapphire", "xfx",
                                          "zotac" };
    static const char *const housings[] = { "pro", "air", "studio", "mini" };
    static const char *const numbers[] = { "dual", "quad", "six", "eight", "twelve", "sixteen" };
    const char *word = words->word[at], *next = after(words, at);
    if ((counts(word, "") || name_listed(numbers, sizeof numbers / sizeof *numbers, word)) && !strcmp(next, "core"))
        return 2;
    if (!strcmp(word, "imac"))
        return 1;
    if (!strcmp(word, "macbook") || !strcmp(word, "ipad") || !strcmp(word, "mac"))        /* "MacBook Pro M3", "Mac Studio M3 Ultra" */
        return 1 + name_listed(housings, sizeof housings / sizeof *housings, next);
    const bool ordinal = counts(word, "th") || counts(word, "nd") || counts(word, "rd") || counts(word, "st");
    if (ordinal && !strcmp(next, "gen"))
        return 2;
    if (!strcmp(word, "cpu") && at + 1 == words->count)     /* "core-ultra-7-155h-cpu" beside its GPU */
        return 0;
    return name_listed(makers, sizeof makers / sizeof *makers, word);
}

static void append(char *key, const char *word)
{
    const size_t size = strlen(key), more = strlen(word);
    if (size + more < KEY_MOST)
        memcpy(key + size, word, more + 1);
}

/* The cores of an Apple chip's GPU, "16GPU", "16-core GPU" or "16 GPU Core": as its number and a c, in `out`. */
static size_t gpu_cores(const struct device_words *words, size_t at, char out[8])
{
    const char *word = words->word[at];
    const bool cores = counts(word, "") && !strcmp(after(words, at), "core");
    const bool apart = (cores && at + 2 < words->count && !strcmp(words->word[at + 2], "gpu")) ||
                       (counts(word, "") && !strcmp(after(words, at), "gpu") && !strcmp(after(words, at + 1), "core"));
    const bool alone = cores && words->apple && !apart;
    if (!apart && !alone && !counts(word, "gpu"))
        return 0;
    const size_t digits = strspn(word, "0123456789");
    memcpy(out, word, digits);
    memcpy(out + digits, "c", 2);
    return apart ? 3 : alone ? 2 : 1;
}

/* "8P" and "4E" say nothing more beside the cores of the GPU. */
static bool has_gpu_cores(const struct device_words *words)
{
    char ignored[8];
    for (size_t i = 0; i < words->count; i++)
        if (gpu_cores(words, i, ignored))
            return true;
    return false;
}

/* "m3", "m1": the first word of an Apple chip's name, with "Apple", "MacBook" before it or without. */
static bool has_apple(const struct device_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (words->word[i][0] == 'm' && counts(words->word[i] + 1, ""))
            return true;
    return false;
}

static void spell(const char *name, bool loose, struct spelled *spelled)
{
    struct device_words words;
    char cores[8];
    *spelled = (struct spelled){ .memory = 0 };
    split(name, &words);
    words.apple = loose && has_apple(&words);
    const bool gpu = has_gpu_cores(&words);
    for (size_t i = 0, taken; i < words.count; i += taken) {
        const char *word = words.word[i], *next = after(&words, i);
        const bool apart = counts(word, "") && (!strcmp(next, "gb") || !strcmp(next, "gib"));
        taken = 1;
        if (is_size(word) || apart) {
            const double size = strtod(word, NULL);
            char digits[8] = "";
            strncat(digits, word, strspn(word, "0123456789"));
            memcpy(spelled->named, spelled->key, KEY_MOST);
            append(spelled->key, digits);
            append(spelled->key, "gb");
            spelled->memory = size * gib;
            taken = apart ? 2 : 1;
        } else if ((taken = gpu_cores(&words, i, cores)) != 0) {
            append(spelled->key, cores);
            append(spelled->bare, cores);
        } else if ((taken = idle(&words, i)) == 0) {
            taken = 1;
            if (gpu && (counts(word, "p") || counts(word, "e")))
                continue;
            word = strcmp(word, "mobile") ? word : "laptop";
            append(spelled->key, word);
            append(spelled->bare, word);
        }
    }
}

/* ---- machines of that name ------------------------------------------------------------------- */

struct device_match {
    const struct catalog_entry *exact;              /* whose own name it is */
    const struct catalog_entry *shared[SHARED_MOST];    /* whose driver has that name, the machine above too */
    size_t count;
};

/* What people leave away before a name. */
static const char *const fronts[] = { "", "rtx", "gtx", "rx", "arc", "core", "xeon", "pro", "quadro", "ryzen",
                                      "epyc", "jetson", "corei9", "corei7", "corei5", "corei3" };
enum { FRONTS = sizeof fronts / sizeof *fronts, VARIANTS = 3 * FRONTS };

static bool fits(const char *front, const char *asked, const char *key)
{
    const size_t size = strlen(front);
    return !strncmp(key, front, size) && !strcmp(key + size, asked);
}

static void note_match(struct device_match *matches, const struct spelled *asked, const char *key,
                       const struct catalog_entry *entry, bool own)
{
    for (size_t v = 0; v < VARIANTS; v++) {
        struct device_match *match = &matches[v];
        const char *name = v < FRONTS ? asked->key : v < 2 * FRONTS ? asked->named : asked->bare;
        if (!*name || !fits(fronts[v % FRONTS], name, key))
            continue;
        if (own && !match->exact)
            match->exact = entry;
        if (!own && match->count < SHARED_MOST)
            match->shared[match->count++] = entry;
    }
}

static void find_matches(const struct catalog *catalog, const struct spelled *asked, struct device_match *matches)
{
    struct spelled spelled;
    memset(matches, 0, VARIANTS * sizeof *matches);
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_MACHINE); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_MACHINE, i);
        spell(entry->name, false, &spelled);
        note_match(matches, asked, spelled.key, entry, true);
        for (size_t k = 0; k < entry->rows; k++) {
            const struct catalog_row row = catalog_row(entry, k);
            const bool driver = !strcmp(row.fact, "driver_name");
            if (!driver && strcmp(row.fact, "alias") && strcmp(row.fact, "title"))
                continue;
            spell(row.value, false, &spelled);
            note_match(matches, asked, spelled.key, entry, !driver);
        }
    }
}

static double number_of(const struct catalog_entry *entry, const char *fact)
{
    double value = 0;
    catalog_number(entry, fact, &value);
    return value;
}

static double size_of(const struct catalog_entry *entry)
{
    return number_of(entry, NAME_hbm_capacity);
}

static bool same_speed(const struct catalog_entry *a, const struct catalog_entry *b)
{
    return number_of(a, NAME_hbm_bandwidth) == number_of(b, NAME_hbm_bandwidth) &&
           number_of(a, NAME_peak_fp32) == number_of(b, NAME_peak_fp32) &&
           number_of(a, NAME_peak_bf16) == number_of(b, NAME_peak_bf16);
}

static const char *others(struct arena *arena, const struct device_match *match, const struct catalog_entry *but)
{
    struct buffer all = { .arena = arena };
    for (size_t i = 0; i < match->count; i++)
        if (match->shared[i] != but)
            buffer_print(&all, "%s%s (%.4g GiB, %.4g GB/s)", all.size ? ", " : "", match->shared[i]->name,
                         size_of(match->shared[i]) / gib, number_of(match->shared[i], NAME_hbm_bandwidth) / 1e9);
    return all.size ? all.data : NULL;
}

/* Of the machines that share the name, the one of this size; NULL: none. */
static const struct catalog_entry *of_size(const struct device_match *match, double memory)
{
    const struct catalog_entry *best = NULL;
    for (size_t i = 0; i < match->count; i++) {
        const double off = fabs(size_of(match->shared[i]) / memory - 1);
        if (off <= same_size && (!best || off < fabs(size_of(best) / memory - 1)))
            best = match->shared[i];
    }
    return best;
}

/* The smallest, if they differ in nothing but size; NULL: they do. */
static const struct catalog_entry *alike(const struct device_match *match)
{
    const struct catalog_entry *least = match->shared[0];
    for (size_t i = 1; i < match->count; i++) {
        if (!same_speed(match->shared[0], match->shared[i]))
            return NULL;
        if (size_of(match->shared[i]) < size_of(least))
            least = match->shared[i];
    }
    return least;
}

static bool choose_device(struct arena *arena, const char *name, const struct device_match *match, double memory,
                          struct catalog_called *called, struct error *error)
{
    const struct catalog_entry *entry = memory > 0 ? of_size(match, memory) : NULL;
    const bool sized = entry != NULL;
    entry = entry ? entry : match->exact;
    entry = entry || !match->count ? entry : alike(match);
    if (!entry) {
        error_set(error, "'%.100s' is the name of %zu machines", name, match->count);
        return error_expected(error, "one of: %s", others(arena, match, NULL));
    }
    const char *rest = sized ? NULL : others(arena, match, entry);
    *called = (struct catalog_called){ .entry = entry };
    if (rest)
        called->note = arena_print(arena, "%.100s is taken as %s; the name also stands for %s", name, entry->name,
                                   rest);
    const char *family = catalog_text(entry, "family");
    if (memory > size_of(entry) * (1 + same_size) && family && !strcmp(family, "apple")) {
        error_set(error, "'%.100s': %s is sold with %.0f GB at most", name, entry->title, size_of(entry) / gib);
        return error_expected(error, "the chip that has so much memory, or %s without it", entry->name);
    }
    if (memory > 0 && fabs(size_of(entry) / memory - 1) > same_size)
        called->memory = memory;
    return true;
}

/* ---- cards, and machines of one memory -------------------------------------------------------- */

static bool memory_begins(const struct catalog_entry *machine, const char *with)
{
    const char *kind = catalog_text(machine, "memory_kind");
    return kind && starts_with(kind, with);
}

bool catalog_shares_memory(const struct catalog_entry *machine)
{
    return memory_begins(machine, "unified") || memory_begins(machine, "LPDDR");
}

bool catalog_is_card(const struct catalog_entry *machine)
{
    return memory_begins(machine, "GDDR") || memory_begins(machine, "HBM");
}

bool catalog_stands_alone(const struct catalog_entry *machine)
{
    return catalog_text(machine, "memory_kind") && !catalog_is_card(machine) &&
           !catalog_text(machine, NAME_scale_up_bandwidth);
}

/* ---- looking up --------------------------------------------------------------------------------- */

/* Takes a word off the end that tells no two machines apart: "cpu" of a processor, the link of a card. */
static int without_end(char *key)
{
    static const char *const endings[] = { "cpu", "pcie", "nvlink", "oam" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(key, endings[i]) && strcmp(key, endings[i])) {
            key[strlen(key) - strlen(endings[i])] = 0;
            return 1;
        }
    return 0;
}

/* How a name was looked up: WRONG: it is known, and `error` says why it is no answer. */
enum look { NOT_THERE, WRONG, FOUND };

/* With `loose`, the cores that an Apple chip's name counts are the GPU's. */
static enum look look_up_as(const struct catalog *catalog, const char *name, bool loose, struct catalog_called *called,
                            struct error *error)
{
    struct spelled asked;
    struct device_match matches[VARIANTS];
    spell(name, loose, &asked);
    do {
        if (!*asked.bare)
            return NOT_THERE;
        find_matches(catalog, &asked, matches);
        for (size_t v = 0; v < VARIANTS; v++)
            if (matches[v].exact || matches[v].count)
                return choose_device(catalog->arena, name, &matches[v], v < FRONTS ? 0 : asked.memory, called, error)
                       ? FOUND : WRONG;
    } while (without_end(asked.key) + without_end(asked.named) + without_end(asked.bare));
    return NOT_THERE;
}

static enum look look_up_one(const struct catalog *catalog, const char *name, struct catalog_called *called,
                             struct error *error)
{
    const enum look look = look_up_as(catalog, name, true, called, error);
    return look == NOT_THERE ? look_up_as(catalog, name, false, called, error) : look;
}

/* "H100s" is a plural; a capital S is a part of the name, and so is the s of "4080s" (SUPER) and of a processor. */
static enum look look_up(const struct catalog *catalog, const char *name, struct catalog_called *called,
                         struct error *error)
{
    const enum look look = look_up_one(catalog, name, called, error);
    const size_t size = strlen(name);
    if (look != NOT_THERE || size < 2 || name[size - 1] != 's' || !catalog->arena)
        return look;
    const char *one = arena_copy(catalog->arena, name, size - 1);
    if (look_up_one(catalog, arena_print(catalog->arena, "%s super", one), called, NULL) != NOT_THERE)
        return NOT_THERE;
    const enum look plural = look_up_one(catalog, one, called, error);
    return plural == FOUND && catalog_stands_alone(called->entry) ? NOT_THERE : plural;
}

/* "L40S (48)": a number behind a card's name that is its memory in GB counts no cards. */
static bool counts_memory(const struct catalog *catalog, const char *name, const struct instance *one,
                          struct catalog_called *called)
{
    struct catalog_called sized;
    const char *open = strchr(name, '(');
    if (!open || open == name || !counts(arena_copy(catalog->arena, open + 1, strcspn(open + 1, ")")), "") ||
        look_up(catalog, arena_print(catalog->arena, "%s %.0f GB", one->machine, one->chips), &sized, NULL) != FOUND ||
        (round(size_of(sized.entry) / gib) != one->chips && round(size_of(sized.entry) / 1e9) != one->chips))
        return false;
    *called = sized;
    called->note = arena_print(catalog->arena, "%.100s is read as one card of %.0f GB; %.0fx%s is %.0f cards", name, one->chips,
                               one->chips, sized.entry->name, one->chips);
    return true;
}

/* An instance of a cloud, a system or several machines, by the first row whose chip is known. */
static enum look look_up_instance(const struct catalog *catalog, const char *name, struct catalog_called *called,
                                  struct error *error)
{
    struct instance one = { .next = 0 };
    while (catalog->instances && instance_called(catalog->arena, catalog->instances, name, one.next, &one)) {
        const struct catalog_entry *exact = catalog_known(catalog, CATALOG_MACHINE, one.machine);
        enum look look = NOT_THERE;
        if (exact && !strcasecmp(exact->name, one.machine)) {
            *called = (struct catalog_called){ .entry = exact };
            look = FOUND;
        } else if (*one.machine) {
            look = look_up(catalog, one.machine, called, error);
        }
        if (look == NOT_THERE || (look == FOUND && strchr(name, '(') && catalog_stands_alone(called->entry)))    /* "Ryzen 9 5950X (32)" */
            continue;
        if (counts_memory(catalog, name, &one, called))
            return FOUND;
        called->chips = one.chips;
        called->cloud = *one.cloud ? one.cloud : NULL;
        called->price = one.price;
        called->price_source = arena_print(catalog->arena, "%s, %s", one.source, one.date);
        return look;
    }
    return NOT_THERE;
}

/* A slice of TPUs is called by its size behind the name: in chips, or in cores of which a chip has two. */
static enum look look_up_slice(const struct catalog *catalog, const char *name, struct catalog_called *called,
                               struct error *error)
{
    char one[KEY_MOST];
    const char *hyphen = strrchr(name, '-');
    if (!hyphen || !counts(hyphen + 1, "") || hyphen - name >= KEY_MOST)
        return NOT_THERE;
    memcpy(one, name, (size_t)(hyphen - name));
    one[hyphen - name] = 0;
    if (look_up(catalog, one, called, error) != FOUND || !catalog_text(called->entry, "slice_counts"))
        return NOT_THERE;
    called->chips = strtod(hyphen + 1, NULL) / number_of(called->entry, "slice_counts");
    return called->chips >= 1 ? FOUND : NOT_THERE;
}

/* ---- names that are not there ------------------------------------------------------------------ */

/* The machine that the end of a name means, where its first words are misspelt; NULL: none. */
static const char *of_its_end(const struct catalog *catalog, const char *name)
{
    struct catalog_called called;
    struct error ignored;
    for (const char *at = strchr(name, ' '); at; at = strchr(at + 1, ' '))
        if (strpbrk(at, "0123456789") && look_up(catalog, at + 1, &called, &ignored) == FOUND)
            return called.entry->name;
    return NULL;
}

static bool same_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && !isdigit((unsigned char)*a))
            a++;
        while (*b && !isdigit((unsigned char)*b))
            b++;
        if (!*a || *a != *b)
            return *a == *b;
    }
}

/* There is no RTX 4090 Ti: among the keys with this number the nearest; NULL: none is near. */
static const char *nearest_of_number(struct arena *arena, const char *key, const char *const *keys, size_t count)
{
    const char **same = arena_array(arena, count + 1, sizeof *same);
    size_t found = 0;
    for (size_t i = 0; i < count && strpbrk(key, "0123456789"); i++)
        if (same_digits(keys[i], key))
            same[found++] = keys[i];
    return name_nearest(key, same, found);
}

/* The name or alias that is spelled most like it; NULL: none is near. */
static const char *nearest(const struct catalog *catalog, const char *name)
{
    struct arena *arena = catalog->arena;
    const char **keys = NULL, **names = NULL;
    size_t count = 0, room = 0, other = 0, other_room = 0;
    struct spelled spelled;
    for (size_t i = 0; i < catalog_count(catalog, CATALOG_MACHINE); i++) {
        const struct catalog_entry *entry = catalog_entry(catalog, CATALOG_MACHINE, i);
        for (size_t k = 0; k <= entry->rows; k++) {
            const struct catalog_row row = catalog_row(entry, k ? k - 1 : 0);
            if (k && strcmp(row.fact, "alias") && strcmp(row.fact, "driver_name"))
                continue;
            const char *one = k ? row.value : entry->name;
            spell(one, false, &spelled);
            *(const char **)arena_push(arena, &keys, &count, &room, sizeof *keys) =
                arena_copy(arena, spelled.key, strlen(spelled.key));
            *(const char **)arena_push(arena, &names, &other, &other_room, sizeof *names) = one;
        }
    }
    spell(name, false, &spelled);
    const char *near = nearest_of_number(arena, spelled.key, keys, count);
    near = near ? near : name_nearest(spelled.key, keys, count);
    for (size_t i = 0; near && i < count; i++)
        if (keys[i] == near)
            return names[i];
    return NULL;
}

static bool unknown(const struct catalog *catalog, const char *name, struct error *error)
{
    if (!error)
        return false;
    const char *near = of_its_end(catalog, name);
    near = near ? near : nearest(catalog, name);
    error_set(error, "unknown machine '%.200s'", name);
    if (near)
        return error_did_you_mean(error, near, " Or a file of your own, as `chalkline measure -o FILE.csv` writes it");
    return error_expected(error, "one of the %zu names of `chalkline list hardware`, or the path of a file, as "
                          "`chalkline measure -o FILE.csv` writes it", catalog_count(catalog, CATALOG_MACHINE));
}

/* ---- unlike cards -------------------------------------------------------------------------------- */

/* "rtx-4090 + 2x rtx-3090": each part is a card. NOT_THERE: no part is a card, as in "M4 Pro
 * 8P+4E". */
static enum look look_up_cards(const struct catalog *catalog, const char *name, struct catalog_called *called, struct error *error)
{
    enum { KINDS_MOST = 8 };
    struct catalog_cards cards[KINDS_MOST];
    struct arena *arena = catalog->arena;
    struct buffer title = { .arena = arena };
    const char *wrong = NULL, *apart = NULL;
    size_t kinds = 0;
    double chips = 0;
    for (const char *at = name; *at && arena;) {
        const size_t size = strcspn(at, "+");
        const struct text part = text_trim((struct text){ at, size });
        const char *one = arena_copy(arena, part.data, part.size);
        at += size + (at[size] == '+');
        struct catalog_called found = { .entry = catalog_known(catalog, CATALOG_MACHINE, one) };
        if ((!found.entry && look_up_instance(catalog, one, &found, NULL) != FOUND && look_up(catalog, one, &found, NULL) != FOUND) || catalog_stands_alone(found.entry) ||
            catalog_shares_memory(found.entry) || kinds == KINDS_MOST) {
            wrong = one;
            apart = found.entry && kinds < KINDS_MOST ? one : apart;
            continue;
        }
        struct catalog_cards *card = &cards[kinds++];
        *card = (struct catalog_cards){ found.entry, found.memory,
                                        found.chips > 0 ? found.chips : 1 };
        chips += card->chips;
        buffer_print(&title, kinds > 1 ? " + " : "%s", "");
        if (card->chips > 1)
            buffer_print(&title, "%.0f x ", card->chips);
        buffer_print(&title, "%s", found.entry->title);
    }
    if (kinds && apart && error) {
        error_set(error, "%s: '%.200s' cannot share a host with other cards", name, apart);
        return error_expected(error, "cards that share a host, as in rtx-4090+rtx-3090, or %.100s alone", apart), WRONG;
    }
    if (kinds < 2 || wrong)
        return kinds && wrong && *wrong && (look_up(catalog, wrong, called, error) == WRONG || !unknown(catalog, wrong, error))
               ? WRONG : NOT_THERE;
    struct catalog_cards *kept = arena_array(arena, kinds, sizeof *kept);
    memcpy(kept, cards, kinds * sizeof *kept);
    *called = (struct catalog_called){ .entry = cards[0].entry, .chips = chips, .cards = kept, .kinds = kinds, .title = title.data };
    return FOUND;
}

bool catalog_machine_called(const struct catalog *catalog, const char *name, struct catalog_called *called,
                            struct error *error)
{
    struct catalog_met *met = catalog_met(catalog, name);
    if (met && met->called.entry) {
        *called = met->called;
        return true;
    }
    if (met && met->none && !error)
        return false;
    *called = (struct catalog_called){ .entry = catalog_known(catalog, CATALOG_MACHINE, name) };
    if (called->entry && !strcmp(called->entry->name, name))
        return true;
    enum look look = strchr(name, '+') ? look_up_cards(catalog, name, called, error) : NOT_THERE;
    if (look == NOT_THERE)
        look = look_up_instance(catalog, name, called, error);
    if (look == NOT_THERE)
        look = look_up(catalog, name, called, error);
    if (look == NOT_THERE)
        look = look_up_slice(catalog, name, called, error);
    if (met && look == FOUND)
        met->called = *called;
    if (met && look == NOT_THERE)
        met->none = true;
    return look == FOUND || (look == NOT_THERE && unknown(catalog, name, error));
}
