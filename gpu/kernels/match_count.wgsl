// Counts the keys of a tile by one digit of 4 bits: first part of a pass of the radix sort.
//
// The sort is LSD and stable, so positions stay in order within a row. A pass is three kernels in
// reduce-then-scan form: match_count counts the digits of each tile, match_scan adds up the counts
// of all tiles of a block, match_scatter moves keys to their places. No workgroup waits for another
// one of its dispatch. Digits have 4 bits, so that the ranks of 16 digits fit into 8 registers.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions. Workgroups count
// along x, then y; surplus ones do nothing.
// Workgroup memory: 64 bytes, a counter for each digit.
// Bound: memory, 4 bytes for each position; atomics on a counter where many keys share a digit.
//
// input: see match_hash
// keys: as match_hash or the pass before left them
// params: 0 lowest bit of the digit
// counts: for each block 16 times its number of tiles, from 16 times its first tile on: for each
// digit
//   the counts of all tiles

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read> params: array<u32>;

var<workgroup> digits: array<atomic<u32>, 16>;

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
    let start = (tile - input[b + 10u]) * 2048u;
    let shift = params[0];
    for (var k = lane; k < 2048u; k += 256u) {
        if (start + k < input[b + 3u]) {
            atomicAdd(&digits[(keys[input[b + 2u] + start + k] >> shift) & 15u], 1u);
        }
    }
    workgroupBarrier();
    if (lane < 16u) {
        counts[input[b + 10u] * 16u + lane * input[b + 11u] + tile - input[b + 10u]] = atomicLoad(&digits[lane]);
    }
}
