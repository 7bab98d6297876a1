// Containers and algorithms of pointers: comparators, an allocator of one's own, iterators, heaps.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

static std::size_t n_bytes;
static char arena[1 << 16];

template <class T>
struct Arena {
  using value_type = T;
  Arena() = default;
  template <class U>
  Arena(const Arena<U> &) {}
  T *allocate(std::size_t n) {
    std::size_t at = (n_bytes + alignof(T) - 1) / alignof(T) * alignof(T);
    n_bytes = at + n * sizeof(T);
    if (n_bytes > sizeof arena) std::abort();
    return reinterpret_cast<T *>(&arena[at]);
  }
  void deallocate(T *, std::size_t) {}
  template <class U>
  bool operator==(const Arena<U> &) const { return true; }
  template <class U>
  bool operator!=(const Arena<U> &) const { return false; }
};

struct Job {
  std::string name;
  int priority;
  int (*run)(const Job &);
};

static int length_of(const Job &job) { return static_cast<int>(job.name.size()); }
static int priority_of(const Job &job) { return job.priority; }

struct ByPriority {
  bool operator()(const Job *a, const Job *b) const { return a->priority < b->priority; }
};
struct ByName {
  virtual ~ByName() = default;
  virtual bool less(const Job &a, const Job &b) const { return a.name < b.name; }
};
struct ByNameBackwards : ByName {
  bool less(const Job &a, const Job &b) const override { return ByName::less(b, a); }
};

template <class Iterator, class F>
static int sum_of(Iterator first, Iterator last, F f) {
  return std::accumulate(first, last, 0, [&f](int sum, const auto &item) { return sum + f(item); });
}

class Ring {
 public:
  struct Iterator {
    using iterator_category = std::forward_iterator_tag;
    using value_type = Job *;
    using difference_type = std::ptrdiff_t;
    using pointer = Job **;
    using reference = Job *&;
    Ring *ring;
    std::size_t at;
    Job *&operator*() const { return ring->slots_[at % 4]; }
    Iterator &operator++() { return ++at, *this; }
    bool operator==(const Iterator &other) const { return at == other.at; }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };
  void push(Job *job) { slots_[end_++ % 4] = job; }
  Iterator begin() { return {this, end_ > 4 ? end_ - 4 : 0}; }
  Iterator end() { return {this, end_}; }

 private:
  Job *slots_[4] = {};
  std::size_t end_ = 0;
};

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  std::vector<Job> jobs{{"wash", 3, length_of}, {"cook", 9, priority_of}, {"sleep", 1, length_of}};
  std::priority_queue<Job *, std::vector<Job *>, ByPriority> queue;
  for (Job &job : jobs) queue.push(&job);
  int sum = 0;
  while (!queue.empty()) {
    Job *job = queue.top();
    sum = 10 * sum + job->run(*job);
    queue.pop();
  }
  expect(sum == 945, "by priority");

  ByNameBackwards backwards;
  const ByName *order = &backwards;
  std::vector<const Job *> sorted;
  std::transform(jobs.begin(), jobs.end(), std::back_inserter(sorted), [](const Job &j) { return &j; });
  std::sort(sorted.begin(), sorted.end(), [order](const Job *a, const Job *b) { return order->less(*a, *b); });
  expect(sorted.front()->name == "wash", "backwards");

  std::map<std::string, Job *, std::less<>, Arena<std::pair<const std::string, Job *>>> by_name;
  std::unordered_map<int, Job *> by_priority;
  for (Job &job : jobs) by_name[job.name] = &job, by_priority.emplace(job.priority, &job);
  expect(by_name.at("cook")->run(*by_name["cook"]) == 9, "in the arena");
  expect(by_priority.find(1)->second->name == "sleep", "hashed");

  std::list<Job *> listed;
  std::deque<Job *> both_ends;
  std::forward_list<Job *> chain;
  for (auto &[name, job] : by_name) {
    listed.push_front(job);
    both_ends.push_back(job);
    chain.push_front(job);
  }
  listed.splice(listed.end(), listed, listed.begin());
  expect((*listed.rbegin())->name == "wash", "spliced");
  expect(both_ends[1]->name == "sleep" && chain.front()->name == "wash", "both ends");
  expect(sum_of(listed.begin(), listed.end(), [](Job *j) { return j->run(*j); }) == 18, "summed");
  expect(sum_of(both_ends.rbegin(), both_ends.rend(), [](Job *j) { return j->priority; }) == 13, "reversed");

  Ring ring;
  for (int i = 0; i < 6; i++) ring.push(&jobs[static_cast<std::size_t>(i) % jobs.size()]);
  int n = 0;
  for (Job *job : ring) n += job->run(*job);
  expect(n == 4 + 9 + 5 + 5 || n == 5 + 4 + 9 + 5, "the ring");
  std::set<std::tuple<int, Job *>> ordered;
  std::unordered_set<Job *> some(listed.begin(), listed.end());
  for (Job *job : some) ordered.emplace(-job->priority, job);
  auto [key, first] = *ordered.begin();
  expect(key == -9 && first == by_name["cook"], "ordered");
  std::multimap<int, std::function<int()>> later;
  for (Job &job : jobs) later.emplace(job.priority, [&job] { return job.run(job); });
  int last = 0;
  for (auto &entry : later) last = entry.second();
  expect(last == 9, "later");
  std::printf("%d %d\n", sum, last);
  return 0;
}
