// Begins the parse of blocks: its state is cleared. First of the kernels of Fused; what they all read and write is told here.
//
// Dispatch: one workgroup of 256 invocations for each block, counted along x, then y. Those beyond the count do nothing.
// Workgroup memory: none.
//
// input, in u32:
//   0–4 as match_hash has them; 5 where the descriptors of Fused begin, 32 each:
//       0–5 where the streams begin, in streams; 6 where the last one ends; 7 number of the first entry for a sequence, in seqs and marks; 8 how many there may be
//       9 number of the layout; 10 streams that are coded; 11 repeat offsets in use, 0 … 3; 12 least length of a match with one; 13 positions that are tried further on, 0 … 2
//       14 where the block's state begins, in state
//       15–20 first place for a segment of each stream; 21 the place behind the last one. A place has 208 u32, counted from input 10 on, in plan
//       22 where the head begins, in plan; 23 u32 of room for it, a multiple of 4; 24 where the parts begin, in plan; 25 how many there may be
//       26 where the room for words begins, in words; 27 where it ends; 28 where the pieces begin, in plan; 29 how many there may be
//       30 where the block's numbers begin, in plan, 96 u32; 31 u32 of room for the payload
//   6 where the logarithms begin: those of 1 + (i + 1/2) / 2048 for 2,048 i, in 1/65536 bit
//   7 turns of loops after which a parse waits for the next dispatch; 8 turns with which another kernel gives a block up
//   9 number of tiles; 10 where the segments begin, in plan
// state, 1,088 u32 for each block:
//   0 what the parse is: 0 under way, 1 done, 2 given up; 6 sequences; 21–26 bytes in each stream; the others to 63 are what the walk needs to go on
//   64–319 what each literal costs; 320–575 how often it has come; 576–831 and 832–1087 where the literals of the latest sequences begin, and how many they are

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = id.y * grid.x + id.x;
    if (block >= input[0]) {
        return;
    }
    let s = input[input[5] + block * 32u + 14u];
    if (lane < 64u) {
        state[s + lane] = select(select(0u, 32u, lane == 19u), 64u, lane >= 3u && lane <= 5u);
    }
    state[s + 64u + lane] = 32u;
    state[s + 320u + lane] = 0u;
}
