// std::function, lambdas that capture, function objects, member pointers, and a bus of events.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

using Handler = std::function<int(int)>;

static int twice(int n) { return 2 * n; }
static int (*chosen)(int) = twice;

struct Adder {
  int by;
  int operator()(int n) const { return n + by; }
};

class Counter {
 public:
  int bump(int n) { return count_ += n; }
  int drop(int n) { return count_ -= n; }
  virtual int scaled(int n) { return n * scale_; }
  virtual ~Counter() = default;

 protected:
  int count_ = 0;
  int scale_ = 3;
};

class Louder : public Counter {
 public:
  int scaled(int n) override { return n * scale_ * 10; }
};

class Bus {
 public:
  int on(const std::string &event, Handler handler) {
    handlers_[event].push_back(std::move(handler));
    return static_cast<int>(handlers_[event].size());
  }
  int emit(const std::string &event, int n) {
    int sum = 0;
    for (auto &handler : handlers_[event]) sum += handler(n);
    return sum;
  }

 private:
  std::map<std::string, std::vector<Handler>> handlers_;
};

template <class F>
static int apply(F &&f, int n) {
  return std::forward<F>(f)(n);
}

template <class T>
static int each(std::vector<T> &items, int (T::*method)(int), int n) {
  int sum = 0;
  for (T &item : items) sum += (item.*method)(n);
  return sum;
}

static Handler compose(Handler f, Handler g) {
  return [f, g](int n) { return f(g(n)); };
}

static Handler make_counter(int *where) {
  return [where](int n) {
    *where += n;
    return *where;
  };
}

static std::function<int(int)> factorial = [](int n) { return n < 2 ? 1 : n * factorial(n - 1); };

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  expect(apply(chosen, 4) == 8, "a pointer");
  expect(apply(Adder{5}, 4) == 9, "an object");
  int base = 100;
  expect(apply([&base](int n) { return base + n; }, 1) == 101, "a lambda");
  expect(apply([](int n) { return n - 1; }, 1) == 0, "a lambda without captures");

  Bus bus;
  int seen = 0;
  bus.on("tick", twice);
  bus.on("tick", Adder{1});
  bus.on("tick", make_counter(&seen));
  bus.on("tock", compose(twice, Adder{3}));
  expect(bus.emit("tick", 5) == 10 + 6 + 5, "tick");
  expect(bus.emit("tock", 5) == 16, "tock");
  expect(bus.emit("none", 5) == 0, "nobody");
  expect(seen == 5, "the counter's place");

  Counter counter;
  Handler bound = std::bind(&Counter::bump, &counter, std::placeholders::_1);
  expect(bound(3) == 3 && bound(4) == 7, "bound");
  int (Counter::*method)(int) = seen ? &Counter::drop : &Counter::bump;
  expect((counter.*method)(2) == 5, "a member");
  Louder louder;
  Counter *pointer = &louder;
  int (Counter::*by_table)(int) = &Counter::scaled;
  expect((pointer->*by_table)(2) == 60, "a virtual member");
  std::vector<Counter> counters(3);
  expect(each(counters, &Counter::bump, 2) == 6, "each");
  std::function<int(Counter &, int)> free_form = &Counter::scaled;
  expect(free_form(louder, 1) == 30, "a member as a function");

  std::vector<int> numbers{5, 2, 9, 1};
  std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
  expect(numbers.front() == 9, "sorted");
  std::vector<Handler> chain{twice, Adder{1}, factorial};
  int n = 2;
  for (const Handler &h : chain) n = h(n);
  expect(n == 120, "a chain");
  Handler empty;
  expect(!empty, "empty");
  empty = std::ref(chain[1]);
  expect(empty(1) == 2, "a reference");
  std::printf("%d %d\n", n, seen);
  return 0;
}
