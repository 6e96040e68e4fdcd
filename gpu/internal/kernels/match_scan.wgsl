// Replaces the counts of each tile by the sums of the counts of the tiles before it: second part of
// a pass of the radix sort, see match_count.
//
// A workgroup has 8 digits of a block. Each invocation adds up the counts of a digit in 1/32 of the
// tiles, the workgroup scans the sums, and each invocation goes through its counts again.
// Neighbours have neighbouring digits, so they load and store neighbouring words.
//
// Dispatch: one workgroup of 256 invocations for each 8 digits of each block. Workgroups count along
// x, then y; surplus ones do nothing.
// Workgroup memory: 1 KiB.
// Bound: latency. An invocation loads a word for each 32 tiles of its block, twice.
//
// input: see match_hash
// counts, params: see match_count

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read> params: array<u32>;

var<workgroup> sums: array<u32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let number = id.y * grid.x + id.x;
    let bits = params[1];
    let block = number >> (bits - 3u);
    if (block >= input[0]) {
        return;
    }
    let b = input[3] + block * 16u;
    let row = 1u << bits;
    let digit = ((number * 8u) & (row - 1u)) + (lane & 7u);
    let first = (input[b + 10u] + 2u * block) * row + digit;
    let tiles = input[b + 11u];
    let each = (tiles + 31u) / 32u;
    let start = min((lane >> 3u) * each, tiles);
    let to = min(start + each, tiles);
    var sum = 0u;
    for (var i = start; i < to; i++) {
        sum += counts[first + i * row];
    }
    sums[lane] = sum;
    workgroupBarrier();
    for (var d = 8u; d < 256u; d <<= 1u) {
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
        let v = counts[first + i * row];
        counts[first + i * row] = c;
        c += v;
    }
    if (lane >= 248u) {
        counts[first + tiles * row] = c;
    }
}
