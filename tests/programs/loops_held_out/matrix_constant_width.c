/* A picture whose rows have a fixed stride. */
#include "held_out.h"

enum { WIDTH = 20, HEIGHT = 15 };
int main(void) {
  unsigned char picture[WIDTH * HEIGHT];
  int top = between(0, HEIGHT - 1), bottom = between(0, HEIGHT PICK(, + 1));
  int left = between(0, WIDTH - 1), right = between(0, WIDTH);
  for (int y = top; y < bottom; y++)
    for (int x = left; x < right; x++) picture[y * WIDTH + x] = 255;
  return 0;
}
