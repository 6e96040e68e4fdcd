// Makes the sort key of every position of a batch of blocks. A candidate of a position is an
// earlier position with the same key, so sorting positions by key puts candidates side by side,
// with no table that workgroups would have to share.
//
// A key is the number of the row and 7 bits of tag of lz77.RowHash: h = low * 0x9E3779B1 +
// (high & mask) * 0x85EBCA77 of the 8 bytes from the position on, without its lowest bits.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions. Workgroups count
// along x, then y; surplus ones do nothing. An invocation has 8 positions, 256 apart, so that
// neighbours read neighbouring bytes.
// Workgroup memory: none.
// Bound: memory. It reads 8 bytes of content from the cache and writes 8 bytes for each position.
//
// input, in u32; all match kernels and Fused have the same:
//   0 number of blocks; 1 number of tiles; 2 number of positions of all blocks; 3 index of the
//   descriptors of blocks, 16 each:
//       0 index of the bytes; 1 number of bytes; 2 first position; 3 number of positions; 4 32 less the
//       bits of a row; 5 mask of the hash; 6 depth; 7 nice; 8 least length; 9 greatest offset; 10 first
//       tile; 11 number of tiles
//   4 index of the table of tiles: the block of each tile
//   bytes of the blocks, four in each u32, the first one lowest, and two u32 behind them
// keys, positions: for each position its key, and its number in the block

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> positions: array<u32>;

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
    let start = (tile - input[b + 10u]) * 2048u;
    for (var k = lane; k < 2048u; k += 256u) {
        let i = start + k;
        if (i < input[b + 3u]) {
            let h = load32(input[b], i) * 0x9E3779B1u + (load32(input[b], i + 4u) & input[b + 5u]) * 0x85EBCA77u;
            keys[input[b + 2u] + i] = h >> (input[b + 4u] - 7u);
            positions[input[b + 2u] + i] = i;
        }
    }
}
