// Counts the bytes of units, so that the host can make segments and frequency tables from them.
//
// The workgroup counts in workgroup memory with atomics, and then writes the 256 counts.
//
// Dispatch: one workgroup of 256 invocations for each unit. Workgroups count along x, then y;
// surplus ones do nothing. An invocation reads every 256th u32.
// Workgroup memory: 1 KiB.
// Bound: atomics on the same counter, where a byte is frequent.
//
// input, in u32:
//   0 number of units; 1 index of their descriptors, 2 each: 0 index of the bytes; 1 number of bytes,
//   below 65,536
//   bytes, four in each u32, the first one lowest
// output: 128 u32 for each unit: the count of each byte, 16 bits each, the even byte low

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> counts: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let unit = id.y * grid.x + id.x;
    if (unit >= input[0]) {
        return;
    }
    let src = input[input[1] + unit * 2u];
    let count = input[input[1] + unit * 2u + 1u];
    for (var k = lane; k * 4u < count; k += 256u) {
        var v = input[src + k];
        for (var i = k * 4u; i < min(k * 4u + 4u, count); i++) {
            atomicAdd(&counts[v & 255u], 1u);
            v >>= 8u;
        }
    }
    workgroupBarrier();
    if (lane < 128u) {
        output[unit * 128u + lane] = (atomicLoad(&counts[lane * 2u]) & 0xffffu) |
            (atomicLoad(&counts[lane * 2u + 1u]) << 16u);
    }
}
