// Writes the heads of payloads, which is everything before the words of the lane groups, and
// divides the coded symbols between two groups for rans_encode, as rans.Encoder does.
//
// Dispatch: one workgroup of 1 invocations for each block. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: none.
// Bound: latency. One invocation takes about 70 iterations for each segment.
//
// input, state: see fused_begin
// plan: as fused_cut left it, and, in u32:
//   0 number of groups, two for each block; 1 index of their descriptors. Groups, spans and tables are as
//       rans_encode reads them
//   the block's numbers: 8 bytes of the head; 9 coded symbols; 10 those in the first group; 11 and 12
//       rounds of the groups; 13 end of the words of the first group; 14 is 1 if the block is complete

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(0) @binding(2) var<storage, read_write> plan: array<u32>;

const FEW = 8192u; // coded symbols below which a block has one group of four lanes

var<private> iterations: u32;

//include put

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    if (block == 0u) {
        plan[0] = input[0] * 2u;
        plan[1] = 4u;
    }
    let desc = input[5] + block * 32u;
    let now = input[desc + 14u];
    let own = input[desc + 30u];
    let groups = 4u + block * 8u;
    for (var k = 0u; k < 8u; k++) {
        plan[groups + k] = 0u;
    }
    plan[own + 14u] = 0u;
    if (state[now] != 1u) {
        return;
    }
    let coding = min(input[desc + 10u], 6u); // coded streams
    head = input[desc + 22u];
    room = input[desc + 23u] * 4u;
    put(input[desc + 9u], 1u);
    var coded = 0u;
    for (var k = 0u; k < 6u; k++) {
        let length = state[now + 21u + k];
        putNumber(length);
        if (length == 0u) {
            continue;
        }
        if (k >= coding) {
            put(4u, 1u); // stored, last segment
            continue;
        }
        let count = plan[own + k];
        if (count > input[desc + 16u + k] - input[desc + 15u + k]) {
            return;
        }
        for (var s = 0u; s < count; s++) {
            let at = input[10] + (input[desc + 15u + k] + s) * 208u;
            let mode = plan[at];
            let size = plan[at + 2u];
            put(mode | (plan[at + 3u] << 2u), 1u);
            if (plan[at + 3u] == 0u) {
                putNumber(size);
            }
            if (mode == 1u) {
                put(plan[at + 5u], 1u);
            }
            if (mode == 2u) {
                coded += size;
                let bytes = min(plan[at + 4u], 256u);
                for (var i = 0u; i < bytes; i += 4u) {
                    let n = min(bytes - i, 4u);
                    put(plan[at + 144u + (i >> 2u)] & (0xffffffffu >> (32u - n * 8u)), n);
                }
            }
            iterations += 4u;
        }
    }
    if (used >= room) {
        return;
    }
    plan[head + (used >> 2u)] = part;

    // The first group gets the first half of the coded symbols of all segments.
    var cut = coded;
    var lanes = 2u; // bits
    if (coded >= FEW) {
        cut = ((coded >> 1u) + 31u) & 0xffffffe0u;
        lanes = 5u;
    }
    let round = (1u << lanes) - 1u;
    let spans = input[desc + 24u];
    var n = 0u;
    var split = 0u; // spans of the first group
    var at = 0u;
    var rounds0 = 0u;
    var rounds1 = 0u;
    for (var k = 0u; k < coding; k++) {
        var count = plan[own + k];
        if (state[now + 21u + k] == 0u) {
            count = 0u;
        }
        for (var s = 0u; s < count; s++) {
            let segment = input[10] + (input[desc + 15u + k] + s) * 208u;
            iterations++;
            if (plan[segment] != 2u) {
                continue;
            }
            let begin = plan[segment + 1u];
            let size = plan[segment + 2u];
            // One segment may be in both groups.
            let one = min(size, cut - min(at, cut));
            for (var g = 0u; g < 2u; g++) {
                let first = select(begin + one, begin, g == 0u);
                let symbols = select(size - one, one, g == 0u);
                if (symbols > 0u && n < input[desc + 25u]) {
                    plan[spans + n * 4u] = segment + 16u;
                    plan[spans + n * 4u + 1u] = symbols;
                    plan[spans + n * 4u + 2u] = input[desc + k] + (first >> 2u);
                    plan[spans + n * 4u + 3u] = first & 3u;
                    n++;
                    if (g == 0u) {
                        split = n;
                        rounds0 += (symbols + round) >> lanes;
                    } else {
                        rounds1 += (symbols + round) >> lanes;
                    }
                }
            }
            at += size;
        }
    }
    // At most one word for each symbol, and two u32 more.
    let middle = input[desc + 26u] + ((cut + 1u) >> 1u) + 2u;
    let end = middle + ((coded - cut + 1u) >> 1u) + 2u;
    if (at != coded || end > input[desc + 27u] || iterations + puts >= input[8]) {
        return;
    }
    plan[groups] = spans;
    plan[groups + 1u] = split;
    plan[groups + 2u] = middle;
    plan[groups + 3u] = 5u - lanes;
    plan[groups + 4u] = spans + split * 4u;
    plan[groups + 5u] = n - split;
    plan[groups + 6u] = end;
    plan[groups + 7u] = 5u - lanes;
    plan[own + 8u] = used;
    plan[own + 9u] = coded;
    plan[own + 10u] = cut;
    plan[own + 11u] = rounds0;
    plan[own + 12u] = rounds1;
    plan[own + 13u] = middle;
    plan[own + 14u] = 1u;
}
