// Counts the bytes of stretches.
//
// Dispatch: one workgroup of 256 invocations for each stretch, counted along x, then y. Any number of them; those beyond the count do nothing.
// Workgroup memory: 1 KiB.
//
// input, in u32:
//   0       number of stretches
//   1       where their descriptors begin, 2 each: 0 where the bytes begin; 1 how many they are, less than 65,536
//   bytes, four in each u32, the first one lowest
// output: 128 u32 for each stretch: how often each byte comes, 16 bits each, the even one low

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

var<workgroup> counts: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let stretch = id.y * grid.x + id.x;
    if (stretch >= input[0]) {
        return;
    }
    let src = input[input[1] + stretch * 2u];
    let count = input[input[1] + stretch * 2u + 1u];
    for (var k = lane; k * 4u < count; k += 256u) {
        var v = input[src + k];
        for (var i = k * 4u; i < min(k * 4u + 4u, count); i++) {
            atomicAdd(&counts[v & 255u], 1u);
            v >>= 8u;
        }
    }
    workgroupBarrier();
    if (lane < 128u) {
        output[stretch * 128u + lane] = (atomicLoad(&counts[lane * 2u]) & 0xffffu) | (atomicLoad(&counts[lane * 2u + 1u]) << 16u);
    }
}
