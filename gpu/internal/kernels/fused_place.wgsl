// Writes the sequences of segments to their places in the block, with the sums that fused_code needs.
//
// Dispatch: one workgroup of 256 invocations for each segment of a parse. Workgroups count along x,
// then y; surplus ones do nothing.
// Workgroup memory: none.
// Bound: memory, 56 bytes for each sequence.
//
// input: see fused_begin
// localSeqs, localMarks: of segments, as fused_parse left them
// state: see fused_begin and fused_join
// seqs, marks: the same for blocks: literals, sizes of streams and repeat offsets are those of the block

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> localSeqs: array<u32>;
@group(0) @binding(2) var<storage, read> localMarks: array<u32>;
@group(0) @binding(3) var<storage, read> state: array<u32>;
@group(0) @binding(4) var<storage, read_write> seqs: array<u32>;
@group(0) @binding(5) var<storage, read_write> marks: array<u32>;

const PLAIN = 1u;
const ENTRIES = 16386u; // of a segment, in localSeqs and localMarks

//include offset_bits

@compute @workgroup_size(256)
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
    let desc = input[5] + block * 36u;
    let now = input[desc + 14u];
    if (state[now] != 1u) {
        return;
    }
    let segment = number - input[desc + 34u];
    let s = now + 64u + segment * 1088u;
    let base = input[desc + 7u];
    let most = input[desc + 8u];
    let entry = base + segment * ENTRIES;
    if (segment == 0u && lane < 2u) {
        seqs[base * 3u + lane] = 0u;
    }
    if (segment == 0u && lane < 4u) {
        marks[base * 4u + lane] = 0u;
    }
    let count = min(state[s + 6u], ENTRIES - 1u);
    if (count == 0u) {
        return;
    }
    // The sequences whose offsets may be repeats of segments before, and the extra bits that this saves.
    let different = state[s + 33u];
    let second = select(count, state[s + 34u], different > 1u);
    let third = select(count, state[s + 35u], different > 2u);
    let repeats = input[desc + 9u] != PLAIN;
    let saves0 = repeats && state[s + 48u] < 3u;
    let saves1 = repeats && second < count && state[s + 49u] < 3u;
    let saves2 = repeats && third < count && state[s + 50u] < 3u;
    let bits0 = extraBits(localSeqs[entry * 3u + 2u] & 0x3fffffffu);
    let bits1 = extraBits(localSeqs[(entry + min(second, count - 1u)) * 3u + 2u] & 0x3fffffffu);
    let bits2 = extraBits(localSeqs[(entry + min(third, count - 1u)) * 3u + 2u] & 0x3fffffffu);
    for (var e = lane; e <= count; e += 256u) {
        let to = state[s + 40u] + e;
        if (to >= most) {
            continue;
        }
        let source = (entry + e) * 3u;
        if (e >= state[s + 46u] && e < count) {
            var place = localSeqs[source + 2u] >> 30u;
            if (e == 0u) {
                place = state[s + 48u];
            } else if (e == second) {
                place = state[s + 49u];
            } else if (e == third) {
                place = state[s + 50u];
            }
            seqs[(base + to) * 3u + 2u] = (localSeqs[source + 2u] & 0x3fffffffu) | (place << 30u);
        }
        if (e == 0u || e > state[s + 47u]) {
            continue; // the entry of the sequence before
        }
        seqs[(base + to) * 3u] = state[s + 41u] + localSeqs[source];
        seqs[(base + to) * 3u + 1u] = localSeqs[source + 1u];
        var saved = 0u;
        var savedBits = 0u;
        if (saves0) {
            saved++;
            savedBits += bits0;
        }
        if (saves1 && e > second) {
            saved++;
            savedBits += bits1;
        }
        if (saves2 && e > third) {
            saved++;
            savedBits += bits2;
        }
        let mark = (entry + e) * 4u;
        let next = (base + to) * 4u;
        marks[next] = state[s + 42u] + localMarks[mark] - saved;
        marks[next + 1u] = state[s + 43u] + localMarks[mark + 1u];
        marks[next + 2u] = state[s + 44u] + localMarks[mark + 2u];
        marks[next + 3u] = state[s + 45u] + localMarks[mark + 3u] - savedBits;
    }
}
