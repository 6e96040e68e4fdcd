// Copies pieces to payloads, one behind the other, so that the host downloads them in one range.
//
// Each invocation makes whole u32 of a payload. It finds the piece of the first byte by bisection.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions. Workgroups count
// along x, then y; surplus ones do nothing. A tile writes 640 u32 of its block's payload.
// Workgroup memory: none.
// Bound: reads of the bisections, which hit the cache.
//
// input: see fused_begin
// plan: as fused_pieces left it
// words: as rans_encode left them
// streams: as fused_code left them
// output, in u32:
//   4 for each block: 0 bytes of its payload, 0 for none; the others are 0
//   the payloads, each from a u32 on; up to three bytes behind it are undefined

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> plan: array<u32>;
@group(0) @binding(2) var<storage, read> words: array<u32>;
@group(0) @binding(3) var<storage, read> streams: array<u32>;
@group(0) @binding(4) var<storage, read_write> output: array<u32>;

// load returns u32 w of the source of a piece.
fn load(what: u32, w: u32) -> u32 {
    if (what == 0u) {
        return plan[w];
    }
    if (what == 1u) {
        return words[w];
    }
    return streams[w];
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let tile = id.y * grid.x + id.x;
    if (tile >= input[9]) {
        return;
    }
    let block = input[input[4] + tile];
    let b = input[3] + block * 16u;
    let desc = input[5] + block * 36u;
    let own = input[desc + 30u];
    let size = plan[own + 15u];
    if (tile == input[b + 10u] && lane < 4u) {
        output[block * 4u + lane] = select(0u, size, lane == 0u);
    }
    // The payload follows the table and the payloads of the blocks before.
    var base = input[0] * 4u;
    for (var k = 0u; k < block; k++) {
        base += (plan[input[input[5] + k * 36u + 30u] + 15u] + 3u) >> 2u;
    }
    let list = input[desc + 28u];
    let count = plan[own + 7u];
    let start = (tile - input[b + 10u]) * 640u;
    for (var k = start + lane; k < start + 640u && k * 4u < size; k += 256u) {
        var have = 0u;
        var v = 0u;
        for (; have < 4u && k * 4u + have < size;) {
            let i = k * 4u + have;
            // Bisection finds the last piece that begins at i or before.
            var p = 0u;
            for (var n = count; n > 1u;) {
                let half = n >> 1u;
                if (plan[list + (p + half) * 4u] <= i) {
                    p += half;
                }
                n -= half;
            }
            let begin = plan[list + p * 4u];
            let what = plan[list + p * 4u + 1u];
            var more = 4u - have;
            if (p + 1u < count) {
                more = min(more, max(plan[list + p * 4u + 4u] - i, 1u));
            }
            let at = plan[list + p * 4u + 2u] + i - begin;
            let s = (at & 3u) * 8u;
            var x = load(what, at >> 2u) >> s;
            if (s + more * 8u > 32u) {
                x |= load(what, (at >> 2u) + 1u) << ((32u - s) & 31u);
            }
            v |= (x & (0xffffffffu >> (32u - more * 8u))) << (have * 8u);
            have += more;
        }
        output[base + k] = v;
    }
}
