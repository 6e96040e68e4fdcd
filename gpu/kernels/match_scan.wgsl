// Replaces the counts of a block by the sums of all counts before them: second part of a pass of
// the radix sort, see match_count. The result is where the keys of a digit and tile begin in the
// sorted order.
//
// Each invocation adds up a part of the counts, the workgroup scans the 256 sums, and each
// invocation writes its part.
//
// Dispatch: one workgroup of 256 invocations for each block. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: 1 KiB.
// Bound: latency. One workgroup scans 16 counts for each tile of a block, twice.
//
// input: see match_hash
// counts: as match_count left them; replaced by the sums

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;

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
