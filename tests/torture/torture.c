/* A library for LD_PRELOAD that fails one call: the n-th of those that can fail (allocations, files, processes, sockets),
 * as the library of C sees them. Tests alone load it (tests/torture.py).
 *
 * TORTURE_FAIL=N: the call that fails, from 1; 0: none. TORTURE_COUNT=PATH: the number of calls is written there when
 * the program ends. Calls before main begins, by the loader and by libraries that initialize, do not count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_ulong calls;
static unsigned long wanted;
static _Atomic(int) begun;

/* Is this the call that fails? */
static int fails(int reason)
{
    if (!begun || ++calls != wanted)
        return 0;
    errno = reason;
    return 1;
}

/* What the library of C does to a stream whose call failed (_IO_ERR_SEEN). */
static void mark(FILE *file)
{
    if (file)
        file->_flags |= 0x20;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAILING(type, name, parameters, arguments, failed, reason)   \
    type name parameters                                             \
    {                                                                \
        static __typeof__(&name) real;                               \
        if (!real)                                                   \
            real = REAL(name);                                       \
        return fails(reason) ? failed : real arguments;              \
    }

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
    return fails(ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(ENOMEM) ? NULL : __libc_realloc(old, size);
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (!real)
        real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    return fails(EMFILE) ? -1 : real(path, flags, mode);
}

FAILING(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
FAILING(FILE *, fdopen, (int file, const char *mode), (file, mode), NULL, ENOMEM)
FAILING(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL, ENOMEM)
FAILING(size_t, fread, (void *data, size_t one, size_t count, FILE *file), (data, one, count, file), (mark(file), (size_t)0), EIO)
FAILING(size_t, fwrite, (const void *data, size_t one, size_t count, FILE *file), (data, one, count, file), (mark(file), (size_t)0), ENOSPC)
FAILING(int, fflush, (FILE *file), (file), (mark(file), EOF), ENOSPC)
FAILING(int, fclose, (FILE *file), (file), (real(file), EOF), EIO)
FAILING(ssize_t, read, (int file, void *data, size_t size), (file, data, size), -1, EIO)
FAILING(ssize_t, write, (int file, const void *data, size_t size), (file, data, size), -1, ENOSPC)
FAILING(int, fsync, (int file), (file), -1, EIO)
FAILING(int, rename, (const char *from, const char *to), (from, to), -1, EIO)
FAILING(int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), -1, EMLINK)
FAILING(char *, realpath, (const char *path, char *out), (path, out), NULL, EIO)
FAILING(int, pipe, (int ends[2]), (ends), -1, EMFILE)
FAILING(pid_t, fork, (void), (), -1, EAGAIN)
FAILING(int, socket, (int family, int type, int protocol), (family, type, protocol), -1, EMFILE)
FAILING(int, connect, (int file, const struct sockaddr *to, socklen_t size), (file, to, size), -1, ECONNREFUSED)
FAILING(int, posix_spawnp, (pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const words[], char *const variables[]),
        (child, path, actions, attributes, words, variables), EAGAIN, EAGAIN)

static void write_count(void)
{
    const char *path = getenv("TORTURE_COUNT");
    char text[40];
    begun = 0;
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0)
        return;
    const int size = snprintf(text, sizeof text, "%lu", (unsigned long)calls);
    if (write(file, text, (size_t)size) != size)
        abort();
    close(file);
}

/* The last constructor before main. */
__attribute__((constructor)) static void begin(void)
{
    wanted = getenv("TORTURE_FAIL") ? strtoul(getenv("TORTURE_FAIL"), NULL, 10) : 0;
    atexit(write_count);
    begun = 1;
}
