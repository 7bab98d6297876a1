// shared_ptr, weak_ptr, custom deleters, enable_shared_from_this: a graph with observers.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct Observer {
  virtual ~Observer() = default;
  virtual void told(const std::string &what, int n) = 0;
};

struct Total : Observer {
  int sum = 0;
  void told(const std::string &, int n) override { sum += n; }
};

struct Log : Observer {
  std::list<std::string> lines;
  void told(const std::string &what, int n) override { lines.push_back(what + std::to_string(n)); }
};

class Node : public std::enable_shared_from_this<Node> {
 public:
  static int n_alive;
  explicit Node(std::string name) : name_(std::move(name)) { ++n_alive; }
  virtual ~Node() { --n_alive; }
  void link(const std::shared_ptr<Node> &child) {
    child->parent_ = shared_from_this();
    children_.push_back(child);
  }
  void watch(std::weak_ptr<Observer> observer) { observers_.push_back(std::move(observer)); }
  int tell(int n) {
    int reached = 0;
    for (auto &weak : observers_)
      if (auto observer = weak.lock()) {
        observer->told(name_, value(n));
        ++reached;
      }
    for (auto &child : children_) reached += child->tell(n + 1);
    return reached;
  }
  std::shared_ptr<Node> root() {
    auto up = parent_.lock();
    return up ? up->root() : shared_from_this();
  }
  virtual int value(int n) const { return n; }
  const std::string &name() const { return name_; }

 private:
  std::string name_;
  std::weak_ptr<Node> parent_;
  std::vector<std::shared_ptr<Node>> children_;
  std::vector<std::weak_ptr<Observer>> observers_;
};

int Node::n_alive = 0;

struct Heavy : Node {
  using Node::Node;
  int value(int n) const override { return 100 * n; }
};

static int n_closed;
static void close_handle(int *handle) {
  n_closed += *handle;
  delete handle;
}

struct Closer {
  std::set<int> *seen;
  void operator()(int *handle) const {
    seen->insert(*handle);
    delete handle;
  }
};

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  auto total = std::make_shared<Total>();
  std::shared_ptr<Log> log(new Log);
  {
    auto root = std::make_shared<Node>("root");
    std::shared_ptr<Node> heavy = std::make_shared<Heavy>("heavy");
    auto leaf = std::make_shared<Node>("leaf");
    root->link(heavy);
    heavy->link(leaf);
    root->watch(total);
    heavy->watch(log);
    leaf->watch(total);
    leaf->watch(log);
    expect(root->tell(1) == 4, "all are told");
    expect(total->sum == 1 + 3, "the total");
    expect(log->lines.front() == "heavy200", "the log");
    expect(leaf->root()->name() == "root", "the root");
    std::weak_ptr<Node> weak = heavy;
    heavy.reset();
    expect(weak.use_count() == 1 && weak.lock(), "still linked");
    log.reset();
    expect(root->tell(1) == 2, "one is gone");
    std::shared_ptr<const std::string> inner(leaf, &leaf->name());
    expect(*inner == "leaf" && leaf.use_count() == 3, "an alias shares the owner");
  }
  expect(Node::n_alive == 0, "all are gone");

  std::set<int> seen;
  {
    std::shared_ptr<int> shared(new int(3), close_handle);
    std::unique_ptr<int, Closer> own(new int(4), Closer{&seen});
    std::unique_ptr<int, void (*)(int *)> plain(new int(5), close_handle);
    std::unique_ptr<int, std::function<void(int *)>> any(new int(6), [&seen](int *p) {
      seen.insert(*p + 10);
      delete p;
    });
    auto other = shared;
    expect(other.use_count() == 2, "two owners");
  }
  expect(n_closed == 8 && seen == std::set<int>({4, 16}), "closed");
  std::vector<std::shared_ptr<Observer>> all{total, std::make_shared<Log>()};
  for (auto &observer : all) observer->told("x", 1);
  auto back = std::dynamic_pointer_cast<Total>(all[0]);
  expect(back && back->sum == 9, "cast back");
  std::printf("%d %zu\n", total->sum, all.size());
  return 0;
}
