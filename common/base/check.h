// GUARD_CHECK: a broken promise of our own. Prints where and aborts (a core dump, if cores are on).
// What a client, a file or the kernel can cause is an Error (result.h), never a check.
#pragma once

#include <cstdio>
#include <cstdlib>

#define GUARD_CHECK(condition)                                                             \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
