// Counts the keys of a tile by one digit of up to 8 bits: first part of a pass of the radix sort.
//
// The sort is LSD and stable, so positions stay in order within a row. A pass is four kernels in
// reduce-then-scan form: match_count counts the digits of each tile, match_scan adds up the counts
// of each digit, match_base those of all digits, match_scatter moves keys to their places. No
// workgroup waits for another one of its dispatch.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions. Workgroups count
// along x, then y; surplus ones do nothing.
// Workgroup memory: 1 KiB, a counter for each digit.
// Bound: memory, 4 bytes for each position; atomics on a counter where many keys share a digit.
//
// input: see match_hash
// keys: as match_hash or the pass before left them
// params: 0 lowest bit of the digit; 1 its bits, 5 to 8
// counts, in rows with a u32 for each digit. A block has a row for each tile and two more:
//   of a tile: its counts; behind match_scan the sums of the counts of the tiles before it
//   then the counts of the block, from match_scan
//   then the sums of the counts of all lower digits, from match_base

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read> params: array<u32>;

var<workgroup> digits: array<atomic<u32>, 256>;

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
    let block = input[input[4] + tile];
    let b = input[3] + block * 16u;
    let start = (tile - input[b + 10u]) * 2048u;
    let shift = params[0];
    let row = 1u << params[1];
    for (var k = lane; k < 2048u; k += 256u) {
        if (start + k < input[b + 3u]) {
            atomicAdd(&digits[(keys[input[b + 2u] + start + k] >> shift) & (row - 1u)], 1u);
        }
    }
    workgroupBarrier();
    if (lane < row) {
        counts[(tile + 2u * block) * row + lane] = atomicLoad(&digits[lane]);
    }
}
