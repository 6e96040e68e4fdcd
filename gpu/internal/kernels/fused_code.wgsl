// Codes sequences to the streams of a layout, as package lzseq does.
//
// Each invocation makes whole u32 of streams by itself. It finds the sequence that has the first
// byte of a u32 by bisection over the sizes in seqs and marks, which are sums already. So there are
// no atomics on buffers and no prefix sums.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions. Workgroups count
// along x, then y; surplus ones do nothing. The tiles of a block share its streams.
// Workgroup memory: none.
// Bound: reads of the bisections, up to four for each u32 of a stream and 17 for one of extra bits.
// They hit the cache.
//
// input, state: see fused_begin
// seqs, marks: as fused_place left them
// streams: four bytes in each u32, the first one lowest; up to three bytes behind a stream are
// undefined

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> seqs: array<u32>;
@group(0) @binding(2) var<storage, read> marks: array<u32>;
@group(0) @binding(3) var<storage, read> state: array<u32>;
@group(0) @binding(4) var<storage, read_write> streams: array<u32>;

const PLAIN = 1u;

var<private> src: u32;
var<private> size: u32;
var<private> entry: u32; // where the block's entries begin, in seqs
var<private> mark: u32; // in marks
var<private> count: u32; // sequences
var<private> plain: bool;

//include load32

// start returns where the part of a sequence begins in a stream, 0 or 2 to 5.
fn start(stream: u32, s: u32) -> u32 {
    if (stream == 0u) {
        return seqs[entry + s * 3u];
    }
    return marks[mark + s * 4u + stream - 2u];
}

// find returns the sequence that has byte i of a stream, or bit i of extra bits.
fn find(stream: u32, i: u32) -> u32 {
    var s = 0u;
    for (var n = count + 1u; n > 1u;) {
        let half = n >> 1u;
        if (start(stream, s + half) <= i) {
            s += half;
        }
        n -= half;
    }
    return s;
}

// run returns the number of literals of a sequence.
fn run(s: u32) -> u32 {
    return seqs[entry + s * 3u + 3u] - seqs[entry + s * 3u];
}

// matchLength returns the length of the match of a sequence.
fn matchLength(s: u32) -> u32 {
    return seqs[entry + s * 3u + 4u] - seqs[entry + s * 3u + 1u] - run(s);
}

// offset returns the offset of a sequence and, above 30 bits, the number of the repeat offset.
fn offset(s: u32) -> u32 {
    return seqs[entry + s * 3u + 2u];
}

// token returns the token of a sequence.
fn token(s: u32) -> u32 {
    if (plain) {
        return min(run(s), 15u) | (min(matchLength(s) - 5u, 15u) << 4u);
    }
    return min(run(s), 3u) | (min(matchLength(s) - 4u, 15u) << 2u) | ((offset(s) >> 30u) << 6u);
}

// part returns the bytes of a sequence in a stream, from byte k on.
fn part(stream: u32, s: u32, k: u32) -> u32 {
    if (stream == 0u) {
        return load32(src, min(seqs[entry + s * 3u + 1u] + k, size));
    }
    let d = offset(s) & 0x3fffffffu;
    if (stream == 2u) {
        if (plain) {
            return d >> (k * 8u);
        }
        return (firstLeadingBit((d >> 2u) + 1u) << 2u) | (d & 3u);
    }
    var v = run(s) - select(3u, 15u, plain);
    if (stream == 4u) {
        v = matchLength(s) - select(19u, 20u, plain);
    }
    if (v < 255u) {
        return v;
    }
    if (k == 0u) {
        return 255u | (v << 8u);
    }
    return v >> ((k * 8u - 8u) & 31u);
}

// gather returns four bytes of a stream of length bytes, from byte i on.
fn gather(stream: u32, i: u32, length: u32) -> u32 {
    var have = 0u;
    var v = 0u;
    for (; have < 4u && i + have < length;) {
        let s = find(stream, i + have);
        var more = 4u - have;
        if (s < count) {
            more = min(more, max(start(stream, s + 1u) - (i + have), 1u));
        }
        let p = part(stream, s, i + have - start(stream, s));
        v |= (p & (0xffffffffu >> (32u - more * 8u))) << (have * 8u);
        have += more;
    }
    return v;
}

// gatherBits returns 32 bits of the stream of extra bits, which has length bits, from bit i on.
fn gatherBits(i: u32, length: u32) -> u32 {
    var have = 0u;
    var v = 0u;
    for (; have < 32u && i + have < length;) {
        let s = find(5u, i + have);
        let d = offset(s) & 0x3fffffffu;
        let n = max(start(5u, min(s + 1u, count)) - start(5u, s), 1u);
        let k = i + have - start(5u, s); // bits that are in the u32 before
        v |= ((((d >> 2u) + 1u) & ((1u << (n & 31u)) - 1u)) >> (k & 31u)) << have;
        have += max(n - min(k, n), 1u);
    }
    return v;
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let tile = id.y * grid.x + id.x;
    if (tile >= input[9]) {
        return;
    }
    let block = input[input[4] + tile];
    let b = input[3] + block * 16u;
    let desc = input[5] + block * 36u;
    let now = input[desc + 14u];
    if (state[now] != 1u) {
        return;
    }
    src = input[b];
    size = input[b + 1u];
    entry = input[desc + 7u] * 3u;
    mark = input[desc + 7u] * 4u;
    count = min(state[now + 6u], input[desc + 8u] - 1u);
    plain = input[desc + 9u] == PLAIN;
    let step = input[b + 11u] * 256u;
    for (var k = 0u; k < 6u; k++) {
        let dst = input[desc + k];
        let length = min(state[now + 21u + k], (input[desc + k + 1u] - dst) * 4u);
        for (var w = (tile - input[b + 10u]) * 256u + lane; w * 4u < length; w += step) {
            var v = 0u;
            if (k == 1u) {
                for (var s = w * 4u; s < min(w * 4u + 4u, count); s++) {
                    v |= token(s) << ((s & 3u) * 8u);
                }
            } else if (k == 5u) {
                v = gatherBits(w * 32u, start(5u, count));
            } else {
                v = gather(k, w * 4u, length);
            }
            streams[dst + w] = v;
        }
    }
}
