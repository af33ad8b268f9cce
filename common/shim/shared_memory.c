/* POSIX shared memory and named semaphores in $GUARD_SHM_DIR instead of /dev/shm.
 *
 * glibc keeps them in /dev/shm, a folder that all programs of the user share; granting it to a run
 * would grant every other program's memory. This library, preloaded into the program of a run, puts
 * them into the run's private TMPDIR, so that Python's multiprocessing and shared_memory and their
 * like work. It is a convenience and no protection: a program that does without it is refused
 * /dev/shm by Landlock.
 *
 * Interposed: shm_open(3), shm_unlink(3), sem_open(3), sem_close(3), sem_unlink(3). Without
 * GUARD_SHM_DIR every name is refused with EACCES, which is what /dev/shm would say in a run. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fills `path` with the file of a name as shm_overview(7) allows it: one component, any number of
 * leading slashes. 0, or -1 with errno. */
static int file_of(char path[PATH_MAX], const char* prefix, const char* name) {
  const char* folder = getenv("GUARD_SHM_DIR");
  if (folder == NULL || folder[0] != '/') {
    errno = EACCES;
    return -1;
  }
  while (*name == '/') name++;
  if (*name == '\0' || strchr(name, '/') != NULL) {
    errno = EINVAL;
    return -1;
  }
  const int length = snprintf(path, PATH_MAX, "%s/%s%s", folder, prefix, name);
  if (length < 0 || length >= PATH_MAX || strlen(name) > NAME_MAX - 16) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return 0;
}

int shm_open(const char* name, int flags, mode_t mode) {
  char path[PATH_MAX];
  if (file_of(path, "shm.", name) != 0) return -1;
  return open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode);
}

int shm_unlink(const char* name) {
  char path[PATH_MAX];
  return file_of(path, "shm.", name) == 0 ? unlink(path) : -1;
}

static sem_t* map_and_close(int fd) {
  void* at = mmap(NULL, sizeof(sem_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  errno = error;
  return at == MAP_FAILED ? SEM_FAILED : (sem_t*)at;
}

/* A file that holds a semaphore of this value, under a name of its own; the descriptor, or -1. */
static int make_semaphore(char path[PATH_MAX], mode_t mode, unsigned value) {
  char name[NAME_MAX];
  snprintf(name, sizeof name, "%ld.XXXXXX", (long)getpid());
  if (file_of(path, "new.", name) != 0) return -1;
  const int fd = mkstemp(path);
  if (fd < 0) return -1;
  sem_t semaphore;
  memset(&semaphore, 0, sizeof semaphore);
  if (sem_init(&semaphore, 1, value) == 0 && fchmod(fd, mode & 0777) == 0 &&
      write(fd, &semaphore, sizeof semaphore) == (ssize_t)sizeof semaphore) {
    return fd;
  }
  const int error = errno;
  close(fd);
  unlink(path);
  errno = error;
  return -1;
}

/* Puts a new semaphore under `path` whole, as sem_open(3) promises: link(2) never shows one that is
 * half written and never replaces another's. */
static sem_t* create_semaphore(const char* path, mode_t mode, unsigned value) {
  char fresh[PATH_MAX];
  const int fd = make_semaphore(fresh, mode, value);
  if (fd < 0) return SEM_FAILED;
  const int linked = link(fresh, path);
  const int error = errno;
  unlink(fresh);
  if (linked == 0) return map_and_close(fd);
  close(fd);
  errno = error;
  return SEM_FAILED;
}

sem_t* sem_open(const char* name, int flags, ...) {
  char path[PATH_MAX];
  if (file_of(path, "sem.", name) != 0) return SEM_FAILED;
  mode_t mode = 0;
  unsigned value = 0;
  if ((flags & O_CREAT) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    value = va_arg(rest, unsigned);
    va_end(rest);
  }
  const int exclusive = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
  for (;;) {
    if (!exclusive) {
      const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
      if (fd >= 0) return map_and_close(fd);
      if (errno != ENOENT || (flags & O_CREAT) == 0) return SEM_FAILED;
    }
    sem_t* created = create_semaphore(path, mode, value);
    /* Somebody was faster: theirs is the one to open. */
    if (created != SEM_FAILED || errno != EEXIST || exclusive) return created;
  }
}

int sem_close(sem_t* semaphore) { return munmap(semaphore, sizeof *semaphore); }

int sem_unlink(const char* name) {
  char path[PATH_MAX];
  return file_of(path, "sem.", name) == 0 ? unlink(path) : -1;
}
