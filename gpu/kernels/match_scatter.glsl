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

shared uvec4 low[256];

shared uvec4 high[256];

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        low[i_] = uvec4(0u);
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        high[i_] = uvec4(0u);
    }
    memoryBarrierShared();
    barrier();
    uint tile = (id.y * grid.x) + id.x;
    if (tile >= input_[1]) {
        return;
    }
    uint b = input_[3] + (input_[input_[4] + tile] * 16u);
    uint first = input_[b + 2u];
    uint count = input_[b + 3u];
    uint tiles = input_[b + 11u];
    uint local = tile - input_[b + 10u];
    uint start = (local * 2048u) + (lane * 8u);
    uint shift = params[0];
    uint digits = 0u;
    uint own[8] = uint[8](0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
    for (uint k = 0u; k < 8u; k++) {
        if ((start + k) < count) {
            uint d = (keys[(first + start) + k] >> (shift & 31u)) & 15u;
            digits |= d << ((k * 4u) & 31u);
            own[d >> 1u] += 1u << (((d & 1u) * 16u) & 31u);
        }
    }
    uvec4 a = uvec4(own[0], own[1], own[2], own[3]);
    uvec4 c = uvec4(own[4], own[5], own[6], own[7]);
    low[lane] = a;
    high[lane] = c;
    memoryBarrierShared(); barrier();
    for (uint d = 1u; d < 256u; d <<= 1u) {
        uvec4 v = uvec4(0u);
        uvec4 w = uvec4(0u);
        if (lane >= d) {
            v = low[lane - d];
            w = high[lane - d];
        }
        memoryBarrierShared(); barrier();
        low[lane] += v;
        high[lane] += w;
        memoryBarrierShared(); barrier();
    }
    a = low[lane] - a;
    c = high[lane] - c;
    uint rank[8] = uint[8](a.x, a.y, a.z, a.w, c.x, c.y, c.z, c.w);
    for (uint k = 0u; k < 8u; k++) {
        if ((start + k) < count) {
            uint d = (digits >> ((k * 4u) & 31u)) & 15u;
            uint s = (d & 1u) * 16u;
            uint to = counts[((input_[b + 10u] * 16u) + (d * tiles)) + local] + ((rank[d >> 1u] >> (s & 31u)) & 0xffffu);
            rank[d >> 1u] += 1u << (s & 31u);
            if (to < count) {
                newKeys[first + to] = keys[(first + start) + k];
                newPositions[first + to] = positions[(first + start) + k];
            }
        }
    }
}
