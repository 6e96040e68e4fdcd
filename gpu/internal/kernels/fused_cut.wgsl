// Cuts streams into segments, and makes their frequency tables and the descriptions of these, as
// rans.Encoder does.
//
// It goes through a stream in units of 8,192 symbols. For each unit it counts symbols, and compares
// the cost of one table for the segment so far and the unit with the cost of two tables. If one
// table costs no more, the unit joins the segment; otherwise the segment ends. For a complete
// segment the workgroup normalises the counts to frequencies that sum to 2,048, and describes them
// as package rans does.
//
// All choices are integers, equal to those of the CPU. Costs are in 1/65536 bit, in sums of 16-bit
// limbs: a stream has at most 2^24 bytes, and a logarithm is below 2^21.
//
// Dispatch: one workgroup of 256 invocations, one for each symbol, for each of six streams of each
// block. Workgroups count along x, then y; surplus ones, and those of streams that are not coded,
// do nothing.
// Workgroup memory: 5 KiB: counts, frequencies, scans, sums.
// Bound: latency. Units follow each other, with some hundred iterations and barriers for each.
//
// input, state: see fused_begin
// streams: as fused_code left them
// plan: the block's numbers 0-5: segments of each stream, all ones if the block is given up; and
// the
//   segments, 208 u32 each:
//       0 mode: 0 stored, 1 one symbol, 2 coded; 1 begin in its stream; 2 bytes; 3 1 if it is the last of
//       its stream; 4 bytes of the description; 5 the symbol of mode 1
//       16-143 frequencies, 16 bits each, the even one low; 144-207 their description

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> streams: array<u32>;
@group(0) @binding(2) var<storage, read> state: array<u32>;
@group(0) @binding(3) var<storage, read_write> plan: array<u32>;

const UNIT = 8192u;
const SHORTEST = 4096u;
const SCALE = 2048u;

var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> sums: array<atomic<u32>, 8>; // limbs of two costs; two counters
var<workgroup> answer: u32; // result of the first invocation
var<workgroup> segmentCounts: array<u32, 256>; // counts of a segment
var<workgroup> freqs: array<u32, 256>;
var<workgroup> scan: array<u32, 256>;
var<workgroup> best: array<u32, 16>;
var<workgroup> text: array<atomic<u32>, 64>;

var<private> iterations: u32;
var<private> low: u32; // result of total
var<private> high: u32;

// logarithm returns log2(v) in 1/65536 bit, for v above 0.
fn logarithm(v: u32) -> u32 {
    let n = 31u - firstLeadingBit(v);
    return ((31u - n) << 16u) + input[input[6] + (((v << n) >> 20u) & 2047u)];
}

// over returns the upper half of a product.
fn over(a: u32, b: u32) -> u32 {
    let x = (a & 0xffffu) * (b & 0xffffu);
    let y = (a >> 16u) * (b & 0xffffu) + (x >> 16u);
    let z = (a & 0xffffu) * (b >> 16u) + (y & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (y >> 16u) + (z >> 16u);
}

// add adds a * b to a sum.
fn add(which: u32, a: u32, b: u32) {
    let lower = a * b;
    atomicAdd(&sums[which], lower & 0xffffu);
    atomicAdd(&sums[which + 1u], lower >> 16u);
    atomicAdd(&sums[which + 2u], over(a, b));
}

// total reads a sum to low and high.
fn total(which: u32) {
    let x = atomicLoad(&sums[which]);
    let y = atomicLoad(&sums[which + 1u]) + (x >> 16u);
    low = (x & 0xffffu) | (y << 16u);
    high = atomicLoad(&sums[which + 2u]) + (y >> 16u);
}

// clear sets the sums to 0. A barrier precedes and follows it.
fn clear(lane: u32) {
    if (lane < 8u) {
        atomicStore(&sums[lane], 0u);
    }
}

// describe writes n bits of the description, below 32.
fn describe(at: u32, v: u32, n: u32) {
    if (n == 0u || at + n > 2048u) {
        return; // a description has at most 1,800 bits
    }
    let s = at & 31u;
    atomicOr(&text[at >> 5u], v << s);
    if (s + n > 32u) {
        atomicOr(&text[(at >> 5u) + 1u], v >> ((32u - s) & 31u));
    }
}

// before returns the symbol that is first to lose or gain a slot. That is the one with the least
// loss, about count / (frequency - 1/2), or with the greatest gain, about count / (frequency +
// 1/2). 256 is none; x is below y.
fn before(x: u32, y: u32, loses: bool) -> u32 {
    if (x > 255u || y > 255u) {
        return min(x, y);
    }
    let one = select(freqs[x] * 2u + 1u, freqs[x] * 2u - 1u, loses);
    let two = select(freqs[y] * 2u + 1u, freqs[y] * 2u - 1u, loses);
    let a = segmentCounts[y] * one;
    let b = segmentCounts[x] * two;
    let c = over(segmentCounts[y], one);
    let e = over(segmentCounts[x], two);
    if (loses) {
        // y is first if its product is smaller.
        return select(x, y, c < e || (c == e && a < b));
    }
    return select(x, y, c > e || (c == e && a > b));
}

// able reports whether a symbol can lose or gain a slot.
fn able(x: u32, loses: bool) -> bool {
    return (loses && freqs[x] > 1u) || (!loses && segmentCounts[x] > 0u);
}

// normalise makes frequencies from the counts in segmentCounts, which sum to n.
fn normalise(lane: u32, n: u32) {
    let c = segmentCounts[lane];
    let small = c != 0u && c <= (n >> 11u);
    clear(lane);
    workgroupBarrier();
    if (small) {
        atomicAdd(&sums[6], c);
        atomicAdd(&sums[7], 1u);
    }
    workgroupBarrier();
    let rest = n - atomicLoad(&sums[6]);
    let slots = SCALE - atomicLoad(&sums[7]);
    var f = select(0u, 1u, small);
    if (c != 0u && !small) {
        // (2 * c * slots + rest) / (2 * rest), bit by bit; the numerator is below 2^37.
        let lower = c * slots * 2u + rest;
        let upper = over(c, slots * 2u) + select(0u, 1u, lower < rest);
        for (var k = 2048u; k > 0u; k >>= 1u) {
            let q = f | k;
            let x = over(q, rest * 2u);
            if (x < upper || (x == upper && q * rest * 2u <= lower)) {
                f = q;
            }
        }
        f = max(f, 1u);
    }
    freqs[lane] = f;
    workgroupBarrier();
    clear(lane);
    workgroupBarrier();
    atomicAdd(&sums[6], f);
    workgroupBarrier();
    if (lane == 0u) {
        answer = atomicLoad(&sums[6]);
    }
    iterations += 12u;
    for (var k = 0u; k < 512u; k++) {
        let sum = workgroupUniformLoad(&answer);
        if (sum == SCALE) {
            break;
        }
        let loses = sum > SCALE;
        if (lane < 16u) {
            var x = 256u;
            for (var s = lane * 16u; s < lane * 16u + 16u; s++) {
                if (able(s, loses)) {
                    x = before(x, s, loses);
                }
            }
            best[lane] = x;
        }
        workgroupBarrier();
        if (lane == 0u) {
            var x = 256u;
            for (var s = 0u; s < 16u; s++) {
                x = before(x, best[s], loses);
            }
            x = min(x, 255u);
            freqs[x] = select(freqs[x] + 1u, freqs[x] - 1u, loses);
            answer = select(sum + 1u, sum - 1u, loses);
        }
        iterations += 33u;
    }
    workgroupBarrier();
}

// accumulate replaces scan by its inclusive prefix sums, or prefix maxima.
fn accumulate(lane: u32, greatest: bool) {
    workgroupBarrier();
    for (var d = 1u; d < 256u; d <<= 1u) {
        var v = 0u;
        if (lane >= d) {
            v = scan[lane - d];
        }
        workgroupBarrier();
        scan[lane] = select(scan[lane] + v, max(scan[lane], v), greatest);
        workgroupBarrier();
    }
    iterations += 8u;
}

// write writes the description of the frequencies and returns its bits.
fn write(lane: u32) -> u32 {
    let f = freqs[lane];
    if (lane < 64u) {
        atomicStore(&text[lane], 0u);
    }
    scan[lane] = select(0u, lane + 1u, f != 0u);
    accumulate(lane, true);
    var last = 0u; // one more than the last symbol with a frequency
    if (lane > 0u) {
        last = scan[lane - 1u];
    }
    workgroupBarrier();
    // Classes and extra bits, as in rans.freqs.
    var zeros = 0u;
    var zeroBits = 0u;
    var value = 0u;
    var valueBits = 0u;
    if (f != 0u) {
        let run = lane - last;
        if (run >= 4u) {
            let n = firstLeadingBit(run - 3u);
            zeros = 15u | (1u << (4u + n)) | (((run - 3u) & ((1u << n) - 1u)) << (5u + n));
            zeroBits = 5u + 2u * n;
        } else if (run > 0u) {
            zeros = 11u + run;
            zeroBits = 4u;
        }
        let n = firstLeadingBit(f);
        value = (n + 1u) | ((f & ((1u << n) - 1u)) << 4u);
        valueBits = 4u + n;
    }
    scan[lane] = zeroBits + valueBits;
    accumulate(lane, false);
    let at = scan[lane] - zeroBits - valueBits;
    describe(at, zeros, zeroBits);
    describe(at + zeroBits, value, valueBits);
    workgroupBarrier();
    return scan[255];
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let group = id.y * grid.x + id.x;
    let block = group / 6u;
    let stream = group - block * 6u;
    if (block >= input[0]) {
        return;
    }
    let desc = input[5] + block * 36u;
    let now = input[desc + 14u];
    if (stream >= input[desc + 10u] || state[now] != 1u) {
        return;
    }
    let src = input[desc + stream];
    let length = min(state[now + 21u + stream], (input[desc + stream + 1u] - src) * 4u);
    var segment = input[desc + 15u + stream];
    let endSegment = input[desc + 16u + stream];
    var segments = 0u;
    var wrong = false;
    var all = 0u; // count of this symbol in the segment so far
    var costLow = 0u; // cost of the segment so far; valid in the first invocation
    var costHigh = 0u;
    var start = 0u;
    var end = 0u;
    for (; start < length;) {
        var n = 0u;
        var next = 0u;
        var nextLow = 0u;
        var nextHigh = 0u;
        if (end < length) {
            // The next unit.
            n = length - end;
            if (n >= UNIT + SHORTEST) {
                n = UNIT;
            }
            atomicStore(&counts[lane], 0u);
            clear(lane);
            workgroupBarrier();
            for (var k = lane; k * 4u < n; k += 256u) {
                var v = streams[src + (end >> 2u) + k];
                for (var i = k * 4u; i < min(k * 4u + 4u, n); i++) {
                    atomicAdd(&counts[v & 255u], 1u);
                    v >>= 8u;
                }
                iterations += 5u;
            }
            workgroupBarrier();
            next = atomicLoad(&counts[lane]);
            if (next != 0u) {
                let whole = logarithm(n);
                add(0u, next, whole - min(logarithm(next), whole));
                atomicAdd(&sums[1], 9u);
            }
            let both = all + next;
            if (both != 0u) {
                let whole = logarithm(end + n - start);
                add(3u, both, whole - min(logarithm(both), whole));
                atomicAdd(&sums[4], 9u);
            }
            atomicAdd(&sums[6], next);
            if (lane == 0u) {
                atomicAdd(&sums[1], 32u);
                atomicAdd(&sums[4], 32u);
            }
            workgroupBarrier();
            if (lane == 0u) {
                if (atomicLoad(&sums[6]) != n) {
                    wrong = true; // the driver left a loop early
                }
                total(0u);
                nextLow = low;
                nextHigh = high;
                total(3u);
                let apartLow = costLow + nextLow;
                let apartHigh = costHigh + nextHigh + select(0u, 1u, apartLow < costLow);
                answer = 0u;
                if (end == start || high < apartHigh || (high == apartHigh && low <= apartLow)) {
                    answer = 1u;
                    costLow = low;
                    costHigh = high;
                }
            }
            iterations += 8u;
        } else if (lane == 0u) {
            answer = 0u;
        }
        let joined = workgroupUniformLoad(&answer);
        if (joined != 0u) {
            all += next;
            end += n;
            continue;
        }
        // The segment is complete.
        let size = end - start;
        segmentCounts[lane] = all;
        workgroupBarrier();
        normalise(lane, size);
        let bits = write(lane);
        clear(lane);
        workgroupBarrier();
        let f = freqs[lane];
        if (all != 0u) {
            add(0u, all, 11u * 65536u - logarithm(max(f, 1u)));
            atomicAdd(&sums[1], 9u);
            atomicAdd(&sums[7], 1u);
        }
        workgroupBarrier();
        let at = input[10] + segment * 208u;
        if (segment < endSegment) {
            if (lane == 0u) {
                atomicAdd(&sums[1], 32u);
                total(0u);
                // Cost in bytes, below 2^29.
                let cost = (low >> 19u) | (high << 13u);
                var mode = 0u;
                if (atomicLoad(&sums[7]) == 1u) {
                    mode = 1u;
                } else if (size >= 16u && cost < size - (size >> 6u)) {
                    mode = 2u;
                }
                plan[at] = mode;
                plan[at + 1u] = start;
                plan[at + 2u] = size;
                plan[at + 3u] = select(0u, 1u, end == length);
                plan[at + 4u] = (bits + 7u) >> 3u;
            }
            if (all == size) {
                plan[at + 5u] = lane;
            }
            if (lane < 128u) {
                plan[at + 16u + lane] = freqs[lane * 2u] | (freqs[lane * 2u + 1u] << 16u);
            }
            if (lane < 64u) {
                plan[at + 144u + lane] = atomicLoad(&text[lane]);
            }
        } else {
            wrong = true;
        }
        segments++;
        segment++;
        start = end;
        all = next;
        costLow = nextLow;
        costHigh = nextHigh;
        end += n;
        iterations++;
        workgroupBarrier();
    }
    if (lane == 0u) {
        plan[input[desc + 30u] + stream] = select(segments, 0xffffffffu, wrong || iterations >= input[8]);
    }
}
