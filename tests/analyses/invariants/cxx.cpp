// Storage of C++, and what its callers promise. Each function is by itself.
#include <cstddef>
#include <new>

int inside(unsigned n) {
  int *p = new int[10];
  p[n % 10] = 1;  // expect: safe bounds  safe null
  delete[] p;
  return 0;
}
int outside_of_new(unsigned n) {
  int *p = new int[10];
  p[n % 11] = 1;  // expect: may fail bounds  safe null
  delete[] p;
  return 0;
}
int used_after_delete() {
  int *p = new int(4);
  delete p;
  return *p;  // expect: fails always freed
}
int deleted_twice(int n) {
  int *p = new int[4]();
  int read = p[1];
  if (n) delete[] p;
  delete[] p;  // expect: may fail freed
  return read;
}
int n_calls();
int without_exceptions() {
  int *p = new (std::nothrow) int(4);
  if (n_calls() > 3) return *p;  // expect: may fail null
  delete p;
  return 0;
}
struct box {
  int x;
  int get() { return 100 / x; }  // expect: safe null, may fail division
};
int referred(int &r) { return r; }  // expect: safe null
int null_as_this(box *b) {
  return b->get();  // expect: may fail null
}
int null_as_reference(int *p) {
  return referred(*p);  // expect: may fail null
}
int not_null(box *b) {
  return b ? b->get() : 0;  // expect: safe null
}
