// Parses segments as lz77.Matcher.ParseCandidates does: greedy or lazy matching over candidates.
//
// Each step of a lazy parse depends on the one before, so the first invocation parses a segment
// alone. The other 63 help to update the costs of literals, every 1,024 sequences. The parse is one
// loop without inner loops. A turn does a bounded piece of work: it tests the repeat offsets of a
// position, compares 16 more bytes, extends a match backward by one byte, or emits a sequence. All
// variables are saved between turns, so that a dispatch can end after any turn and the next one
// continues. That keeps dispatches short on a GPU, and below the 65,535 iterations after which
// software drivers leave a loop. Software drivers also run inner loops for invocations that do not
// need them, so there are none.
//
// Dispatch: one workgroup of 64 invocations for each segment of a parse. Workgroups count along x,
// then y; surplus ones do nothing. Dispatched again until all parses are done.
// Workgroup memory: 5 KiB: costs, counts and the latest literal runs.
// Bound: latency of dependent reads. Files take 0.1 to 0.6 turns a byte. Only many segments at a time
// keep a GPU busy.
//
// input, state: see fused_begin
// best: as match_best left it
// seqs: 3 u32 for each sequence: 0 literals before it; 1 position of its literals; 2 its offset and,
//   above 30 bits, the number of the repeat offset, 3 for a new offset. Then 0 and 1 of the end.
//   Literals and repeat offsets are those of the segment
// marks: 4 u32 for each sequence, and for the end: the sizes of the streams of the segment before it:
//   0 offsets, 1 long literal runs and 2 long matches in bytes, 3 extra bits in bits

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> best: array<u32>;
@group(0) @binding(2) var<storage, read_write> seqs: array<u32>;
@group(0) @binding(3) var<storage, read_write> marks: array<u32>;
@group(0) @binding(4) var<storage, read_write> state: array<u32>;

const PLAIN = 1u;
const SEGMENT = 65536u;
const ENTRIES = 16386u; // of a segment, in seqs and marks

// Reasons to leave the loop.
const UPDATE = 1u;
const DONE = 2u;
const GIVE_UP = 3u;

var<workgroup> costs: array<u32, 256>; // of literals, in 1/8 bit
var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> begins: array<u32, 256>; // positions of the latest literal runs
var<workgroup> runs: array<u32, 256>; // their lengths
var<workgroup> total: atomic<u32>;
var<workgroup> agreed: u32; // status or reason of the first invocation, for all
var<workgroup> known: u32; // sequences, for all

var<private> desc: u32; // index of the block's Fused descriptor
var<private> src: u32; // index of its bytes
var<private> size: u32;
var<private> first: u32; // its first position
var<private> end: u32; // of the segment: matches begin before it
var<private> limit: u32; // and are cut here
var<private> reach: u32; // what is behind does not count for the length of a match
var<private> entry: u32; // the segment's first entry in seqs and marks
var<private> entries: u32;
var<private> nice: u32;
var<private> least: u32; // least length of a match with a repeat offset, or of one that is cut
var<private> repeats: u32;
var<private> lazy: u32; // later positions to test
var<private> maxOffset: u32;
var<private> turns: u32; // of this dispatch
var<private> maxTurns: u32;
var<private> reason: u32; // to leave the loop; 0 for none

var<private> i: u32; // position of the next match
var<private> anchor: u32; // end of the last match
var<private> r0: u32; // repeat offsets, the latest first
var<private> r1: u32;
var<private> r2: u32;
var<private> count: u32; // sequences
var<private> updated: u32; // sequences at the last update of costs
var<private> every: u32; // sequences from there to the next one
var<private> different: u32; // offsets, up to 3
var<private> second: u32; // sequence with the second one
var<private> third: u32; // and with the third one
var<private> lits: u32; // literals before anchor
var<private> offsets: u32; // bytes, as in marks
var<private> longRuns: u32;
var<private> longMatches: u32;
var<private> extra: u32; // bits

// The best match so far.
var<private> at: u32; // position
var<private> n: u32; // length
var<private> d: u32; // offset
var<private> matchScore: i32;
var<private> ahead: u32; // distance of the next position to test; 0 if there is no match yet
var<private> phase: u32; // 0: searching; 1: the match is the best; 2: and pays

// The position under test, and its best match.
// pending holds the tests left: 1, 2, 4: repeat offsets; 8: the candidate; 16: extending the candidate;
// 32: the test has not begun.
var<private> pending: u32;
var<private> bestLength: u32; // 0 if there is no match
var<private> bestOffset: u32;
var<private> score: i32;
var<private> tested: u32; // one more than the last position whose candidate was tested
var<private> m: u32; // bytes known to be equal
var<private> candidate: u32; // its offset

//include load32

fn byte(k: u32) -> u32 {
    return (input[src + (k >> 2u)] >> ((k & 3u) * 8u)) & 255u;
}

// equal returns how many low bytes of x are 0.
fn equal(x: u32) -> u32 {
    return countTrailingZeros(x) >> 3u;
}

//include logarithm

//include offset_bits

//include fused_look

//include fused_costs

// lengthBytes returns the bytes of a length that exceeds its token by v.
fn lengthBytes(v: u32) -> u32 {
    return select(5u, 1u, v < 255u);
}

// note stores the sums before the next sequence.
fn note() {
    let s = (entry + count) * 3u;
    seqs[s] = lits;
    seqs[s + 1u] = anchor;
    let k = (entry + count) * 4u;
    marks[k] = offsets;
    marks[k + 1u] = longRuns;
    marks[k + 2u] = longMatches;
    marks[k + 3u] = extra;
}

// emit adds a sequence, unless what the segment has of the match is too short.
fn emit() {
    if (count + 1u >= entries) {
        reason = GIVE_UP;
        return;
    }
    ahead = 0u;
    phase = 0u;
    if (at + n > limit) {
        n = limit - at;
        if (n < least) {
            i = limit;
            return;
        }
    }
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
    if (place == 3u && different < 3u) {
        if (different == 1u) {
            second = count;
        } else if (different == 2u) {
            third = count;
        }
        different++;
    }
    let run = at - anchor;
    let plain = input[desc + 9u] == PLAIN;
    let shortRun = select(3u, 15u, plain);
    let shortMatch = select(19u, 20u, plain);
    if (run >= shortRun) {
        longRuns += lengthBytes(run - shortRun);
    }
    if (n >= shortMatch) {
        longMatches += lengthBytes(n - shortMatch);
    }
    if (plain) {
        offsets += 2u;
    } else if (place == 3u) {
        offsets++;
        extra += extraBits(d);
    }
    seqs[(entry + count) * 3u + 2u] = d | (place << 30u);
    begins[count & 255u] = anchor;
    runs[count & 255u] = run;
    if (place >= 2u) {
        r2 = r1;
    }
    if (place >= 1u) {
        r1 = r0;
    }
    r0 = d;
    count++;
    lits += run;
    anchor = at + n;
    note();
    i = anchor;
}

// finish decides whether the match pays, extends it backward by a byte, or emits it.
fn finish() {
    if (phase == 1u) {
        if (n < 8u && d != r0 && d != r1 && d != r2) {
            if (count - updated >= every) {
                reason = UPDATE;
                return;
            }
            if (!pays()) {
                i = max(tested, i + 1u);
                ahead = 0u;
                phase = 0u;
                return;
            }
        }
        phase = 2u;
    }
    if (at > anchor && at > d && byte(at - 1u) == byte(at - 1u - d)) {
        at--;
        n++;
        return;
    }
    emit();
}

// parse runs turns until there is a reason to leave the loop, or enough turns.
fn parse() {
    for (; reason == 0u && turns < maxTurns;) {
        turns++;
        if (phase == 0u) {
            if (i >= end) {
                reason = DONE;
            } else {
                let p = select(at + ahead, i, ahead == 0u);
                if (pending == 32u) {
                    begin(p);
                }
                if (pending == 8u) {
                    consider(p);
                }
                if (pending != 0u && reason == 0u) {
                    extend(p);
                }
                if (pending == 0u && reason == 0u) {
                    choose(p);
                }
                if (ahead > 0u && pending == 32u && (ahead > lazy || at + ahead >= end || n >= nice)) {
                    phase = 1u;
                }
            }
        } else {
            finish();
        }
    }
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let number = id.y * grid.x + id.x;
    if (number >= input[13]) {
        return;
    }
    let block = input[input[12] + number];
    let b = input[3] + block * 16u;
    desc = input[5] + block * 36u;
    let segment = number - input[desc + 34u];
    let now = input[desc + 14u] + 64u + segment * 1088u;
    src = input[b];
    size = input[b + 1u];
    first = input[b + 2u];
    nice = input[b + 7u];
    end = input[b + 3u];
    limit = size;
    entry = input[desc + 7u] + segment * ENTRIES;
    entries = input[desc + 8u] - segment * ENTRIES;
    if ((segment + 1u) * SEGMENT < end) {
        end = (segment + 1u) * SEGMENT;
        limit = end;
        entries = ENTRIES;
    }
    reach = min(end + nice + 16u, size);
    maxOffset = input[b + 9u];
    repeats = input[desc + 11u];
    least = input[desc + 12u];
    lazy = input[desc + 13u];
    maxTurns = input[7];
    if (lane == 0u) {
        agreed = state[now];
    }
    let before = workgroupUniformLoad(&agreed);
    if (before != 0u) {
        return;
    }
    i = min(state[now + 1u], size);
    anchor = min(state[now + 2u], size);
    r0 = state[now + 3u];
    r1 = state[now + 4u];
    r2 = state[now + 5u];
    count = min(state[now + 6u], entries - 1u);
    updated = min(state[now + 7u], count);
    lits = state[now + 8u];
    offsets = state[now + 9u];
    longRuns = state[now + 10u];
    longMatches = state[now + 11u];
    extra = state[now + 12u];
    at = min(state[now + 13u], size);
    n = state[now + 14u];
    d = state[now + 15u];
    matchScore = i32(state[now + 16u]);
    ahead = min(state[now + 17u], 3u);
    phase = state[now + 18u];
    pending = state[now + 19u];
    bestLength = state[now + 20u];
    bestOffset = state[now + 27u];
    score = i32(state[now + 28u]);
    tested = state[now + 29u];
    m = state[now + 30u];
    candidate = state[now + 31u];
    different = state[now + 33u];
    second = state[now + 34u];
    third = state[now + 35u];
    every = state[now + 36u];
    for (var k = lane; k < 256u; k += 64u) {
        costs[k] = state[now + 64u + k];
        atomicStore(&counts[k], state[now + 320u + k]);
        begins[k] = state[now + 576u + k];
        runs[k] = state[now + 832u + k];
    }
    workgroupBarrier();
    if (lane == 0u && count == 0u) {
        note();
    }
    for (var k = 0u; k < 65536u; k++) {
        if (lane == 0u) {
            parse();
            agreed = reason;
        }
        let verdict = workgroupUniformLoad(&agreed);
        if (verdict != UPDATE) {
            break;
        }
        updateCosts(lane);
        updated = count;
        every = min(every * 2u, 1024u);
        reason = 0u;
    }
    for (var k = lane; k < 256u; k += 64u) {
        state[now + 64u + k] = costs[k];
        state[now + 320u + k] = atomicLoad(&counts[k]);
        state[now + 576u + k] = begins[k];
        state[now + 832u + k] = runs[k];
    }
    if (lane != 0u) {
        return;
    }
    if (reason == DONE) {
        state[now] = 1u;
    } else if (reason == GIVE_UP) {
        state[now] = 2u;
    }
    state[now + 1u] = i;
    state[now + 2u] = anchor;
    state[now + 3u] = r0;
    state[now + 4u] = r1;
    state[now + 5u] = r2;
    state[now + 6u] = count;
    state[now + 7u] = updated;
    state[now + 8u] = lits;
    state[now + 9u] = offsets;
    state[now + 10u] = longRuns;
    state[now + 11u] = longMatches;
    state[now + 12u] = extra;
    state[now + 13u] = at;
    state[now + 14u] = n;
    state[now + 15u] = d;
    state[now + 16u] = u32(matchScore);
    state[now + 17u] = ahead;
    state[now + 18u] = phase;
    state[now + 19u] = pending;
    state[now + 20u] = bestLength;
    state[now + 27u] = bestOffset;
    state[now + 28u] = u32(score);
    state[now + 29u] = tested;
    state[now + 30u] = m;
    state[now + 31u] = candidate;
    state[now + 33u] = different;
    state[now + 34u] = second;
    state[now + 35u] = third;
    state[now + 36u] = every;
}
