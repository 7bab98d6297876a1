// Objects made before main, on first use, and per type: constructors store their addresses.
#include <cstdio>

#include "alias.h"

struct Registered {
  Registered *next;
  int (*run)(int *);
  static Registered *head;
  explicit Registered(int (*f)(int *)) : next(head), run(f) { head = this; }
};
Registered *Registered::head = nullptr;

static int add(int *n) { return *n += 1; }
static int scale(int *n) { return *n *= 3; }
static Registered adder(add), scaler(scale);

struct Cache {
  int *last;
  Cache() : last(nullptr) {}
};
static Cache &cache() {
  static Cache only;
  return only;
}
template <class T>
struct Type {
  static T *latest;
};
template <class T>
T *Type<T>::latest = nullptr;

int main() {
  int number = 2;
  double real = 0.5;
  for (Registered *r = Registered::head; r; r = r->next) r->run(&number);
  cache().last = &number;
  Type<int>::latest = &number;
  Type<double>::latest = &real;
  MAYALIAS(cache().last, &number);
  NOALIAS(Type<int>::latest, Type<double>::latest);
  NOALIAS(&Type<int>::latest, &Type<double>::latest);
  std::printf("%d\n", *cache().last);
  return number == 7 && Registered::head == &scaler ? 0 : 1;
}
