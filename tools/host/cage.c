/* cage.c - Landlock and seccomp by their system calls; other systems have neither. */
/* SPDX-License-Identifier: MIT */
#include "tools/host/cage.h"
#include <stdio.h>
#include <string.h>

#if defined __linux__ && __has_include(<linux/seccomp.h>) && __has_include(<linux/audit.h>)
#define CAGE_LINUX 1
#else
#define CAGE_LINUX 0
#endif

/* Sanitizers read /proc, stop other threads and start programs. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define CAGE_SANITIZED 1
#else
#define CAGE_SANITIZED 0
#endif

void cage_read(struct cage *c, const char *path)
{
    if (c->nread < CAGE_PATHS)
        c->read[c->nread++] = path;
}

#if CAGE_LINUX

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ------------------------------------------------------------------ Landlock */

/* The kernel's numbers, as headers older than the kernel lack them. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define ASK_VERSION 1u
#define RULE_PATH_BENEATH 1

enum {
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_REG = 1 << 8,
    FS_FIRST = (1 << 13) - 1, /* execute to make_sym: version 1 */
    FS_REFER = 1 << 13,       /* version 2 */
    FS_TRUNCATE = 1 << 14,    /* version 3 */
    FS_IOCTL_DEV = 1 << 15,   /* version 5 */
    NET_TCP = 3,              /* version 4: bind, connect */
    SCOPES = 3                /* version 6: abstract sockets, signals */
};

struct ruleset {
    uint64_t fs, net, scoped;
};

struct path_beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/* The version that the kernel has; 0: none, or switched off. */
static int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

    return version > 0 ? (int)version : 0;
}

static int ruleset_new(int version)
{
    struct ruleset r = {.fs = FS_FIRST};
    size_t size = version < 4   ? offsetof(struct ruleset, net)
                  : version < 6 ? offsetof(struct ruleset, scoped)
                                : sizeof r;

    r.fs |= version >= 2 ? FS_REFER : 0;
    r.fs |= version >= 3 ? FS_TRUNCATE : 0;
    r.fs |= version >= 5 ? FS_IOCTL_DEV : 0;
    r.net = version >= 4 ? NET_TCP : 0;
    r.scoped = version >= 6 ? SCOPES : 0;
    return (int)syscall(SYS_landlock_create_ruleset, &r, size, 0);
}

/* A missing path needs no permission. */
static void allow_path(int rules, const char *path, uint64_t what)
{
    struct path_beneath p = {.parent = open(path, O_PATH | O_CLOEXEC)};
    struct stat st;

    if (p.parent < 0)
        return;
    p.allowed = what;
    if (fstat(p.parent, &st) == 0 && !S_ISDIR(st.st_mode))
        p.allowed &= FS_READ_FILE;
    if (p.allowed)
        syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &p, 0);
    close(p.parent);
}

static void landlock_enter(const struct cage *c)
{
    int version = landlock_version();
    int rules = version ? ruleset_new(version) : -1;
    size_t i;

    if (rules < 0)
        return;
    for (i = 0; i < c->nread; i++)
        if (c->read[i])
            allow_path(rules, c->read[i], FS_READ_FILE | FS_READ_DIR);
    if (c->make)
        allow_path(rules, c->make, FS_READ_DIR | FS_MAKE_REG | FS_REMOVE_FILE);
    if (CAGE_SANITIZED)
        allow_path(rules, "/proc", FS_READ_FILE | FS_READ_DIR);
    syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}

/* ------------------------------------------------------------------- seccomp */

/* Machines whose system-call numbers and clone() arguments are known here. */
#if defined __x86_64__ && !defined __ILP32__
#define CAGE_ARCH AUDIT_ARCH_X86_64
#elif defined __i386__
#define CAGE_ARCH AUDIT_ARCH_I386
#elif defined __aarch64__
#define CAGE_ARCH AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define CAGE_ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef CAGE_ARCH

#define CLONE_THREAD_FLAG 0x10000
#define OTHER_ABI 0x40000000 /* x32: the same calls under other numbers */

static const int refused_calls[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_open_by_handle_at,
    SYS_mknodat,
    SYS_symlinkat,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_acct,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_quotactl,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_personality,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_socketcall
    SYS_socketcall,
#endif
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
#ifdef SYS_mknod
    SYS_mknod,
    SYS_symlink,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
#endif
};

enum { REFUSED = sizeof refused_calls / sizeof *refused_calls };

static struct sock_filter bpf_load(size_t offset)
{
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Goes on with the next instruction if the value is equal, else skips so many. */
static struct sock_filter bpf_skip_unless(uint32_t value, uint8_t skip)
{
    return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

static struct sock_filter bpf_return(uint32_t what)
{
    return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what);
}

/* The architecture first: under another one the numbers mean other calls.  clone3() hides its
 * flags, so it is not there, and the C library uses clone(). */
static size_t make_filter(struct sock_filter *f)
{
    size_t i, n = 0;

    f[n++] = bpf_load(offsetof(struct seccomp_data, arch));
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CAGE_ARCH, 1, 0);
    f[n++] = bpf_return(SECCOMP_RET_ERRNO | EPERM);
    f[n++] = bpf_load(offsetof(struct seccomp_data, nr));
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_ABI, 0, 1);
    f[n++] = bpf_return(SECCOMP_RET_ERRNO | EPERM);
    for (i = 0; i < REFUSED; i++) {
        f[n++] = bpf_skip_unless((uint32_t)refused_calls[i], 1);
        f[n++] = bpf_return(SECCOMP_RET_ERRNO | EPERM);
    }
#ifdef SYS_clone3
    f[n++] = bpf_skip_unless(SYS_clone3, 1);
    f[n++] = bpf_return(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    f[n++] = bpf_skip_unless(SYS_clone, 3);
    f[n++] = bpf_load(offsetof(struct seccomp_data, args[0])); /* the low half: little-endian */
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD_FLAG, 1, 0);
    f[n++] = bpf_return(SECCOMP_RET_ERRNO | EPERM);
    f[n++] = bpf_return(SECCOMP_RET_ALLOW);
    return n;
}

static void filter_enter(void)
{
    struct sock_filter code[2 * REFUSED + 20];
    struct sock_fprog program = {.filter = code};

    if (CAGE_SANITIZED)
        return;
    program.len = (unsigned short)make_filter(code);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int filter_offered(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;

    return !CAGE_SANITIZED && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

#else

static void filter_enter(void)
{
}

static int filter_offered(void)
{
    return 0;
}

#endif

/* ------------------------------------------------------------------- the two */

void cage_enter(const struct cage *c)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    landlock_enter(c);
    filter_enter();
}

void cage_offers(char *text, size_t size)
{
    int version = landlock_version(), filter = filter_offered();
    char landlock[40] = "";

    if (version)
        snprintf(landlock, sizeof landlock, "Landlock %d", version);
    snprintf(text, size, "%s%s%s", landlock, version && filter ? ", " : "",
             filter ? "system-call filter" : "");
}

#else

void cage_enter(const struct cage *c)
{
    (void)c;
}

void cage_offers(char *text, size_t size)
{
    snprintf(text, size, "%s", "");
}

#endif
