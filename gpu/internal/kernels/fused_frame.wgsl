// Writes the heads of payloads, which is everything before the words of the lane groups, and
// divides the coded symbols among groups for rans_encode, as rans.Encoder does.
//
// Dispatch: one workgroup of 1 invocations for each block. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: none.
// Bound: latency. One invocation takes about 70 iterations for each segment.
//
// input, state: see fused_begin
// plan: as fused_cut left it, and, in u32:
//   0 number of groups; 1 index of their descriptors. Groups, spans and tables are as rans_encode reads
//       them. Those that a block does not use have no spans
//   the block's numbers: 8 bytes of the head; 9 coded symbols; 10 groups in use; 14 is 1 if the block is
//       complete; for each group, 40 from 16 on: 36 its symbols; 37 its rounds

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(0) @binding(2) var<storage, read_write> plan: array<u32>;

const FEW = 8192u; // coded symbols below which a block has one group of four lanes
const PAIR = 524288u; // most coded symbols of two groups

var<private> iterations: u32;

//include put

// groupEnd returns the number of symbols in the first n groups.
fn groupEnd(coded: u32, groups: u32, n: u32) -> u32 {
    if (n >= groups) {
        return coded;
    }
    return (coded * n / max(groups, 1u) + 31u) & 0xffffffe0u;
}

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    if (block == 0u) {
        plan[0] = input[11];
        plan[1] = 4u;
    }
    let desc = input[5] + block * 36u;
    let now = input[desc + 14u];
    let own = input[desc + 30u];
    let descriptors = 4u + input[desc + 32u] * 4u;
    for (var k = 0u; k < input[desc + 33u] * 4u; k++) {
        plan[descriptors + k] = 0u;
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

    // The groups share the coded symbols of all segments evenly.
    var groups = 1u;
    var lanes = 2u; // bits
    if (coded >= FEW) {
        groups = (coded + PAIR - 1u) / PAIR * 2u;
        lanes = 5u;
    }
    // At most one word for each symbol, and two u32 more for each group.
    var words = input[desc + 26u];
    if (groups > input[desc + 33u] || words + (coded >> 1u) + groups * 3u > input[desc + 27u]) {
        return;
    }
    let round = (1u << lanes) - 1u;
    let spans = input[desc + 24u];
    var n = 0u;
    var at = 0u;
    // The current group: number, symbols before it and up to its end, first span, rounds.
    var g = 0u;
    var before = 0u;
    var end = groupEnd(coded, groups, 1u);
    var first = 0u;
    var rounds = 0u;
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
            let size = plan[segment + 2u];
            // A segment may be in several groups.
            for (var done = 0u; done < size && g < groups && n < input[desc + 25u];) {
                let begin = plan[segment + 1u] + done;
                let symbols = min(size - done, end - at);
                plan[spans + n * 4u] = segment + 16u;
                plan[spans + n * 4u + 1u] = symbols;
                plan[spans + n * 4u + 2u] = input[desc + k] + (begin >> 2u);
                plan[spans + n * 4u + 3u] = begin & 3u;
                n++;
                rounds += (symbols + round) >> lanes;
                done += symbols;
                at += symbols;
                iterations++;
                if (at == end) {
                    words += ((end - before + 1u) >> 1u) + 2u;
                    plan[descriptors + g * 4u] = spans + first * 4u;
                    plan[descriptors + g * 4u + 1u] = n - first;
                    plan[descriptors + g * 4u + 2u] = words;
                    plan[descriptors + g * 4u + 3u] = 5u - lanes;
                    plan[own + 16u + g * 40u + 36u] = end - before;
                    plan[own + 16u + g * 40u + 37u] = rounds;
                    g++;
                    before = end;
                    end = groupEnd(coded, groups, g + 1u);
                    first = n;
                    rounds = 0u;
                }
            }
        }
    }
    if (at != coded || iterations + puts >= input[8]) {
        return;
    }
    plan[own + 8u] = used;
    plan[own + 9u] = coded;
    plan[own + 10u] = g;
    plan[own + 14u] = 1u;
}
