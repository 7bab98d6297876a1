"""Random C functions with loops, branches, machine integers, idioms of C, and assertions.

Every function comes twice, the second time with its assertions negated, so that whoever calls both
safe is wrong if any run comes there.
"""

from __future__ import annotations

import random
import re

TYPES = ("int", "int", "int", "unsigned", "short", "unsigned char", "long")
HEAD = """#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
extern int unknown(void);
extern unsigned unknown_unsigned(void);
extern double unknown_double(void);
static int cells[8];
struct pair { int a; short b; };
struct nested { struct pair first; unsigned char more[4]; };
struct bits { unsigned low : 3; int high : 5; unsigned rest : 9; };
union parts { int whole; short half[2]; unsigned char bytes[4]; };
static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static const float weights[4] = {0.5f, 1.25f, 3.0f, 2.0f};
static const struct pair pairs[3] = {{1, 10}, {2, 20}, {3, 30}};
static atomic_int shared = 3;
static int ticket = 3;
static unsigned large(int x) { return x > 0 ? 0xfffffff0u : 0x80000000u; }
static unsigned char byte(void) { return 0xf0; }
static unsigned long most(int x) { return x ? -1ul : 7; }
static int (*chosen)(int);
static char words[8] = "words";
static const char *text(int x) { return x > 3 ? words : x < 0 ? "" : "text"; }
static int twice(int x) { return x > 1000 || x < -1000 ? 0 : 2 * x; }
static int half(int x) { return x / 2; }
static int *either(int *a, int *b, int x) { return x > 3 ? a : x < -5 ? 0 : b; }
static int *behind(int *a, int n) { return n > 0 && n < 4 ? a + n : a; }
static int *searched(int *a, int n, int x) { for (int i = 0; i < n; i++) if (a[i] == x) return \
a + i; return 0; }
static const char *called(int x) { switch (x & 3) { case 0: return "zero"; case 1: return "one"; \
default: return words; } }
static int one = 1, other = 2;
static const char *const names[3] = {"a", "bb", words};
static void keep(int **to, int *p) { if (p) *to = p; }
static int down(int n) { return n <= 0 ? 0 : 1 + down(n - 1); }
static void add(int *to, int x) { if (x < 100 && x > -100 && *to < 100 && *to > -100) *to += x; }
static struct pair made(int x) { struct pair p = {x, (short)x}; return p; }
static int first(struct nested n) { return n.first.a + n.more[1]; }
"""
IDIOMS = """
struct pair p = {X, 3}; if (C) p.b = p.a; else p.a += 1 & p.b; V = p.b;
struct pair p, *q = &p; q->a = N; q->b = (short)X; if (C) q->a = q->b; V = p.a;
struct pair ps[3]; for (int i = 0; i < 3; i++) { ps[i].a = i; ps[i].b = N; } V = \
ps[(unsigned)X % 3].a;
struct pair ps[2] = {{N, 1}, {2, 3}}; ps[C].a = X; V = ps[1].a;
V = pairs[(unsigned)X % 3].b; if (C) V = table[(unsigned)Y % 8];
V = table[N & 7] + table[X & 3];
struct nested n = {{X, 2}, {1, 2, 3, 4}}; n.more[(unsigned)Y % 4] = (unsigned char)X; V = \
first(n);
struct pair p = made(X); V = p.a; if (C) V = p.b;
int t = N, u = 5; int *p = &t; if (C) p = &u; *p = X; V = t;
int t = N; add(&t, X); add(&t, 1); V = t;
int *p = C ? &cells[1] : &cells[2]; *p = N; V = cells[1];
int st = 0; for (int k = 0; k < N; k++) switch (st) { case 0: st = C ? 1 : 0; break; case 1: \
st = 2; V = 1; break; default: st = 0; } V = st;
switch (X) { case 1: V = 3; case 2: V = 4; break; case 7: V = 1; break; default: V = 0; }
int k = 0; do { k++; if (X == k) continue; if (k > N) break; } while (k < 20); V = k;
int k = N; do { if (C) break; k--; } while (k > 0); V = k;
unsigned u = X; u += 0xfffffff0u; V = u > 3;
unsigned u = X; u = -u; V = u == 0;
unsigned char c = (unsigned char)X; c++; V = c;
signed char c = (signed char)X; c += 3; V = c;
short h = (short)(X * 1); h = (short)(h - 7); V = h;
unsigned short h = (unsigned short)X; V = h << 3;
V = (unsigned)X >> (Y & 31); V = (int)(X & 0xff) << (Y & 7);
V = (X & 0xff) >> (N & 3); V |= 1; V ^= X; V &= 0x7f;
V = (X & 0xff) ; V += N; V -= Y & 15; V *= 2; V /= 3; V %= 11; V <<= 2; V >>= 1;
V = down(X & 7); V = V + 1;
V = twice(half(X)); V = half(twice(V));
int (*f)(int) = C ? twice : half; V = f(X);
int (*fs[2])(int) = {twice, half}; V = fs[C](X & 63);
int k = 0; again: k++; if (k < N) goto again; V = k;
int k = 0; if (C) goto middle; while (k < 5) { k++; middle: k += 2; } V = k;
struct bits b = {0, 0, 0}; b.low = X; b.high = Y; b.rest = 5; V = b.low; if (C) V = b.high;
struct bits b = {1, 2, 3}; b.low += X; V = b.low + b.rest;
union parts u; u.whole = X; V = u.bytes[0]; if (C) V = u.half[1];
union parts u; u.whole = 0; u.bytes[1] = (unsigned char)X; V = u.whole;
int *h = malloc(N * sizeof(int)); if (h) { for (int i = 0; i < N; i++) h[i] = X; V = h[Y & 3]; \
free(h); }
int *h = malloc(8); if (h) { h[0] = X; h[1] = N; V = h[0]; if (C) { free(h); h = 0; } if (h) V \
= h[1]; }
struct pair *h = calloc(2, sizeof *h); if (h) { h[1].a = X; V = h[0].a + h[1].b; free(h); }
int a[6]; int n = 0; while (n < 6 && C) { a[n] = N; n++; } if (n > 0) V = a[n - 1];
int a[5] = {0}; for (int i = 0; i < 5; i++) a[i] = i * 2; V = a[(unsigned)X % 5];
int a[4]; for (int i = 0; i < 4; i++) a[i] = table[i]; int b[4]; memcpy(b, a, sizeof a); b[0] \
= X; V = b[Y & 3];
int a[4]; memset(a, 0, sizeof a); a[X & 3] = N; V = a[0];
char s[8] = "abc"; s[X & 3] = 0; V = (int)strlen(s);
char s[8]; strcpy(s, C ? "ab" : "abcde"); V = s[0]; V = (int)strlen(s);
const char *s = "hello"; while (*s && C) s++; V = *s;
char s[6] = "ab"; char *p = strchr(s, 'b'); if (p) *p = (char)X; V = s[1]; if (p) V = (int)(p \
- s);
char s[10]; for (int i = 0; i < N && i < 9; i++) s[i] = 'a'; V = 1;
char s[12] = "abcdef"; int i; for (i = 0; s[i]; i++) if (C) s[i] = 'x'; V = i; V = i - strlen(s);
char s[12] = "abcdef"; s[X & 7] = (char)Y; int i = 0; while (i < 11 && s[i] != 0) i++; V = i;
char s[12]; int n = X & 7; memset(s, 'a', n); s[n] = 0; V = (int)strlen(s) - n; s[Y & 7] = 0; \
V = strlen(s) <= (unsigned)n;
char s[16] = "ab", t[8] = "cd"; strcat(s, t); V = (int)strlen(s); if (C) strcat(s, s + 1); else \
t[1] = 0; V = (int)strlen(t);
char s[8], t[8] = "xyz"; memcpy(s, t, (X & 3) + 1); s[7] = 0; V = s[0]; t[Y & 7] = (char)X; V = \
(int)strlen(t);
char *p = malloc(4); if (p) { strcpy(p, C ? "abc" : "a"); V = (int)strlen(p); p[X & 3] = 'b'; \
p[3] = 0; V = strlen(p) > 1; free(p); }
char s[8] = "abc"; char *p = C ? s : s + 1; *p = (char)Y; V = (int)strlen(s); p[1] = 0; V = V + \
(int)strlen(s);
int i = 0; while (words[i]) i++; V = i; words[X & 3] = (char)(Y | 1); V = (int)strlen(words);
const char *s = text(X); int n = (int)strlen(s); V = n; if (C) words[1] = 0; V = n - \
(int)strlen(s);
const char *s = words; for (int k = 0; k < 3; k++) { V = (int)strlen(s); s = text(V); }
char s[6]; snprintf(s, N, "%d", X); V = (int)strlen(s) < N;
V = C ? X : C ? Y : N;
V = (X > 0) - (X < 0); V = !V; V = -V;
int x = N, y = 2; int *t[2] = {&x, &y}; *t[X & 1] = 3; V = x; V = y; V = *t[1] - y; t[C] = t[Y & \
1]; *t[0] += 1; V = x + y; V = *t[1];
struct link { int v; struct link *next; } n1, n2; n1.v = N; n2.v = X; n1.next = &n2; n2.next = C \
? &n1 : 0; int k = 0; for (struct link *p = &n1; p && k < 5; p = p->next) { p->v &= 7; V = p->v; \
k++; } V = n1.v; V = n2.v; V = k;
struct link { int v; struct link *next; } a = {1, 0}, b = {2, 0}, c = {3, 0}, *list = 0, *p = \
&a; if (C) { a.next = list; list = p; } if (C) { b.next = list; list = &b; } c.next = list; list \
= &c; p = list->next; V = list->v; if (p) { p->v = N; if (p->next) V = p->next->v; } V = a.v; V \
= b.v;
int x = 1, y = 2; int *p = &x, **q = &p; keep(q, C ? &y : 0); if (p) *p = N; V = x; V = y; *q = \
&x; *p = 4; V = x;
struct hold { int *p; int n; } h = {cells, 8}, g; int a[3] = {1, 2, 3}; if (C) { h.p = a; h.n = \
3; } g = h; V = h.p[X & 1]; for (int i = 0; i < h.n; i++) h.p[i] = N; V = a[2]; V = g.n; V = \
*g.p; V = cells[3];
union { int *p; long n; char b[8]; } u; int x = 1, y = 2; u.p = &x; if (C) u.p = &y; *u.p = N; V \
= x; u.n = 0; if (u.p) V = 3; else V = y;
int x = 1, y = 2, *t[3] = {0}; t[X & 1] = &x; t[C + 1] = &y; for (int i = 0; i < 3; i++) if \
(t[i]) *t[i] += N; V = x; V = y;
V = names[(unsigned)X % 3][1]; V = (int)strlen(names[X & 1]); const char *s = names[C]; while \
(*s) s++; V = *s;
int x = 1, y = 2; int *p = &x, *q = &y, **t[2] = {&p, &q}; **t[C] = N; V = x; *t[0] = &y; *p = \
X; V = y; V = *q; V = x;
int a[4] = {0}, b[8] = {0}; int *p = C ? a : b; for (int i = 0; i < 4; i++) p[i] = i + N; V = \
p[3]; V = a[2] + b[2];
int x = N, y = 2; int *p = X > 0 ? &x : &y; *p = 3; V = x; V = y; V = x + y > 5; V = 100 / x;
int x = 1, y = 2, z = 3; int *p = C ? &x : C ? &y : &z, *q = p; if (C) q = &x; *q = N; V = *p; V \
= x; V = y - z; p = q; *p += 1; V = *q - x;
int *p = C ? &one : &other; *p = X; V = one; V = *p; if (p == &one) V = one - *p; other = N; V = \
*p;
const char *s = C ? "yes" : "no"; int i; for (i = 0; s[i]; i++) V = s[i]; V = i; V = \
(int)strlen(s);
const char *s = called(X); int i = 0; while (s[i]) i++; V = i; V = (int)strlen(s) - i; V = s[1];
struct pair s = {N, 1}, t = {2, 2}; struct pair *p = C ? &s : &t; p->a = X; p->b = 4; V = s.a; V \
= t.b; *p = t; V = s.a - t.a;
struct nested n = {{1, 2}, {3, 4}}; unsigned char *p = C ? n.more : n.more + 2; p[1] = N; V = \
n.more[1]; V = n.more[3]; *p = (unsigned char)X; V = n.more[0] + p[1];
struct nested n = {{1, 2}, {3, 4}}, m = n; int *p = C ? &n.first.a : C ? &m.first.a : &cells[3]; \
*p = N; V = n.first.a; V = m.first.a; n = m; V = *p;
int t = N; int *p = C ? &t : 0; if (p) *p = X; V = t; if (!p) V = 7; else V = *p - t;
int t = N, u = 4; int *p = 0; if (C) p = &t; else if (C) p = &u; if (p) (*p)++; V = t + u; V = u;
int t = N, u = 4; *either(&t, &u, X & 7) = Y; V = t; V = u; int *p = either(cells, &u, X); if \
(p) *p = 6; V = u;
int a[6] = {1, 2, 3}; int *p = behind(a, X), *q = behind(p, Y); *p = N; V = a[0]; V = a[3]; V = \
(int)(q - a); V = p[2];
int a[5] = {1, 2, 3, 4, 5}; int *p = searched(a, 5, X); if (p) { *p = 9; V = (int)(p - a); } V = \
a[1];
int *p = C ? malloc(8) : malloc(12); if (p) { p[0] = X; p[1] = N; V = p[0]; if (C) p[1] = 2; V = \
p[1]; free(p); }
char buf[8] = "abc"; char *p = buf; if (C) p = malloc(N); if (p) { p[0] = (char)X; V = *p; V = \
buf[0]; if (p != buf) free(p); }
int a[4] = {0}, b[6] = {0}, *p = C ? a : b + 2, *e = p + 4; int k = 0; for (; p < e; p++) *p = \
k++; V = a[3]; V = b[2]; V = b[5];
int x = 1, y = 2; int *p = &x, *q = &y; for (int k = 0; k < N; k++) { int *h = p; p = q; q = h; \
*p = k; } V = x; V = y; V = *p - *q;
int x = 0, y = 0; int *p = &x; while (C) { *p += 1; if (*p > N) break; p = p == &x ? &y : &x; } \
V = x; V = y;
int x = 5; long y = 6; char *p = C ? (char *)&x : (char *)&y + 3; p[1] = N; V = x; V = (int)y; V \
= *p;
short h[4] = {1, 2, 3, 4}; int w = 7; void *p = C ? (void *)h : (void *)&w; memset(p, 0, 4); V = \
h[1]; V = h[2]; V = w;
int a[3] = {1, 2, 3}, b[3]; int *p = C ? a : b; memcpy(b, a, sizeof a); p[2] = X; V = a[2]; V = \
b[2]; memcpy(p, cells, 8); V = b[0];
char s[8] = "ab", t[8] = "wxyz"; char *p = C ? s : t; strcpy(p, "hello"); V = (int)strlen(s); V \
= (int)strlen(t); p[N & 7] = 0; V = (int)strlen(p);
int x = 1; int *p = X > 3 ? &x : cells + (Y & 7); *p = N; V = x; V = cells[2]; V = *p;
V = X > Y ? X : Y; V = V < 100 ? V : 100; V = V > 0 ? V : 0;
V = abs((int)(X & 0xff) - 100);
long long wide = X; wide = wide * Y; V = wide > 0;
long wide = (long)X * 3 - Y; V = wide > 0 ? 1 : wide < -5;
double d = X * 0.5; V = d > 3.0 ? 1 : 0; if (d > -100.0 && d < 100.0) V = (int)d;
double d = unknown_double(); if (d >= 0.0 && d <= 10.0) V = (int)(d * 2.0 + 1.0);
float f = (float)X; f = f / 3.0f; V = f != f; if (f < 5.0f && f > 0.0f) V = (int)f + (f > 2.0f);
double d = 0.0; for (int i = 0; i < N; i++) d += 0.1; V = d < 100.0; if (d <= 50.0) V = (int)d;
float f = (float)unknown_double(); double d = f; V = !(d < 1.0) && !(d >= 1.0);
double d = unknown_double(); if (d != 0.0) d = 1.0 / d; V = d == 0.0; if (!(d > 1.0)) V = d > 2.0;
double d = unknown_double(); if (d < 0.0) d = 0.0; if (d > N) d = N; if (d == d) V = (int)d;
double d = X / (double)N, e = d * d - Y; V = e < d; if (e > -1e6 && e < 1e6) V = (int)(e / 7);
float f = (float)(X & 255) / 256.0f; V = (int)(f * 8); V = f * f + f < 2.0f;
double d = sqrt(fabs(unknown_double())); if (isfinite(d)) V = d >= 0.0; else V = isnan(d) != 0;
double d = floor(X * 0.25) + ceil(Y * 0.5); if (fabs(d) <= 1000.0) V = (int)d;
double d = fmin(fmax(unknown_double(), -2.0), N); if (!isnan(d)) V = (int)d;
double d = sin((double)X) * N; V = (int)d; V = cos(d) <= 1.0;
double a[4]; for (int i = 0; i < 4; i++) a[i] = i * 0.5; a[X & 3] = Y; V = a[1] <= 100.0;
static double kept = 1.0; kept = kept > 100.0 ? 0.5 : kept * 2.0; V = (int)kept;
V = (int)weights[(unsigned)X % 4]; V = weights[1] > 0.0f;
double d = C ? X : 0.5; d = -d; V = d < 1.0; if (d >= -9 && d <= 9) V = (int)(d - 0.5);
unsigned u = X; double d = u; V = d >= 0.0; u = d < 10.0 ? (unsigned)d : 7u; V = u;
double d = fmod(unknown_double(), 8.0); if (d == d) V = (int)d; V = d > 7.5;
double s = 0; for (int i = 1; i < N; i++) s = s * 0.5 + i; V = (int)s;
double d = 1e308 * (X & 1); d = d * 10.0; V = d > 1e308; d = d - d; V = d != d;
union { double d; long l; } u; u.d = X; V = u.l == 0; u.l = Y; V = u.d < 1.0;
float f = X; double d = f; V = (float)d == f; f = (float)(d * 1e-40); V = f == 0.0f;
double d = X * 1e-320; V = d == 0.0; d = 1.0 / d; V = d > 0.0;
volatile int loud = N; V = loud;
static int kept = 3; kept = kept > 50 ? 0 : kept + 1; V = kept;
for (int i = 0, j = N; i < j; i++, j--) V = j - i;
for (int i = N; i-- > 0;) { if (i == 2) break; V = i; }
for (unsigned i = 10; i < 11; i--) V = (int)i;
int i = 0, j = 0; while (i < N) { j = 0; while (j < i) j++; i++; } V = i + j;
const int *p = table, *end = table + 8; while (p != end && C) p++; V = (int)(end - p);
int x = N; V = __atomic_fetch_add(&x, X & 15, __ATOMIC_SEQ_CST); if (C) V = x;
int x = X; __sync_bool_compare_and_swap(&x, N, Y); V = x; V = x == Y;
ticket = N; __sync_fetch_and_sub(&ticket, 1); V = ticket;
ticket = X & 7; V = __sync_val_compare_and_swap(&ticket, 3, N); V = V + ticket;
shared = N; atomic_fetch_or(&shared, 4); V = shared; if (C) V = atomic_exchange(&shared, 1);
atomic_uint x = N; atomic_fetch_sub(&x, 12); V = x > 5; V = (x & 15);
_Atomic unsigned char x = (unsigned char)X; x++; V = x; x ^= 3; V = V - x;
atomic_int x = X, e = N; int old = e; V = atomic_compare_exchange_strong(&x, &old, 5); V = old;
struct pair p = {N, 2}; __sync_fetch_and_add(&p.a, 2); V = p.a + p.b;
unsigned u = large(X); V = u / 16u; V = u > 7; u += 16; V = u;
unsigned u = C ? large(N) : 5; V = (int)(u >> 28); V = (int)u < 0;
V = byte(); V = (signed char)byte(); V = byte() + N;
unsigned long u = most(X & 1); V = u > 100; V = (int)u; V = (int)(u % 10);
chosen = C ? twice : half; V = chosen(X & 31); chosen = half; V = chosen(N);
struct { int (*run)(int); int more; } s = {twice, N}; if (C) s.run = half; V = s.run(X & 7) + \
s.more;
int k = 0; switch (X & 3) { while (k < N) { case 1: k++; case 2: k += 2; } default: k++; } V = k;
int n = X & 7, k = 0; switch (n & 3) { case 0: do { k++; case 3: k++; case 2: k++; case 1: k++; \
} while ((n -= 4) > 0); } V = k;
int i = 0, k = N; if (C) goto middle; for (i = 2; i < 9; i++) { k = i; middle: V = k; if (C) \
break; } V = i;
int i = 0; if (C) goto middle; again: i += 2; if (i < N) goto again; middle: i++; if (C && i < 20) \
goto again; V = i;
struct bits b[2] = {{1, 2, 3}, {4, 5, 6}}; b[C].high -= 9; V = b[1].high; V = b[0].high + b[1].low;
union parts u = {X}; u.half[C] = (short)Y; V = u.whole; V = u.bytes[3];
union parts u, w; u.whole = X; w = u; w.bytes[0] = N; V = w.whole - u.whole > 300; V = u.bytes[0];
char s[8] = "abc"; char *p = s; while (*p++) if (C) break; V = (int)(p - s);
char s[10] = "abcdef"; char *p; for (p = s; *p && C; p++) *p = (char)X; V = (int)(p - s); V = \
(int)strlen(s);
int a[6], *p; for (p = a; p < a + 6; p++) *p = N; V = a[X & 3]; V = (int)(p - a);
char s[8] = "ab"; char *p = C ? s : 0; if (p) { p[1] = (char)X; V = (int)strlen(p); }
char s[12] = "key=val"; char *e = strchr(s, '='); if (e) { *e++ = 0; V = (int)strlen(e); } V = \
(int)strlen(s); V = (int)(e - s);
char s[12]; int n = snprintf(s, sizeof s, "%d", X); V = n; V = (int)strlen(s);
char *d = strdup(text(X)); if (d) { V = (int)strlen(d); d[0] = 0; V = V - (int)strlen(d); free(d); }
char s[4]; strncpy(s, text(X), 4); if (C) s[3] = 0; V = (int)strlen(s);
char s[24]; sprintf(s, "%s=%d", text(X), N); V = (int)strlen(s);
const char *p = text(X), *q = p; while (*q && C) q++; V = (int)(q - p);
int *p = cells, *q = cells + 7; while (p < q) { if (C) p++; else q--; } V = (int)(p - cells);
char *last = 0; for (int k = 1; k < N; k++) { char *now = malloc(k); if (!now) break; now[k - 1] \
= (char)X; if (last) V = last[0]; last = now; }
int s = 0, k = 0; for (int i = 0; i < N; i++) { unsigned char c = (unsigned char)X; s += c; if (C) \
k += 3; } V = s; V = k; V = s / N;
int s = 0, k = 0; while (k < N && C) { s += X & 7; k++; } V = s > 7 * k; V = k ? s / k : 0; V = s;
int s = 9, k = N; while (k > 0) { s -= (Y & 3) - 1; k -= 2; if (C) break; } V = s; V = k;
int n = 0, s = 0; for (int i = 0; i < N; i++) { int v = X; if (v > 0 && v < 50) { s += v; n++; } } \
V = n ? s / n : 0; V = s; V = n;
int c = 0; for (int i = 0; i < N; i++) for (int j = i; j < 9; j++) { if (C) c++; c++; } V = c;
int c = 0; for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) c += j & 1; V = c; V = c > N;
unsigned i = N; while (i-- > 0) { V = (int)i; if (C) break; } V = (int)i; V = i < 12;
unsigned i = X; if (i-- > 3) V = (int)(i < 3); i += 5; if (i >= 5) V = (int)(i - 5);
unsigned u = X; if ((int)u < 3 || (int)u > 90) V = 1; else { V = (int)u; u *= 2; V = u < 7; }
unsigned u = X; if ((int)u < -2) { V = u > 5; V = (int)(u >> 30); } else if (0 <= (int)u) V = u;
int d = (X & 63) + 1, r = Y % d; if (Y % d != 0) V = Y % d; V = r - Y % d; V = 100 / d;
int t = (X & 255) + 1; for (int k = 0; k <= t; k += 9) V = k * 100 / t; V = t / 2 < t;
int a[6] = {0}; for (int k = 0; k < 20; k++) { int p = k % 6; if (C) { if (a[p] < N) a[p]++; } \
else if (a[p] > 0) a[p]--; V = a[p]; }
int a[5], k = 0; for (int i = 0; i < 5; i++) a[i] = X & 15; while (k < 5 && a[k] < N) { V = a[k]; \
if (C) a[k] = N; V = a[k]; k++; }
int day = X & 255, m = 0; while (m < 7 && day >= table[m]) { day -= table[m]; m++; } V = day; V = m;
unsigned head = X, tail = head; for (int k = 0; k < 20; k++) { if (C) { if (tail - head < 4) \
tail++; } else if (tail != head) head++; V = (int)(tail - head); }
int x = X & 31, y = x; y += y; x = x + y; x += Y & 3; V = x - y; V = x > 3 * y; y = y + x + N; V = \
y;
"""


def generated(numbers: range, seed: int) -> str:
    """Return the text of the functions with these numbers and of their twins."""
    parts = [HEAD]
    for number in numbers:
        body = _Writer(random.Random(seed * 100_003 + number)).function()
        parts.append(f"void f{number}{body}".replace("CHECK", "assert"))
        parts.append(f"void g{number}{body}".replace("CHECK(", "assert(!"))
    return "\n".join(parts)


class _Writer:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.names = [f"v{k}" for k in range(source.randrange(2, 5))]
        self.types = [source.choice(TYPES) for _ in self.names]
        self.n_loops = 0

    def function(self) -> str:
        lines = [
            f"  {type} {name} = {self.first(place)};"
            for place, (name, type) in enumerate(zip(self.names, self.types, strict=True))
        ]
        lines += self.statements(3, 2)
        lines.append(f"  CHECK({self.condition()});")
        return "(int a, int b) {\n" + "\n".join(lines) + "\n}"

    def first(self, place: int) -> str:
        number = str(self.source.randrange(-3, 12))
        return self.source.choice((number, number, "a", "b", "unknown()", "unknown_unsigned()"))

    def atom(self) -> str:
        kind = self.source.random()
        if kind < 0.6:
            return self.source.choice(self.names)
        return str(self.source.choice((-1, 0, 1, 1, 2, 3, 7, 10, 100)))

    def expression(self) -> str:
        kind = self.source.random()
        if kind < 0.25:
            return self.atom()
        if kind < 0.7:
            return f"{self.atom()} {self.source.choice('+-')} {self.atom()}"
        if kind < 0.85:
            operation = self.source.choice(("*", "&", "|", "^"))
            return f"{self.atom()} {operation} {self.atom()}"
        if kind < 0.9:
            return f"{self.atom()} {self.source.choice('/%')} {self.source.randrange(1, 6)}"
        if kind < 0.94:
            return f"{self.atom()} {self.source.choice(('<<', '>>'))} {self.source.randrange(4)}"
        if kind < 0.97:
            return f"({self.source.choice(TYPES)}){self.atom()}"
        return f"{self.condition()} ? {self.atom()} : {self.atom()}"

    def condition(self) -> str:
        kind = self.source.random()
        if kind < 0.12:
            return f"({self.comparison()} && {self.comparison()})"
        if kind < 0.24:
            return f"({self.comparison()} || {self.comparison()})"
        return self.comparison()

    def comparison(self) -> str:
        kind = self.source.random()
        if kind < 0.1:
            rest = self.source.randrange(2)
            return f"({self.source.choice(self.names)} % {self.source.randrange(2, 4)} == {rest})"
        left = self.atom() if kind < 0.8 else self.expression()
        sign = self.source.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"({left} {sign} {self.atom()})"

    def statements(self, most: int, depth: int) -> list[str]:
        lines = []
        for _ in range(self.source.randrange(1, most + 1)):
            lines += self.statement(depth)
        return lines

    def idiom(self) -> str:
        """Return a block of its own, whose letters stand for what the function has."""
        self.n_loops += 1
        made = {
            "V": lambda: self.source.choice(self.names),
            "X": lambda: self.source.choice(self.names),
            "Y": lambda: self.source.choice(self.names),
            "N": lambda: str(self.source.randrange(1, 12)),
            "C": self.condition,
        }
        words = {key: make() for key, make in made.items()}
        line = self.source.choice(IDIOMS.strip().splitlines())
        line = line.replace("again", f"again{self.n_loops}").replace("middle", f"in{self.n_loops}")
        text = re.sub(r"\b[VXYNC]\b", lambda found: words[found[0]], line)
        return "  { " + text + " }"

    def statement(self, depth: int) -> list[str]:
        kind = self.source.random()
        if kind < 0.2:
            return [self.idiom()]
        if depth == 0 or kind < 0.45:
            return [f"  {self.source.choice(self.names)} = {self.expression()};"]
        if kind < 0.55:
            return [
                f"  cells[({self.atom()}) & 7] = {self.atom()};",
                "  cells[2] = 5;",
                f"  {self.source.choice(self.names)} = cells[{self.source.randrange(4)}];",
            ]
        if kind < 0.8:
            lines = [f"  if ({self.condition()}) {{", *self.statements(2, depth - 1)]
            if self.source.random() < 0.5:
                lines += ["  } else {", *self.statements(2, depth - 1)]
            return [*lines, "  }"]
        condition = self.source.choice((self.condition(), "unknown()", self.comparison()))
        return [f"  while ({condition}) {{", *self.statements(3, depth - 1), "  }"]
