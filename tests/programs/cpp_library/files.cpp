// std::filesystem: paths, iterators, errors by code and by exception.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>
namespace fs = std::filesystem;
struct Sink { virtual int take(const fs::path &p) { return (int)p.string().size(); } virtual ~Sink() = default; };
struct Counter : Sink { int n = 0; int take(const fs::path &) override { return ++n; } };
int main() {
  fs::path base = fs::current_path() / "files";
  std::error_code ec;
  fs::remove_all(base, ec);
  fs::create_directories(base / "a" / "b", ec);
  { std::ofstream out(base / "a" / "x.txt"); out << "hello\n"; }
  Counter counter; Sink sink; Sink *sinks[2] = {&counter, &sink};
  int n = 0;
  for (const fs::directory_entry &entry : fs::directory_iterator(base / "a")) n += sinks[0]->take(entry.path());
  for (auto &entry : fs::recursive_directory_iterator(base)) n += sinks[1]->take(entry.path().filename());
  std::vector<fs::path> parts;
  for (const auto &part : base) parts.push_back(part);
  fs::copy_file(base / "a" / "x.txt", base / "y.txt", ec);
  fs::rename(base / "y.txt", base / "z.txt");
  bool ok = fs::exists(base / "z.txt") && fs::file_size(base / "z.txt") == 6 && !fs::is_directory(base / "z.txt");
  ok = ok && fs::equivalent(base / "a", base / "a" / "." ) && fs::absolute(base) == base;
  fs::path rel = fs::relative(base / "a", base), canon = fs::canonical(base / "a" / ".." / "a");
  ok = ok && rel == "a" && canon.filename() == "a" && (base / "x.y").extension() == ".y" && (base / "x.y").stem() == "x";
  fs::current_path(base);
  fs::last_write_time(base / "z.txt", fs::file_time_type::clock::now());
  fs::permissions(base / "z.txt", fs::perms::owner_all);
  ok = ok && fs::status(base).type() == fs::file_type::directory && fs::space(base).capacity > 0;
  try { fs::file_size(base / "none"); } catch (const fs::filesystem_error &e) { ok = ok && e.path1() == base / "none" && e.code().message().size() > 0 && e.what()[0]; }
  fs::file_size(base / "none", ec);
  ok = ok && ec && ec.category().name()[0] == 's';
  fs::current_path(base.parent_path());
  fs::remove_all(base);
  std::printf("%d %d %zu\n", (int)ok, n > 0, parts.size());
  return 0;
}
