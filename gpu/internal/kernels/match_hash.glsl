#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) restrict buffer Binding1 {
    uint keys[];
};

layout(std430, binding = 2) restrict buffer Binding2 {
    uint positions[];
};

uint load32(uint at, uint i) {
    uint w = at + (i >> 2u);
    uint s = (i & 3u) * 8u;
    return (input_[w] >> (s & 31u)) | ((input_[w + 1u] << 1u) << ((31u - s) & 31u));
}

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    uint tile = (id.y * grid.x) + id.x;
    if (tile >= input_[1]) {
        return;
    }
    uint b = input_[3] + (input_[input_[4] + tile] * 16u);
    uint start = (tile - input_[b + 10u]) * 2048u;
    for (uint k = lane; k < 2048u; k += 256u) {
        uint i = start + k;
        if (i < input_[b + 3u]) {
            uint h = (load32(input_[b], i) * 0x9E3779B1u) + ((load32(input_[b], i + 4u) & input_[b + 5u]) * 0x85EBCA77u);
            keys[input_[b + 2u] + i] = h >> ((input_[b + 4u] - 7u) & 31u);
            positions[input_[b + 2u] + i] = i;
        }
    }
}
