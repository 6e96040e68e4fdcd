// load32 returns the four bytes from byte i on, counted from u32 at of the input.
fn load32(at: u32, i: u32) -> u32 {
    let w = at + (i >> 2u);
    let s = (i & 3u) * 8u;
    return select((input[w] >> s) | (input[w + 1u] << ((32u - s) & 31u)), input[w], s == 0u);
}
