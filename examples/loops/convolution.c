// A picture of three colours seen through a filter: every point is a weighted mean around it.
void convolve(int height, int width, int size, const int picture[restrict height][width][3],
              const int filter[restrict size][size], int out[restrict height][width][3]) {
  for (int y = 0; y < height - size + 1; y++)
    for (int x = 0; x < width - size + 1; x++)
      for (int colour = 0; colour < 3; colour++) {
        int sum = 0;
        for (int v = 0; v < size; v++)
          for (int u = 0; u < size; u++)
            sum += filter[v][u] * picture[y + v][x + u][colour];
        out[y][x][colour] = sum / 256;
      }
}
