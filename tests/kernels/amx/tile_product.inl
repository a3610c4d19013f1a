// One product of tiles, c += a b (see multiply_tiles), over whatever vocabulary stands before it.

inline void tile_product(const bf16* a, const bf16* b, float* c) {
  configure_tiles();
  load_tile<5>(a, 64);
  stream_tile<7>(b, 64);
  stream_tile<2>(c, 64);
  multiply_tiles<2, 5, 7>();
  store_tile<2>(c, 64);
  release_tiles();
}
