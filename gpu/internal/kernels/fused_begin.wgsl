// Begins the parses of segments, with the costs of their literals: first of the Fused kernels behind
// those that find candidates.
//
// The Fused kernels compress blocks in one submission. They run in this order, each for all blocks:
//   fused_begin    the state of the parse of each segment
//   fused_parse    candidates to sequences, one invocation a segment; dispatched several times
//   fused_join     what each segment adds to the block
//   fused_place    the sequences of segments to those of the block
//   fused_code     sequences to the six streams
//   fused_cut      streams to segments with frequency tables
//   fused_frame    segments to the head of the payload and the lane groups
//   rans_encode    symbols to words
//   fused_pieces   the list of pieces that make a payload
//   fused_payload  pieces to payloads, one behind the other
// This header describes the buffers of all of them. The host gives each block its part of each
// buffer. A kernel that finds that some data do not fit marks the block, and the CPU compresses it.
//
// A segment of the parse is 65,536 bytes of a block, as in lz77.Matcher. fused_cut makes segments of
// streams, which are something else. The first costs of literals come from the 16 KiB in front of a
// segment.
//
// Dispatch: one workgroup of 256 invocations for each segment of a parse. Workgroups count along x,
// then y; surplus ones do nothing.
// Workgroup memory: 1 KiB: counts.
// Bound: memory, 20 KiB for each segment.
//
// input, in u32:
//   0-4 as in match_hash; 5 index of the Fused descriptors of blocks, 36 each:
//       0-5 index of each stream, in streams; 6 end of the last one; 7 first entry for sequences, in seqs
//       and marks; 8 most sequences
//       9 number of the layout; 10 coded streams; 11 repeat offsets in use, 0 to 3; 12 least length of a
//       match with a repeat offset; 13 later positions to try, 0 to 2
//       14 index of the block's state, in state. Those of its segments follow
//       15-20 first segment of each stream; 21 end of the last one. A segment has 208 u32 in plan, from
//       input 10 on
//       22 index of the head, in plan; 23 u32 of space for it, a multiple of 4; 24 index of the spans, in
//       plan; 25 most spans
//       26 begin of the space for words, in words; 27 its end; 28 index of the pieces, in plan; 29 most
//       pieces
//       30 index of the block's numbers, in plan: 16 u32, and 40 for each lane group; 31 u32 of space for
//       the payload; 32 number of the block's first lane group; 33 most lane groups; 34 number of the first
//       segment of its parse; 35 number of these. Each has 16,386 entries for sequences, and the last one
//       the rest
//   6 index of the logarithms: log2(1 + (i + 1/2) / 2048) for i below 2,048, in 1/65536 bit
//   7 turns of the parse loop in a dispatch; 8 iterations after which another kernel gives a block up
//   9 number of tiles; 10 index of the segments, in plan; 11 number of lane groups
//   12 index of the list of segments of parses: the block of each; 13 their number
// state, 64 u32 for each block, and 1,088 for each segment of its parse:
//   of a block: 0 status of the parse: 0 running, 1 done, 2 given up; 6 sequences; 21-26 bytes in each
//       stream
//   of a segment: 0 status; 6 sequences; 3-5 last offsets; 33 different offsets, up to 3; 34, 35 number of
//       the sequences that have the second and the third one first; the others below 40 are variables of
//       fused_parse
//   40-50 see fused_join
//   64-319 cost of each literal; 320-575 its count; 576-831 and 832-1087 begin and length of the literal
//       runs of the latest 256 sequences

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

const SEGMENT = 65536u;
const FRONT = 16384u; // bytes that costs come from
const NO_REPEAT = 0x40000000u; // no match has such an offset

var<workgroup> counts: array<atomic<u32>, 256>;

//include logarithm

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
    let k = number - input[desc + 34u];
    let s = input[desc + 14u] + 64u + k * 1088u;
    atomicStore(&counts[lane], 0u);
    workgroupBarrier();
    if (k > 0u) {
        let front = input[input[3] + block * 16u] + ((k * SEGMENT - FRONT) >> 2u);
        for (var w = lane; w < FRONT >> 2u; w += 256u) {
            let x = input[front + w];
            atomicAdd(&counts[x & 255u], 1u);
            atomicAdd(&counts[(x >> 8u) & 255u], 1u);
            atomicAdd(&counts[(x >> 16u) & 255u], 1u);
            atomicAdd(&counts[x >> 24u], 1u);
        }
    }
    workgroupBarrier();
    var cost = 32u;
    if (k > 0u) {
        cost = min(logarithm(FRONT + 256u) - logarithm(atomicLoad(&counts[lane]) + 1u), 255u);
    }
    if (lane < 64u) {
        var v = 0u;
        if (lane == 1u || lane == 2u) {
            v = k * SEGMENT;
        } else if (lane >= 3u && lane <= 5u) {
            v = NO_REPEAT;
        } else if (lane == 19u) {
            v = 32u;
        } else if (lane == 36u) {
            v = 256u;
        }
        state[s + lane] = v;
    }
    state[s + 64u + lane] = cost;
    state[s + 320u + lane] = 0u;
}
