/*
 * Tests preload this library into all programs of a home on a small disk. The disk then looks like one on which the user
 * has a quota: a write to the full disk fails with EDQUOT instead of ENOSPC, and statfs reports free space.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static long quota(long answer) {
  if (answer == -1 && errno == ENOSPC) errno = EDQUOT;
  return answer;
}

ssize_t write(int fd, const void *bytes, size_t count) { REAL(write); return quota(real(fd, bytes, count)); }
ssize_t writev(int fd, const struct iovec *parts, int count) { REAL(writev); return quota(real(fd, parts, count)); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { REAL(pwrite64); return quota(real(fd, bytes, count, at)); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); return quota(real(fd, size)); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); return quota(real(path, mode)); }
int rename(const char *from, const char *to) { REAL(rename); return quota(real(from, to)); }
int link(const char *from, const char *to) { REAL(link); return quota(real(from, to)); }

int posix_fallocate64(int fd, off64_t at, off64_t size) {
  REAL(posix_fallocate64);
  int answer = real(fd, at, size);
  return answer == ENOSPC ? EDQUOT : answer;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    va_list rest; \
    va_start(rest, flags); \
    int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0; \
    va_end(rest); \
    return quota(real(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

#define STATFS(name) \
  int name(const char *path, struct name *found) { \
    REAL(name); \
    int answer = real(path, found); \
    if (answer == 0) found->f_bavail = found->f_bfree = 1 << 20; \
    return answer; \
  }
STATFS(statfs)
STATFS(statfs64)
