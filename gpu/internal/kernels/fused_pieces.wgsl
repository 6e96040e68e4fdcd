// Lists the pieces of payloads and adds up their sizes. Pieces are the head, states and words of
// each lane group, and stored segments. fused_payload copies them.
//
// It also checks that rans_encode ran all rounds and stored all words.
//
// Dispatch: one workgroup of 1 invocations for each block. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: none.
// Bound: latency. One invocation takes one or two iterations for each segment.
//
// input, state: see fused_begin
// words: as rans_encode left them
// plan: as fused_frame left it, and:
//   the block's numbers: 15 bytes of the payload, 0 for none; 7 number of pieces; for each group,
//       40 from 16 on: 0-35 what precedes its words: their size in bytes as a varint, and the states
//   pieces, 4 u32 each: 0 begin in the payload; 1 source: 0 plan, 1 words, 2 streams; 2 begin in the
//       source, in bytes; 3 unused

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(0) @binding(2) var<storage, read> words: array<u32>;
@group(0) @binding(3) var<storage, read_write> plan: array<u32>;

var<private> list: u32;
var<private> most: u32;
var<private> count: u32;
var<private> at: u32; // bytes of the payload so far

//include put

// piece adds a piece of n bytes.
fn piece(what: u32, begin: u32, n: u32) {
    if (n > 0u && count < most) {
        plan[list + count * 4u] = at;
        plan[list + count * 4u + 1u] = what;
        plan[list + count * 4u + 2u] = begin;
        count++;
    }
    at += n;
}

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    let desc = input[5] + block * 36u;
    let now = input[desc + 14u];
    let own = input[desc + 30u];
    plan[own + 15u] = 0u;
    if (plan[own + 14u] != 1u) {
        return;
    }
    list = input[desc + 28u];
    most = input[desc + 29u];
    piece(0u, input[desc + 22u] * 4u, plan[own + 8u]);
    for (var g = 0u; g < plan[own + 10u]; g++) {
        let numbers = own + 16u + g * 40u;
        let descriptor = 4u + (input[desc + 32u] + g) * 4u;
        let symbols = plan[numbers + 36u];
        let result = (input[desc + 32u] + g) * 36u;
        let emitted = words[result];
        // rans_encode ran all rounds and stored all words.
        if (emitted > symbols || words[result + 1u] != plan[numbers + 37u] ||
            words[result + 2u] != ((emitted + 1u) >> 1u)) {
            return;
        }
        head = numbers;
        room = 144u; // a varint of up to 5 bytes, and 32 states
        used = 0u;
        part = 0u;
        putNumber(emitted * 2u);
        let lanes = 32u >> (plan[descriptor + 3u] & 7u);
        for (var k = 0u; k < lanes; k++) {
            put(words[result + 4u + k], 4u);
        }
        plan[head + (used >> 2u)] = part;
        piece(0u, head * 4u, used);
        piece(1u, plan[descriptor + 2u] * 4u - emitted * 2u, emitted * 2u);
    }
    for (var k = 0u; k < 6u; k++) {
        let length = state[now + 21u + k];
        if (length == 0u) {
            continue;
        }
        if (k >= input[desc + 10u]) {
            piece(2u, input[desc + k] * 4u, length);
            continue;
        }
        for (var s = 0u; s < plan[own + k]; s++) {
            let segment = input[10] + (input[desc + 15u + k] + s) * 208u;
            if (plan[segment] == 0u) {
                piece(2u, input[desc + k] * 4u + plan[segment + 1u], plan[segment + 2u]);
            }
        }
    }
    if (at <= input[desc + 31u] * 4u && count < most) {
        plan[own + 7u] = count;
        plan[own + 15u] = at;
    }
}
