// Decodes groups of 32 rANS lanes (docs/FORMAT.md, "Lane groups").
//
// A lane is an invocation. In each round every lane looks up its state in the table, gets a symbol
// and a new state, and renormalises if the state is below 2^15: it reads a 16-bit word. Words are
// shared by all lanes and read in lane order. So each lane that needs a word sets its bit in a
// mask; after a barrier, a lane's word follows those of the lower lanes in the mask. Three masks
// rotate: one is set, one is read, one is cleared. So one barrier a round is enough.
//
// The table has an entry for each of 2,048 slots. The workgroup makes it from 256 frequencies
// whenever a span begins: that is 512 bytes to upload instead of 8 KiB.
//
// Dispatch: one workgroup of 32 invocations for each group. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: 11 KiB: table of 8 KiB, first slots, masks, symbols of 8 rounds.
// Bound: latency of a round: table, mask, barrier. Many groups hide it; a block has two for
// each 512 Ki symbols.
//
// input, in u32:
//   0 number of groups; 1 index of their descriptors, 40 each:
//       0 index of the words; 1 number of 16-bit words; 2 index of the first span; 3 number of spans;
//       8-39 states
//   spans, 4 each: 0 index of the table; 1 number of symbols; 2 index of the result in output; 3 unused
//   tables, 128 each: the 256 frequencies, 16 bits each, the even one low; they sum to 2048
//   words, the even one low
// output, in u32:
//   2 for each group: 0 number of 16-bit words read; 1 is 0 if all states end as they must
//   symbols of the spans, each span from a u32 on; up to three bytes behind it are undefined
//
// The host has checked that states are in [2^15, 2^31) and that tables sum to 2048. So states stay
// below 2^31 whatever the words are. Words behind those of the group count as 0, and the host
// compares their number.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const LOWER = 32768u;

var<workgroup> table: array<u32, 2048>; // symbol, frequency << 8, slot less the symbol's first << 19
var<workgroup> begins: array<u32, 257>; // first slot of each symbol
var<workgroup> sums: array<u32, 32>;
var<workgroup> masks: array<atomic<u32>, 3>; // bit l: lane l reads a word
var<workgroup> symbols: array<u32, 256>; // of the last 8 rounds
var<workgroup> wrong: atomic<u32>;

// build makes the table of a span. No invocation reads the old one any more.
fn build(lane: u32, at: u32) {
    var sum = 0u;
    for (var i = 0u; i < 4u; i++) {
        let v = input[at + lane * 4u + i];
        sum += (v & 0xffffu) + (v >> 16u);
    }
    sums[lane] = sum;
    workgroupBarrier();
    var c = 0u;
    for (var i = 0u; i < lane; i++) {
        c += sums[i];
    }
    for (var i = 0u; i < 4u; i++) {
        let v = input[at + lane * 4u + i];
        begins[lane * 8u + i * 2u] = c;
        c += v & 0xffffu;
        begins[lane * 8u + i * 2u + 1u] = c;
        c += v >> 16u;
    }
    if (lane == 31u) {
        begins[256] = 2048u;
    }
    workgroupBarrier();
    // Bisection finds the symbol of this lane's first slot.
    let first = lane * 64u;
    var s = 0u;
    for (var step = 128u; step > 0u; step >>= 1u) {
        if (begins[s + step] <= first) {
            s += step;
        }
    }
    for (var slot = first; slot < first + 64u; slot++) {
        for (; s < 255u && begins[s + 1u] <= slot; s++) {
        }
        table[slot] = s | ((begins[s + 1u] - begins[s]) << 8u) | ((slot - begins[s]) << 19u);
    }
    workgroupBarrier();
}

@compute @workgroup_size(32)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let group = id.y * grid.x + id.x;
    if (group >= input[0]) {
        return;
    }
    let g = input[1] + group * 40u;
    let wordsAt = input[g];
    let words = input[g + 1u];
    let spansAt = input[g + 2u];
    let spans = input[g + 3u];
    let below = (1u << lane) - 1u;
    var x = input[g + 8u + lane];
    var used = 0u;
    var current = 0u; // index of the current mask
    for (var p = 0u; p < spans; p++) {
        let d = spansAt + p * 4u;
        let count = input[d + 1u];
        let dst = input[d + 2u];
        build(lane, input[d]);
        let rounds = (count + 31u) / 32u;
        for (var r = 0u; r < rounds; r++) {
            var reads = false;
            if (r * 32u + lane < count) {
                let e = table[x & 2047u];
                x = ((e >> 8u) & 2047u) * (x >> 11u) + (e >> 19u);
                symbols[(r & 7u) * 32u + lane] = e & 255u;
                reads = x < LOWER;
                if (reads) {
                    atomicOr(&masks[current], 1u << lane);
                }
            }
            workgroupBarrier();
            // The current mask is complete. All lanes have read the one before, which lane 0 clears
            // here. The next one was cleared a round ago.
            let mask = atomicLoad(&masks[current]);
            let last = select(current - 1u, 2u, current == 0u);
            if (lane == 0u) {
                atomicStore(&masks[last], 0u);
            }
            current = select(current + 1u, 0u, current == 2u);
            if (reads) {
                let w = used + countOneBits(mask & below);
                var v = 0u;
                if (w < words) {
                    v = (input[wordsAt + (w >> 1u)] >> ((w & 1u) * 16u)) & 0xffffu;
                }
                x = (x << 16u) | v;
            }
            used += countOneBits(mask);
            // Four rounds make 32 u32. Each lane stores one.
            if ((r & 3u) == 3u || r + 1u == rounds) {
                let start = r & ~3u;
                if (start * 32u + lane * 4u < count) {
                    let s = (((start + lane / 8u) & 7u) * 32u) + (lane & 7u) * 4u;
                    output[dst + start * 8u + lane] = (symbols[s] & 255u) | ((symbols[s + 1u] & 255u) << 8u) |
                        ((symbols[s + 2u] & 255u) << 16u) | ((symbols[s + 3u] & 255u) << 24u);
                }
            }
        }
    }
    if (x != LOWER) {
        atomicOr(&wrong, 1u);
    }
    workgroupBarrier();
    if (lane == 0u) {
        output[group * 2u] = used;
        output[group * 2u + 1u] = atomicLoad(&wrong);
    }
}
