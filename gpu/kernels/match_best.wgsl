// Finds the best candidate of every position, as lz77.RowHash defines it.
//
// The positions are sorted by row and, within a row, by position. So the candidates of a position
// are its left neighbours, nearest first. An invocation compares up to depth of them, four bytes at
// a time, and keeps the longest match that is worth its offset. A neighbour with another tag
// counts, but is not compared. An offset below 16 is replaced by its least multiple that is not.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 places of the sorted order.
// Workgroups count along x, then y; surplus ones do nothing. An invocation has 8 places, 256 apart.
// Workgroup memory: none.
// Bound: divergence and random reads. Neighbouring invocations compare different numbers of bytes,
// at most depth times nice for each place.
//
// input: see match_hash
// keys, positions: sorted by the radix sort
// best: for each position 0 for no candidate, or the offset in 24 bits and, above them, the length
// less
//   4, at most nice

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> best: array<u32>;

//include load32

// bits returns the number of bits of v, which is not 0.
fn bits(v: u32) -> i32 {
    return i32(firstLeadingBit(v)) + 1;
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let tile = id.y * grid.x + id.x;
    if (tile >= input[1]) {
        return;
    }
    let b = input[3] + input[input[4] + tile] * 16u;
    let src = input[b];
    let size = input[b + 1u];
    let first = input[b + 2u];
    let count = input[b + 3u];
    let depth = input[b + 6u];
    let nice = input[b + 7u];
    let least = input[b + 8u];
    let maxOffset = input[b + 9u];
    let start = (tile - input[b + 10u]) * 2048u;
    for (var k = lane; k < 2048u && start + k < count; k += 256u) {
        let place = start + k;
        let key = keys[first + place];
        let i = positions[first + place];
        if (i >= count) {
            continue; // only after an error of an earlier kernel
        }
        let head = load32(src, i);
        let most = min(nice, size - i);
        var longest = least - 1u;
        var offset = 0u;
        for (var n = 1u; n <= min(depth, place); n++) {
            let other = keys[first + place - n];
            if ((other >> 7u) != (key >> 7u)) {
                break;
            }
            if (other != key) {
                continue;
            }
            var d = i - positions[first + place - n];
            if (d < 16u) {
                // Positions differ, so d is not 0; max satisfies the translator.
                d = ((15u + d) / max(d, 1u)) * d;
            }
            if (d > maxOffset) {
                break;
            }
            if (d > i) {
                continue;
            }
            let c = i - d;
            if (load32(src, c) != head) {
                continue;
            }
            var m = 4u;
            for (; m < most; m += 4u) {
                let x = load32(src, c + m) ^ load32(src, i + m);
                if (x != 0u) {
                    m += countTrailingZeros(x) >> 3u;
                    break;
                }
            }
            m = min(m, most);
            if (m > longest && (offset == 0u || 4 * i32(m - longest) > bits(d) - bits(offset))) {
                longest = m;
                offset = d;
                if (m == most) {
                    break;
                }
            }
        }
        best[first + i] = select(0u, offset | ((longest - 4u) << 24u), offset != 0u);
    }
}
