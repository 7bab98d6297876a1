// An interpreter: double dispatch, environments on the heap, closures, native functions.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Literal;
struct Name;
struct Apply;
struct Lambda;
struct If;

struct Visitor {
  virtual ~Visitor() = default;
  virtual void visit(const Literal &) = 0;
  virtual void visit(const Name &) = 0;
  virtual void visit(const Apply &) = 0;
  virtual void visit(const Lambda &) = 0;
  virtual void visit(const If &) = 0;
};

struct Expr {
  virtual ~Expr() = default;
  virtual void accept(Visitor &visitor) const = 0;
};
using ExprPtr = std::shared_ptr<const Expr>;

template <class T>
struct Visitable : Expr {
  void accept(Visitor &visitor) const override { visitor.visit(static_cast<const T &>(*this)); }
};

struct Literal : Visitable<Literal> {
  int value;
  explicit Literal(int v) : value(v) {}
};
struct Name : Visitable<Name> {
  std::string name;
  explicit Name(std::string n) : name(std::move(n)) {}
};
struct Apply : Visitable<Apply> {
  ExprPtr function;
  std::vector<ExprPtr> arguments;
  Apply(ExprPtr f, std::vector<ExprPtr> a) : function(std::move(f)), arguments(std::move(a)) {}
};
struct Lambda : Visitable<Lambda> {
  std::vector<std::string> names;
  ExprPtr body;
  Lambda(std::vector<std::string> n, ExprPtr b) : names(std::move(n)), body(std::move(b)) {}
};
struct If : Visitable<If> {
  ExprPtr test, then, other;
  If(ExprPtr t, ExprPtr a, ExprPtr b) : test(std::move(t)), then(std::move(a)), other(std::move(b)) {}
};

struct Environment;
struct Value {
  int number = 0;
  const Lambda *lambda = nullptr;
  std::shared_ptr<Environment> scope;
  std::function<int(int, int)> native;
};
struct Environment {
  std::shared_ptr<Environment> outer;
  std::unordered_map<std::string, Value> names;
  Value *find(const std::string &name) {
    auto found = names.find(name);
    if (found != names.end()) return &found->second;
    return outer ? outer->find(name) : nullptr;
  }
};

class Evaluator : public Visitor {
 public:
  explicit Evaluator(std::shared_ptr<Environment> e) : scope_(std::move(e)) {}
  Value evaluate(const Expr &e) {
    e.accept(*this);
    return result_;
  }
  void visit(const Literal &l) override { result_ = Value{l.value, nullptr, nullptr, nullptr}; }
  void visit(const Name &n) override { result_ = *scope_->find(n.name); }
  void visit(const Lambda &l) override { result_ = Value{0, &l, scope_, nullptr}; }
  void visit(const If &i) override {
    const Expr &chosen = evaluate(*i.test).number ? *i.then : *i.other;
    chosen.accept(*this);
  }
  void visit(const Apply &a) override {
    Value function = evaluate(*a.function);
    std::vector<Value> values;
    for (const auto &argument : a.arguments) values.push_back(evaluate(*argument));
    if (function.native) {
      result_ = Value{function.native(values[0].number, values[1].number), nullptr, nullptr, nullptr};
      return;
    }
    auto inner = std::make_shared<Environment>();
    inner->outer = function.scope;
    for (std::size_t i = 0; i < values.size(); i++)
      inner->names[function.lambda->names[i]] = values[i];
    result_ = Evaluator(inner).evaluate(*function.lambda->body);
  }

 private:
  std::shared_ptr<Environment> scope_;
  Value result_;
};

class Counter : public Visitor {
 public:
  int n_nodes = 0;
  void visit(const Literal &) override { ++n_nodes; }
  void visit(const Name &) override { ++n_nodes; }
  void visit(const Lambda &l) override {
    ++n_nodes;
    l.body->accept(*this);
  }
  void visit(const If &i) override {
    ++n_nodes;
    for (const Expr *e : {i.test.get(), i.then.get(), i.other.get()}) e->accept(*this);
  }
  void visit(const Apply &a) override {
    ++n_nodes;
    a.function->accept(*this);
    for (const auto &argument : a.arguments) argument->accept(*this);
  }
};

template <class T, class... A>
static ExprPtr make(A &&...arguments) {
  return std::make_shared<T>(std::forward<A>(arguments)...);
}
static ExprPtr name(const char *n) { return make<Name>(n); }
static ExprPtr apply(ExprPtr f, std::vector<ExprPtr> a) { return make<Apply>(std::move(f), std::move(a)); }

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  auto globals = std::make_shared<Environment>();
  globals->names["+"].native = [](int a, int b) { return a + b; };
  globals->names["-"].native = [](int a, int b) { return a - b; };
  globals->names["*"].native = std::multiplies<int>();
  ExprPtr less = apply(name("-"), {name("n"), make<Literal>(1)});
  ExprPtr body = make<If>(name("n"), apply(name("*"), {name("n"), apply(name("f"), {less})}),
                          make<Literal>(1));
  ExprPtr factorial = make<Lambda>(std::vector<std::string>{"n"}, body);
  Evaluator evaluator(globals);
  globals->names["f"] = evaluator.evaluate(*factorial);
  ExprPtr call = apply(name("f"), {make<Literal>(5)});
  expect(evaluator.evaluate(*call).number == 120, "factorial");
  ExprPtr adder = make<Lambda>(std::vector<std::string>{"x"},
                               make<Lambda>(std::vector<std::string>{"y"},
                                            apply(name("+"), {name("x"), name("y")})));
  ExprPtr both = apply(apply(adder, {make<Literal>(3)}), {make<Literal>(4)});
  expect(evaluator.evaluate(*both).number == 7, "closures");
  Counter counter;
  std::vector<Visitor *> visitors{&counter, &evaluator};
  for (Visitor *visitor : visitors) both->accept(*visitor);
  expect(counter.n_nodes == 10, "counted");
  globals->names.clear();
  std::printf("%d\n", counter.n_nodes);
  return 0;
}
