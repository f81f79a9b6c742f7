#include <immintrin.h>
#include <x86intrin.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#define GUARD(var) __asm__ __volatile__("" : "+r" (var))
typedef struct { __m128i low, high; int n; } Pair;
static __m128i both(const uint8_t *from, __m128i add) {
  __m128i const one = _mm_loadu_si128((const __m128i *)(const void *)from);
  return _mm_add_epi32(_mm_xor_si128(one, add), _mm_shuffle_epi32(one, _MM_SHUFFLE(1, 0, 3, 2)));
}
__attribute__((target("avx2"))) static void wide(uint32_t *to, const uint32_t *from) {
  __m256i *out = (__m256i *)to; int i;
  for (i = 0; i < 2; i++) {
    __m256i v = _mm256_loadu_si256((const __m256i *)from + i);
    v = _mm256_mul_epu32(v, _mm256_srli_epi64(v, 32));
    _mm256_storeu_si256(out + i, _mm256_permute4x64_epi64(v, 0x4e));
  }
}
static float sum(const float *f) {
  __m128 v = _mm_loadu_ps(f), zero = {0};
  v = _mm_add_ps(v, _mm_shuffle_ps(v, v, _MM_SHUFFLE(2, 3, 0, 1)));
  v = _mm_add_ps(v, _mm_movehl_ps(zero, v));
  return _mm_cvtss_f32(v);
}
static int by(__m128i v, int n) { return _mm_cvtsi128_si32(_mm_srli_epi32(v, n)); }
static unsigned long long first(const void *p) {
  __m128d d = _mm_set_pd(1.5, -2.5); Pair pair; __m128i *at = &pair.low;
  memset(&pair, 0, sizeof pair);
  GUARD(at);
  at[1] = _mm_set1_epi8('x'); *at = _mm_setzero_si128(); pair.n = _mm_movemask_epi8(pair.high);
  _mm_prefetch((const char *)p, _MM_HINT_T0);
  return (unsigned)_mm_movemask_pd(d) + pair.n + _mm_extract_epi16(pair.high, 3) + sizeof pair;
}
static __m128 turned(__m128i v) { return (__m128)v; }
static int nothing(int n) { int m; __asm__("" : "=r"(m) : "0"(n)); return m; }
static int plain(unsigned n) {
  unsigned which; unsigned long long before = __rdtsc();
  _mm_pause(); __builtin_ia32_pause(); _mm_mfence();
  return __bsrd(n) + __bsrq(n) * 100 + __bsfd(n) + (int)__rold(n, 3) + (__rdtscp(&which) > before) +
         (__builtin_ia32_rdtsc() > before);
}
__attribute__((target("sse4.2"))) static unsigned hashed(const void *p) {
  return __builtin_ia32_crc32qi(7, *(const char *)p) ^ __builtin_ia32_crc32si(9, 0x12345678);
}
int main(void) {
  uint8_t b[64]; uint32_t w[16], o[16]; float f[4] = {1, 2.5f, -3, 8}; int i;
  for (i = 0; i < 64; i++) b[i] = i * 37;
  memcpy(w, b, 64);
  _mm_storeu_si128((__m128i *)o, both(b + 1, _mm_set_epi32(1, -2, 3, -4)));
  for (i = 0; i < 4; i++) printf("%u ", o[i]);
  if (__builtin_cpu_supports("avx2")) { wide(o, w); for (i = 0; i < 16; i++) printf("%u ", o[i]); }
  printf("%g %d %llu\n", sum(f), by(_mm_set1_epi32(1000), 3), first(b));
  printf("%d %d\n", nothing(4), plain(0x40200));
  if (__builtin_cpu_supports("sse4.2")) printf("%x\n", hashed(b + 3));
  f[0] = _mm_cvtss_f32(turned(_mm_set1_epi32(0x40490fdb)));
  printf("%g\n", f[0]);
  return 0;
}
