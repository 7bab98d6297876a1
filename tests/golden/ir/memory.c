// Pointers, arrays on the stack, volatile, atomics, vectors, memory intrinsics.
void *memcpy(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);
typedef int lanes __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(8)));

int pointers(int *p, char *end, char *start) {
  int local = *p;
  int **where = &p;
  **where = 3;
  p[1] += *(p + 2);
  p++;
  return local + (int)(end - start) + (p == 0) + *p;
}

int stack(int n) {
  int fixed[4] = { 0 };
  int variable[n];
  variable[0] = fixed[n & 3];
  memset(fixed, 1, sizeof fixed);
  memcpy(variable, fixed, 4);
  return variable[0];
}

int device(volatile int *port) {
  *port = 1;
  return *port;
}

int atomics(_Atomic int *a, int *p, int n) {
  int expected = 3;
  __atomic_store_n(p, n, __ATOMIC_RELEASE);
  __atomic_compare_exchange_n(p, &expected, n, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  *a += n;
  return __atomic_fetch_or(p, 4, __ATOMIC_ACQUIRE) + __atomic_load_n(p, __ATOMIC_RELAXED);
}

lanes vectors(lanes a, lanes b, int i) {
  lanes c = a * b + (lanes){ 1, 2, 3, 4 };
  c[i] = a[2];
  return __builtin_shufflevector(c, b, 0, 5, 2, 7) & (a < b);
}

floats scaled(floats v, float s) { return v * s; }
