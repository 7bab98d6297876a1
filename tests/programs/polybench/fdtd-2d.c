// Electric and magnetic fields in a plane, stepped in turn
void fdtd_2d(int steps, int nx, int ny, double ex[restrict nx][ny], double ey[restrict nx][ny],
             double hz[restrict nx][ny], double source[restrict steps]) {
  for (int t = 0; t < steps; t++) {     // SEQ
    for (int j = 0; j < ny; j++)        // PAR
      ey[0][j] = source[t];
    for (int i = 1; i < nx; i++)        // PAR
      for (int j = 0; j < ny; j++)      // PAR
        ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < nx; i++)        // PAR
      for (int j = 1; j < ny; j++)      // PAR
        ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < nx - 1; i++)    // PAR
      for (int j = 0; j < ny - 1; j++)  // PAR
        hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}
