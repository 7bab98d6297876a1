// Strong components by colours (Orzan, "On distributed verification and verified distribution",
// 2004). A node's colour is the largest that reaches it. Whoever has its own is a root, and its
// component is what reaches it through nodes of its colour. Those are settled; the others start
// again. All kernels: a thread takes an edge, or a node; threads race, but towards one end.
#include "rows.cuh"

// grid ceil(n_edges / block)
extern "C" __global__ void colour(const int* __restrict__ from, const int* __restrict__ to,
                                  int n_edges, const int* __restrict__ root, int* colours,
                                  int* changed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n_edges) return;
  const int u = from[i], v = to[i];
  if (root[u] >= 0 || root[v] >= 0) return;  // settled
  const int mine = *(volatile int*)(colours + u);
  if (mine <= *(volatile int*)(colours + v)) return;
  atomicMax(colours + v, mine);
  if (!*(volatile int*)changed) atomicOr(changed, 1);
}

// is_in[v]: v reaches the root of its colour; the roots are in from the start.
extern "C" __global__ void reach_back(const int* __restrict__ from, const int* __restrict__ to,
                                      int n_edges, const int* __restrict__ root,
                                      const int* __restrict__ colours, int* is_in, int* changed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n_edges) return;
  const int u = from[i], v = to[i];
  if (root[u] >= 0 || root[v] >= 0 || colours[u] != colours[v]) return;
  if (!*(volatile int*)(is_in + v) || *(volatile int*)(is_in + u)) return;
  atomicOr(is_in + u, 1);
  if (!*(volatile int*)changed) atomicOr(changed, 1);
}

// grid ceil(n_nodes / block)
extern "C" __global__ void start_back(int n_nodes, const int* __restrict__ colours,
                                      int* __restrict__ is_in) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n_nodes) is_in[v] = colours[v] == v;
}

// Settle who is in; the others get their own colour again, and are counted.
extern "C" __global__ void settle(int n_nodes, const int* __restrict__ is_in, int* __restrict__ root,
                                  int* __restrict__ colours, int* n_left) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  bool is_left = false;
  if (v < n_nodes && root[v] < 0) {
    if (is_in[v]) root[v] = colours[v];
    is_left = !is_in[v];
    if (is_left) colours[v] = v;
  }
  place_in_list(is_left, n_left);
}
