// Virtual functions: single and multiple inheritance, thunks, virtual bases, calls in constructors.
#include <cstdio>

#include "alias.h"

struct Shape {
  int *area_of = nullptr;
  virtual int area() const = 0;
  virtual ~Shape() {}
};
struct Named {
  const char *name;
  explicit Named(const char *n) : name(n) {}
  virtual const char *label() const { return name; }
  virtual ~Named() {}
};
struct Square : Shape, Named {
  int side;
  Square(int s, int *to) : Named("square"), side(s) { area_of = to; }
  int area() const override { return *area_of = side * side; }
  const char *label() const override { return side > 2 ? "large square" : name; }
};
struct Base {
  int *counter;
  virtual void count() { ++*counter; }
};
struct Left : virtual Base {};
struct Right : virtual Base {
  void count() override { *counter += 10; }
};
struct Both : Left, Right {};

int main() {
  int area = 0, counter = 0;
  Square square(3, &area);
  Shape *shape = &square;
  Named *named = &square;
  NOALIAS(shape, named);
  MAYALIAS(shape, &square);
  int total = shape->area();
  std::printf("%s %d\n", named->label(), total);
  Both both;
  both.counter = &counter;
  Left *left = &both;
  left->count();
  static_cast<Base *>(left)->count();
  Square *again = dynamic_cast<Square *>(named);
  MAYALIAS(again, &square);
  return area == 9 && counter == 20 && again == &square ? 0 : 1;
}
