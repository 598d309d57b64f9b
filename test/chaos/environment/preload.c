/*
 * The chaos run preloads this library into its supervisors, and only there.
 * Wall clock: the library adds the offset in CHAOS_CLOCK (eight bytes, milliseconds), so that the clock can jump without
 * a change of the machine's own. The monotonic clock stays as it is, as it does when a real clock is set.
 * Write log: every write into the database's journal appends a line "PID BIRTH NANOSECONDS" to CHAOS_WITNESS.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;
static int witness = -1;
static long long birth;
static char is_journal[65536];

static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);

__attribute__((constructor)) static void prepare(void) {
  real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  real_open = dlsym(RTLD_NEXT, "open");
  real_close = dlsym(RTLD_NEXT, "close");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  struct timespec now;
  real_clock(CLOCK_MONOTONIC, &now);
  birth = (long long)now.tv_sec * 1000000000 + now.tv_nsec;
  const char *clock_file = getenv("CHAOS_CLOCK"), *witness_file = getenv("CHAOS_WITNESS");
  if (clock_file) {
    int fd = real_open(clock_file, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      void *page = mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
      if (page != MAP_FAILED) offset = page;
      real_close(fd);
    }
  }
  if (witness_file) witness = real_open(witness_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  if (!real_clock) real_clock = dlsym(RTLD_NEXT, "clock_gettime");
  int answer = real_clock(clock, at);
  if (answer == 0 && clock == CLOCK_REALTIME && offset) {
    int64_t all = (int64_t)at->tv_sec * 1000000000 + at->tv_nsec + *offset * 1000000;
    at->tv_sec = all / 1000000000;
    at->tv_nsec = all % 1000000000;
  }
  return answer;
}

int gettimeofday(struct timeval *at, void *zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}

static int remember(const char *path, int fd) {
  static const char name[] = "/oneshot.db-wal";
  size_t length = path ? strlen(path) : 0;
  if (fd >= 0 && fd < (int)sizeof is_journal)
    is_journal[fd] = length >= sizeof name - 1 && strcmp(path + length - (sizeof name - 1), name) == 0;
  return fd;
}

static int open_with(const char *path, int flags, va_list rest) {
  if (!real_open) real_open = dlsym(RTLD_NEXT, "open");
  int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0;
  return remember(path, real_open(path, flags, mode));
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int fd = open_with(path, flags, rest);
  va_end(rest);
  return fd;
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int fd = open_with(path, flags | O_LARGEFILE, rest);
  va_end(rest);
  return fd;
}

int close(int fd) {
  if (!real_close) real_close = dlsym(RTLD_NEXT, "close");
  if (fd >= 0 && fd < (int)sizeof is_journal) is_journal[fd] = 0;
  return real_close(fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  if (!real_pwrite) real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  ssize_t written = real_pwrite(fd, bytes, count, at);
  /* The header of a frame has 24 bytes; SQLite writes its page right after it, in the same process. */
  if (written == 24 && witness >= 0 && fd >= 0 && fd < (int)sizeof is_journal && is_journal[fd]) {
    struct timespec now;
    char line[96];
    real_clock(CLOCK_MONOTONIC, &now);
    long long at = (long long)now.tv_sec * 1000000000 + now.tv_nsec;
    int length = snprintf(line, sizeof line, "%d %lld %lld\n", getpid(), birth, at);
    if (write(witness, line, length) < 0) return written;
  }
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }
