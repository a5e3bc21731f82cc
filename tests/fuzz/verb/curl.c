/* In the place of libcurl: an endpoint that answers at once, with what the fuzzer made up (wire.h).
 *
 * The answers stand one after the other, behind lines of "%%". The first is that of /clock, the second of /v1/models, the
 * others take turns; the last is all that are missing. Lines that begin with < are its head: <404 is a status, anything
 * else a header. A body comes in three pieces. */
#define CURL_DISABLE_TYPECHECK
#include "tests/fuzz/verb/wire.h"

#include <assert.h>
#include <curl/curl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

struct transfer {
    const char *url;
    curl_write_callback body, header;
    void *body_to, *header_to, *owner;
    long status;
    CURLMsg message;
    struct transfer *next;
};
struct all {
    struct transfer *waiting, *over;
};

struct text wire_answers;
static size_t turn;

void wire_open(struct text answers)
{
    wire_answers = answers;
    turn = 0;
}

static struct text answer_at(size_t number)
{
    struct text rest = wire_answers, line;
    const char *begin = rest.data;
    while (rest.size) {
        line = text_line(&rest);
        if (line.size != 2 || memcmp(line.data, "%%", 2))
            continue;
        if (!number--)
            return (struct text){ begin, (size_t)(line.data - begin) };
        begin = rest.data;
    }
    return (struct text){ begin, (size_t)(wire_answers.data + wire_answers.size - begin) };
}

static bool hand(curl_write_callback to, void *context, struct text text)
{
    char *copy = malloc(text.size ? text.size : 1);         /* reads beyond the end are seen */
    memcpy(copy, text.data, text.size);
    const bool taken = !to || !text.size || to(copy, 1, text.size, context) == text.size;
    free(copy);
    return taken;
}

CURLcode curl_easy_perform(CURL *easy)
{
    struct transfer *transfer = easy;
    struct text rest = answer_at(strstr(transfer->url, "/clock") ? 0 : strstr(transfer->url, "/v1/models") ? 1 : 2 + turn++ % 6);
    transfer->status = 200;
    while (rest.size && *rest.data == '<') {
        const struct text line = text_line(&rest);
        double status;
        if (text_number((struct text){ line.data + 1, line.size - 1 }, &status) && status >= 100 && status < 1000)
            transfer->status = (long)status;
        else if (!hand(transfer->header, transfer->header_to, (struct text){ line.data + 1, line.size - 1 }))
            return CURLE_WRITE_ERROR;
    }
    for (size_t left = 3; left; left--) {
        const struct text piece = { rest.data, rest.size / left };
        if (!hand(transfer->body, transfer->body_to, piece))
            return CURLE_WRITE_ERROR;
        rest = (struct text){ rest.data + piece.size, rest.size - piece.size };
    }
    return CURLE_OK;
}

CURL *curl_easy_init(void)
{
    return calloc(1, sizeof(struct transfer));
}

void curl_easy_cleanup(CURL *easy)
{
    free(easy);
}

void curl_easy_reset(CURL *easy)
{
    *(struct transfer *)easy = (struct transfer){ 0 };
}

CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    struct transfer *transfer = easy;
    va_list values;
    va_start(values, option);
    switch ((int)option) {
    case CURLOPT_URL: transfer->url = va_arg(values, const char *); break;
    case CURLOPT_WRITEFUNCTION: transfer->body = va_arg(values, curl_write_callback); break;
    case CURLOPT_WRITEDATA: transfer->body_to = va_arg(values, void *); break;
    case CURLOPT_HEADERFUNCTION: transfer->header = va_arg(values, curl_write_callback); break;
    case CURLOPT_HEADERDATA: transfer->header_to = va_arg(values, void *); break;
    case CURLOPT_PRIVATE: transfer->owner = va_arg(values, void *); break;
    }
    va_end(values);
    return CURLE_OK;
}

CURLcode curl_easy_getinfo(CURL *easy, CURLINFO what, ...)
{
    const struct transfer *transfer = easy;
    va_list values;
    va_start(values, what);
    switch ((int)what) {
    case CURLINFO_RESPONSE_CODE: *va_arg(values, long *) = transfer->status; break;
    case CURLINFO_PRETRANSFER_TIME_T: *va_arg(values, curl_off_t *) = 0; break;
    case CURLINFO_PRIVATE: *va_arg(values, void **) = transfer->owner; break;
    default: assert(false);
    }
    va_end(values);
    return CURLE_OK;
}

const char *curl_easy_strerror(CURLcode code)
{
    return code == CURLE_WRITE_ERROR ? "the answer was not taken" : "no error";
}

curl_version_info_data *curl_version_info(CURLversion which)
{
    static curl_version_info_data info = { .version_num = LIBCURL_VERSION_NUM };
    return (void)which, &info;
}

CURLcode curl_global_init(long flags)
{
    (void)flags;
    return CURLE_OK;
}

void curl_global_cleanup(void)
{
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text)
{
    struct curl_slist *more = calloc(1, sizeof *more);
    *more = (struct curl_slist){ strdup(text), list };
    return more;
}

void curl_slist_free_all(struct curl_slist *list)
{
    for (struct curl_slist *next; list; list = next) {
        next = list->next;
        free(list->data);
        free(list);
    }
}

CURLM *curl_multi_init(void)
{
    return calloc(1, sizeof(struct all));
}

CURLMcode curl_multi_cleanup(CURLM *multi)
{
    free(multi);
    return CURLM_OK;
}

CURLMcode curl_multi_setopt(CURLM *multi, CURLMoption option, ...)
{
    (void)multi, (void)option;
    return CURLM_OK;
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy)
{
    struct transfer **last = &((struct all *)multi)->waiting;
    while (*last)
        last = &(*last)->next;
    *last = easy;
    return CURLM_OK;
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy)
{
    struct all *all = multi;
    struct transfer **const lists[] = { &all->waiting, &all->over };
    for (int i = 0; i < 2; i++)
        for (struct transfer **at = lists[i]; *at; at = &(*at)->next)
            if (*at == easy) {
                *at = (*at)->next;
                break;
            }
    return CURLM_OK;
}

CURLMcode curl_multi_perform(CURLM *multi, int *running)
{
    struct all *all = multi;
    while (all->waiting) {
        struct transfer *transfer = all->waiting;
        all->waiting = transfer->next;
        transfer->next = all->over;
        all->over = transfer;
        transfer->message = (CURLMsg){ .msg = CURLMSG_DONE, .easy_handle = transfer };
        transfer->message.data.result = curl_easy_perform(transfer);
    }
    *running = 0;
    return CURLM_OK;
}

CURLMsg *curl_multi_info_read(CURLM *multi, int *left)
{
    struct all *all = multi;
    struct transfer *transfer = all->over;
    *left = 0;
    if (transfer)
        all->over = transfer->next;
    return transfer ? &transfer->message : NULL;
}

CURLMcode curl_multi_poll(CURLM *multi, struct curl_waitfd *more, unsigned count, int milliseconds, int *ready)
{
    (void)multi, (void)more, (void)count, (void)milliseconds, (void)ready;
    return CURLM_OK;
}
