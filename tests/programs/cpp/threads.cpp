// Threads: a pool with a queue of tasks, futures, promises, atomics, thread-local state.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Task {
  virtual ~Task() = default;
  virtual void run() = 0;
};

template <class F>
struct FunctionTask : Task {
  F function;
  explicit FunctionTask(F f) : function(std::move(f)) {}
  void run() override { function(); }
};

class Pool {
 public:
  explicit Pool(int n_threads) {
    for (int i = 0; i < n_threads; i++) threads_.emplace_back(&Pool::work, this);
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      is_closed_ = true;
    }
    ready_.notify_all();
    for (auto &thread : threads_) thread.join();
  }
  template <class F>
  void add(F f) {
    std::lock_guard<std::mutex> guard(mutex_);
    tasks_.push_back(std::make_unique<FunctionTask<F>>(std::move(f)));
    ready_.notify_one();
  }
  int n_done() const { return n_done_.load(); }

 private:
  void work() {
    for (;;) {
      std::unique_ptr<Task> task;
      {
        std::unique_lock<std::mutex> guard(mutex_);
        ready_.wait(guard, [this] { return is_closed_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task->run();
      ++n_done_;
    }
  }
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::unique_ptr<Task>> tasks_;
  std::vector<std::thread> threads_;
  std::atomic<int> n_done_{0};
  bool is_closed_ = false;
};

static thread_local int depth;
static std::atomic<const int *> published{nullptr};
static std::once_flag once;
static int *shared_value;

static void prepare(int *where) { shared_value = where; }

static int deep(int n) {
  ++depth;
  int found = n ? deep(n - 1) : depth;
  --depth;
  return found;
}

struct Job {
  int *where;
  int by;
  void operator()() const { *where += by; }
};

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  std::atomic<int> sum{0};
  int counted = 0;
  std::mutex lock;
  {
    Pool pool(2);
    for (int i = 1; i <= 10; i++) pool.add([&sum, i] { sum += i; });
    for (int i = 0; i < 4; i++)
      pool.add([&counted, &lock] {
        std::lock_guard<std::mutex> guard(lock);
        ++counted;
      });
  }
  expect(sum == 55 && counted == 4, "the pool");

  std::promise<int *> promise;
  std::future<int *> future = promise.get_future();
  int own = 7;
  std::thread sender([&promise, &own] { promise.set_value(&own); });
  int *received = future.get();
  sender.join();
  expect(received == &own, "a promise");

  auto answer = std::async(std::launch::async, deep, 3);
  expect(answer.get() == 4 && depth == 0, "a future");
  std::packaged_task<int(int)> packaged([](int n) { return n * n; });
  auto result = packaged.get_future();
  std::thread runner(std::move(packaged), 6);
  runner.join();
  expect(result.get() == 36, "a task");

  int value = 1;
  std::thread worker(Job{&value, 4});
  worker.join();
  expect(value == 5, "an object");
  std::thread publisher([&value] { published.store(&value, std::memory_order_release); });
  publisher.join();
  const int *seen = published.load(std::memory_order_acquire);
  expect(seen && *seen == 5, "published");
  std::call_once(once, prepare, &value);
  std::call_once(once, prepare, nullptr);
  expect(shared_value == &value, "once");
  std::printf("%d %d\n", sum.load(), *seen);
  return 0;
}
