/* Depth of nesting, refused when it is too deep or ends too early. */
#include "held_out.h"

int main(void) {
  int opened_at[10], depth = 0, ok = 1;
  for (int i = 0; ok && i < 300; i++) {
    int c = between(0, 2);
    if (c == 0) { if (depth == 10) ok = 0; else opened_at[depth++] = i; }
    else if (c == 1) { if (depth PICK(== 0, < 0)) ok = 0; else { depth--; assert(opened_at[depth] < i); } }
  }
  assert(depth >= 0 && depth <= 10);
  return 0;
}
