// Joins the segments of parses, in order: what each segment adds to the sums of its block.
//
// A segment counts literals and bytes of streams from its own begin, and knows no repeat offset of the
// segments before. This kernel finds:
//   - which segments begin with a match that continues the last one of the segments before. The two
//     become one sequence.
//   - the list of repeat offsets in front of each segment. The first sequences with the first three
//     different offsets of a segment may repeat one of that list. All other sequences repeat what the
//     segment says.
//   - the sums in front of each segment, and the sizes of the block's streams.
//
// Dispatch: one workgroup of 1 invocations for each block. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: none.
// Bound: latency. One invocation takes some 40 reads and writes for each segment.
//
// input: see fused_begin
// seqs, marks: of segments, as fused_parse left them
// state: see fused_begin; and, for each segment:
//   40 index of its first sequence; 41 literals, and 42-45 sizes of streams as in marks, to add to those of
//       the segment; these may be negative
//   46 its first sequence that is not joined; 47 its last entry whose sums count
//   48-50 the numbers of the repeat offsets of its first sequences with different offsets

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> seqs: array<u32>;
@group(0) @binding(2) var<storage, read> marks: array<u32>;
@group(0) @binding(3) var<storage, read_write> state: array<u32>;

const PLAIN = 1u;
const SEGMENT = 65536u;
const ENTRIES = 16386u; // of a segment, in seqs and marks

var<private> plain: bool;
var<private> r0: u32; // repeat offsets, the latest first
var<private> r1: u32;
var<private> r2: u32;
var<private> lits: u32; // sums so far
var<private> offsets: u32;
var<private> longRuns: u32;
var<private> longMatches: u32;
var<private> extra: u32;
var<private> count: u32; // sequences so far
var<private> anchor: u32; // end of the last match
var<private> length: u32; // its length
var<private> last: u32; // index of the state of its segment

//include offset_bits

// longBytes returns the bytes of a length that does not fit its token, from most on.
fn longBytes(v: u32, most: u32) -> u32 {
    if (v < most) {
        return 0u;
    }
    return select(5u, 1u, v - most < 255u);
}

// repeat moves an offset to the front of the list, and returns its number there before.
fn repeat(d: u32) -> u32 {
    var place = 3u;
    if (d == r2) {
        place = 2u;
    }
    if (d == r1) {
        place = 1u;
    }
    if (d == r0) {
        place = 0u;
    }
    if (place >= 2u) {
        r2 = r1;
    }
    if (place >= 1u) {
        r1 = r0;
    }
    r0 = d;
    return place;
}

// offsetOf returns the offset of a sequence.
fn offsetOf(e: u32) -> u32 {
    return seqs[e * 3u + 2u] & 0x3fffffffu;
}

// join adds a segment with n sequences. s is the index of its state, and entry that of its entries.
fn join(s: u32, begin: u32, entry: u32, n: u32) {
    let run = seqs[entry * 3u + 3u];
    let match0 = seqs[entry * 3u + 4u] - begin - run;
    let front = begin - anchor; // literals in front of it
    let joined = count > 0u && front == 0u && run == 0u && offsetOf(entry) == r0;
    // The three sequences that may repeat offsets of segments before.
    let different = min(state[s + 33u], 3u);
    var saved = 0u; // bytes of offsets that the segment counted too many, and
    var savedBits = 0u; // extra bits
    var savedFirst = 0u; // and by its first sequence
    var savedBitsFirst = 0u;
    for (var k = 0u; k < different; k++) {
        var e = entry;
        if (k > 0u) {
            e += min(state[s + 33u + k], n - 1u);
        }
        let d = offsetOf(e);
        let place = repeat(d);
        state[s + 48u + k] = place;
        if (place < 3u && !plain) {
            saved++;
            savedBits += extraBits(d);
        }
        if (k == 0u) {
            savedFirst = saved;
            savedBitsFirst = savedBits;
        }
    }
    r0 = state[s + 3u];
    if (different > 1u) {
        r1 = state[s + 4u];
    }
    if (different > 2u) {
        r2 = state[s + 5u];
    }
    var first = match0;
    if (joined) {
        // The sums behind the first sequence are those of the one that it continues.
        first += length;
        let most = select(19u, 20u, plain);
        count--;
        state[last + 47u] -= 1u;
        longMatches += longBytes(first, most) - longBytes(length, most);
        offsets -= marks[entry * 4u + 4u] - savedFirst;
        longRuns -= marks[entry * 4u + 5u];
        longMatches -= marks[entry * 4u + 6u];
        extra -= marks[entry * 4u + 7u] - savedBitsFirst;
    } else {
        let most = select(3u, 15u, plain);
        longRuns += longBytes(run + front, most) - longBytes(run, most);
        lits += front;
    }
    state[s + 40u] = count;
    state[s + 41u] = lits;
    state[s + 42u] = offsets;
    state[s + 43u] = longRuns;
    state[s + 44u] = longMatches;
    state[s + 45u] = extra;
    state[s + 46u] = select(0u, 1u, joined);
    state[s + 47u] = n;
    let end = (entry + n) * 3u;
    length = first;
    if (n > 1u) {
        length = seqs[end + 1u] - seqs[end - 2u] - (seqs[end] - seqs[end - 3u]);
    }
    count += n;
    lits += seqs[end];
    anchor = seqs[end + 1u];
    offsets += marks[(entry + n) * 4u] - saved;
    longRuns += marks[(entry + n) * 4u + 1u];
    longMatches += marks[(entry + n) * 4u + 2u];
    extra += marks[(entry + n) * 4u + 3u] - savedBits;
    last = s;
}

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    let desc = input[5] + block * 36u;
    let now = input[desc + 14u];
    plain = input[desc + 9u] == PLAIN;
    r0 = 64u;
    r1 = 64u;
    r2 = 64u;
    var status = 1u;
    for (var k = 0u; k < input[desc + 35u]; k++) {
        let s = now + 64u + k * 1088u;
        let n = min(state[s + 6u], ENTRIES - 1u);
        if (state[s] != 1u) {
            status = 2u;
        }
        if (n > 0u && status == 1u) {
            join(s, k * SEGMENT, input[desc + 7u] + k * ENTRIES, n);
        }
    }
    state[now] = status;
    state[now + 6u] = count;
    // Sizes of the streams.
    state[now + 21u] = lits + input[input[3] + block * 16u + 1u] - anchor;
    state[now + 22u] = count;
    state[now + 23u] = offsets;
    state[now + 24u] = longRuns;
    state[now + 25u] = longMatches;
    state[now + 26u] = (extra + 7u) >> 3u;
}
