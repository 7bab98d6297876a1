// Branches, short circuits, all loops, switch, goto.
int loops(int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    if (i == 3)
      continue;
    if (i > 100)
      break;
    total += i;
  }
  while (total > 50 && n != 7)
    total /= 2;
  do {
    total++;
  } while (total % 5 != 0);
  return total;
}

const char *name(int day) {
  switch (day) {
  case 0:
  case 6:
    return "weekend";
  case 1 ... 3:
    day++;
    // falls through
  case 4:
    return day > 2 ? "late" : "early";
  default:
    return 0;
  }
}

int retry(int n) {
again:
  if (n < 0)
    goto out;
  n -= 2;
  goto again;
out:
  return n;
}

void forever(void) {
  for (;;)
    ;
}
