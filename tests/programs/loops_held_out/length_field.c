/* Records with a length byte, checked against the rest of the buffer. */
#include "held_out.h"

int main(void) {
  unsigned char packet[200];
  int size = between(0, 200), at = 0, sum = 0;
  for (int i = 0; i < size; i++) packet[i] = between(0, 255);
  while (at + 2 <= size) {
    int type = packet[at], length = packet[at + 1];
    if (length > size - at - PICK(2, 1)) break;
    for (int k = 0; k < length; k++) sum ^= packet[at + 2 + k];
    at += 2 + length;
    if (type == 0) break;
  }
  assert(at <= size);
  return 0;
}
