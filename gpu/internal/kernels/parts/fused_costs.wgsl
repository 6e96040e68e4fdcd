// Costs of literals in fused_parse, as package lz77 estimates them.

// pays reports whether a match of fewer than 8 bytes with a new offset costs less than its
// literals.
fn pays() -> bool {
    let x = load32(src, at);
    let y = load32(src, at + 4u);
    var sum = costs[x & 255u] + costs[(x >> 8u) & 255u] + costs[(x >> 16u) & 255u] + costs[x >> 24u];
    if (n > 4u) {
        sum += costs[y & 255u];
    }
    if (n > 5u) {
        sum += costs[(y >> 8u) & 255u];
    }
    if (n > 6u) {
        sum += costs[(y >> 16u) & 255u];
    }
    return sum > (bits(max(d, 1u)) + 4u) * 8u;
}

// updateCosts counts the literals of the latest 256 sequences, halves older counts, and updates the
// costs.
fn updateCosts(lane: u32) {
    if (lane == 0u) {
        known = count;
        atomicStore(&total, 0u);
    }
    for (var k = lane; k < 256u; k += 64u) {
        let c = atomicLoad(&counts[k]);
        atomicStore(&counts[k], c >> 1u);
    }
    workgroupBarrier();
    for (var s = 0u; s < min(known, 256u); s++) {
        let b = begins[s];
        let run = runs[s];
        for (var k = lane * 4u; k < run && b + k < size; k += 256u) {
            let x = load32(src, b + k);
            atomicAdd(&counts[x & 255u], 4u);
            if (k + 1u < run) {
                atomicAdd(&counts[(x >> 8u) & 255u], 4u);
            }
            if (k + 2u < run) {
                atomicAdd(&counts[(x >> 16u) & 255u], 4u);
            }
            if (k + 3u < run) {
                atomicAdd(&counts[x >> 24u], 4u);
            }
        }
        turns += 2u + (run >> 8u);
    }
    workgroupBarrier();
    for (var k = lane; k < 256u; k += 64u) {
        atomicAdd(&total, atomicLoad(&counts[k]) + 1u);
    }
    workgroupBarrier();
    let most = logarithm(max(atomicLoad(&total), 1u));
    for (var k = lane; k < 256u; k += 64u) {
        costs[k] = min(most - logarithm(atomicLoad(&counts[k]) + 1u), 255u);
    }
    turns += 64u;
    workgroupBarrier();
}
