// Products of bytes in AdvSIMD. Included by arch/neon/kernels.hpp behind simd.inl.

/// Outputs whose weights are taken out together in products of rounded activations: 8 registers.
inline constexpr int rounded_outputs = 1;

/// Four products of signed bytes, of b above -128, added to each word of c: the sum of two products
/// fits 16 bits.
inline Words multiply_add_bytes(Words a, Words b, Words c) {
  const int8x16_t s = vreinterpretq_s8_s32(a), t = vreinterpretq_s8_s32(b);
  const int16x8_t low = vmull_s8(vget_low_s8(s), vget_low_s8(t)), high = vmull_high_s8(s, t);
  return vpadalq_s16(c, vpaddq_s16(low, high));
}
