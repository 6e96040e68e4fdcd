// Codes groups of 32 rANS lanes, or of fewer (docs/FORMAT.md, "Groups and lanes"), backward.
//
// Dispatch: one workgroup of 32 invocations for each group, counted along x, then y. Any number of groups; those beyond the count do nothing.
// Workgroup memory: 3 KiB.
//
// input, in u32:
//   0       number of groups
//   1       where the groups' descriptors begin, 4 each:
//             0 first part's descriptor; 1 number of parts; 2 where in output the words end; 3 how often the lanes are halved:
//               with 3 there are four, and the other invocations only meet them
//   parts, 4 each: 0 table; 1 number of symbols; 2 and 3 where the symbols begin: u32, and byte counted from there
//   tables, 128 each: the 256 frequencies, 16 bits each, the even one low; they sum to 2048, and that of no symbol that occurs is 0
// symbols, four in each u32, the first one lowest
// output, in u32:
//   36 for each group: 0 number of 16-bit words; 1 rounds coded; 2 u32 stored; 4–35 states. 1 and 2 are for the host to see that no loop was cut short:
//     some drivers do that after so many rounds
//   words, the even one low, counted backward from the end: before it there is room for one for each symbol, and two more
//
// A lane gives off at most one word for each symbol, so that the room suffices whatever the symbols are.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> symbols: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;

const LOWER = 32768u;

var<workgroup> table: array<u32, 256>; // frequency, first slot << 16
var<workgroup> sums: array<u32, 32>;
var<workgroup> givers: array<atomic<u32>, 3>; // bit l: lane l gives off a word; see rans_decode
var<workgroup> stage: array<u32, 128>; // words on their way, the last one of the group first
var<workgroup> rest: atomic<u32>; // u32 stored at the end

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
        table[lane * 8u + i * 2u] = (v & 0xffffu) | (c << 16u);
        c += v & 0xffffu;
        table[lane * 8u + i * 2u + 1u] = (v >> 16u) | (c << 16u);
        c += v >> 16u;
    }
    workgroupBarrier();
}

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.y * grid.x + id.x;
    if (group >= input[0]) {
        return;
    }
    let g = input[1] + group * 4u;
    let partsAt = input[g];
    let parts = input[g + 1u];
    let end = input[g + 2u];
    let bits = 5u - (input[g + 3u] & 3u); // of the number of lanes
    let lanes = 1u << bits;
    let above = 0xfffffffeu << lane; // lanes above this one, whose words come first when going backward
    var x = LOWER;
    var given = 0u;
    var stored = 0u; // in blocks of 64 words
    var turn = 0u;
    var done = 0u;
    for (var p = parts; p > 0u; p--) {
        let d = partsAt + (p - 1u) * 4u;
        let count = input[d + 1u];
        let src = input[d + 2u];
        let first = input[d + 3u];
        build(lane, input[d]);
        for (var r = (count + lanes - 1u) >> bits; r > 0u; r--) {
            // Those that are no lanes of the group have no symbols.
            let i = select(count, ((r - 1u) << bits) + lane, lane < lanes);
            var gives = false;
            var e = 0u;
            if (i < count) {
                let at = first + i;
                e = table[(symbols[src + (at >> 2u)] >> ((at & 3u) * 8u)) & 255u];
                gives = x >= ((e & 0xffffu) << 20u);
                if (gives) {
                    atomicOr(&givers[turn], 1u << lane);
                }
            }
            workgroupBarrier();
            let mask = atomicLoad(&givers[turn]);
            let last = select(turn - 1u, 2u, turn == 0u);
            if (lane == 0u) {
                atomicStore(&givers[last], 0u);
            }
            turn = select(turn + 1u, 0u, turn == 2u);
            // A full block of words was complete before the barrier. What is written to stage below is at most 96 words further on.
            if (given - stored * 64u >= 64u) {
                let s = (stored & 1u) * 64u + lane * 2u;
                output[end - 1u - stored * 32u - lane] = stage[s + 1u] | (stage[s] << 16u);
                stored++;
            }
            if (gives) {
                stage[(given + countOneBits(mask & above)) & 127u] = x & 0xffffu;
                x >>= 16u;
            }
            given += countOneBits(mask);
            if (i < count) {
                let f = max(e & 0xffffu, 1u);
                let q = x / f;
                x = (q << 11u) + (x - q * f) + (e >> 16u);
            }
            done++;
        }
    }
    workgroupBarrier();
    // At most 95 words are left.
    let left = given - stored * 64u;
    for (var k = lane; k * 2u < left; k += 32u) {
        let s = stored * 64u + k * 2u;
        var v = stage[s & 127u] << 16u;
        if (k * 2u + 1u < left) {
            v |= stage[(s + 1u) & 127u];
        }
        output[end - 1u - stored * 32u - k] = v;
        atomicAdd(&rest, 1u);
    }
    workgroupBarrier();
    output[group * 36u + 4u + lane] = x;
    if (lane == 0u) {
        output[group * 36u] = given;
        output[group * 36u + 1u] = done;
        output[group * 36u + 2u] = stored * 32u + atomicLoad(&rest);
    }
}
