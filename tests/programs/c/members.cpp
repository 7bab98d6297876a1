// Pointers to members: functions, virtual functions and data, in tables and as arguments.
#include <cstdio>

#include "alias.h"

struct Base {
  int *target;
  int *other;
  virtual int act(int n) { return *target += n; }
  int plain(int n) { return *other -= n; }
  virtual ~Base() {}
};
struct Derived : Base {
  int act(int n) override { return *target += 10 * n; }
};
using Method = int (Base::*)(int);

static int call(Base *object, Method method, int n) { return (object->*method)(n); }

int main() {
  int up = 0, down = 0;
  Base base;
  Derived derived;
  base.target = derived.target = &up;
  base.other = derived.other = &down;
  const Method methods[] = {&Base::act, &Base::plain};
  for (Method method : methods) {
    call(&base, method, 1);
    call(&derived, method, 1);
  }
  int *Base::*fields[] = {&Base::target, &Base::other};
  int *chosen = derived.*fields[1];
  MAYALIAS(chosen, &down);
  std::printf("%d %d %d\n", up, down, *chosen);
  return up == 11 && down == -2 && chosen == &down ? 0 : 1;
}
