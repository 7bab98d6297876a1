// Classes: virtual calls, inheritance, references, templates, lambdas, new and delete.
struct Shape {
  virtual ~Shape() {}
  virtual double area() const = 0;
  int id = 1;
};

struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};

double total(const Shape &first, Shape *second) { return first.area() + second->area(); }

template <typename T> T largest(T a, T b) { return a < b ? b : a; }

int templates(int a, double x) { return largest(a, 3) + (int)largest(x, 0.5); }

double lifetimes(double side) {
  Shape *shape = new Square(side);
  double area = shape->area();
  delete shape;
  return area;
}

int captured(int n) {
  int base = 2;
  auto add = [base, &n](int x) { return base + n + x; };
  n = 5;
  return add(1);
}

void swap(int &a, int &b) {
  int t = a;
  a = b;
  b = t;
}

namespace space {
int overloaded(int x) { return x; }
int overloaded(double x) { return (int)x; }
}

int names() { return space::overloaded(1) + space::overloaded(2.0); }

static int computed = names();
int use() { return computed; }
