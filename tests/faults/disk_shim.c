/* A disk that can be watched and can fail. Preloaded into the process that runs the fault tests.
 *
 * Only files below one folder count. faults_record() writes every change of them into a log, from
 * which replay.py builds what a power cut would have left. faults_arm() lets calls fail.
 * A child of fork() inherits both. A new program starts with neither, unless STATE in its
 * environment names the file of faults_share(): then it writes the same log, and its calls are
 * counted with those of the process that started it.
 *
 * Log: records of the struct `record`, each followed by `path_length` and `data_length` bytes.
 * `offset` of an OPEN says whether it is a folder; `data` of a RENAME or LINK is the new path.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define STATE "UWF_FAULTS_STATE"

enum kind {
    OPEN = 1, READ = 2, WRITE = 4, TRUNCATE = 8, SYNC = 16, RENAME = 32, UNLINK = 64, MKDIR = 128,
    OPEN_TO_WRITE = 256, LINK = 512
};

struct record {
    uint32_t kind;
    uint32_t path_length;
    uint64_t inode;
    int64_t offset;
    uint64_t data_length;
};

/* What the processes that share a disk have in common. */
struct state {
    char root[PATH_MAX];
    size_t root_length;
    char log[64];
    long seen[32];
    unsigned armed_kinds;
    long armed_at, armed_count;
    int armed_errno, armed_sticky, armed_short;
};

static struct state own, *state = &own;
static int log_fd = -1;

__attribute__((constructor)) static void join(void) {
    const char *path = getenv(STATE);
    int fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (found == MAP_FAILED) return;
    state = found;
    if (*state->log) log_fd = syscall(SYS_openat, AT_FDCWD, state->log, O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* ---- what the tests call ---- */

static void set_root(const char *path) {
    snprintf(state->root, sizeof state->root, "%s", path);
    state->root_length = strlen(state->root);
}

/* Let programs share what is recorded and armed from now on, by the file descriptor `fd`. */
int faults_share(int fd) {
    int made = memfd_create("state", MFD_CLOEXEC);
    if (made < 0 || ftruncate(made, sizeof own)) return -1;
    void *found = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
    if (found == MAP_FAILED || dup3(made, fd, O_CLOEXEC) < 0) return -1;
    syscall(SYS_close, made);
    memcpy(found, state, sizeof own);
    state = found;
    return 0;
}

void faults_record(const char *path, int fd) {
    set_root(path);
    log_fd = fd;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_APPEND);
    snprintf(state->log, sizeof state->log, "/proc/%d/fd/%d", (int)getpid(), fd);
}

/* Let the `at`-th call (from 1) of `kinds` fail with `error`, and all later ones if `sticky`.
 * `shortened`: a write stores half of its bytes first; without an error it says so. */
void faults_arm(const char *path, unsigned kinds, long at, int error, int sticky, int shortened) {
    set_root(path);
    memset(state->seen, 0, sizeof state->seen);
    state->armed_kinds = kinds; state->armed_at = at; state->armed_count = 0;
    state->armed_errno = error; state->armed_sticky = sticky; state->armed_short = shortened;
}

/* How many calls of these kinds there were since faults_arm(). */
long faults_seen(unsigned kinds) {
    long sum = 0;
    for (int bit = 0; bit < 32; bit++) if (kinds >> bit & 1) sum += state->seen[bit];
    return sum;
}

/* ---- which calls count ---- */

static int is_ours(const char *path) {
    return state->root_length && !strncmp(path, state->root, state->root_length) && (path[state->root_length] == '/' || !path[state->root_length]);
}

static int path_of_fd(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int fd_is_ours(int fd) {
    char path[PATH_MAX];
    int before = errno, ours = state->root_length && path_of_fd(fd, path) && is_ours(path);
    errno = before;
    return ours;
}

static int absolute(int folder, const char *name, char *path) {
    char start[PATH_MAX];
    if (!state->root_length || !name) return 0;
    if (name[0] == '/') snprintf(path, PATH_MAX, "%s", name);
    else if (folder == AT_FDCWD ? getcwd(start, sizeof start) != NULL : path_of_fd(folder, start)) {
        if (strlen(start) + strlen(name) + 2 > PATH_MAX) return 0;
        strcpy(path, start); strcat(path, "/"); strcat(path, name);
    } else return 0;
    return is_ours(path);
}

/* Whether this call is to fail. */
static int fails(unsigned kind) {
    state->seen[__builtin_ctz(kind)]++;
    if (!(state->armed_kinds & kind)) return 0;
    state->armed_count++;
    if (state->armed_count != state->armed_at && !(state->armed_sticky && state->armed_count > state->armed_at)) return 0;
    return 1;
}

static void note(unsigned kind, const char *path, uint64_t inode, int64_t offset, const void *data, size_t length) {
    if (log_fd < 0) return;
    int before = errno;
    struct record record = {kind, path ? strlen(path) : 0, inode, offset, length};
    struct iovec parts[] = {
        {&record, sizeof record}, {(void *)path, record.path_length}, {(void *)data, length}
    };
    syscall(SYS_writev, log_fd, parts, 3);
    errno = before;
}

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : found.st_ino;
}

/* ---- opening ---- */

static int opened(int folder, const char *name, int flags, int mode) {
    char path[PATH_MAX];
    int ours = absolute(folder, name, path);
    if (ours && fails(flags & O_ACCMODE ? OPEN_TO_WRITE : OPEN)) { errno = state->armed_errno; return -1; }
    int fd = syscall(SYS_openat, folder, name, flags, mode);
    if (fd >= 0 && ours) {
        struct stat found;
        note(OPEN, path, inode_of(fd), !fstat(fd, &found) && S_ISDIR(found.st_mode), NULL, 0);
        if (flags & O_TRUNC) note(TRUNCATE, NULL, inode_of(fd), 0, NULL, 0);
    }
    return fd;
}

#define MODE(flags) ({ int mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, int); va_end(list); } mode; })

int open(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags | O_LARGEFILE, MODE(flags)); }
int openat(int folder, const char *path, int flags, ...) { return opened(folder, path, flags, MODE(flags)); }
int openat64(int folder, const char *path, int flags, ...) { return opened(folder, path, flags | O_LARGEFILE, MODE(flags)); }

/* What `_FORTIFY_SOURCE` makes of them. */
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
int __openat_2(int folder, const char *path, int flags) { return opened(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return opened(folder, path, flags | O_LARGEFILE, 0); }

/* ---- reading and writing ---- */

ssize_t read(int fd, void *data, size_t length) {
    if (state->root_length && fd_is_ours(fd) && fails(READ)) { errno = state->armed_errno; return -1; }
    return syscall(SYS_read, fd, data, length);
}

ssize_t __read_chk(int fd, void *data, size_t length, size_t room) {
    return read(fd, data, length < room ? length : room);
}

static ssize_t read_at(int fd, void *data, size_t length, off_t offset) {
    if (state->root_length && fd_is_ours(fd) && fails(READ)) { errno = state->armed_errno; return -1; }
    return syscall(SYS_pread64, fd, data, length, offset);
}

ssize_t pread(int fd, void *data, size_t length, off_t offset) { return read_at(fd, data, length, offset); }
ssize_t pread64(int fd, void *data, size_t length, off64_t offset) { return read_at(fd, data, length, offset); }

/* `offset` -1: where the descriptor stands. */
static ssize_t written(int fd, const void *data, size_t length, off_t offset) {
    if (!state->root_length || !fd_is_ours(fd))
        return offset < 0 ? syscall(SYS_write, fd, data, length) : syscall(SYS_pwrite64, fd, data, length, offset);
    int fault = fails(WRITE);
    if (fault && !state->armed_short) { errno = state->armed_errno; return -1; }
    if (fault && length < 2) fault = 0;
    size_t wanted = fault ? length / 2 : length;
    off_t start = offset;
    if (offset < 0) {
        struct stat found;
        int append = (fcntl(fd, F_GETFL) & O_APPEND) && !fstat(fd, &found);
        start = append ? found.st_size : lseek(fd, 0, SEEK_CUR);
    }
    ssize_t done = offset < 0 ? syscall(SYS_write, fd, data, wanted) : syscall(SYS_pwrite64, fd, data, wanted, offset);
    if (done > 0) note(WRITE, NULL, inode_of(fd), start, data, done);
    if (fault && state->armed_errno) { errno = state->armed_errno; return -1; }
    return done;
}

ssize_t write(int fd, const void *data, size_t length) { return written(fd, data, length, -1); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return written(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return written(fd, data, length, offset); }

static int truncated(int fd, off_t length) {
    int ours = fd_is_ours(fd);
    if (ours && fails(TRUNCATE)) { errno = state->armed_errno; return -1; }
    int done = syscall(SYS_ftruncate, fd, length);
    if (!done && ours) note(TRUNCATE, NULL, inode_of(fd), length, NULL, 0);
    return done;
}

int ftruncate(int fd, off_t length) { return truncated(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncated(fd, length); }

static int synced(int fd, long number) {
    int ours = fd_is_ours(fd);
    if (ours && fails(SYNC)) { errno = state->armed_errno; return -1; }
    int done = syscall(number, fd);
    if (!done && ours) note(SYNC, NULL, inode_of(fd), 0, NULL, 0);
    return done;
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

/* ---- names ---- */

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    int ours = absolute(from_folder, from, old) & absolute(to_folder, to, new);
    if (ours && fails(RENAME)) { errno = state->armed_errno; return -1; }
    int done = syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
    if (!done && ours) note(RENAME, old, 0, 0, new, strlen(new));
    return done;
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char old[PATH_MAX], new[PATH_MAX];
    int ours = absolute(from_folder, from, old) & absolute(to_folder, to, new);
    if (ours && fails(LINK)) { errno = state->armed_errno; return -1; }
    int done = syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    if (!done && ours) note(LINK, old, 0, 0, new, strlen(new));
    return done;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    int ours = absolute(folder, name, path);
    if (ours && fails(UNLINK)) { errno = state->armed_errno; return -1; }
    int done = syscall(SYS_unlinkat, folder, name, flags);
    if (!done && ours) note(UNLINK, path, 0, 0, NULL, 0);
    return done;
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    int ours = absolute(folder, name, path);
    if (ours && fails(MKDIR)) { errno = state->armed_errno; return -1; }
    int done = syscall(SYS_mkdirat, folder, name, mode);
    if (!done && ours) note(MKDIR, path, 0, 0, NULL, 0);
    return done;
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
