// rows[d] |= delta[s] for every pair (s, d); `fresh` gets the bits that were not there before.
// grid ceil(n_pairs * LANES / BLOCK), block BLOCK: LANES neighbouring lanes take one pair and walk
// its row together, so a warp touches 256 neighbouring bytes at a time.
//
// Pairs that share a destination race for its words, by atomics alone. The race is monotone: bits
// are only ever set. Each bit of rows[d] is set by exactly one atomicOr, the one whose returned old
// value lacks it, so `rows` and `fresh` end the same under every schedule, and so does `changed`.
#ifndef LANES
#define LANES 32  // the wrapper passes a power of two, at most 32
#endif
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef INDEX_T
#define INDEX_T int
#endif
typedef unsigned long long word_t;

extern "C" __global__ void __launch_bounds__(BLOCK)
or_rows(word_t* __restrict__ rows, word_t* __restrict__ fresh, const word_t* __restrict__ delta,
        const INDEX_T* __restrict__ sources, const INDEX_T* __restrict__ destinations,
        unsigned char* __restrict__ changed, long long n_pairs, int n_words) {
  const long long pair = ((long long)blockIdx.x * BLOCK + threadIdx.x) / LANES;
  if (pair >= n_pairs) return;  // all lanes of a pair together
  const int lane = threadIdx.x % LANES;
  const word_t* from = delta + (size_t)sources[pair] * n_words;
  const size_t destination = destinations[pair], to = destination * n_words;
  word_t any = 0;
  for (int w = lane; w < n_words; w += LANES) {
    const word_t bits = from[w];
    // A stated race: a stale value lacks bits at worst, and then the atomic finds them there. Most
    // words of a round bring nothing new, and a load is cheaper than an atomic.
    if (!(bits & ~*(const volatile word_t*)(rows + to + w))) continue;
    const word_t won = bits & ~atomicOr(rows + to + w, bits);
    if (won) atomicOr(fresh + to + w, won);
    any |= won;
  }
  const unsigned group = (0xffffffffu >> (32 - LANES)) << (threadIdx.x % 32 / LANES * LANES);
  const int won_any = __any_sync(group, any != 0);
  // A stated race: pairs that won for one destination all store the same 1.
  if (lane == 0 && won_any) *(volatile unsigned char*)(changed + destination) = 1;
}
