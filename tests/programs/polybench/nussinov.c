// Most base pairs of a folded sequence; bases 0..3 pair when they add up to 3
#define GREATER(a, b) ((a) >= (b) ? (a) : (b))

void nussinov(int n, int base[restrict n], int table[restrict n][n]) {
  for (int i = n - 1; i >= 0; i--)      // SEQ
    for (int j = i + 1; j < n; j++) {   // SEQ
      if (j - 1 >= 0)
        table[i][j] = GREATER(table[i][j], table[i][j - 1]);
      if (i + 1 < n)
        table[i][j] = GREATER(table[i][j], table[i + 1][j]);
      if (j - 1 >= 0 && i + 1 < n) {
        if (i < j - 1)
          table[i][j] = GREATER(table[i][j], table[i + 1][j - 1] + (base[i] + base[j] == 3));
        else
          table[i][j] = GREATER(table[i][j], table[i + 1][j - 1]);
      }
      for (int k = i + 1; k < j; k++)   // RED
        table[i][j] = GREATER(table[i][j], table[i][k] + table[k + 1][j]);
    }
}
