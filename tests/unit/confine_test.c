/* What a worker of `serve` can still do: compute on several threads, and nothing else. Each attempt is made in a process
 * of its own, before and after it is confined: what fails without it too is no test. */
#define _GNU_SOURCE
#include "test.h"
#include "serve/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int try_open(void)       { return open("/proc/self/status", O_RDONLY); }
static int try_create(void)     { return open("/tmp", O_TMPFILE | O_RDWR, 0600); }
static int try_stat(void)       { struct stat ignored; return stat("/", &ignored); }
static int try_list(void)       { return (int)syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", &(char[9]){ 0 }, 8); }
static int try_socket(void)     { return socket(AF_INET, SOCK_STREAM, 0); }
static int try_pair(void)       { int ends[2]; return socketpair(AF_UNIX, SOCK_STREAM, 0, ends); }
static int try_signal(void)     { return kill(getppid(), 0); }
static int try_limits(void)     { struct rlimit ignored; return prlimit(getppid(), RLIMIT_CPU, NULL, &ignored); }
static int try_memory(void)     { return memfd_create("memory", 0); }
static int try_priority(void)   { return setpriority(PRIO_PROCESS, 0, 1); }
static int try_execute(void)    { return execl("/bin/true", "true", (char *)NULL); }

static int try_fork(void)
{
    const pid_t child = fork();
    if (!child)
        _exit(0);
    return child;
}

static int try_threads(void)
{
    int sum = 0;
    omp_set_num_threads(THREADS_CONFINED > 3 ? 3 : THREADS_CONFINED);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    return sum == 4950 ? 0 : -1;
}

static int try_allocate(void)
{
    char *memory = malloc(1 << 24);
    if (memory)
        memset(memory, 1, 1 << 24);
    return memory ? 0 : -1;
}

static const struct {
    const char *name;
    int (*try)(void);
    bool may;
} attempts[] = {
    { "open", try_open, false }, { "create", try_create, false }, { "stat", try_stat, false },
    { "readlink", try_list, false }, { "socket", try_socket, false }, { "socketpair", try_pair, false },
    { "kill", try_signal, false }, { "prlimit", try_limits, false }, { "memfd", try_memory, false },
    { "setpriority", try_priority, false }, { "fork", try_fork, false }, { "execute", try_execute, false },
    { "threads", try_threads, true }, { "allocate", try_allocate, true },
};

/* 0: it worked; else why it did not. */
static int outcome(int (*attempt)(void), bool confined)
{
    int status;
    const pid_t child = fork();
    if (!child) {
        omp_set_num_threads(1);                     /* clang's runtime opens shared memory as it begins */
        if (confined)
            confine_calls();
        _exit(attempt() < 0 ? errno : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void computing_is_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(attempts); i++) {
        const int before = outcome(attempts[i].try, false), after = outcome(attempts[i].try, true);
        if (before || after != (attempts[i].may ? 0 : EPERM))
            fail_msg("%s: %d before, %d confined", attempts[i].name, before, after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(computing_is_all) };
    return cmocka_run_group_tests_name("confine", tests, NULL, NULL);
}
