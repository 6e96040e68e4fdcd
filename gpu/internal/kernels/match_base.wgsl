// Adds up the counts of all lower digits of a block: third part of a pass of the radix sort, see
// match_count. The result is where the keys of a digit begin in the sorted order.
//
// Dispatch: one workgroup of 256 invocations for each block. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: 1 KiB.
// Bound: latency, of 8 steps with barriers.
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
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    let b = input[3] + block * 16u;
    let row = 1u << params[1];
    let all = (input[b + 10u] + 2u * block + input[b + 11u]) * row;
    var own = 0u;
    if (lane < row) {
        own = counts[all + lane];
    }
    sums[lane] = own;
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
    if (lane < row) {
        counts[all + row + lane] = sums[lane] - own;
    }
}
