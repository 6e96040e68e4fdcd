// Moves keys and positions to their places: last part of a pass of the radix sort, see match_count.
//
// The workgroup first sorts its tile in workgroup memory, so that neighbouring invocations store to
// neighbouring words. It takes 256 keys in a round. For each 32 keys and each digit, a mask has a bit
// for each of the keys with this digit. A key's slot in the sorted tile follows from the keys with
// lower digits, those with the same digit in front of its 32, and the lower bits of its mask. So the
// order of keys with the same digit is kept.
//
// Dispatch: one workgroup of 256 invocations for each tile of 2,048 positions. Workgroups count
// along x, then y; surplus ones do nothing.
// Workgroup memory: 16 KiB, all that WebGPU promises: masks, and the tile.
// Bound: instructions, and memory: 16 bytes for each position.
//
// input: see match_hash
// keys, positions: as match_hash or the pass before left them
// newKeys, newPositions: the same, sorted by the digit
// counts, params: see match_count

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> newKeys: array<u32>;
@group(0) @binding(4) var<storage, read_write> newPositions: array<u32>;
@group(0) @binding(5) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read> params: array<u32>;

// In a round the masks of 8 times 32 keys. Behind the rounds, where slot 0 would go if it had a
// digit.
var<workgroup> masks: array<atomic<u32>, 2048>;
// In a round the slots where keys with a digit begin, for each mask. Behind the rounds, keys in the
// order of their slots, then positions.
var<workgroup> words: array<u32, 2048>;

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
    let block = input[input[4] + tile];
    let b = input[3] + block * 16u;
    let first = input[b + 2u];
    let count = input[b + 3u];
    let start = (tile - input[b + 10u]) * 2048u;
    let size = min(count - start, 2048u);
    let shift = params[0];
    let row = 1u << params[1];

    var key: array<u32, 8>;
    for (var k = 0u; k < 8u; k++) {
        if (k * 256u + lane < size) {
            key[k] = keys[first + start + k * 256u + lane];
        }
    }

    // An invocation with the number of a digit finds the slot of its first key, and its origin.
    var own = 0u;
    var place = 0u;
    if (lane < row) {
        let at = (tile + 2u * block) * row + lane;
        place = counts[at];
        own = counts[at + row] - place;
        place += counts[(input[b + 10u] + 2u * block + input[b + 11u] + 1u) * row + lane];
        words[lane] = own;
    }
    workgroupBarrier();
    for (var d = 1u; d < row; d <<= 1u) {
        var v = 0u;
        if (lane >= d && lane < row) {
            v = words[lane - d];
        }
        workgroupBarrier();
        if (lane < row) {
            words[lane] += v;
        }
        workgroupBarrier();
    }
    var next = 0u;
    if (lane < row) {
        next = words[lane] - own;
    }
    let origin = place - next;

    var slot: array<u32, 8>;
    let bit = 1u << (lane & 31u);
    for (var k = 0u; k < 8u; k++) {
        let at = (lane >> 5u) * row + ((key[k] >> shift) & (row - 1u));
        if (k * 256u + lane < size) {
            atomicOr(&masks[at], bit);
        }
        workgroupBarrier();
        let before = countOneBits(atomicLoad(&masks[at]) & (bit - 1u));
        workgroupBarrier();
        if (lane < row) {
            for (var i = lane; i < 8u * row; i += row) {
                words[i] = next;
                next += countOneBits(atomicLoad(&masks[i]));
                atomicStore(&masks[i], 0u);
            }
        }
        workgroupBarrier();
        slot[k] = words[at] + before;
    }
    if (lane < row) {
        atomicStore(&masks[lane], origin);
    }
    workgroupBarrier();

    for (var k = 0u; k < 8u; k++) {
        if (k * 256u + lane < size && slot[k] < 2048u) {
            words[slot[k]] = key[k];
        }
    }
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) {
        let i = k * 256u + lane;
        if (i < size) {
            let v = words[i];
            let to = atomicLoad(&masks[(v >> shift) & (row - 1u)]) + i;
            key[k] = to;
            if (to < count) {
                newKeys[first + to] = v;
            }
        }
    }
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) {
        if (k * 256u + lane < size && slot[k] < 2048u) {
            words[slot[k]] = positions[first + start + k * 256u + lane];
        }
    }
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) {
        if (k * 256u + lane < size && key[k] < count) {
            newPositions[first + key[k]] = words[k * 256u + lane];
        }
    }
}
