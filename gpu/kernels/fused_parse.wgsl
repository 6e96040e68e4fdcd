// Parses blocks as lz77.Matcher.ParseCandidates does.
//
// Dispatch: one workgroup of 64 invocations for each block, counted along x, then y. Those beyond the count do nothing. The first invocation walks, the others help it to learn what literals
// cost. To be dispatched again until all parses are done.
// Workgroup memory: 5 KiB. The walk is one loop without others in it: each turn does a bounded piece of work and leaves what is needed to go on, so that a dispatch can end after any.
//
// input, state: see fused_begin
// best: as match_best leaves it
// seqs: 3 u32 for each sequence: 0 literals before it; 1 where its own begin; 2 its offset, and above 30 bits which repeat offset that is, 3 for none of them. And 0 and 1 of what is
//     behind the last one
// marks: 4 u32 for each sequence, and for what is behind the last one: what is before it in the streams: 0 offsets, 1 literal runs and 2 lengths, in bytes, and 3 extra, in bits

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> best: array<u32>;
@group(0) @binding(2) var<storage, read_write> seqs: array<u32>;
@group(0) @binding(3) var<storage, read_write> marks: array<u32>;
@group(0) @binding(4) var<storage, read_write> state: array<u32>;

const PLAIN = 1u;

// What the walk wants.
const LEARN = 1u;
const DONE = 2u;
const GIVE = 3u; // up

var<workgroup> costs: array<u32, 256>; // of literals, in 1/8 bit
var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> begins: array<u32, 256>; // where the literals of the latest sequences begin
var<workgroup> runs: array<u32, 256>; // and how many they are
var<workgroup> total: atomic<u32>;
var<workgroup> wanted: u32;
var<workgroup> known: u32; // sequences

var<private> desc: u32; // the block's descriptor of Fused
var<private> src: u32; // where its bytes begin
var<private> size: u32;
var<private> first: u32; // its first position
var<private> end: u32; // positions
var<private> nice: u32;
var<private> least: u32; // of a match with a repeat offset
var<private> repeats: u32;
var<private> lazy: u32;
var<private> maxOffset: u32;
var<private> turns: u32;
var<private> enough: u32; // turns
var<private> want: u32;

var<private> i: u32; // the position to begin a match at
var<private> anchor: u32; // behind the last match
var<private> r0: u32;
var<private> r1: u32;
var<private> r2: u32;
var<private> count: u32; // sequences
var<private> learned: u32; // those that costs are made of
var<private> lits: u32; // before anchor
var<private> offsets: u32; // bytes, as in marks
var<private> longRuns: u32;
var<private> longMatches: u32;
var<private> extra: u32; // bits

// The match to be taken.
var<private> at: u32;
var<private> n: u32;
var<private> d: u32;
var<private> value: i32;
var<private> ahead: u32; // how far behind it the next position is that is looked at; 0 if there is no match yet
var<private> settled: u32; // 1: it is the best; 2: and it pays

// The position that is being looked at, and the best way to go on from there.
var<private> open: u32; // 1, 2, 4: repeat offsets still to look at; 8: the candidate; 16: it is being extended; 32: it has not begun
var<private> reach: u32; // 0 if there is no way
var<private> offset: u32;
var<private> score: i32;
var<private> looked: u32; // behind the last position whose candidate was looked at
var<private> m: u32; // bytes known to be equal
var<private> other: u32; // the candidate's offset

//include load32

fn byte(k: u32) -> u32 {
    return (input[src + (k >> 2u)] >> ((k & 3u) * 8u)) & 255u;
}

// equal is how many of 4 bytes are.
fn equal(x: u32) -> u32 {
    return countTrailingZeros(x) >> 3u;
}

// bits is the number of bits of v, which is not 0.
fn bits(v: u32) -> u32 {
    return firstLeadingBit(v) + 1u;
}

//include fused_look

//include fused_costs

// lengthBytes is how many bytes what a token has no room for takes.
fn lengthBytes(v: u32) -> u32 {
    return select(5u, 1u, v < 255u);
}

// note notes what is before the next sequence.
fn note() {
    let s = (input[desc + 7u] + count) * 3u;
    seqs[s] = lits;
    seqs[s + 1u] = anchor;
    let k = (input[desc + 7u] + count) * 4u;
    marks[k] = offsets;
    marks[k + 1u] = longRuns;
    marks[k + 2u] = longMatches;
    marks[k + 3u] = extra;
}

// emit adds a sequence.
fn emit() {
    if (count + 1u >= input[desc + 8u]) {
        want = GIVE;
        return;
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
        extra += bits((d >> 2u) + 1u) - 1u;
    }
    seqs[(input[desc + 7u] + count) * 3u + 2u] = d | (place << 30u);
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
    ahead = 0u;
    settled = 0u;
}

// settle does with the match what there is to do next.
fn settle() {
    if (settled == 1u) {
        if (n < 8u && d != r0 && d != r1 && d != r2) {
            if (count - learned >= 1024u) {
                want = LEARN;
                return;
            }
            if (!pays()) {
                i = max(looked, i + 1u);
                ahead = 0u;
                settled = 0u;
                return;
            }
        }
        settled = 2u;
    }
    if (at > anchor && at > d && byte(at - 1u) == byte(at - 1u - d)) {
        at--;
        n++;
        return;
    }
    emit();
}

// walk goes on until it wants something, or has had enough turns.
fn walk() {
    for (; want == 0u && turns < enough;) {
        turns++;
        if (settled == 0u) {
            if (i >= end) {
                want = DONE;
            } else {
                let p = select(at + ahead, i, ahead == 0u);
                if (open == 32u) {
                    begin(p);
                }
                if (open == 8u) {
                    consider(p);
                }
                if (open != 0u && want == 0u) {
                    extend(p);
                }
                if (open == 0u && want == 0u) {
                    choose(p);
                }
                if (ahead > 0u && open == 32u && (ahead > lazy || at + ahead >= end || n >= nice)) {
                    settled = 1u;
                }
            }
        } else {
            settle();
        }
    }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    let b = input[3] + block * 16u;
    desc = input[5] + block * 32u;
    let now = input[desc + 14u];
    src = input[b];
    size = input[b + 1u];
    first = input[b + 2u];
    end = input[b + 3u];
    nice = input[b + 7u];
    maxOffset = input[b + 9u];
    repeats = input[desc + 11u];
    least = input[desc + 12u];
    lazy = input[desc + 13u];
    enough = input[7];
    if (lane == 0u) {
        wanted = state[now];
    }
    let before = workgroupUniformLoad(&wanted);
    if (before != 0u) {
        return;
    }
    i = min(state[now + 1u], size);
    anchor = min(state[now + 2u], size);
    r0 = state[now + 3u];
    r1 = state[now + 4u];
    r2 = state[now + 5u];
    count = min(state[now + 6u], input[desc + 8u] - 1u);
    learned = min(state[now + 7u], count);
    lits = state[now + 8u];
    offsets = state[now + 9u];
    longRuns = state[now + 10u];
    longMatches = state[now + 11u];
    extra = state[now + 12u];
    at = min(state[now + 13u], size);
    n = state[now + 14u];
    d = state[now + 15u];
    value = i32(state[now + 16u]);
    ahead = min(state[now + 17u], 3u);
    settled = state[now + 18u];
    open = state[now + 19u];
    reach = state[now + 20u];
    offset = state[now + 27u];
    score = i32(state[now + 28u]);
    looked = state[now + 29u];
    m = state[now + 30u];
    other = state[now + 31u];
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
            walk();
            wanted = want;
        }
        let wish = workgroupUniformLoad(&wanted);
        if (wish != LEARN) {
            break;
        }
        learn(lane);
        learned = count;
        want = 0u;
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
    if (want == DONE) {
        state[now] = 1u;
        // Bytes in each stream.
        state[now + 21u] = lits + size - anchor;
        state[now + 22u] = count;
        state[now + 23u] = offsets;
        state[now + 24u] = longRuns;
        state[now + 25u] = longMatches;
        state[now + 26u] = (extra + 7u) >> 3u;
    } else if (want == GIVE) {
        state[now] = 2u;
    }
    state[now + 1u] = i;
    state[now + 2u] = anchor;
    state[now + 3u] = r0;
    state[now + 4u] = r1;
    state[now + 5u] = r2;
    state[now + 6u] = count;
    state[now + 7u] = learned;
    state[now + 8u] = lits;
    state[now + 9u] = offsets;
    state[now + 10u] = longRuns;
    state[now + 11u] = longMatches;
    state[now + 12u] = extra;
    state[now + 13u] = at;
    state[now + 14u] = n;
    state[now + 15u] = d;
    state[now + 16u] = u32(value);
    state[now + 17u] = ahead;
    state[now + 18u] = settled;
    state[now + 19u] = open;
    state[now + 20u] = reach;
    state[now + 27u] = offset;
    state[now + 28u] = u32(score);
    state[now + 29u] = looked;
    state[now + 30u] = m;
    state[now + 31u] = other;
    state[now + 32u] += turns;
}
