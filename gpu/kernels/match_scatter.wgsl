// Brings keys and positions to their places: third part of a pass of the radix sort, which is stable.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions, counted along x, then y. Those beyond the count do nothing.
// Workgroup memory: 8 KiB.
//
// input, in u32:
//   0 number of blocks; 1 number of tiles; 2 number of positions of all blocks; 3 where the blocks' descriptors begin, 16 each:
//       0 where the bytes begin; 1 number of bytes; 2 number of the first position; 3 number of positions; 4 32 less the bits of a row;
//       5 mask of the hash; 6 depth; 7 nice; 8 least length; 9 greatest offset; 10 first tile; 11 number of tiles
//   4 where the tiles begin: the block of each, in order
//   bytes of the blocks, four in each u32, the first one lowest, and two u32 behind them
// keys, positions: in the order of the last pass
// newKeys, newPositions: in that of this one
// counts: as match_scan leaves them
// params: 0 the digit's lowest bit

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> newKeys: array<u32>;
@group(0) @binding(4) var<storage, read_write> newPositions: array<u32>;
@group(0) @binding(5) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read> params: array<u32>;

// How often each digit comes in the 8 keys of an invocation and of all before it, two digits to each u32: 2,048 fits into 16 bits.
var<workgroup> low: array<vec4<u32>, 256>; // digits 0–7
var<workgroup> high: array<vec4<u32>, 256>; // digits 8–15

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let tile = id.y * grid.x + id.x;
    if (tile >= input[1]) {
        return;
    }
    let b = input[3] + input[input[4] + tile] * 16u;
    let first = input[b + 2u];
    let count = input[b + 3u];
    let tiles = input[b + 11u];
    let local = tile - input[b + 10u];
    let start = local * 2048u + lane * 8u;
    let shift = params[0];

    // Digits of this invocation's keys, 4 bits each, and how often each of them comes.
    var digits = 0u;
    var own: array<u32, 8>;
    for (var k = 0u; k < 8u; k++) {
        if (start + k < count) {
            let d = (keys[first + start + k] >> shift) & 15u;
            digits |= d << (k * 4u);
            own[d >> 1u] += 1u << ((d & 1u) * 16u);
        }
    }
    var a = vec4<u32>(own[0], own[1], own[2], own[3]);
    var c = vec4<u32>(own[4], own[5], own[6], own[7]);
    low[lane] = a;
    high[lane] = c;
    workgroupBarrier();
    for (var d = 1u; d < 256u; d <<= 1u) {
        var v = vec4<u32>();
        var w = vec4<u32>();
        if (lane >= d) {
            v = low[lane - d];
            w = high[lane - d];
        }
        workgroupBarrier();
        low[lane] += v;
        high[lane] += w;
        workgroupBarrier();
    }
    a = low[lane] - a;
    c = high[lane] - c;
    var rank = array<u32, 8>(a.x, a.y, a.z, a.w, c.x, c.y, c.z, c.w);
    for (var k = 0u; k < 8u; k++) {
        if (start + k < count) {
            let d = (digits >> (k * 4u)) & 15u;
            let s = (d & 1u) * 16u;
            let to = counts[input[b + 10u] * 16u + d * tiles + local] + ((rank[d >> 1u] >> s) & 0xffffu);
            rank[d >> 1u] += 1u << s;
            if (to < count) {
                newKeys[first + to] = keys[first + start + k];
                newPositions[first + to] = positions[first + start + k];
            }
        }
    }
}
