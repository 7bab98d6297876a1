// The CUDA words our kernels use, for a C++ compiler: the host runner includes this file before a `.cu`.
//
// Plain loads and stores reach the runner through the call-outs of -fsanitize=thread (host.cpp
// defines them; no sanitizer runtime is linked). Atomics, votes and shuffles report themselves, so
// the functions below that touch memory on a kernel's behalf are KLEENE_QUIET.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define KLEENE_QUIET __attribute__((no_sanitize("thread"), noinline))
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// Thread-local storage is one segment of known extent that holds nothing else: the runner can tell
// a shared word from any other. Blocks run one after the other, so one segment serves them all.
#define __shared__ thread_local

// Fixed for a fiber's whole life, hence const here; the runner rewrites them at each switch.
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
constexpr int warpSize = 32;

extern "C" {
void kleene_marked(void* address, unsigned bytes, int mode, void* caller);
unsigned kleene_barrier(int line, int op, int value);
const uint64_t* kleene_exchange(int line, int op, unsigned mask, uint64_t value);
unsigned kleene_arrived();
unsigned kleene_lane();
void kleene_trap(int line);
void kleene_yield();
}

namespace kleene {
enum BlockOp { SYNC, OR, AND, COUNT };
enum Mode { LOAD, STORE, MODIFY };
enum WarpOp { SYNC_WARP, VOTE, SHUFFLE, REDUCE, MATCH };
template <class T> struct Same { using type = T; };
template <class T> using same = typename Same<T>::type;

// A read-modify-write: one marked access, then the update; no other fiber runs in between.
template <class T, class F> KLEENE_QUIET T update(T* p, Mode mode, void* caller, F f) {
  kleene_marked(p, sizeof(T), mode, caller);
  const T old = *p;
  *p = f(old);
  return old;
}
template <class T> KLEENE_QUIET uint64_t pack(T value) {
  static_assert(sizeof(T) <= 8, "warp intrinsics take values of at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T> KLEENE_QUIET T unpack(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof(T));
  return value;
}
KLEENE_QUIET inline unsigned vote(int line, unsigned mask, int predicate) {
  const uint64_t* got = kleene_exchange(line, VOTE, mask, predicate != 0);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; lane++)
    if (kleene_arrived() >> lane & 1 && got[lane]) bits |= 1u << lane;
  return bits;
}
template <class T> KLEENE_QUIET T take(int line, unsigned mask, T value, unsigned from) {
  return unpack<T>(kleene_exchange(line, SHUFFLE, mask, pack(value))[from & 31]);
}
template <class T> T shfl(int line, unsigned mask, T value, int from, int width = 32) {
  const unsigned base = kleene_lane() & ~(width - 1u);
  return take(line, mask, value, base | (from & (width - 1u)));
}
template <class T> T shfl_up(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = kleene_lane(), base = lane & ~(width - 1u);
  return take(line, mask, value, lane < base + delta ? lane : lane - delta);
}
template <class T> T shfl_down(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = kleene_lane(), end = (lane & ~(width - 1u)) + width;
  return take(line, mask, value, lane + delta < end ? lane + delta : lane);
}
template <class T> T shfl_xor(int line, unsigned mask, T value, unsigned flip, int width = 32) {
  const unsigned lane = kleene_lane(), end = (lane & ~(width - 1u)) + width;
  return take(line, mask, value, (lane ^ flip) < end ? lane ^ flip : lane);
}
template <class T, class F> KLEENE_QUIET T reduce(int line, unsigned mask, T value, F f) {
  const uint64_t* got = kleene_exchange(line, REDUCE, mask, pack(value));
  const unsigned others = kleene_arrived() & ~(1u << kleene_lane());
  for (unsigned lane = 0; lane < 32; lane++)
    if (others >> lane & 1) value = f(value, unpack<T>(got[lane]));
  return value;
}
template <class T> KLEENE_QUIET unsigned match_any(int line, unsigned mask, T value) {
  const uint64_t* got = kleene_exchange(line, MATCH, mask, pack(value));
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; lane++)
    if (kleene_arrived() >> lane & 1 && got[lane] == pack(value)) bits |= 1u << lane;
  return bits;
}
}  // namespace kleene

#define __syncthreads() ((void)kleene_barrier(__LINE__, kleene::SYNC, 0))
#define __syncthreads_or(p) ((int)kleene_barrier(__LINE__, kleene::OR, (p) != 0))
#define __syncthreads_and(p) ((int)kleene_barrier(__LINE__, kleene::AND, (p) != 0))
#define __syncthreads_count(p) ((int)kleene_barrier(__LINE__, kleene::COUNT, (p) != 0))
#define __syncwarp(...) kleene::sync_warp(__LINE__ __VA_OPT__(, ) __VA_ARGS__)
#define __ballot_sync(mask, p) kleene::vote(__LINE__, mask, (p) != 0)
#define __any_sync(mask, p) ((int)(kleene::vote(__LINE__, mask, (p) != 0) != 0))
#define __all_sync(mask, p) ((int)(kleene::vote(__LINE__, mask, (p) == 0) == 0))
#define __shfl_sync(...) kleene::shfl(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) kleene::shfl_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) kleene::shfl_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) kleene::shfl_xor(__LINE__, __VA_ARGS__)
#define __match_any_sync(mask, v) kleene::match_any(__LINE__, mask, v)
#define KLEENE_REDUCE(mask, v, e) \
  kleene::reduce(__LINE__, mask, v, [](auto a, auto b) { return decltype(a)(e); })
#define __reduce_add_sync(mask, v) KLEENE_REDUCE(mask, v, a + b)
#define __reduce_min_sync(mask, v) KLEENE_REDUCE(mask, v, a < b ? a : b)
#define __reduce_max_sync(mask, v) KLEENE_REDUCE(mask, v, a > b ? a : b)
#define __reduce_and_sync(mask, v) KLEENE_REDUCE(mask, v, a & b)
#define __reduce_or_sync(mask, v) KLEENE_REDUCE(mask, v, a | b)
#define __reduce_xor_sync(mask, v) KLEENE_REDUCE(mask, v, a ^ b)
#define __trap() kleene_trap(__LINE__)
#define __nanosleep(ns) kleene_yield()
// A legal answer, and the hardest one for the kernel: nobody else is known to be here.
#define __activemask() (1u << kleene_lane())

namespace kleene {
inline void sync_warp(int line, unsigned mask = 0xffffffffu) {
  kleene_exchange(line, SYNC_WARP, mask, 0);
}
}  // namespace kleene

// Fences order nothing here: see docs/explanation/kernels.md for what that leaves out.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

#define KLEENE_CALLER __builtin_return_address(0)
#define KLEENE_ATOMIC(name, mode, e)                                                         \
  template <class T> KLEENE_QUIET T name(T* p, kleene::same<T> v) {                          \
    return kleene::update(p, kleene::mode, KLEENE_CALLER, [v](T old) { return T(e); });      \
  }
KLEENE_ATOMIC(atomicAdd, MODIFY, old + v)
KLEENE_ATOMIC(atomicSub, MODIFY, old - v)
KLEENE_ATOMIC(atomicAnd, MODIFY, old & v)
KLEENE_ATOMIC(atomicOr, MODIFY, old | v)
KLEENE_ATOMIC(atomicXor, MODIFY, old ^ v)
KLEENE_ATOMIC(atomicMin, MODIFY, old < v ? old : v)
KLEENE_ATOMIC(atomicMax, MODIFY, old > v ? old : v)
KLEENE_ATOMIC(atomicExch, STORE, v)
KLEENE_ATOMIC(atomicInc, MODIFY, old >= v ? 0 : old + 1)
KLEENE_ATOMIC(atomicDec, MODIFY, old == 0 || old > v ? v : old - 1)
template <class T> KLEENE_QUIET T atomicCAS(T* p, kleene::same<T> expected, kleene::same<T> v) {
  return kleene::update(p, kleene::MODIFY, KLEENE_CALLER,
                        [=](T old) { return old == expected ? v : old; });
}

template <class T> T __ldg(const T* p) { return *p; }
template <class A, class B> constexpr std::common_type_t<A, B> min(A a, B b) {
  using C = std::common_type_t<A, B>;
  return C(b) < C(a) ? C(b) : C(a);
}
template <class A, class B> constexpr std::common_type_t<A, B> max(A a, B b) {
  using C = std::common_type_t<A, B>;
  return C(a) < C(b) ? C(b) : C(a);
}
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
inline int __float_as_int(float v) { return kleene::unpack<int>(kleene::pack(v)); }
inline float __int_as_float(int v) { return kleene::unpack<float>(kleene::pack(v)); }

#define KLEENE_VECTOR(T, name, bytes)                                                          \
  struct __align__(2 * bytes) name##2 { T x, y; };                                             \
  struct __align__(4 * bytes > 16 ? 16 : 4 * bytes) name##4 { T x, y, z, w; };                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                   \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
KLEENE_VECTOR(int, int, 4)
KLEENE_VECTOR(unsigned, uint, 4)
KLEENE_VECTOR(float, float, 4)
KLEENE_VECTOR(double, double, 8)
KLEENE_VECTOR(long long, longlong, 8)
KLEENE_VECTOR(unsigned long long, ulonglong, 8)

// What the runner needs to call a kernel of any signature: its parameters' sizes, and a call.
namespace kleene {
struct Parameter { uint32_t bytes, pointee_bytes; };  // pointee_bytes: 0 for a scalar
template <class P> constexpr Parameter parameter() {
  using Bare = std::remove_pointer_t<P>;
  if constexpr (!std::is_pointer_v<P>) return {sizeof(P), 0};
  else if constexpr (std::is_void_v<Bare>) return {sizeof(P), 1};
  else return {sizeof(P), sizeof(Bare)};
}
template <class... P> KLEENE_QUIET unsigned describe(void (*)(P...), Parameter* out) {
  const Parameter all[] = {parameter<P>()..., {0, 0}};
  memcpy(out, all, sizeof...(P) * sizeof(Parameter));
  return sizeof...(P);
}
template <class... P, size_t... I>
KLEENE_QUIET void call(void (*kernel)(P...), void** args, std::index_sequence<I...>) {
  kernel(*static_cast<P*>(args[I])...);
}
template <class... P> KLEENE_QUIET void call(void (*kernel)(P...), void** args) {
  call(kernel, args, std::index_sequence_for<P...>());
}
}  // namespace kleene
#define KLEENE_KERNEL(name)                                                                     \
  extern "C" KLEENE_QUIET void kleene_call_##name(void** args) { kleene::call(&name, args); }   \
  extern "C" KLEENE_QUIET unsigned kleene_describe_##name(kleene::Parameter* out) {             \
    return kleene::describe(&name, out);                                                        \
  }
