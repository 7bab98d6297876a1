"""Random whole C programs: functions that pass each other numbers and pointers, some out of bounds.

What a function gets from its callers, from globals and from the heap decides whether its checks
hold, so that each is safe in some programs and fails in others.
"""

from __future__ import annotations

import random
import re

HEAD = """
#include <stdlib.h>
extern int unknown(void);
struct pair { int n; int *p; };
static int table[8], number = N, mode;
static char text[12];
static int *kept = table + I;
static struct pair both = {I, table};
"""
# Functions: what they are called with stands in front, an address (p), a string (s) or numbers.
FUNCTIONS = (
    "p at(int *p, int i) { return p[i]; }",
    "p before(int *p, int i) { int s = p[1]; s ^= p[I]; return s ^ p[-I]; }",
    "p filled(int *p, int n) { for (int i = 0; i < n; i++) p[i] = N; return p[0]; }",
    "p last(int *p, int n) { if (n < 1) return 0; return p[n - 1]; }",
    "p walked(int *p, int n) { int s = 0; int *e = p + (n & 7); while (p != e) s ^= *p++; "
    "return s; }",
    "p chosen(int *p, int i) { int *q = i > I ? p + 1 : i < 0 ? 0 : p; if (q) return *q; "
    "return N; }",
    "p flagged(int *p, int n) { int i = 8, on = 0; if (unknown()) { i = n; on = 1; } "
    "if (i < 0 || (on && i > I)) return 0; return on ? p[i] : i; }",
    "p twice(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) { s ^= p[i]; if (i > N) "
    "break; } for (int k = n; k > 0; k--) s ^= p[k - 1]; return s; }",
    "p keeps(int *p, int n) { kept = n > N ? p : kept; both.p = p; both.n = n; return 0; }",
    "p frees(int *p, int n) { int *h = malloc(sizeof(int) * (n & 7)); if (!h) return 0; "
    "if (n & 3) h[(n & 3) - 1] = *p; int s = n & 3 ? h[0] : 0; free(h); return s & 0; }",
    "s scanned(char *s, int n) { int i = 0; while (i < n && s[i]) i++; return i; }",
    "s behind(char *s, int n) { return s[n] ^ s[n - I]; }",
    "n odd(int a, int b) { int n = 2 * (a & 15) + 1; return N / (n - (b & 2)); }",
    "n related(int a, int b) { if (a < 0 || b < 0 || a > 50 || b > 50 || a + b > 7) return 0; "
    "return table[7 - a - b]; }",
    "n sum(int a, int b) { return a + b; }",
    "n shifted(int a, int b) { return 1 << (a & 31) >> b; }",
    "n remainder(int a, int b) { unsigned u = a; return table[u % 8] + table[(u >> 1) % N8]; }",
    "n reads(int a, int b) { return both.p[both.n] + kept[a & 1] + table[number & 7]; }",
    "n sets(int a, int b) { number = a; if (b > N) mode = b; return number - mode; }",
    "n states(int a, int b) { int m = mode ? 2 : 1, r = 0; for (int i = 0; i < 4; i++) { if (m == "
    "1) { r = I; m = 2; } else r = table[r]; if (r < 0 || r > 7) return N / (r - I); } return r; }",
    "n down(int a, int b) { return a <= 0 ? b : down(a - 1, b - 1) & 255; }",
)
ADDRESSES = ("table", "table + I", "&number", "local", "local + I", "kept", "both.p", "heap")
NUMBERS = ("N", "I", "unknown()", "unknown() & 7", "number", "mode", "both.n", "r & 7")


def program_of(seed: int) -> str:
    """Return a program: eight functions, and `main`, which calls them and others."""
    source = random.Random(seed)

    def filled(text: str) -> str:
        text = re.sub(r"\bN8\b", lambda _: str(source.randrange(1, 12)), text)
        text = re.sub(r"\bN\b", lambda _: str(source.randrange(-3, 12)), text)
        return re.sub(r"\bI\b", lambda _: str(source.randrange(0, 9)), text)

    def number() -> str:
        return filled(source.choice(NUMBERS))

    def argument(kind: str) -> str:
        if kind == "p":
            minus = " - 1" if source.random() < 0.1 else ""
            return filled(source.choice(ADDRESSES)) + minus
        return filled(source.choice(("text", "text + I", "word"))) if kind == "s" else number()

    functions = source.sample(FUNCTIONS, 8)
    lines = [filled(HEAD)]
    calls = []
    for one in functions:
        kind, body = one.split(" ", 1)
        lines.append(f"static int {filled(body)}")
        name = body.split("(", 1)[0]
        for _ in range(source.randrange(1, 4)):
            test = f"if ({number()} > {number()}) " if source.random() < 0.4 else ""
            calls.append(f"  {test}r ^= {name}({argument(kind)}, {number()});")
    source.shuffle(calls)
    lines += [
        "int main(void) {",
        '  int r = 0, local[6] = {1, 2, 3, 4, 5, 6}, *heap = malloc(16); char word[4] = "abc";',
        "  if (!heap) return 1;",
        "  for (int i = 0; i < 4; i++) heap[i] = i;",
        *calls,
        "  return r & 1;",
        "}",
    ]
    return "\n".join(lines) + "\n"
