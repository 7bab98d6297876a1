// What the library calls later: handlers, deleters, once-functions, tasks, resources; and thunks.
#include <any>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

static int counts[8];

struct Animal {
  virtual ~Animal() = default;
  virtual Animal *self() { return this; }
  virtual int legs() const = 0;
};
struct Named {
  const char *name = "nobody";
  virtual ~Named() = default;
  virtual Named *copy() const = 0;
  virtual const char *call() { return name; }
};
struct Dog : Animal, Named {
  Dog *self() override { return this; }
  Dog *copy() const override { return new Dog(*this); }  // reached by a thunk that adjusts both
  const char *call() override { return "dog"; }
  int legs() const override { return 4; }
};
struct Bird : virtual Animal, virtual Named {
  Bird *self() override { return this; }
  Bird *copy() const override { return new Bird(*this); }
  int legs() const override { return 2; }
};

static int legs_of(Named &named) {
  std::unique_ptr<Named> other(named.copy());
  auto *animal = dynamic_cast<Animal *>(other.get());
  return animal ? animal->self()->legs() + (other->call()[0] == 'd') : 0;
}

static void no_memory() {
  counts[0]++;
  std::set_new_handler(nullptr);
}

static void at_the_end() { std::_Exit(counts[0] == 1 && counts[1] == 1 ? 0 : 3); }
static void quick() { counts[1]++; }
static void quick_too() { at_the_end(); }

static int handled_new() {
  auto old = std::set_new_handler(no_memory);
  try {
    volatile std::size_t huge = ~std::size_t{0} / 4;
    delete[] new char[huge];
  } catch (const std::bad_alloc &error) {
    return old == nullptr && error.what() != nullptr;
  }
  return 0;
}

struct Counter {
  int *target;
  explicit Counter(int *t) : target(t) {}
  Counter(const Counter &other) : target(other.target) { ++*target; }
  ~Counter() { --*target; }
};

static int in_any() {
  int alive = 0;
  {
    std::any thing = Counter(&alive);
    std::any other = thing;
    if (alive < 1) return 0;
    auto *inside = std::any_cast<Counter>(&other);
    *inside->target += 10;
    thing = 5;
    other = std::any_cast<int>(thing) + 1;
    try {
      return std::any_cast<const char *>(other)[0];
    } catch (const std::bad_any_cast &error) {
      alive += error.what() != nullptr;
    }
    other = &quick;
    std::any_cast<void (*)()>(other)();
    counts[1]--;
  }
  return alive;
}

static std::once_flag once;
static void started(int *p) { ++*p; }

struct Worker {
  virtual ~Worker() = default;
  virtual int work(int n) { return n + 1; }
};
struct Hard : Worker {
  int work(int n) override {
    if (n > 10) throw n;
    return n * n;
  }
};

static int in_threads() {
  int n_started = 0, result = 0;
  Hard hard;
  Worker plain;
  std::thread one([&] { std::call_once(once, started, &n_started); });
  std::thread two(&Worker::work, &hard, 2);
  one.join();
  two.join();
  auto later = std::async(std::launch::async, &Worker::work, &plain, 4);
  auto lazy = std::async(std::launch::deferred, [&](Worker *w) { return w->work(3); }, &hard);
  result += later.get() + lazy.get();
  std::packaged_task<int(int)> task([&](int n) { return hard.work(n); });
  auto failing = task.get_future();
  task(11);
  try {
    result += failing.get();
  } catch (int n) {
    result += n;
  }
  std::promise<Worker *> promise;
  auto answer = promise.get_future();
  std::thread three([&] { promise.set_value(&hard); });
  three.join();
  return result + answer.get()->work(1) + n_started;
}

struct Noting : std::pmr::memory_resource {
  std::pmr::memory_resource *below;
  int n_made = 0;
  explicit Noting(std::pmr::memory_resource *b) : below(b) {}
  void *do_allocate(std::size_t n, std::size_t a) override {
    n_made++;
    return below->allocate(n, a);
  }
  void do_deallocate(void *p, std::size_t n, std::size_t a) override { below->deallocate(p, n, a); }
  bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

static int in_resources() {
  char buffer[512];
  std::pmr::monotonic_buffer_resource pool(buffer, sizeof buffer);
  Noting noting(&pool), heap(std::pmr::new_delete_resource());
  std::pmr::vector<int *> pointers(&noting), others(&heap);
  pointers.push_back(&counts[2]);
  pointers.push_back(&counts[3]);
  others.push_back(pointers[1]);
  **others.begin() += 5;
  return noting.n_made > 0 && heap.n_made == 1 ? *pointers.back() : 0;
}

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

static void give_up() {
  try {
    if (auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (Worker *worker) {
    if (worker->work(1) == 2) std::quick_exit(0);
  }
  std::_Exit(4);
}

int main() {
  Dog dog;
  Bird bird;
  expect(legs_of(dog) == 5 && legs_of(bird) == 2, "thunks");
  expect(handled_new() == 1, "new");
  expect(in_any() == 10, "any");
  expect(in_threads() == 5 + 9 + 11 + 1 + 1, "threads");
  expect(in_resources() == 5, "resources");
  std::at_quick_exit(quick_too);
  std::at_quick_exit(quick);
  std::set_terminate(give_up);
  std::printf("%d %d\n", counts[0], counts[3]);
  std::fflush(stdout);
  static Worker worker;
  throw &worker;
}
