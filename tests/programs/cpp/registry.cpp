// Plug-ins that register themselves before main, factories, singletons, and CRTP.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct Codec {
  virtual ~Codec() = default;
  virtual std::string encode(std::string_view text) const = 0;
  virtual const char *name() const = 0;
};

class Registry {
 public:
  using Factory = std::unique_ptr<Codec> (*)();
  static Registry &instance() {
    static Registry registry;
    return registry;
  }
  void add(const char *name, Factory factory) { factories_[name] = factory; }
  std::unique_ptr<Codec> make(const std::string &name) const {
    auto found = factories_.find(name);
    return found == factories_.end() ? nullptr : found->second();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto &entry : factories_) all.push_back(entry.first);
    return all;
  }

 private:
  Registry() = default;
  std::map<std::string, Factory> factories_;
};

template <class T>
struct Registered {
  struct Entry {
    Entry() { Registry::instance().add(T::kName, &make); }
    static std::unique_ptr<Codec> make() { return std::make_unique<T>(); }
  };
  static inline Entry entry;
  virtual const void *anchor() const { return &entry; }
  virtual ~Registered() = default;
};

struct Rot13 : Codec, Registered<Rot13> {
  static constexpr const char *kName = "rot13";
  std::string encode(std::string_view text) const override {
    std::string out;
    for (char c : text) out += c >= 'a' && c <= 'z' ? char('a' + (c - 'a' + 13) % 26) : c;
    return out;
  }
  const char *name() const override { return kName; }
};

struct Reverse : Codec, Registered<Reverse> {
  static constexpr const char *kName = "reverse";
  std::string encode(std::string_view text) const override {
    return std::string(text.rbegin(), text.rend());
  }
  const char *name() const override { return kName; }
};

struct Doubled : Codec, Registered<Doubled> {
  static constexpr const char *kName = "doubled";
  std::string encode(std::string_view text) const override {
    std::string out;
    for (char c : text) out.append(2, c);
    return out;
  }
  const char *name() const override { return kName; }
};

class Chain : public Codec {
 public:
  void add(std::unique_ptr<Codec> codec) { parts_.push_back(std::move(codec)); }
  std::string encode(std::string_view text) const override {
    std::string now(text);
    for (const auto &part : parts_) now = part->encode(now);
    return now;
  }
  const char *name() const override { return "chain"; }

 private:
  std::vector<std::unique_ptr<Codec>> parts_;
};

template <class Derived>
struct Counted {
  static inline int n_made = 0;
  Counted() { ++n_made; }
  int doubled() { return 2 * static_cast<Derived *>(this)->value(); }
};
struct Three : Counted<Three> {
  int value() { return 3; }
};
struct Nine : Counted<Nine> {
  int value() { return 9; }
};

struct AtEnd {
  const char *word;
  explicit AtEnd(const char *w) : word(w) {}
  ~AtEnd() { std::printf("%s\n", word); }
};
static AtEnd at_end("end");

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

int main() {
  expect(Registered<Rot13>::entry.make()->name() == Rot13::kName, "made directly");
  auto names = Registry::instance().names();
  expect(names == std::vector<std::string>({"doubled", "reverse", "rot13"}), "registered");
  Chain chain;
  for (const auto &name : names) chain.add(Registry::instance().make(name));
  expect(chain.encode("ab") == "oonn", "the chain");
  const Codec *codec = &chain;
  expect(std::strcmp(codec->name(), "chain") == 0, "its name");
  auto rot = Registry::instance().make("rot13");
  expect(rot->encode(rot->encode("hello")) == "hello", "there and back");
  expect(!Registry::instance().make("none"), "nothing");
  expect(dynamic_cast<Registered<Rot13> *>(rot.get())->anchor() != nullptr, "across");
  Three three;
  Nine nine, other;
  expect(three.doubled() + nine.doubled() == 24, "static polymorphism");
  expect(Three::n_made == 1 && Nine::n_made == 2 && other.value() == 9, "counted apart");
  std::printf("%s %zu\n", chain.encode("xyz").c_str(), names.size());
  return 0;
}
