// Clears the state of parses: first of the Fused kernels behind those that find candidates.
//
// The Fused kernels compress blocks in one submission. They run in this order, each for all blocks:
//   fused_begin    clears the state of each parse
//   fused_parse    candidates to sequences, one invocation a block; dispatched several times
//   fused_code     sequences to the six streams
//   fused_cut      streams to segments with frequency tables
//   fused_frame    segments to the head of the payload and the lane groups
//   rans_encode    symbols to words
//   fused_pieces   the list of pieces that make a payload
//   fused_payload  pieces to payloads, one behind the other
// This header describes the buffers of all of them. The host gives each block its part of each
// buffer. A kernel that finds that some data do not fit marks the block, and the CPU compresses it.
//
// Dispatch: one workgroup of 256 invocations for each block. Workgroups count along x, then y;
// surplus ones do nothing.
// Workgroup memory: none.
// Bound: memory, 4 KiB for each block.
//
// input, in u32:
//   0-4 as in match_hash; 5 index of the Fused descriptors of blocks, 36 each:
//       0-5 index of each stream, in streams; 6 end of the last one; 7 first entry for sequences, in seqs
//       and marks; 8 most sequences
//       9 number of the layout; 10 coded streams; 11 repeat offsets in use, 0 to 3; 12 least length of a
//       match with a repeat offset; 13 later positions to try, 0 to 2
//       14 index of the block's state, in state
//       15-20 first segment of each stream; 21 end of the last one. A segment has 208 u32 in plan, from
//       input 10 on
//       22 index of the head, in plan; 23 u32 of space for it, a multiple of 4; 24 index of the spans, in
//       plan; 25 most spans
//       26 begin of the space for words, in words; 27 its end; 28 index of the pieces, in plan; 29 most
//       pieces
//       30 index of the block's numbers, in plan: 16 u32, and 40 for each lane group; 31 u32 of space for
//       the payload; 32 number of the block's first lane group; 33 most lane groups; 34 and 35 unused
//   6 index of the logarithms: log2(1 + (i + 1/2) / 2048) for i below 2,048, in 1/65536 bit
//   7 turns of the parse loop in a dispatch; 8 iterations after which another kernel gives a block up
//   9 number of tiles; 10 index of the segments, in plan; 11 number of lane groups
// state, 1,088 u32 for each block:
//   0 status of the parse: 0 running, 1 done, 2 given up; 6 sequences; 21-26 bytes in each stream; the
//       others below 64 are variables of fused_parse
//   64-319 cost of each literal; 320-575 its count; 576-831 and 832-1087 begin and length of the literal
//       runs of the latest 256 sequences

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32
) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    let s = input[input[5] + block * 36u + 14u];
    if (lane < 64u) {
        state[s + lane] = select(select(0u, 32u, lane == 19u), 64u, lane >= 3u && lane <= 5u);
    }
    state[s + 64u + lane] = 32u;
    state[s + 320u + lane] = 0u;
}
