// Attacks through kernel objects that have no path: System V IPC, POSIX message queues, keyrings.
//
// IDs and names come from the test, which made the objects outside and put a secret into each.
#include <limits.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "verdict.h"

enum { kUserKeyring = -4, kKeyctlRead = 11, kKeyctlSearch = 10 };

static int shm_read(char** arg) {
  const char* memory = shmat((int)number(arg[0]), NULL, SHM_RDONLY);
  if (memory == (void*)-1) return -1;
  puts(memory);
  return 0;
}
static int shm_find(char** arg) { return shmget((key_t)number(arg[0]), 0, 0600); }
static int shm_make(char** arg) {
  (void)arg;
  const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  if (id >= 0) shmctl(id, IPC_RMID, NULL);
  return id;
}
static int shm_enumerate(char** arg) {
  (void)arg;
  struct shm_info info;
  return shmctl(0, SHM_INFO, (struct shmid_ds*)&info);
}
static int msg_receive(char** arg) {
  struct {
    long type;
    char text[128];
  } message = {0};
  if (msgrcv((int)number(arg[0]), &message, sizeof message.text, 0, IPC_NOWAIT) < 0) return -1;
  puts(message.text);
  return 0;
}
static int msg_send(char** arg) {
  const struct {
    long type;
    char text[8];
  } message = {1, "attack"};
  return msgsnd((int)number(arg[0]), &message, sizeof message.text, IPC_NOWAIT);
}
static int sem_change(char** arg) { return semctl((int)number(arg[0]), 0, SETVAL, 7); }
static int sem_operate(char** arg) {
  struct sembuf up = {.sem_op = 1};
  return semop((int)number(arg[0]), &up, 1);
}
static int sem_operate_timed(char** arg) {
  struct sembuf up = {.sem_op = 1};
  return semtimedop((int)number(arg[0]), &up, 1, NULL);
}

static int mq_take(char** arg) {
  const mqd_t queue = mq_open(arg[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (queue < 0) return -1;
  char text[8193] = "";
  if (mq_receive(queue, text, sizeof text - 1, NULL) < 0) return -1;
  puts(text);
  return 0;
}
static int mq_remove(char** arg) { return mq_unlink(arg[0]); }

static int key_read(char** arg) {
  const long key = syscall(SYS_keyctl, kKeyctlSearch, kUserKeyring, "user", arg[0], 0);
  char text[128] = "";
  if (key < 0 || syscall(SYS_keyctl, kKeyctlRead, key, text, sizeof text - 1) < 0) return -1;
  puts(text);
  return 0;
}
static int key_request(char** arg) {
  return (int)syscall(SYS_request_key, "user", arg[0], NULL, kUserKeyring);
}
static int key_add(char** arg) {
  return (int)syscall(SYS_add_key, "user", arg[0], "attacked", 8, kUserKeyring);
}

/* By path: what shm_open(3) of the C library does, whatever is preloaded. */
static int open_in_dev_shm(const char* name, int flags) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/dev/shm%s", name);
  return open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}
static int shared_memory_file(char** arg) {
  const int fd = open_in_dev_shm(arg[0], O_RDONLY);
  return fd < 0 ? -1 : print_from(fd);
}
static int shared_memory_create(char** arg) {
  return open_in_dev_shm(arg[0], O_RDWR | O_CREAT | O_EXCL);
}

static const struct verb verbs[] = {
    {"shm_read", 1, shm_read},
    {"shm_find", 1, shm_find},
    {"shm_make", 0, shm_make},
    {"shm_enumerate", 0, shm_enumerate},
    {"msg_receive", 1, msg_receive},
    {"msg_send", 1, msg_send},
    {"sem_change", 1, sem_change},
    {"sem_operate", 1, sem_operate},
    {"sem_operate_timed", 1, sem_operate_timed},
    {"mq_take", 1, mq_take},
    {"mq_remove", 1, mq_remove},
    {"key_read", 1, key_read},
    {"key_request", 1, key_request},
    {"key_add", 1, key_add},
    {"shared_memory_file", 1, shared_memory_file},
    {"shared_memory_create", 1, shared_memory_create},
    {NULL, 0, NULL},
};
