// The smallest io_uring there is: one entry at a time, waited for.
//
// What goes through a ring is no system call, so no filter of system calls is asked about it.
#pragma once

#include <linux/io_uring.h>
#include <sys/mman.h>

#include "verdict.h"

struct ring {
  int fd;
  char* submitted;  // the submission queue's indices
  char* completed;  // the completion queue
  struct io_uring_sqe* entries;
  struct io_uring_params params;
};

// < 0: refused, errno says how.
static inline int ring_open(struct ring* ring) {
  memset(ring, 0, sizeof *ring);
  struct io_uring_params* params = &ring->params;
  ring->fd = (int)syscall(SYS_io_uring_setup, 4, params);
  if (ring->fd < 0) return -1;
  const int access = PROT_READ | PROT_WRITE;
  ring->submitted = mmap(NULL, params->sq_off.array + params->sq_entries * sizeof(uint32_t), access,
                         MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
  ring->completed =
      mmap(NULL, params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe), access,
           MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
  ring->entries = mmap(NULL, params->sq_entries * sizeof(struct io_uring_sqe), access, MAP_SHARED,
                       ring->fd, IORING_OFF_SQES);
  if (ring->submitted == MAP_FAILED || ring->completed == MAP_FAILED ||
      (void*)ring->entries == MAP_FAILED) {
    broken("mmap of the ring");
  }
  return 0;
}

// Submits one entry and waits for it. Its result, or -1 and errno.
static inline int ring_do(struct ring* ring, struct io_uring_sqe entry) {
  uint32_t* tail = (uint32_t*)(ring->submitted + ring->params.sq_off.tail);
  uint32_t* head = (uint32_t*)(ring->completed + ring->params.cq_off.head);
  const uint32_t slot = *tail & (ring->params.sq_entries - 1);
  ring->entries[slot] = entry;
  ((uint32_t*)(ring->submitted + ring->params.sq_off.array))[slot] = slot;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) return -1;
  const uint32_t at = *head & (ring->params.cq_entries - 1);
  const int result = ((struct io_uring_cqe*)(ring->completed + ring->params.cq_off.cqes))[at].res;
  __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
  if (result >= 0) return result;
  errno = -result;
  return -1;
}
