// Turns the counts of a block into sums of those before them: second part of a pass of the radix sort.
//
// Dispatch: one workgroup of 256 invocations for each block, counted along x, then y. Those beyond the count do nothing.
// Workgroup memory: 1 KiB.
//
// input, in u32:
//   0 number of blocks; 1 number of tiles; 2 number of positions of all blocks; 3 where the blocks' descriptors begin, 16 each:
//       0 where the bytes begin; 1 number of bytes; 2 number of the first position; 3 number of positions; 4 32 less the bits of a row;
//       5 mask of the hash; 6 depth; 7 nice; 8 least length; 9 greatest offset; 10 first tile; 11 number of tiles
//   4 where the tiles begin: the block of each, in order
//   bytes of the blocks, four in each u32, the first one lowest, and two u32 behind them
// counts: as match_count makes them; in their place: how many keys come before those of the digit in the tile

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    let b = input[3] + block * 16u;
    let first = input[b + 10u] * 16u;
    let n = input[b + 11u] * 16u;
    let each = (n + 255u) / 256u;
    let start = min(lane * each, n);
    let to = min(start + each, n);
    var sum = 0u;
    for (var i = start; i < to; i++) {
        sum += counts[first + i];
    }
    sums[lane] = sum;
    workgroupBarrier();
    for (var d = 1u; d < 256u; d <<= 1u) {
        var v = 0u;
        if (lane >= d) {
            v = sums[lane - d];
        }
        workgroupBarrier();
        sums[lane] += v;
        workgroupBarrier();
    }
    var c = sums[lane] - sum;
    for (var i = start; i < to; i++) {
        let v = counts[first + i];
        counts[first + i] = c;
        c += v;
    }
}
