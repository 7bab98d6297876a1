// Closures: captures by value and by reference, stored as functions of any kind.
#include <cstdio>
#include <functional>

#include "alias.h"

static int twice(int *n) { return *n * 2; }

template <class F>
static int apply(F f, int *n) {
  return f(n);
}

int main() {
  int one = 1, two = 2, seen = 0, unrelated = 0;
  int *kept = &two;
  auto by_value = [kept](int *n) { return *n + *kept; };
  auto by_reference = [&seen, &kept](int *n) {
    seen += *n;
    kept = n;
    return seen;
  };
  int (*plain)(int *) = [](int *n) { return ++*n; };
  std::function<int(int *)> any = by_value;
  int total = apply(by_value, &one) + apply(by_reference, &one) + any(&two);
  any = twice;
  total += any(&one) + plain(&two);
  any = [kept](int *n) { return n == kept ? 5 : 6; };
  total += any(&one);
  MAYALIAS(kept, &one);
  NOALIAS(kept, &unrelated);
  NOALIAS(kept, &seen);
  std::printf("%d %d\n", total, seen);
  return total == 3 + 1 + 4 + 2 + 3 + 5 && kept == &one ? 0 : 1;
}
