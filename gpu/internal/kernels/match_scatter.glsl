#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint keys[];
};

layout(std430, binding = 2) readonly restrict buffer Binding2 {
    uint positions[];
};

layout(std430, binding = 3) restrict buffer Binding3 {
    uint newKeys[];
};

layout(std430, binding = 4) restrict buffer Binding4 {
    uint newPositions[];
};

layout(std430, binding = 5) readonly restrict buffer Binding5 {
    uint counts[];
};

layout(std430, binding = 6) readonly restrict buffer Binding6 {
    uint params[];
};

shared uint masks[2048];

shared uint words[2048];

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 2048u; i_ += 256u) {
        masks[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 2048u; i_ += 256u) {
        words[i_] = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint tile = (id.y * grid.x) + id.x;
    if (tile >= input_[1]) {
        return;
    }
    uint block = input_[input_[4] + tile];
    uint b = input_[3] + (block * 16u);
    uint first = input_[b + 2u];
    uint count = input_[b + 3u];
    uint start = (tile - input_[b + 10u]) * 2048u;
    uint size = min(count - start, 2048u);
    uint shift = params[0];
    uint row = 1u << (params[1] & 31u);
    uint key[8] = uint[8](0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
    for (uint k = 0u; k < 8u; k++) {
        if (((k * 256u) + lane) < size) {
            key[k] = keys[((first + start) + (k * 256u)) + lane];
        }
    }
    uint own = 0u;
    uint place = 0u;
    if (lane < row) {
        uint at = ((tile + (2u * block)) * row) + lane;
        place = counts[at];
        own = counts[at + row] - place;
        place += counts[((((input_[b + 10u] + (2u * block)) + input_[b + 11u]) + 1u) * row) + lane];
        words[lane] = own;
    }
    memoryBarrierShared(); barrier();
    for (uint d = 1u; d < row; d <<= 1u) {
        uint v = 0u;
        if ((lane >= d) && (lane < row)) {
            v = words[lane - d];
        }
        memoryBarrierShared(); barrier();
        if (lane < row) {
            words[lane] += v;
        }
        memoryBarrierShared(); barrier();
    }
    uint next = 0u;
    if (lane < row) {
        next = words[lane] - own;
    }
    uint origin = place - next;
    uint slot[8] = uint[8](0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
    uint bit = 1u << ((lane & 31u) & 31u);
    for (uint k = 0u; k < 8u; k++) {
        uint at = ((lane >> 5u) * row) + ((key[k] >> (shift & 31u)) & (row - 1u));
        if (((k * 256u) + lane) < size) {
            atomicOr(masks[at], bit);
        }
        memoryBarrierShared(); barrier();
        uint before = uint(bitCount(masks[at] & (bit - 1u)));
        memoryBarrierShared(); barrier();
        if (lane < row) {
            for (uint i = lane; i < (8u * row); i += row) {
                words[i] = next;
                next += uint(bitCount(masks[i]));
                masks[i] = 0u;
            }
        }
        memoryBarrierShared(); barrier();
        slot[k] = words[at] + before;
    }
    if (lane < row) {
        masks[lane] = origin;
    }
    memoryBarrierShared(); barrier();
    for (uint k = 0u; k < 8u; k++) {
        if ((((k * 256u) + lane) < size) && (slot[k] < 2048u)) {
            words[slot[k]] = key[k];
        }
    }
    memoryBarrierShared(); barrier();
    for (uint k = 0u; k < 8u; k++) {
        uint i = (k * 256u) + lane;
        if (i < size) {
            uint v = words[i];
            uint to = masks[(v >> (shift & 31u)) & (row - 1u)] + i;
            key[k] = to;
            if (to < count) {
                newKeys[first + to] = v;
            }
        }
    }
    memoryBarrierShared(); barrier();
    for (uint k = 0u; k < 8u; k++) {
        if ((((k * 256u) + lane) < size) && (slot[k] < 2048u)) {
            words[slot[k]] = positions[((first + start) + (k * 256u)) + lane];
        }
    }
    memoryBarrierShared(); barrier();
    for (uint k = 0u; k < 8u; k++) {
        if ((((k * 256u) + lane) < size) && (key[k] < count)) {
            newPositions[first + key[k]] = words[(k * 256u) + lane];
        }
    }
}
