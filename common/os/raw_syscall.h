// A system call and nothing else: no errno, no thread-local storage, no cancellation point. For
// code that runs between fork(2) and execve(2), where another thread's memory may be shared.
//
// Returns what the kernel returns: a value, or a negative errno (-4095..-1).
#pragma once

namespace guard::os {

inline long raw_syscall6(long number, long a, long b, long c, long d, long e, long f) noexcept {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
#else
#error "raw system calls are written for x86-64 and aarch64"
#endif
}

template <class T>
long register_value(T value) noexcept {
  if constexpr (requires { reinterpret_cast<long>(value); }) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

// Up to six arguments: integers and pointers, as the kernel's registers take them.
template <class A = long, class B = long, class C = long, class D = long, class E = long,
          class F = long>
long raw_syscall(long number, A a = {}, B b = {}, C c = {}, D d = {}, E e = {}, F f = {}) noexcept {
  return raw_syscall6(number, register_value(a), register_value(b), register_value(c),
                      register_value(d), register_value(e), register_value(f));
}

}  // namespace guard::os
