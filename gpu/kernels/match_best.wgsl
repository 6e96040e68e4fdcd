// Finds the best candidate of every position, as lz77.RowHash defines it, among its left neighbours in the sorted order.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 places, counted along x, then y. Those beyond the count do nothing.
// Workgroup memory: none. An invocation looks at no more than depth candidates for each of 8 places, and compares no more than nice bytes with each.
//
// input, in u32:
//   0 number of blocks; 1 number of tiles; 2 number of positions of all blocks; 3 where the blocks' descriptors begin, 16 each:
//       0 where the bytes begin; 1 number of bytes; 2 number of the first position; 3 number of positions; 4 32 less the bits of a row;
//       5 mask of the hash; 6 depth; 7 nice; 8 least length; 9 greatest offset; 10 first tile; 11 number of tiles
//   4 where the tiles begin: the block of each, in order
//   bytes of the blocks, four in each u32, the first one lowest, and two u32 behind them
// keys, positions: sorted by row, and in a row by position
// best: for each position 0, or the offset in 24 bits and above them the length, nice at most, less 4

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> best: array<u32>;

//include load32

// bits is the number of bits of v, which is not 0.
fn bits(v: u32) -> i32 {
    return i32(firstLeadingBit(v)) + 1;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
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
            continue; // no such position: only if something has gone wrong before
        }
        let head = load32(src, i);
        // No match is longer than this.
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
                // The least multiple of it that is not; d is not 0, as positions differ.
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
