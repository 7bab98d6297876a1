// What a closure computes with: INNER_T, an element in which sums need no look at overflow.
//
// Integers keep their own infinity at a quarter of the range, and every bound far below it; where
// bounds are too large for that, the octagon is closed in a wider type, and at last in long long
// with every sum saturated (SATURATE).
#pragma once
#include "element.cuh"
#ifndef VALUE_T
#define VALUE_T int
#endif
#ifndef INNER_T
#define INNER_T VALUE_T
#endif
#ifndef SATURATE
#define SATURATE 0
#endif

template <class T> struct Kind { enum { is_float = 0 }; };
template <> struct Kind<double> { enum { is_float = 1 }; };
enum { NEEDS_NO_LIMIT = Kind<INNER_T>::is_float || SATURATE };

__device__ __forceinline__ INNER_T inner_infinity() {
  if (NEEDS_NO_LIMIT) return Limits<INNER_T>::infinity();
  return (INNER_T)((1ll << (8 * sizeof(INNER_T) - 2)) - 8);
}

__device__ __forceinline__ double sum(double a, double b) { return add_up(a, b); }
__device__ __forceinline__ short sum(short a, short b) { return (short)(a + b); }
__device__ __forceinline__ int sum(int a, int b) { return a + b; }
__device__ __forceinline__ long long sum(long long a, long long b) {
  return SATURATE ? add_up(a, b) : a + b;
}
template <class T> __device__ __forceinline__ T least_sum(T a, T b, T c) {
  return least(c, sum(a, b));
}
#ifdef __CUDA_ARCH__  // one instruction where the chip has it
__device__ __forceinline__ int least_sum(int a, int b, int c) { return __viaddmin_s32(a, b, c); }
#endif

// Limits on the absolute value of bounds. Sums of up to 2n of them must stay below an eighth of
// infinity, as far below as infinity may fall. Where every cell has a bound, no value ever leaves
// three times the greatest: a path is an edge, a closed part that its way back bounds, an edge.
__device__ __forceinline__ long long sparse_limit(int n) {
  const int share = 8 * (n ? n : 1);
  if (sizeof(INNER_T) < 8) return ((int)inner_infinity() - 8) / share;  // long ones take registers
  return ((long long)inner_infinity() - 8) / share;
}
__device__ __forceinline__ long long dense_limit() { return (long long)inner_infinity() / 8; }

__device__ __forceinline__ INNER_T inward(VALUE_T x, bool tighten) {
  const INNER_T value = x == Limits<VALUE_T>::infinity() ? inner_infinity() : (INNER_T)x;
  return tighten ? whole(value) : value;
}
__device__ __forceinline__ VALUE_T outward(INNER_T x) {
  if (Kind<INNER_T>::is_float) return (VALUE_T)x;
  const INNER_T infinity = inner_infinity();
  if (SATURATE ? x == infinity : x > infinity / 4) return Limits<VALUE_T>::infinity();
  if ((long long)x >= (long long)Limits<VALUE_T>::infinity()) return Limits<VALUE_T>::infinity();
  const long long lowest = (long long)Limits<VALUE_T>::lowest() + 2;
  return (long long)x < lowest ? (VALUE_T)lowest : (VALUE_T)x;
}
