// Moves keys and positions to their places: third part of a pass of the radix sort, see
// match_count.
//
// Each invocation has 8 neighbouring keys. It counts their digits in 16-bit halves of 8 registers,
// and the workgroup scans these counters over its 256 invocations. A key's place is the sum of
// match_scan for its digit and tile, plus its rank in the tile. Order within a digit is kept.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions. Workgroups count
// along x, then y; surplus ones do nothing.
// Workgroup memory: 8 KiB, 16 counters of 16 bits for each invocation.
// Bound: scattered writes of 8 bytes for each position, and the scan's 16 barriers.
//
// input: see match_hash
// keys, positions: as match_hash or the pass before left them
// newKeys, newPositions: the same, sorted by the digit
// counts: as match_scan left them
// params: 0 lowest bit of the digit

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> newKeys: array<u32>;
@group(0) @binding(4) var<storage, read_write> newPositions: array<u32>;
@group(0) @binding(5) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read> params: array<u32>;

// Counts of each digit in the keys of an invocation and of all before it, two digits in a u32.
var<workgroup> low: array<vec4<u32>, 256>; // digits 0–7
var<workgroup> high: array<vec4<u32>, 256>; // digits 8–15

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
    let first = input[b + 2u];
    let count = input[b + 3u];
    let tiles = input[b + 11u];
    let local = tile - input[b + 10u];
    let start = local * 2048u + lane * 8u;
    let shift = params[0];

    // Digits of this invocation's keys, 4 bits each, and the count of each digit.
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
