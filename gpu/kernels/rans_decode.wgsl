// Decodes groups of 32 rANS lanes (docs/FORMAT.md, "Groups and lanes").
//
// Dispatch: one workgroup of 32 invocations for each group, counted along x, then y. Any number of groups; those beyond the count do nothing.
// Workgroup memory: 11 KiB.
//
// input, in u32:
//   0       number of groups
//   1       where the groups' descriptors begin, 40 each:
//             0 first word, counted in u32; 1 number of 16-bit words; 2 first part's descriptor; 3 number of parts; 8–39 states
//   parts, 4 each: 0 table; 1 number of symbols; 2 where in output they go; 3 unused
//   tables, 128 each: the 256 frequencies, 16 bits each, the even one low; they sum to 2048
//   words, the even one low
// output, in u32:
//   2 for each group: 16-bit words used; 0 if all states end as they must
//   symbols of the parts, each part from a u32 on; up to three bytes behind it are of no meaning
//
// The host has checked that states are in [2^15, 2^31) and tables sum to 2048, so states stay below 2^31 whatever the words are. A group
// takes no word beyond its own: those count as 0, and the number used tells.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;

const LOWER = 32768u;

var<workgroup> table: array<u32, 2048>; // symbol, frequency << 8, number of the slot among the symbol's own << 19
var<workgroup> begins: array<u32, 257>; // first slot of each symbol
var<workgroup> sums: array<u32, 32>;
var<workgroup> takers: array<atomic<u32>, 3>; // bit l: lane l takes a word; see the loop
var<workgroup> symbols: array<u32, 256>; // of the last 8 rounds
var<workgroup> wrong: atomic<u32>;

// build makes the table. All invocations have left the old one.
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
    // The symbol of this lane's first slot: the last that begins at it or before, by bisection.
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
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.y * grid.x + id.x;
    if (group >= input[0]) {
        return;
    }
    let g = input[1] + group * 40u;
    let wordsAt = input[g];
    let words = input[g + 1u];
    let partsAt = input[g + 2u];
    let parts = input[g + 3u];
    let below = (1u << lane) - 1u;
    var x = input[g + 8u + lane];
    var used = 0u;
    var turn = 0u; // which of takers
    for (var p = 0u; p < parts; p++) {
        let d = partsAt + p * 4u;
        let count = input[d + 1u];
        let dst = input[d + 2u];
        build(lane, input[d]);
        let rounds = (count + 31u) / 32u;
        for (var r = 0u; r < rounds; r++) {
            var takes = false;
            if (r * 32u + lane < count) {
                let e = table[x & 2047u];
                x = ((e >> 8u) & 2047u) * (x >> 11u) + (e >> 19u);
                symbols[(r & 7u) * 32u + lane] = e & 255u;
                takes = x < LOWER;
                if (takes) {
                    atomicOr(&takers[turn], 1u << lane);
                }
            }
            workgroupBarrier();
            // One barrier a round is enough: takers[turn] is complete, the one before has been read by all and is cleared
            // here, and the next is the one cleared a round ago.
            let mask = atomicLoad(&takers[turn]);
            let last = select(turn - 1u, 2u, turn == 0u);
            if (lane == 0u) {
                atomicStore(&takers[last], 0u);
            }
            turn = select(turn + 1u, 0u, turn == 2u);
            if (takes) {
                let w = used + countOneBits(mask & below);
                var v = 0u;
                if (w < words) {
                    v = (input[wordsAt + (w >> 1u)] >> ((w & 1u) * 16u)) & 0xffffu;
                }
                x = (x << 16u) | v;
            }
            used += countOneBits(mask);
            // Four rounds make 32 u32, one for each lane to store.
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
