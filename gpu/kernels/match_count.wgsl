// Counts the digits of a tile: first part of a pass of the radix sort, 4 bits of the keys at a time.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions, counted along x, then y. Those beyond the count do nothing.
// Workgroup memory: 64 bytes.
//
// input, in u32:
//   0 number of blocks; 1 number of tiles; 2 number of positions of all blocks; 3 where the blocks' descriptors begin, 16 each:
//       0 where the bytes begin; 1 number of bytes; 2 number of the first position; 3 number of positions; 4 32 less the bits of a row;
//       5 mask of the hash; 6 depth; 7 nice; 8 least length; 9 greatest offset; 10 first tile; 11 number of tiles
//   4 where the tiles begin: the block of each, in order
//   bytes of the blocks, four in each u32, the first one lowest, and two u32 behind them
// keys: as match_hash makes them
// params: 0 the digit's lowest bit
// counts: 16 times the number of tiles for each block, from 16 times its first tile on: for each digit the counts of all tiles

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read> params: array<u32>;

var<workgroup> digits: array<atomic<u32>, 16>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let tile = id.y * grid.x + id.x;
    if (tile >= input[1]) {
        return;
    }
    let b = input[3] + input[input[4] + tile] * 16u;
    let start = (tile - input[b + 10u]) * 2048u;
    let shift = params[0];
    for (var k = lane; k < 2048u; k += 256u) {
        if (start + k < input[b + 3u]) {
            atomicAdd(&digits[(keys[input[b + 2u] + start + k] >> shift) & 15u], 1u);
        }
    }
    workgroupBarrier();
    if (lane < 16u) {
        counts[input[b + 10u] * 16u + lane * input[b + 11u] + tile - input[b + 10u]] = atomicLoad(&digits[lane]);
    }
}
