// Coroutines: generators, tasks that await others, and a scheduler that keeps their handles.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

static int first = 1, second = 2, third = 30, n_destroyed;

struct Shape {
  virtual ~Shape() { ++n_destroyed; }
  virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
};
struct Strip : Shape {
  int length;
  explicit Strip(int l) : length(l) {}
  int area() const override { return length; }
};

template <class T>
struct Generator {
  struct promise_type {
    T *current = nullptr;
    Generator get_return_object() {
      return Generator{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T *value) {
      current = value;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit Generator(std::coroutine_handle<promise_type> h) : handle(h) {}
  Generator(Generator &&other) : handle(std::exchange(other.handle, {})) {}
  ~Generator() {
    if (handle) handle.destroy();
  }
  T *next() {
    handle.resume();
    return handle.done() ? nullptr : handle.promise().current;
  }
};

static Generator<int> numbers(int *extra, int (*make)(int)) {
  co_yield &first;
  second += make(second);
  co_yield &second;
  co_yield extra;
}

static Generator<Shape> shapes(int n) {
  for (int i = 0; i < n; i++) {
    Square square(i);
    co_yield &square;
    Strip strip(i + 1);
    co_yield &strip;
  }
}

static std::vector<std::coroutine_handle<>> ready;

struct Task {
  struct promise_type {
    int *result = nullptr;
    std::exception_ptr error;
    std::coroutine_handle<> waiting;
    Task get_return_object() {
      return Task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        auto next = h.promise().waiting;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(int *p) { result = p; }
    void unhandled_exception() { error = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit Task(std::coroutine_handle<promise_type> h) : handle(h) {}
  Task(const Task &) = delete;
  ~Task() { handle.destroy(); }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
    handle.promise().waiting = h;
    return handle;
  }
  int *await_resume() {
    if (handle.promise().error) std::rethrow_exception(handle.promise().error);
    return handle.promise().result;
  }
};

struct Later {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) { ready.push_back(h); }
  void await_resume() {}
};

struct Problem {
  int *where;
};

static Task leaf(int *p, bool fails) {
  co_await Later{};
  if (fails) throw Problem{p};
  co_return p;
}

static Task sum(int *(*choose)(int)) {
  int *a = co_await leaf(choose(0), false);
  int *b = co_await leaf(choose(1), false);
  *a += *b;
  try {
    co_await leaf(&third, true);
  } catch (Problem &problem) {
    *a += *problem.where;
  }
  co_return a;
}

static int twice(int n) { return 2 * n; }
static int *choose(int n) { return n ? &second : &first; }

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  int extra = 5, total = 0;
  {
    auto values = numbers(&extra, twice);
    while (int *p = values.next()) total += *p;
  }
  expect(total == 1 + 6 + 5, "numbers");
  {
    auto all = shapes(3);
    while (Shape *shape = all.next()) total += shape->area();
  }
  expect(total == 12 + 11, "shapes");
  Task task = sum(choose);
  task.handle.resume();
  while (!ready.empty()) {
    auto next = ready.back();
    ready.pop_back();
    next.resume();
  }
  expect(task.handle.done() && *task.handle.promise().result == 37, "tasks");
  std::printf("%d %d %d\n", total, first, n_destroyed);
  return 0;
}
