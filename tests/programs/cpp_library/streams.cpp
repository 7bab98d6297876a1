// Streams and locales: facets convert, words are kept in streams, the global locale is set.
#include <fstream>
#include <iostream>
#include <locale>
#include <sstream>
#include <cstdio>
int x;
struct Upper : std::ctype<char> { char do_toupper(char c) const override { return c == 'a' ? 'Z' : c; } };
int main() {
  { std::ofstream out("written.txt"); out << "hello " << 12 << "\n"; }
  { std::ifstream in("written.txt"); std::string s; in >> s; if (s != "hello") return 1; }
  std::remove("written.txt");
  std::ostringstream one;
  int slot = std::ios_base::xalloc();
  one.pword(slot) = &x;
  one << "x";
  int *back = (int *)one.pword(slot);
  if (back != &x) return 2;
  std::locale own(std::locale(), new Upper), before = std::locale::global(own);
  std::locale now;
  if (!(now == own) || std::toupper('a', now) != 'Z') return 3;
  std::ostringstream two;
  if (!(two.getloc() == own)) return 4;
  std::cout << *back << "\n";
  std::locale::global(before);
  return 0;
}
