// Encodes groups of 32 rANS lanes, or of fewer (docs/FORMAT.md, "Lane groups").
//
// A lane is an invocation. rANS encodes the last symbol first, so the kernel goes backward through
// spans and rounds, and writes the words backward from the end of their space. In each round every
// lane emits a 16-bit word if its state is too large for its symbol. Lanes that emit set their bit
// in a mask, as in rans_decode; the words of higher lanes come first. Words collect in workgroup
// memory, and the lanes write 64 of them at a time.
//
// Dispatch: one workgroup of 32 invocations for each group. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: 3 KiB: table of 1 KiB, sums, masks, 128 words.
// Bound: latency of a round: symbol, table, division, barrier. Many groups hide it; a block has
// two for each 512 Ki symbols.
//
// input, in u32:
//   0 number of groups; 1 index of their descriptors, 4 each:
//       0 index of the first span; 1 number of spans; 2 index in output of the end of the words; 3 how
//       often the lanes are halved: with 3 there are four, and the other invocations only join barriers
//   spans, 4 each: 0 index of the table; 1 number of symbols; 2 and 3 where the symbols begin: u32, and
//       byte from there
//   tables, 128 each: the 256 frequencies, 16 bits each, the even one low. They sum to 2048, and each
//       symbol that occurs has one above 0
// symbols: four in each u32, the first one lowest
// output, in u32:
//   36 for each group: 0 number of 16-bit words; 1 rounds encoded; 2 u32 stored; 4-35 states. The host
//       checks 1 and 2, because some drivers leave long loops early
//   words, the even one low, backward from their end. A group has space for a word for each symbol, and
//       two more. A lane emits at most one word for a symbol, so that space always suffices.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> symbols: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;

const LOWER = 32768u;

var<workgroup> table: array<u32, 256>; // frequency, first slot << 16
var<workgroup> sums: array<u32, 32>;
var<workgroup> masks: array<atomic<u32>, 3>; // bit l: lane l emits a word
var<workgroup> buffered: array<u32, 128>; // words to store, the last one of the group first
var<workgroup> rest: atomic<u32>; // u32 stored at the end

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
        table[lane * 8u + i * 2u] = (v & 0xffffu) | (c << 16u);
        c += v & 0xffffu;
        table[lane * 8u + i * 2u + 1u] = (v >> 16u) | (c << 16u);
        c += v >> 16u;
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
    let g = input[1] + group * 4u;
    let spansAt = input[g];
    let spans = input[g + 1u];
    let end = input[g + 2u];
    let bits = 5u - (input[g + 3u] & 3u); // of the number of lanes
    let lanes = 1u << bits;
    let above = 0xfffffffeu << lane; // lanes above this one
    var x = LOWER;
    var emitted = 0u;
    var stored = 0u; // in blocks of 64 words
    var current = 0u;
    var coded = 0u;
    for (var p = spans; p > 0u; p--) {
        let d = spansAt + (p - 1u) * 4u;
        let count = input[d + 1u];
        let src = input[d + 2u];
        let first = input[d + 3u];
        build(lane, input[d]);
        for (var r = (count + lanes - 1u) >> bits; r > 0u; r--) {
            // Invocations that are no lanes of the group have no symbols.
            let i = select(count, ((r - 1u) << bits) + lane, lane < lanes);
            var emits = false;
            var e = 0u;
            if (i < count) {
                let at = first + i;
                e = table[(symbols[src + (at >> 2u)] >> ((at & 3u) * 8u)) & 255u];
                emits = x >= ((e & 0xffffu) << 20u);
                if (emits) {
                    atomicOr(&masks[current], 1u << lane);
                }
            }
            workgroupBarrier();
            let mask = atomicLoad(&masks[current]);
            let last = select(current - 1u, 2u, current == 0u);
            if (lane == 0u) {
                atomicStore(&masks[last], 0u);
            }
            current = select(current + 1u, 0u, current == 2u);
            // The barrier has completed these 64 words. Words added to buffered below are at most
            // 96 further on.
            if (emitted - stored * 64u >= 64u) {
                let s = (stored & 1u) * 64u + lane * 2u;
                output[end - 1u - stored * 32u - lane] = buffered[s + 1u] | (buffered[s] << 16u);
                stored++;
            }
            if (emits) {
                buffered[(emitted + countOneBits(mask & above)) & 127u] = x & 0xffffu;
                x >>= 16u;
            }
            emitted += countOneBits(mask);
            if (i < count) {
                let f = max(e & 0xffffu, 1u);
                let q = x / f;
                x = (q << 11u) + (x - q * f) + (e >> 16u);
            }
            coded++;
        }
    }
    workgroupBarrier();
    // At most 95 words are left.
    let left = emitted - stored * 64u;
    for (var k = lane; k * 2u < left; k += 32u) {
        let s = stored * 64u + k * 2u;
        var v = buffered[s & 127u] << 16u;
        if (k * 2u + 1u < left) {
            v |= buffered[(s + 1u) & 127u];
        }
        output[end - 1u - stored * 32u - k] = v;
        atomicAdd(&rest, 1u);
    }
    workgroupBarrier();
    output[group * 36u + 4u + lane] = x;
    if (lane == 0u) {
        output[group * 36u] = emitted;
        output[group * 36u + 1u] = coded;
        output[group * 36u + 2u] = stored * 32u + atomicLoad(&rest);
    }
}
