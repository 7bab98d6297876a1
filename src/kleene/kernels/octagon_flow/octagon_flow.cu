// The fixed points of many small octagon problems: a block for each pack; `cpu.py` is alike, line by
// line, and says what the columns are.            grid (packs), block (THREADS), shared 2 matrices
//
// The matrix at work lies in shared memory, states before and behind nodes in global memory. All
// threads of a block take the same branches: what they decide by is the same for all of them,
// since every write is followed by a barrier before another thread reads it.
#ifndef MOST_VARIABLES
#define MOST_VARIABLES 6
#define SET 0
#define ASSIGN 1
#define ASSUME 2
#define CHECK 3
#define FAIL 4
#define EXCLUDE 5
#define INFINITE (1LL << 60)
#define LARGEST (1LL << 44)
#define WIDEST (1LL << 40)
#define LEAVES 1
#define ENDS 2
#endif
#ifndef THREADS
#define THREADS 160
#endif
#define CELLS (4 * MOST_VARIABLES * MOST_VARIABLES)
#define SHARE ((CELLS + THREADS - 1) / THREADS)  // the most cells of a thread
#define EACH(k, size) for (int k = threadIdx.x; k < (size); k += blockDim.x)
typedef long long Value;

struct Operations {
  const Value *code, *first, *second, *low, *high;
  unsigned char* proved;
};

__device__ Value bounded(Value bound) {
  if (bound > LARGEST) return INFINITE;
  return bound < -LARGEST ? -LARGEST : bound;
}

// Of round k, all threads read what was there before it: row k and column k change only where
// m[k][k] is less than 0, and then the matrix is empty in any order.
__device__ bool close(Value* m, int w) {
  Value found[SHARE];
  __syncthreads();
  for (int k = 0; k < w; ++k) {
#pragma unroll
    for (int nth = 0; nth < SHARE; ++nth) {
      const int cell = threadIdx.x + nth * THREADS;
      if (cell >= w * w) continue;
      const Value left = m[cell / w * w + k], right = m[k * w + cell % w];
      const Value sum = left < INFINITE && right < INFINITE ? left + right : INFINITE;
      found[nth] = sum < m[cell] ? sum : m[cell];
    }
    __syncthreads();
#pragma unroll
    for (int nth = 0; nth < SHARE; ++nth)
      if (threadIdx.x + nth * THREADS < w * w) m[threadIdx.x + nth * THREADS] = found[nth];
    __syncthreads();
  }
  bool is_empty = false;
  EACH(i, w) {
    is_empty |= m[i * w + i] < 0;
    if (m[i * w + (i ^ 1)] < INFINITE) m[i * w + (i ^ 1)] &= ~1LL;
  }
  __syncthreads();
  EACH(i, w) {
    const Value up = m[i * w + (i ^ 1)], down = m[(i ^ 1) * w + i];
    is_empty |= up < INFINITE && down < INFINITE && up + down < 0;
  }
  if (__syncthreads_or(is_empty)) return false;
#pragma unroll
  for (int nth = 0; nth < SHARE; ++nth) {
    const int cell = threadIdx.x + nth * THREADS, i = cell / w, j = cell % w;
    if (cell >= w * w) continue;
    const Value up = m[i * w + (i ^ 1)], down = m[(j ^ 1) * w + j];
    Value least = m[cell];
    if (up < INFINITE && down < INFINITE && (up + down) >> 1 < least) least = (up + down) >> 1;
    found[nth] = i == j ? 0 : bounded(least);
  }
  __syncthreads();
#pragma unroll
  for (int nth = 0; nth < SHARE; ++nth)
    if (threadIdx.x + nth * THREADS < w * w) m[threadIdx.x + nth * THREADS] = found[nth];
  __syncthreads();
  return true;
}

__device__ void lower(Value* m, int cell, Value bound) {
  if (threadIdx.x == 0 && bound < m[cell]) m[cell] = bound;
}

__device__ void assume(Value* m, int w, int first, int second, Value bound) {
  if (second < 0) {
    lower(m, (first ^ 1) * w + first, bounded(2 * bound));
    return;
  }
  lower(m, (second ^ 1) * w + first, bounded(bound));
  lower(m, (first ^ 1) * w + second, bounded(bound));
}

__device__ void assume_range(Value* m, int w, int variable, Value low, Value high) {
  if (high < WIDEST) assume(m, w, 2 * variable, -1, high);
  if (low > -WIDEST) assume(m, w, 2 * variable + 1, -1, -low);
}

__device__ void forget(Value* m, int w, int variable) {
  __syncthreads();
  EACH(cell, w * w) {
    const int i = cell / w, j = cell % w;
    if (i >> 1 == variable || j >> 1 == variable) m[cell] = i == j ? 0 : INFINITE;
  }
  __syncthreads();
}

// Column x rises by `high`, column -x by -`low`; row x by -`low`, row -x by `high`.
__device__ void shift(Value* m, int w, int variable, Value low, Value high) {
  __syncthreads();
  EACH(cell, w * w) {
    const int i = cell / w, j = cell % w;
    Value bound = m[cell];
    if (j >> 1 == variable && bound < INFINITE) bound = bounded(bound + (j & 1 ? -low : high));
    if (i >> 1 == variable && bound < INFINITE) bound = bounded(bound + (i & 1 ? high : -low));
    m[cell] = i == j && i >> 1 == variable ? 0 : bound;
  }
  __syncthreads();
}

__device__ void negate(Value* m, int w, int variable) {
  const int plus = 2 * variable, minus = plus + 1;
  __syncthreads();
  EACH(j, w) {
    const Value kept = m[plus * w + j];
    m[plus * w + j] = m[minus * w + j];
    m[minus * w + j] = kept;
  }
  __syncthreads();
  EACH(j, w) {
    const Value kept = m[j * w + plus];
    m[j * w + plus] = m[j * w + minus];
    m[j * w + minus] = kept;
  }
  __syncthreads();
}

__device__ bool holds(const Value* m, int w, int first, int second, Value bound) {
  if (second < 0) return m[(first ^ 1) * w + first] <= 2 * bound;
  return m[(second ^ 1) * w + first] <= bound;
}

// All threads read both bounds before one of them writes.
__device__ void exclude(Value* m, int w, int first, int second, Value number) {
  const int other = second < 0 ? -1 : second ^ 1;
  __syncthreads();
  const bool is_high = holds(m, w, first, second, number);
  const bool is_low = holds(m, w, first ^ 1, other, -number);
  __syncthreads();
  if (is_high) assume(m, w, first, second, number - 1);
  if (is_low) assume(m, w, first ^ 1, other, -number - 1);
}

__device__ bool apply(Value* m, int w, Value start, Value end, const Operations& ops, bool asks) {
  bool is_closed = true;
  for (Value place = start; place < end; ++place) {
    const int what = (int)ops.code[place];
    const int first = (int)ops.first[place], second = (int)ops.second[place];
    const Value low = ops.low[place], high = ops.high[place];
    if (what != ASSUME && !is_closed) {
      if (!close(m, w)) return false;
      is_closed = true;
    }
    if (what == FAIL || what == CHECK) {
      __syncthreads();
      const bool fails = what == FAIL || !holds(m, w, first, second, high);
      if (asks && fails && threadIdx.x == 0) ops.proved[low] = 0;
      __syncthreads();
      continue;
    }
    is_closed = false;
    if (what == ASSUME) {
      assume(m, w, first, second, high);
    } else if (what == EXCLUDE) {
      exclude(m, w, first, second, high);
    } else if (what == SET) {
      forget(m, w, first);
      assume_range(m, w, first, low, high);
    } else if (second >> 1 == first) {
      if (second & 1) negate(m, w, first);
      shift(m, w, first, low, high);
    } else {
      forget(m, w, first);
      assume(m, w, 2 * first, second ^ 1, high);
      assume(m, w, 2 * first + 1, second, -low);
    }
  }
  if (!is_closed) return close(m, w);
  return true;
}

__device__ void copy(Value* to, const Value* source, int size) {
  __syncthreads();
  EACH(k, size) to[k] = source[k];
  __syncthreads();
}

struct Pack {
  int w, size, n_nodes;
  Value here, edge_first, edge_ops, node_ops, ranges;
  Value *before, *after;
  unsigned char* reached;
};

struct Columns {
  const Value *range_low, *range_high, *edge_op_offsets, *node_op_offsets, *in_offsets;
  const int* edge_source;
};

__device__ bool incoming(const Pack& pack, const Columns& columns, const Operations& ops, int node,
                         Value* work) {
  const int w = pack.w, size = pack.size;
  Value* came = work + CELLS;
  bool found = false;
  __syncthreads();
  if (node == 0) {
    EACH(cell, size) work[cell] = cell / w == cell % w ? 0 : INFINITE;
    found = true;
  }
  const Value end = columns.in_offsets[pack.here + node + 1];
  for (Value edge = columns.in_offsets[pack.here + node]; edge < end; ++edge) {
    const int source = columns.edge_source[edge];
    if (pack.reached[source] != LEAVES) continue;
    Value* at = found ? came : work;
    copy(at, pack.after + (Value)source * size, size);
    const Value place = pack.edge_ops + edge - pack.edge_first;
    const Value start = columns.edge_op_offsets[place], stop = columns.edge_op_offsets[place + 1];
    if (!apply(at, w, start, stop, ops, false)) continue;
    if (found) {
      __syncthreads();
      EACH(k, size) if (came[k] > work[k]) work[k] = came[k];
    }
    found = true;
  }
  __syncthreads();
  return found;
}

// What holds at the end of a node, into `work`, and from there to `after` if it is not 0.
__device__ bool leave(const Pack& pack, const Columns& columns, const Operations& ops, int node,
                      Value* work, Value* after, bool asks) {
  copy(work, pack.before + (Value)node * pack.size, pack.size);
  for (int variable = 0; variable < pack.w / 2; ++variable)
    assume_range(work, pack.w, variable, columns.range_low[pack.ranges + variable],
                 columns.range_high[pack.ranges + variable]);
  if (!close(work, pack.w)) return false;
  const Value place = pack.node_ops + node;
  const Value start = columns.node_op_offsets[place], stop = columns.node_op_offsets[place + 1];
  if (!apply(work, pack.w, start, stop, ops, asks)) return false;
  if (after) copy(after, work, pack.size);
  return true;
}

extern "C" __global__ void solve_packs(
    int begin, const Value* order, const Value* pack_graph, const Value* pack_variables, const Value* pack_ranges,
    const Value* range_low, const Value* range_high, const Value* pack_edge_ops,
    const Value* edge_op_offsets, const Value* pack_node_ops, const Value* node_op_offsets,
    const Value* code, const Value* first, const Value* second, const Value* low, const Value* high,
    const Value* graph_nodes, const Value* in_offsets, const int* edge_source,
    const Value* out_offsets, const int* edge_target, const unsigned char* is_head,
    const Value* pack_state, const Value* pack_reached, const Value* pack_budget, Value* states,
    unsigned char* all_reached, unsigned char* all_due, Value* all_visits, unsigned char* proved,
    unsigned char* is_given_up, Value* counts) {
  __shared__ Value work[2 * CELLS];
  const int number = (int)order[begin + blockIdx.x];
  const Value graph = pack_graph[number], nodes = graph_nodes[graph];
  Pack pack;
  pack.w = 2 * (int)pack_variables[number];
  pack.size = pack.w * pack.w;
  pack.n_nodes = (int)(graph_nodes[graph + 1] - nodes);
  pack.here = nodes + graph;
  pack.edge_first = in_offsets[pack.here];
  pack.edge_ops = pack_edge_ops[number];
  pack.node_ops = pack_node_ops[number];
  pack.ranges = pack_ranges[number];
  pack.before = states + pack_state[number];
  pack.after = pack.before + (Value)pack.n_nodes * pack.size;
  pack.reached = all_reached + pack_reached[number];
  unsigned char* due = all_due + pack_reached[number];
  Value* visits = all_visits + pack_reached[number];
  const Columns columns = {range_low, range_high, edge_op_offsets, node_op_offsets, in_offsets,
                           edge_source};
  const Operations ops = {code, first, second, low, high, proved};
  EACH(node, pack.n_nodes) {
    pack.reached[node] = 0;
    due[node] = node == 0;
    visits[node] = 0;
  }
  __syncthreads();
  Value left = pack_budget[number], n_evaluations = 0;
  bool changed = true;
  while (changed && left > 0) {
    changed = false;
    for (int node = 0; node < pack.n_nodes; ++node) {
      __syncthreads();
      if (due[node] == 0 || left <= 0) continue;
      __syncthreads();
      if (threadIdx.x == 0) due[node] = 0;
      --left;
      ++n_evaluations;
      if (!incoming(pack, columns, ops, node, work)) continue;
      Value* mine = pack.before + (Value)node * pack.size;
      if (pack.reached[node] == 0) {
        copy(mine, work, pack.size);
      } else {
        const bool widens = is_head[nodes + node] != 0 && visits[node] + 1 > 2;
        bool grows = false;
        __syncthreads();
        if (threadIdx.x == 0) ++visits[node];
        EACH(k, pack.size) if (work[k] > mine[k]) {
          grows = true;
          mine[k] = widens ? INFINITE : work[k];
        }
        if (!__syncthreads_or(grows)) continue;
      }
      changed = true;
      const bool is_left =
          leave(pack, columns, ops, node, work, pack.after + (Value)node * pack.size, false);
      __syncthreads();
      if (threadIdx.x == 0) {
        pack.reached[node] = is_left ? LEAVES : ENDS;
        const Value end = out_offsets[pack.here + node + 1];
        for (Value edge = out_offsets[pack.here + node]; edge < end; ++edge)
          due[edge_target[edge]] = 1;
      }
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) is_given_up[number] = changed || left <= 0;
  if (!(changed || left <= 0)) {
    for (int round = 0; round < 2; ++round) {
      for (int node = 0; node < pack.n_nodes; ++node) {
        __syncthreads();
        if (pack.reached[node] == 0) continue;
        ++n_evaluations;
        const bool found = incoming(pack, columns, ops, node, work);
        bool is_left = false;
        if (found) {
          copy(pack.before + (Value)node * pack.size, work, pack.size);
          is_left =
              leave(pack, columns, ops, node, work, pack.after + (Value)node * pack.size, false);
        }
        __syncthreads();
        if (threadIdx.x == 0) pack.reached[node] = !found ? 0 : is_left ? LEAVES : ENDS;
      }
    }
    for (int node = 0; node < pack.n_nodes; ++node) {
      __syncthreads();
      if (pack.reached[node] != 0) leave(pack, columns, ops, node, work, nullptr, true);
    }
  }
  if (threadIdx.x == 0) counts[number] = n_evaluations;
}
