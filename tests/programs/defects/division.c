/* CWE 369: divisors that may be 0. */
#include "shared.h"

static int zero_if(int k) { return k > 2 ? 0 : 4; }
static int some(int k) { return k > 2 ? 5 : 4; }
static int size;
struct rate { int per; };
int bad_369_returned(int k) { return 10 / zero_if(k); } /* BAD 369 */
int good_369_returned(int k) { return 10 / some(k); }
int bad_369_local(int k) { int d = 0; if (k > 3) d = k; return 10 % d; } /* BAD 369 */
int good_369_local(int k) { int d = 0; if (k > 3) d = k; return d ? 10 % d : 0; }
int bad_369_input(const char *s) { return 100 / atoi(s); } /* BAD 369 */
int good_369_input(const char *s) { int n = atoi(s); if (n < 1) return 0; return 100 / n; }
int bad_369_global(int k) { size = k > 3 ? 0 : 8; return 100 / size; } /* BAD 369 */
int good_369_global(int k) { size = k > 3 ? 2 : 8; return 100 / size; }
int bad_369_field(int k) { struct rate r; struct rate *at = &r; at->per = k ? 0 : 1; return 7 / at->per; } /* BAD 369 */
int good_369_field(int k) { struct rate r; struct rate *at = &r; at->per = k ? 0 : 1; if (at->per == 0) return 0; return 7 / at->per; }
int bad_369_file(int k) { return 10 / other_divisor(k); } /* BAD 369 */
int good_369_file(int k) { return 10 / other_positive(k); }
int bad_369_scanned(void) { int n; if (scanf("%d", &n) != 1) return 0; return 100 / n; } /* BAD 369 */
int good_369_scanned(void) { int n; if (scanf("%d", &n) != 1 || n == 0) return 0; return 100 / n; }
int bad_369_loop(int n, const int *a) { int count = 0, sum = 0; for (int i = 0; i < n; i++) if (a[i] > 0) { sum += a[i]; count++; } return sum / count; } /* BAD 369 */
int good_369_loop(int n, const int *a) { int count = 0, sum = 0; for (int i = 0; i < n; i++) if (a[i] > 0) { sum += a[i]; count++; } return count > 0 ? sum / count : 0; }
