/*
 * A disk that fails. Loaded before the C library (LD_PRELOAD), it lets the n-th write, fsync or rename below one
 * directory fail with one error. No header is included, so that a compiler alone is enough to build it.
 *
 * CROFT_FAULT_DIR    below which files count
 * CROFT_FAULT_CALL   write, fsync or rename
 * CROFT_FAULT_N      which one fails; 0: none
 * CROFT_FAULT_ERRNO  5 is EIO, 28 is ENOSPC
 * CROFT_FAULT_STAYS  1: all after it fail as well
 * CROFT_FAULT_RUN    counting begins anew when this changes
 * CROFT_FAULT_COUNT  a file that holds how many there were
 */
typedef unsigned long size_t;
typedef long ssize_t;
typedef long off_t;

extern void *dlsym(void *handle, const char *name);
extern char *getenv(const char *name);
extern int *__errno_location(void);
extern ssize_t readlink(const char *path, char *to, size_t size);
extern int snprintf(char *to, size_t size, const char *format, ...);
extern int strcmp(const char *a, const char *b);
extern int strncmp(const char *a, const char *b, size_t size);
extern size_t strlen(const char *text);
extern char *strncpy(char *to, const char *from, size_t size);
extern int atoi(const char *text);
extern int open(const char *path, int flags, ...);
extern int close(int fd);

#define NEXT ((void *)-1L)
#define CREATE_AND_CUT 01101

static int count;
static char run[64];

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static void note(void) {
  const char *file = setting("CROFT_FAULT_COUNT");
  ssize_t (*put)(int, const void *, size_t, off_t);
  char text[16];
  int fd, length;
  if (!*file) return;
  put = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(NEXT, "pwrite64");
  fd = open(file, CREATE_AND_CUT, 0600);
  if (fd < 0) return;
  length = snprintf(text, sizeof text, "%d", count);
  put(fd, text, (size_t)length, 0);
  close(fd);
}

static int fails(const char *call, const char *path) {
  const char *directory = setting("CROFT_FAULT_DIR");
  int n;
  if (!*directory || strcmp(call, setting("CROFT_FAULT_CALL")) || strncmp(path, directory, strlen(directory))) return 0;
  if (strcmp(run, setting("CROFT_FAULT_RUN"))) {
    strncpy(run, setting("CROFT_FAULT_RUN"), sizeof run - 1);
    count = 0;
  }
  count++;
  note();
  n = atoi(setting("CROFT_FAULT_N"));
  if (n == 0 || (count != n && !(count > n && atoi(setting("CROFT_FAULT_STAYS"))))) return 0;
  *__errno_location() = atoi(setting("CROFT_FAULT_ERRNO"));
  return 1;
}

static int fails_at(const char *call, int fd) {
  char link[64], path[4096];
  ssize_t length;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return fails(call, path);
}

#define REAL(type, name, ...)                              \
  static type (*real)(__VA_ARGS__);                        \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(NEXT, name)

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  return fails_at("write", fd) ? -1 : real(fd, bytes, size);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
  return fails_at("write", fd) ? -1 : real(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
  return fails_at("write", fd) ? -1 : real(fd, bytes, size, at);
}
int ftruncate(int fd, off_t size) {
  REAL(int, "ftruncate", int, off_t);
  return fails_at("write", fd) ? -1 : real(fd, size);
}
int ftruncate64(int fd, off_t size) {
  REAL(int, "ftruncate64", int, off_t);
  return fails_at("write", fd) ? -1 : real(fd, size);
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  return fails_at("fsync", fd) ? -1 : real(fd);
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return fails_at("fsync", fd) ? -1 : real(fd);
}
int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  return fails("rename", to) ? -1 : real(from, to);
}
