// bits returns the number of bits of v, which is not 0.
fn bits(v: u32) -> u32 {
    return firstLeadingBit(v) + 1u;
}

// logarithm returns about log2(v) in 1/8, for v of 1 or more.
fn logarithm(v: u32) -> u32 {
    let k = bits(v) - 1u;
    return k * 8u + (((v << ((31u - k) & 31u)) << 1u) >> 29u);
}
