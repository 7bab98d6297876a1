// The same in C++: methods, members, strings.
#include <cstdlib>
#include <string>
#include "styles.h"

namespace {
class Shape {
 public:
  explicit Shape(int size) : size_(size) {}
  virtual ~Shape() {}
  virtual int area() const { return size_ * size_; }

 private:
  int size_;
};
class Shapes {
 public:
  Shapes() : one_(3), two_(4) {}
  Shape *find(int key) {
    if (key == 1) return &one_;
    if (key == 2) return &two_;
    return nullptr;
  }

 private:
  Shape one_, two_;
};
class Mean {
 public:
  Mean() : sum_(0), n_(0) {}
  void add(int x) {
    if (x > 0) {
      sum_ += x;
      n_++;
    }
  }
  int value() const { return sum_ / n_; }  /* BAD 369 */
  int value_or(int other) const { return n_ != 0 ? sum_ / n_ : other; }

 private:
  int sum_, n_;
};
struct Half {
  int a, b;
  Half() : a(1) {}
};
struct Whole {
  int a, b;
  Whole() : a(1), b(2) {}
};
}  // namespace

int bad_476_method(int key) {
  Shapes all;
  return all.find(key)->area();  /* BAD 476 */
}
int good_476_method(int key) {
  Shapes all;
  if (Shape *found = all.find(key)) return found->area();
  return 0;
}
int bad_369_method(const char *text) {
  Mean mean;
  mean.add(atoi(text));
  return mean.value();
}
int good_369_method(const char *text) {
  Mean mean;
  mean.add(atoi(text));
  return mean.value_or(0);
}
void bad_78_string(const char *name) {
  std::string command = "ls ";
  command += name;
  std::system(command.c_str());  /* BAD 78 */
}
void good_78_string(const char *name) {
  std::string command = "ls ";
  command += name[0] == 'x' ? "x" : "y";
  std::system(command.c_str());
}
int bad_457_member(int k) {
  Half half;
  return half.b + k;  /* BAD 457 */
}
int good_457_member(int k) {
  Whole whole;
  return whole.b + k;
}
