// Shortest paths between all pairs
void floyd_warshall(int n, int path[restrict n][n]) {
  for (int k = 0; k < n; k++)           // SEQ
    for (int i = 0; i < n; i++)         // SEQ
      for (int j = 0; j < n; j++)       // SEQ
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
