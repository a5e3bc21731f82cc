/* What a worker may ask of the kernel: seccomp has a list of the calls that computing needs, and landlock forbids all
 * files, should a descriptor ever lead to one.
 *
 * A call that is not in the list fails with EPERM, as does a new process; threads begin by `clone`, whose flags can be
 * read here, so that `clone3` answers ENOSYS and the C library falls back. A kernel without either goes without it. */
#define _GNU_SOURCE
#include "serve/http_server.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE AUDIT_ARCH_AARCH64
#elif defined(__s390x__)
#define OUR_MACHINE AUDIT_ARCH_S390X
#endif

static void forbid_files(void)
{
    struct landlock_ruleset_attr rules = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
                             LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM };
    const int set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (set < 0)
        return;
    syscall(SYS_landlock_restrict_self, set, 0);
    close(set);
}

#define FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
#define IF_CALL(number, answer) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ANSWER(answer)
#define MAY(name) IF_CALL(SYS_##name, SECCOMP_RET_ALLOW)

static void forbid_calls(void)
{
#ifdef OUR_MACHINE
    /* The low half of the first argument: flags of clone, and whose affinity is set, of which only the caller's may be. */
    enum { FIRST = offsetof(struct seccomp_data, args) + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0) };
    static struct sock_filter program[] = {
        FIELD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_MACHINE, 1, 0), ANSWER(SECCOMP_RET_KILL_PROCESS),
        FIELD(nr),
        MAY(read), MAY(write), MAY(writev), MAY(close), MAY(mmap), MAY(munmap), MAY(mremap), MAY(mprotect), MAY(madvise),
        MAY(brk), MAY(futex), MAY(exit), MAY(exit_group), MAY(rt_sigreturn), MAY(rt_sigprocmask), MAY(rt_sigaction),
        MAY(sigaltstack), MAY(sched_getaffinity), MAY(sched_yield), MAY(set_robust_list), MAY(rseq), MAY(clock_gettime),
        MAY(clock_nanosleep), MAY(nanosleep), MAY(gettimeofday), MAY(getpid), MAY(gettid), MAY(getrusage),
        MAY(restart_syscall), MAY(getrandom),
        IF_CALL(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), ANSWER(SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0), ANSWER(SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIRST),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1), ANSWER(SECCOMP_RET_ALLOW),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog all = { sizeof program / sizeof *program, program };
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
#endif
}

void confine_calls(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    forbid_files();
    forbid_calls();
}
