// load32 returns the four bytes from byte i on, counted from u32 at of the input. Its second shift
// needs two steps, because an amount of 32 counts as 0.
fn load32(at: u32, i: u32) -> u32 {
    let w = at + (i >> 2u);
    let s = (i & 3u) * 8u;
    return (input[w] >> s) | ((input[w + 1u] << 1u) << (31u - s));
}
