#include "meter/measure/fetch.h"

#include <curl/curl.h>

enum { PAGE_MOST = 64 << 20 };

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

bool fetch_text(struct arena *arena, const char *url, double seconds, struct text *text, struct error *error)
{
    struct buffer body = { .arena = arena };
    char reason[CURL_ERROR_SIZE] = "";
    long status = 0;
    CURL *easy = curl_easy_init();
    buffer_add(&body, "", 0);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_page);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
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
    else if (code == CURLE_PARTIAL_FILE)        /* libcurl's own words change with its version */
        error_set(error, "%.200s: the server closed the connection before the whole answer had arrived", url);
    else
        error_set(error, "%.200s: %s", url, *reason ? reason : curl_easy_strerror(code));
    return error_expected(error, "the URL of a server's metrics: http://127.0.0.1:8000/metrics");
}
