/* CWE 561: code that no run reaches. */
#include "shared.h"

static int mode(int k) { return k > 3 ? 1 : 2; }
static int debug = 0;
static int level = 3;
int bad_561_range(unsigned k) {
  if (k > 10)
    if (k < 5)
      return 1; /* BAD 561 */
  return 2;
}
int good_561_range(unsigned k) { if (k > 10) if (k < 50) return 1; return 2; }
int bad_561_returned(int k) {
  if (mode(k) == 3)
    return 1; /* BAD 561 */
  return 2;
}
int good_561_returned(int k) { if (mode(k) == 2) return 1; return 2; }
int bad_561_constant(int k) {
  if (debug > 0)
    k += level; /* BAD 561 */
  return k;
}
int good_561_constant(int k) { if (level > 0) k += level; level = k; return k; }
int bad_561_unsigned(unsigned k) {
  k &= 7;
  if (k == 9)
    return level; /* BAD 561 */
  return 0;
}
int good_561_unsigned(unsigned k) { k &= 15; if (k == 9) return level; return 0; }
