#include "meter/measure/fetch.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PAGE_MOST = 8000000 };

void fetch_begin(void *easy, const char *url)
{
    static const char protocols[] = "http,https";
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
}

/* ---- proxies, as libcurl takes them from the environment ---------------------------------------- */

/* Is the host, or a domain above it, in the list of no_proxy? */
static bool excepted(struct text host, const char *list)
{
    while (*list) {
        list += strspn(list, ", ");
        const size_t size = strcspn(list, ", ");
        const size_t dot = *list == '.';
        const struct text name = { list + dot, size - dot };
        const bool ends = name.size && host.size >= name.size &&
                          !strncasecmp(host.data + host.size - name.size, name.data, name.size) &&
                          (host.size == name.size || host.data[host.size - name.size - 1] == '.');
        if (ends || (size == 1 && *list == '*'))
            return true;
        list += size;
    }
    return false;
}

static const char *set_one(const char *const *names, const char **name)
{
    for (; *names; names++) {
        const char *value = getenv(*names);
        *name = *names;
        if (value && *value)
            return value;
    }
    return NULL;
}

const char *fetch_proxy(struct arena *arena, const char *url)
{
    static const char *const plain[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL },
                      *const secure[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL },
                      *const except[] = { "no_proxy", "NO_PROXY", NULL };
    const char *begin = strstr(url, "://"), *name, *ignored;
    if (!begin)
        return NULL;
    const char *host = begin + 3;
    const bool bracket = *host == '[';
    const struct text at = { host + bracket, strcspn(host + bracket, bracket ? "]" : ":/?#") };
    const char *proxy = set_one(starts_with(url, "https") ? secure : plain, &name), *list = set_one(except, &ignored);
    if (!proxy || (list && excepted(at, list)))
        return NULL;
    const char *secret = strrchr(proxy, '@');
    return arena_print(arena, "%s: requests go through the proxy %.200s", name, secret ? secret + 1 : proxy);
}

/* ---- a page --------------------------------------------------------------------------------------- */

static size_t keep_page(char *data, size_t one, size_t size, void *context)
{
    struct buffer *buffer = context;
    (void)one;
    if (buffer->size + size > PAGE_MOST)
        return 0;
    buffer_add(buffer, data, size);
    return size;
}

volatile sig_atomic_t fetch_stopped;

static int go_on(void *context, curl_off_t down, curl_off_t downloaded, curl_off_t up, curl_off_t uploaded)
{
    (void)context, (void)down, (void)downloaded, (void)up, (void)uploaded;
    return fetch_stopped;
}

const char *fetch_reason(int code)
{
    enum { TOO_LARGE = 100, TELLS_APART = 0x080600 };       /* CURLE_TOO_LARGE, since 8.6; before, such a head is CURLE_OUT_OF_MEMORY */
    if (code == CURLE_OUT_OF_MEMORY && curl_version_info(CURLVERSION_NOW)->version_num < TELLS_APART)
        return "the head of the answer is too large, or memory has run out";
    return code == TOO_LARGE ? "the head of the answer is too large" : curl_easy_strerror((CURLcode)code);
}

bool fetch_text(struct arena *arena, const char *url, double seconds, struct text *text, struct error *error)
{
    struct buffer body = { .arena = arena };
    const char *proxy = fetch_proxy(arena, url);
    char reason[CURL_ERROR_SIZE] = "";
    long status = 0;
    CURL *easy = curl_easy_init();
    buffer_add(&body, "", 0);
    fetch_begin(easy, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_page);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, go_on);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(1e3 * seconds));
    const CURLcode code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(easy);
    *text = (struct text){ body.data ? body.data : "", body.size };
    if (code == CURLE_OK && status == 200)
        return true;
    if (code == CURLE_OK)
        error_set(error, "%.200s: HTTP status %ld", url, status);
    else if (code == CURLE_WRITE_ERROR) {
        error_set(error, "%.200s: the page is larger than %d MB", url, PAGE_MOST / 1000000);
        return error_expected(error, "a page of metrics of at most that size; of a Prometheus server, a shorter --window or one --job");
    } else if (code == CURLE_PARTIAL_FILE)        /* libcurl's own words change with its version */
        error_set(error, "%.200s: the server closed the connection before the whole answer had arrived", url);
    else
        error_set(error, "%.200s: %s%s%s%s", url, *reason ? reason : fetch_reason((int)code), proxy ? " (" : "", proxy ? proxy : "",
                  proxy ? ")" : "");
    return error_expected(error, "the URL of a server's metrics: http://127.0.0.1:8000/metrics");
}
