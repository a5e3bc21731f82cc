/* Files that appear whole or not at all (output.h). The order is that of every careful writer: write, fsync, rename,
 * fsync of the folder. Where the file system has no files without a name (O_TMPFILE), the file is made under a name
 * beside the other from the start. */
#define _GNU_SOURCE
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cannot_write(const char *what, const char *path, int reason, struct error *error)
{
    error_set(error, "%s: %.200s: %s", what, path, strerror(reason));
    return error_expected(error, "a file that can be written");
}

/* Is there something at the path that rename must not replace? Names in /dev and /proc may lead to what is open. */
static bool is_stream(const char *path, const struct stat *there)
{
    return starts_with(path, "/dev/") || starts_with(path, "/proc/") || !S_ISREG(there->st_mode);
}

/* The file behind a path of links, in `arena`; the path itself where no file is there. */
static const char *place_of(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *place = real ? arena_copy(arena, real, strlen(real)) : path;
    free(real);
    return place;
}

static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash ? "." : slash == path ? "/" : arena_copy(arena, path, (size_t)(slash - path));
}

/* A file for the new content; -1: none can be made. */
static int make_file(struct output *output, const char *folder)
{
    int file = -1;
#ifdef O_TMPFILE
    if (!access("/proc/self/fd", X_OK))                 /* where it gets its name */
        file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
    output->named = file < 0;
    return output->named ? open(output->beside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666) : file;
}

static void keep_mode(int file, const struct stat *old)
{
    if (fchown(file, old->st_uid, old->st_gid))         /* only root may: then the new file is the user's own */
        errno = 0;
    fchmod(file, old->st_mode & 0777);
}

static bool is_named(const char *what, const char *path, struct error *error)
{
    if (strcmp(path, "-"))
        return true;
    error_set(error, "%s: '-' is not the name of a file", what);
    return error_expected(error, "a file; /dev/stdout is standard output, and ./- a file called '-'");
}

bool output_open(struct arena *arena, const char *what, const char *path, struct output *output, struct error *error)
{
    static unsigned count;
    struct stat old;
    *output = (struct output){ .what = what, .path = path, .place = path };
    if (!is_named(what, path, error) || !file_may_write(arena, path, error))
        return false;
    const bool there = !stat(path, &old);
    const int reason = errno;
    if (!there && !lstat(path, &old))               /* a link to nothing, or in a circle: rename would replace it */
        return cannot_write(what, path, reason, error);
    const bool direct = there && is_stream(path, &old);
    int file;
    if (direct) {
        file = open(path, O_WRONLY | O_CLOEXEC | (S_ISREG(old.st_mode) ? O_APPEND : 0));
    } else {
        output->place = there ? place_of(arena, path) : path;
        const char *folder = folder_of(arena, output->place);
        output->beside = arena_print(arena, "%s/.chalkline-%ld-%u", folder, (long)getpid(), ++count);
        file = there && access(path, W_OK) ? -1 : make_file(output, folder);
    }
    output->stream = file < 0 ? NULL : fdopen(file, "w");
    if (!output->stream)
        return cannot_write(what, path, errno, error);
    if (there && !direct)
        keep_mode(file, &old);
    return true;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool output_same(struct arena *arena, const char *path, const char *other)
{
    struct stat one, two;
    const bool missing = stat(path, &one);
    if (missing != (stat(other, &two) != 0))
        return false;
    if (missing && (strcmp(name_of(path), name_of(other)) || stat(folder_of(arena, path), &one) ||
                    stat(folder_of(arena, other), &two)))
        return false;
    return (missing || S_ISREG(one.st_mode)) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* The content is on the disk. Pipes, and file systems that cannot say, have nothing to wait for. */
static bool synchronized(int file)
{
    return !fsync(file) || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

static bool give_name(struct output *output, int file)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", file);
    output->named = output->named || !linkat(AT_FDCWD, self, AT_FDCWD, output->beside, AT_SYMLINK_FOLLOW);
    return output->named;
}

/* The rename itself outlasts a loss of power. */
static void keep_folder(const char *beside)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(beside, '/') - beside), beside);
    const int file = open(*folder ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        fsync(file);
        close(file);
    }
}

bool output_close(struct output *output, struct error *error)
{
    const int file = fileno(output->stream);
    bool good = !ferror(output->stream) && !fflush(output->stream);
    if (output->beside)
        good = good && synchronized(file) && give_name(output, file);
    const int reason = errno;
    const bool closed = !fclose(output->stream);
    output->stream = NULL;
    if (!good)
        errno = reason;
    good = good && closed && (!output->beside || !rename(output->beside, output->place));
    if (good && output->beside)
        keep_folder(output->beside);
    if (good)
        return true;
    cannot_write(output->what, output->path, errno, error);
    if (output->named)
        unlink(output->beside);
    return false;
}

void output_drop(struct output *output)
{
    if (!output->stream)
        return;
    fclose(output->stream);
    output->stream = NULL;
    if (output->named)
        unlink(output->beside);
}

static void unlock(void *file)
{
    close((int)(intptr_t)file);
}

struct holding *output_lock(struct arena *arena, const char *path)
{
    const int folder = path ? open(folder_of(arena, place_of(arena, path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder >= 0 && !flock(folder, LOCK_EX))
        return arena_hold(arena, unlock, (void *)(intptr_t)folder);
    if (folder >= 0)
        close(folder);
    return NULL;
}

bool output_may(struct arena *arena, const char *what, const char *path, struct error *error)
{
    struct output output;
    if (!output_open(arena, what, path, &output, error))
        return false;
    output_drop(&output);
    return true;
}

bool file_write(struct arena *arena, const char *what, const char *path, struct text text, struct error *error)
{
    struct output output;
    if (!output_open(arena, what, path, &output, error))
        return false;
    fwrite(text.data, 1, text.size, output.stream);
    return output_close(&output, error);
}

/* ---- logs --------------------------------------------------------------------------------------- */

bool log_open(const struct arena *arena, const char *what, const char *path, struct output_log *log, struct error *error)
{
    *log = (struct output_log){ what, path, -1 };
    if (!is_named(what, path, error) || !file_may_write(arena, path, error))
        return false;
    log->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    return log->file >= 0 || cannot_write(what, path, errno, error);
}

void log_close(struct output_log *log)
{
    if (log->file >= 0)
        close(log->file);
    log->file = -1;
}

bool log_add(const struct output_log *log, const char *record, size_t size, struct error *error)
{
    const off_t whole = lseek(log->file, 0, SEEK_CUR);
    if (!whole && ftruncate(log->file, 0))
        return cannot_write(log->what, log->path, errno, error);
    for (size_t at = 0; at < size;) {
        const ssize_t wrote = write(log->file, record + at, size - at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            const int reason = wrote ? errno : ENOSPC;
            if (whole >= 0 && !ftruncate(log->file, whole))
                lseek(log->file, whole, SEEK_SET);
            return cannot_write(log->what, log->path, reason, error);
        }
        at += (size_t)wrote;
    }
    return true;
}
