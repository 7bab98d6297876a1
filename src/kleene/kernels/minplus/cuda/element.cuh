// One element of an octagon: sums, halves and limits of each type, as `layout` says.
//
// Without a GPU the same file is compiled for the host runner, where sums are rounded by hand.
#pragma once

template <class T> struct Limits;
template <> struct Limits<short> {
  static __device__ short infinity() { return 0x7fff; }
  static __device__ short lowest() { return -0x7fff - 1; }
};
template <> struct Limits<int> {
  static __device__ int infinity() { return 0x7fffffff; }
  static __device__ int lowest() { return -0x7fffffff - 1; }
};
template <> struct Limits<long long> {
  static __device__ long long infinity() { return 0x7fffffffffffffffll; }
  static __device__ long long lowest() { return -0x7fffffffffffffffll - 1; }
};
#ifdef __CUDA_ARCH__
template <> struct Limits<double> {
  static __device__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
  static __device__ double lowest() { return -infinity(); }
};
__device__ __forceinline__ double add_up(double a, double b) { return __dadd_ru(a, b); }
__device__ __forceinline__ double half_up(double a) { return __dmul_ru(a, 0.5); }
__device__ __forceinline__ double product_up(double a, double b) { return __dmul_ru(a, b); }
#else
template <> struct Limits<double> {
  static double infinity() { return HUGE_VAL; }
  static double lowest() { return -HUGE_VAL; }
};
template <class F> F round_sum_up(F a, F b) {
  const F total = a + b, part = total - a;
  const F lost = (a - (total - part)) + (b - part);  // Knuth; not a number where total is infinite
  const F next = lost > 0 ? std::nextafter(total, Limits<F>::infinity()) : total;
  return next == Limits<F>::lowest() ? std::nextafter(next, F(0)) : next;
}
template <class F> F round_half_up(F a) {
  const F half = a * F(0.5);
  return half + half < a ? std::nextafter(half, Limits<F>::infinity()) : half;
}
// Where the product is too small for its rounding to be a number, that is lost: on the host alone.
template <class F> F round_product_up(F a, F b) {
  const F product = a * b, lost = std::fma(a, b, -product);
  return lost > 0 ? std::nextafter(product, Limits<F>::infinity()) : product;
}
inline double add_up(double a, double b) { return round_sum_up(a, b); }
inline double half_up(double a) { return round_half_up(a); }
inline double product_up(double a, double b) { return round_product_up(a, b); }
#endif

// Exact, or saturated: infinity above, which is kept, and the least bound below.
template <class T> __device__ __forceinline__ T saturate(long long total, T a, T b) {
  const T infinity = Limits<T>::infinity(), least = Limits<T>::lowest() + 2;
  if (a == infinity || b == infinity || total > infinity) return infinity;
  return total < least ? least : T(total);
}
__device__ __forceinline__ short add_up(short a, short b) { return saturate(int(a) + b, a, b); }
__device__ __forceinline__ int add_up(int a, int b) { return saturate((long long)a + b, a, b); }
__device__ __forceinline__ long long add_up(long long a, long long b) {
  const long long total = (long long)((unsigned long long)a + (unsigned long long)b);
  const bool overflows = ((a ^ total) & (b ^ total)) < 0;
  const long long beyond = a > 0 ? Limits<long long>::infinity() : Limits<long long>::lowest();
  return saturate(overflows ? beyond : total, a, b);
}

// a >= 0; exact, or saturated as a sum is.
template <class T> __device__ __forceinline__ T product_up(T a, T b) {
  const T infinity = Limits<T>::infinity(), least = Limits<T>::lowest() + 2;
  if (b == infinity || (b > 0 && a > infinity / b)) return infinity;
  return a > 0 && b < least / a ? least : T(a * b);
}

template <class T> __device__ __forceinline__ T half_up(T a) {
  return a == Limits<T>::infinity() ? a : T((a >> 1) + (a & 1));
}
template <class T> __device__ __forceinline__ T least(T a, T b) { return b < a ? b : a; }

// The greatest integer, and the greatest even one, that is no more than a; infinity is both.
template <class T> __device__ __forceinline__ T whole(T a) { return a; }
__device__ __forceinline__ double whole(double a) { return floor(a); }
template <class T> __device__ __forceinline__ T even(T a) {
  return a == Limits<T>::infinity() ? a : T(a & ~T(1));
}
__device__ __forceinline__ double even(double a) { return 2 * floor(a * 0.5); }
