// Finds the best candidate of every position, as lz77.RowHash defines it.
//
// The positions are sorted by row and, within a row, by position. So the candidates of a position
// are its left neighbours, nearest first. An invocation compares up to depth of them, four bytes at
// a time, and keeps the longest match that is worth its offset. A neighbour with another tag
// counts, but is not compared. An offset below 16 is replaced by its least multiple that is not.
// Once there is a match, most candidates fail the first test: the four bytes that end with the byte
// behind this match. Each word of content is loaded once for two neighbouring groups of four bytes.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 places of the sorted order.
// Workgroups count along x, then y; surplus ones do nothing. An invocation has 8 places, 256 apart.
// Workgroup memory: none.
// Bound: divergence and random reads. Neighbouring invocations compare different numbers of bytes,
// at most depth times nice for each place.
//
// input: see match_hash
// keys, positions: sorted by the radix sort
// best: for each position 0 for no candidate, or the offset in 24 bits and, above them, the length
//   less 4, at most nice

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> best: array<u32>;

//include load32

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let tile = id.y * grid.x + id.x;
    if (tile >= input[1]) {
        return;
    }
    let b = input[3] + input[input[4] + tile] * 16u;
    let src = input[b];
    let size = input[b + 1u];
    let first = input[b + 2u];
    let count = input[b + 3u];
    let depth = input[b + 6u];
    let nice = input[b + 7u];
    let least = input[b + 8u];
    let maxOffset = input[b + 9u];
    let start = (tile - input[b + 10u]) * 2048u;
    for (var k = lane; k < 2048u && start + k < count; k += 256u) {
        let at = first + start + k;
        let key = keys[at];
        let i = positions[at];
        if (i >= count) {
            continue; // only after an error of an earlier kernel
        }
        // Four bytes of two words are joined as in load32.
        let mine = src + (i >> 2u);
        let s = (i & 3u) * 8u;
        let up = 31u - s;
        let second = input[mine + 1u];
        let head = (input[mine] >> s) | ((second << 1u) << up);
        let most = min(nice, size - i);
        var longest = least - 1u;
        var last = 0u; // the four bytes that end behind the longest match
        var offset = 0u;
        let end = min(depth, start + k);
        for (var n = 1u; n <= end; n++) {
            let differs = keys[at - n] ^ key;
            if (differs > 127u) {
                break; // another row
            }
            if (differs != 0u) {
                continue; // another tag
            }
            var d = i - positions[at - n];
            if (d < 16u) {
                // Positions differ, so d is not 0; max satisfies the translator.
                d = ((15u + d) / max(d, 1u)) * d;
            }
            if (d > maxOffset) {
                break;
            }
            if (d > i) {
                continue;
            }
            let c = i - d;
            if (offset != 0u) {
                let z = c + longest - 3u;
                let y = src + (z >> 2u);
                let q = (z & 3u) * 8u;
                if (((input[y] >> q) | ((input[y + 1u] << 1u) << (31u - q))) != last) {
                    continue;
                }
            }
            let theirs = src + (c >> 2u);
            let r = (c & 3u) * 8u;
            let above = 31u - r;
            var high = input[theirs + 1u];
            if (((input[theirs] >> r) | ((high << 1u) << above)) != head) {
                continue;
            }
            var my = second;
            var m = 4u;
            for (var w = 2u; m < most; w++) {
                let low = high;
                let own = my;
                high = input[theirs + w];
                my = input[mine + w];
                let x = ((low >> r) | ((high << 1u) << above)) ^ ((own >> s) | ((my << 1u) << up));
                if (x != 0u) {
                    m += countTrailingZeros(x) >> 3u;
                    break;
                }
                m += 4u;
            }
            m = min(m, most);
            if (m > longest && (offset == 0u ||
                4 * i32(m - longest) > i32(firstLeadingBit(d)) - i32(firstLeadingBit(offset)))) {
                longest = m;
                offset = d;
                if (m == most) {
                    break;
                }
                last = load32(src, i + m - 3u);
            }
        }
        best[first + i] = select(0u, offset | ((longest - 4u) << 24u), offset != 0u);
    }
}
