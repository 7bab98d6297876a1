// Exceptions that carry pointers: by value, by pointer, rethrown, through destructors.
#include <cstdio>
#include <new>

#include "alias.h"

struct Failure {
  int *cause;
  const char *text;
};
struct Special : Failure {
  int *extra;
};
struct Guard {
  int *released;
  ~Guard() { ++*released; }
};
static int first, second, third;

static void fail(int kind, int *released) {
  Guard guard{released};
  if (kind == 0) throw Failure{&first, "value"};
  if (kind == 1) throw &second;
  Special special;
  special.cause = &second;
  special.text = "special";
  special.extra = &third;
  throw special;
}
static int *attempt(int kind, int *released) {
  try {
    try {
      fail(kind, released);
    } catch (Special &s) {
      *s.extra += 1;
      throw;
    }
  } catch (const Failure &f) {
    std::printf("%s\n", f.text);
    return f.cause;
  } catch (int *pointer) {
    return pointer;
  }
  return nullptr;
}

int main() {
  int released = 0;
  int *a = attempt(0, &released), *b = attempt(1, &released), *c = attempt(2, &released);
  MAYALIAS(a, &first);
  MAYALIAS(b, &second);
  NOALIAS(a, &released);
  return a == &first && b == &second && c == &second && third == 1 && released == 3 ? 0 : 1;
}
