// Cuts streams into segments as rans.Encoder does, and makes their tables and the descriptions of these.
//
// Dispatch: one workgroup of 256 invocations, one for each symbol, for each of six streams of each block, counted along x, then y. Those beyond the count, and those for streams that are
// not coded, do nothing.
// Workgroup memory: 5 KiB. Loops turn some hundred times for each unit of 8 Ki symbols.
//
// input, state: see fused_begin
// streams: as fused_code leaves them
// plan: the block's numbers: 0–5 segments of each stream, all ones if something has gone wrong; and the segments, 208 u32 each:
//     0 mode: 0 stored, 1 one symbol, 2 coded; 1 where in its stream it begins; 2 bytes; 3 is it the last one of its stream; 4 bytes of the description; 5 the symbol, if it is one
//     16–143 frequencies, 16 bits each, the even one low; 144–207 their description
//
// Costs are in 1/65536 bit, in sums of 16-bit limbs: a stream has no more than 2^24 bytes, a logarithm less than 2^21.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> streams: array<u32>;
@group(0) @binding(2) var<storage, read> state: array<u32>;
@group(0) @binding(3) var<storage, read_write> plan: array<u32>;

const UNIT = 8192u;
const SHORTEST = 4096u;
const SCALE = 2048u;

var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> sums: array<atomic<u32>, 8>; // limbs of two costs, and two numbers
var<workgroup> answer: u32; // of the first invocation, for all
var<workgroup> often: array<u32, 256>; // counts of a segment
var<workgroup> freqs: array<u32, 256>;
var<workgroup> scan: array<u32, 256>;
var<workgroup> best: array<u32, 16>;
var<workgroup> text: array<atomic<u32>, 64>;

var<private> turns: u32;
var<private> low: u32; // of the sum that total reads
var<private> high: u32;

// logarithm is that of v, which is not 0, in 1/65536 bit.
fn logarithm(v: u32) -> u32 {
    let n = 31u - firstLeadingBit(v);
    return ((31u - n) << 16u) + input[input[6] + (((v << n) >> 20u) & 2047u)];
}

// over is the upper half of the product.
fn over(a: u32, b: u32) -> u32 {
    let x = (a & 0xffffu) * (b & 0xffffu);
    let y = (a >> 16u) * (b & 0xffffu) + (x >> 16u);
    let z = (a & 0xffffu) * (b >> 16u) + (y & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (y >> 16u) + (z >> 16u);
}

// add adds a · b to a sum.
fn add(which: u32, a: u32, b: u32) {
    let lower = a * b;
    atomicAdd(&sums[which], lower & 0xffffu);
    atomicAdd(&sums[which + 1u], lower >> 16u);
    atomicAdd(&sums[which + 2u], over(a, b));
}

// total reads a sum.
fn total(which: u32) {
    let x = atomicLoad(&sums[which]);
    let y = atomicLoad(&sums[which + 1u]) + (x >> 16u);
    low = (x & 0xffffu) | (y << 16u);
    high = atomicLoad(&sums[which + 2u]) + (y >> 16u);
}

// clear makes the sums 0. All have read them; the next may add once they have met.
fn clear(lane: u32) {
    if (lane < 8u) {
        atomicStore(&sums[lane], 0u);
    }
}

// describe adds n bits of the description, less than 32.
fn describe(at: u32, v: u32, n: u32) {
    if (n == 0u || at + n > 2048u) {
        return; // there are no more than 1,800
    }
    let s = at & 31u;
    atomicOr(&text[at >> 5u], v << s);
    if (s + n > 32u) {
        atomicOr(&text[(at >> 5u) + 1u], v >> ((32u - s) & 31u));
    }
}

// before is the first of two symbols that gives a slot up or gets one: that with the least loss, about count / (frequency - 1/2), or the greatest gain, about count / (frequency + 1/2).
// 256 is none; x comes before y.
fn before(x: u32, y: u32, gives: bool) -> u32 {
    if (x > 255u || y > 255u) {
        return min(x, y);
    }
    let one = select(freqs[x] * 2u + 1u, freqs[x] * 2u - 1u, gives);
    let two = select(freqs[y] * 2u + 1u, freqs[y] * 2u - 1u, gives);
    let a = often[y] * one;
    let b = often[x] * two;
    let c = over(often[y], one);
    let e = over(often[x], two);
    if (gives) {
        // y is better if its product is less.
        return select(x, y, c < e || (c == e && a < b));
    }
    return select(x, y, c > e || (c == e && a > b));
}

// able says whether a symbol can give a slot up, or get one.
fn able(x: u32, gives: bool) -> bool {
    return (gives && freqs[x] > 1u) || (!gives && often[x] > 0u);
}

// normalise makes frequencies of the counts in often, which sum to n.
fn normalise(lane: u32, n: u32) {
    let c = often[lane];
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
        // (2 · c · slots + rest) / (2 · rest), bit by bit; the numerator is below 2^37.
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
    turns += 12u;
    for (var k = 0u; k < 512u; k++) {
        let sum = workgroupUniformLoad(&answer);
        if (sum == SCALE) {
            break;
        }
        let gives = sum > SCALE;
        if (lane < 16u) {
            var x = 256u;
            for (var s = lane * 16u; s < lane * 16u + 16u; s++) {
                if (able(s, gives)) {
                    x = before(x, s, gives);
                }
            }
            best[lane] = x;
        }
        workgroupBarrier();
        if (lane == 0u) {
            var x = 256u;
            for (var s = 0u; s < 16u; s++) {
                x = before(x, best[s], gives);
            }
            x = min(x, 255u);
            freqs[x] = select(freqs[x] + 1u, freqs[x] - 1u, gives);
            answer = select(sum + 1u, sum - 1u, gives);
        }
        turns += 33u;
    }
    workgroupBarrier();
}

// accumulate turns what is in scan into sums, or the greatest, of all up to and with each.
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
    turns += 8u;
}

// write describes the frequencies, and returns the number of bits.
fn write(lane: u32) -> u32 {
    let f = freqs[lane];
    if (lane < 64u) {
        atomicStore(&text[lane], 0u);
    }
    scan[lane] = select(0u, lane + 1u, f != 0u);
    accumulate(lane, true);
    var last = 0u; // behind the symbol before that has a frequency
    if (lane > 0u) {
        last = scan[lane - 1u];
    }
    workgroupBarrier();
    // Classes and what follows them; see rans.freqs.
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
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.y * grid.x + id.x;
    let block = group / 6u;
    let stream = group - block * 6u;
    if (block >= input[0]) {
        return;
    }
    let desc = input[5] + block * 32u;
    let now = input[desc + 14u];
    if (stream >= input[desc + 10u] || state[now] != 1u) {
        return;
    }
    let src = input[desc + stream];
    let length = min(state[now + 21u + stream], (input[desc + stream + 1u] - src) * 4u);
    var place = input[desc + 15u + stream];
    let places = input[desc + 16u + stream];
    var segments = 0u;
    var wrong = false;
    var all = 0u; // of this symbol, in the segment so far
    var costLow = 0u; // of that; the first invocation's
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
                turns += 5u;
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
                    wrong = true; // a loop was cut short
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
            turns += 8u;
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
        often[lane] = all;
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
        let at = input[10] + place * 208u;
        if (place < places) {
            if (lane == 0u) {
                atomicAdd(&sums[1], 32u);
                total(0u);
                // In bytes, of which there are less than 2^29.
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
        place++;
        start = end;
        all = next;
        costLow = nextLow;
        costHigh = nextHigh;
        end += n;
        turns++;
        workgroupBarrier();
    }
    if (lane == 0u) {
        plan[input[desc + 30u] + stream] = select(segments, 0xffffffffu, wrong || turns >= input[8]);
    }
}
