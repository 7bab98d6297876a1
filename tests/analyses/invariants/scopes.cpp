// Locals and temporaries that are used behind the end of their scope. Each function is by itself.
// `expect:` is what function by function is said; `whole:` is what the whole program is.
int any();
int *kept;
int read_of(const int *p) { return *p; }
int behind_block() {
  int *p;
  { int x = 3; p = &x; }
  return *p;  // expect: fails always freed  whole: may fail freed
}
int behind_block_or_not(int c) {
  int y = 1, *p = &y;
  if (c) {
    int x = 3;
    p = &x;
    *p = 4;  // expect: safe freed
  }
  return *p;  // expect: may fail freed  whole: may fail freed
}
int in_the_way_back(int c) {
  int y = 1, *p = &y;
  if (c) { int x = 3; p = &x; }
  if (!c) return *p;  // expect: safe freed  whole: may fail freed
  return 0;
}
int of_a_loop(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int a[4] = {i};
    int *p = a;
    p += any() & 3;
    sum ^= *p;
  }
  return sum;
}
int of_the_last_round(int n) {
  int *p = nullptr;
  for (int i = 0; i < n; i++) { int x = i; p = &x; }
  return p ? *p : 0;  // expect: fails always freed  whole: may fail freed
}
int through_memory(int c) {
  {
    int x = 3;
    kept = &x;
    if (c) return *kept;
  }
  return *kept;  // whole: may fail freed
}
int in_each_round(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int x = i;
    sum ^= read_of(&x);
  }
  return sum;
}
struct number {
  int value;
  number(int n) : value(n) {}
  ~number() { value = 0; }
  const int &get() const { return value; }
};
int of_a_temporary(int n) {
  const int &r = number(n).get();
  return r;  // expect: fails always freed  whole: may fail freed
}
int of_a_temporary_that_stays(int n) {
  const number &r = number(n);
  return r.get();
}
static const int &larger(const int &a, const int &b) { return a < b ? b : a; }
int of_an_argument(int n) {
  const int &r = larger(n, n & 7);
  return r;  // expect: may fail freed  whole: may fail freed
}
int of_an_argument_at_once(int n) { return larger(n, n & 7); }
