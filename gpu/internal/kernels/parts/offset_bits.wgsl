// extraBits returns the number of extra bits of a new offset.
fn extraBits(d: u32) -> u32 {
    return firstLeadingBit((d >> 2u) + 1u);
}
