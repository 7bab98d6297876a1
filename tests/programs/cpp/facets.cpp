// Parts of streams that users write: buffers, facets, manipulators, callbacks; and numbers as text.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ios>
#include <istream>
#include <iterator>
#include <locale>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

static int n_overflows, n_syncs, n_groupings, n_events;

// Writes go through two buffers: one that changes letters, one that keeps them.
struct Keeping : std::streambuf {
  std::string kept;
  int overflow(int c) override {
    ++n_overflows;
    if (c != traits_type::eof()) kept.push_back(static_cast<char>(c));
    return c;
  }
  int sync() override {
    ++n_syncs;
    return 0;
  }
};

struct Changing : std::streambuf {
  std::streambuf *below;
  char (*change)(char);
  Changing(std::streambuf *b, char (*f)(char)) : below(b), change(f) {}
  int overflow(int c) override { return below->sputc(change(static_cast<char>(c))); }
  std::streamsize xsputn(const char *text, std::streamsize n) override {
    for (std::streamsize i = 0; i < n; i++) below->sputc(change(text[i]));
    return n;
  }
  int sync() override { return below->pubsync(); }
};

// Reads come one line at a time.
struct Lines : std::streambuf {
  const std::vector<std::string> *lines;
  std::size_t next = 0;
  std::string current;
  explicit Lines(const std::vector<std::string> *l) : lines(l) {}
  int underflow() override {
    if (next == lines->size()) return traits_type::eof();
    current = (*lines)[next++] + "\n";
    setg(current.data(), current.data(), current.data() + current.size());
    return traits_type::to_int_type(current[0]);
  }
};

struct Grouping : std::numpunct<char> {
  char sep;
  explicit Grouping(char s) : sep(s) {}
  char do_thousands_sep() const override { return sep; }
  std::string do_grouping() const override {
    ++n_groupings;
    return "\3";
  }
};

struct Vowels : std::ctype<char> {
  bool is_vowel(char c) const { return std::string("aeiou").find(c) != std::string::npos; }
  char do_toupper(char c) const override { return is_vowel(c) ? '*' : c; }
};

static char loud(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
static char plain(char c) { return c; }

static std::ostream &separator(std::ostream &out) { return out << '|'; }

static void on_event(std::ios_base::event, std::ios_base &, int) { ++n_events; }

static void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

static std::string written(char (*change)(char), const std::locale &locale) {
  Keeping keeping;
  Changing changing(&keeping, change);
  std::ostream out(&changing);
  out.register_callback(on_event, 0);
  out.imbue(locale);
  out << "total " << 1234567 << separator << 1.5 << separator << true << std::flush;
  std::ostream copy(nullptr);
  copy.copyfmt(out);
  return keeping.kept;
}

static int read() {
  const std::vector<std::string> lines{"12 34", "first line", "5 words in a line"};
  Lines source(&lines);
  std::istream in(&source);
  int a = 0, b = 0;
  std::string line, word;
  in >> a >> b;
  in.ignore();
  std::getline(in, line);
  in >> word;
  std::vector<std::string> rest{std::istream_iterator<std::string>(in), {}};
  return a + b + static_cast<int>(line.size() + word.size() + rest.size());
}

static int numbers() {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof text, 40321);
  int value = 0;
  auto found = std::from_chars(text, end, value);
  return error == std::errc() && found.ptr == end ? value : 0;
}

int main() {
  std::locale grouped(std::locale::classic(), new Grouping(','));
  expect(written(loud, grouped) == "TOTAL 1,234,567|1.5|1", "grouped");
  expect(written(plain, std::locale::classic()) == "total 1234567|1.5|1", "plain");
  std::locale vowels(std::locale(), new Vowels);
  std::string word = "letters";
  for (char &c : word) c = std::use_facet<std::ctype<char>>(vowels).toupper(c);
  expect(word == "l*tt*rs", "vowels");
  expect(read() == 46 + 10 + 1 + 4, "read");
  expect(numbers() == 40321, "numbers");
  std::printf("%d %d %d %d\n", n_overflows > 0, n_syncs, n_groupings > 0, n_events);
  return 0;
}
