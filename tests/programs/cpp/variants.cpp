// std::variant, std::any, std::optional and std::visit over a small expression language.
#include <any>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct Node;
using Tree = std::unique_ptr<Node>;

struct Number {
  int value;
};
struct Variable {
  std::string name;
};
struct Binary {
  char op;
  Tree left, right;
};
struct Call {
  int (*function)(int);
  Tree argument;
};

struct Node {
  std::variant<Number, Variable, Binary, Call> what;
};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

static int negate(int n) { return -n; }
static int square(int n) { return n * n; }

template <class T>
static Tree make(T what) {
  return Tree(new Node{std::move(what)});
}

class Scope {
 public:
  void set(const std::string &name, int *where) { names_[name] = where; }
  std::optional<int> get(const std::string &name) const {
    auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    return *found->second;
  }

 private:
  std::unordered_map<std::string, int *> names_;
};

struct Evaluator {
  const Scope &scope;
  int operator()(const Number &n) const { return n.value; }
  int operator()(const Variable &v) const { return scope.get(v.name).value_or(-1); }
  int operator()(const Binary &b) const {
    int left = std::visit(*this, b.left->what), right = std::visit(*this, b.right->what);
    switch (b.op) {
      case '+': return left + right;
      case '*': return left * right;
      default: return left - right;
    }
  }
  int operator()(const Call &c) const { return c.function(std::visit(*this, c.argument->what)); }
};

static int count(const Node &node) {
  return std::visit(
      Overloaded{
          [](const Number &) { return 1; },
          [](const Variable &) { return 1; },
          [](const Binary &b) { return 1 + count(*b.left) + count(*b.right); },
          [](const Call &c) { return 1 + count(*c.argument); },
      },
      node.what);
}

struct Setting {
  virtual ~Setting() = default;
  virtual int size() const { return 1; }
};
struct Wide : Setting {
  int size() const override { return 5; }
};

static int weigh(const std::any &thing) {
  if (const int *n = std::any_cast<int>(&thing)) return *n;
  if (auto *text = std::any_cast<std::string>(&thing)) return static_cast<int>(text->size());
  if (auto *f = std::any_cast<int (*)(int)>(&thing)) return (*f)(3);
  if (auto *s = std::any_cast<std::shared_ptr<Setting>>(&thing)) return (*s)->size();
  return 0;
}

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  int x = 4, y = 5;
  Scope scope;
  scope.set("x", &x);
  scope.set("y", &y);
  Tree sum = make(Binary{'+', make(Variable{"x"}), make(Number{3})});
  Tree product = make(Binary{'*', std::move(sum), make(Call{negate, make(Variable{"y"})})});
  Evaluator evaluate{scope};
  expect(std::visit(evaluate, product->what) == -35, "evaluated");
  x = 1;
  expect(std::visit(evaluate, product->what) == -20, "evaluated again");
  expect(count(*product) == 6, "counted");
  product->what = Call{square, make(Variable{"z"})};
  expect(std::visit(evaluate, product->what) == 1, "replaced");
  expect(std::holds_alternative<Call>(product->what), "holds");
  if (auto *call = std::get_if<Call>(&product->what)) call->function = negate;
  expect(std::visit(evaluate, product->what) == 1, "changed in place");

  std::vector<std::any> things;
  things.emplace_back(7);
  things.emplace_back(std::string("four"));
  things.emplace_back(&square);
  things.emplace_back(std::shared_ptr<Setting>(std::make_shared<Wide>()));
  things.emplace_back(2.5);
  int total = 0;
  for (const std::any &thing : things) total += weigh(thing);
  expect(total == 7 + 4 + 9 + 5, "weighed");
  things[0] = things[2];
  expect(weigh(things[0]) == 9, "copied");
  std::optional<Setting *> maybe;
  Wide wide;
  expect(!maybe, "none");
  maybe = &wide;
  expect((*maybe)->size() == 5, "some");
  std::printf("%d %d\n", total, count(*product));
  return 0;
}
