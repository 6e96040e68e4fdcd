#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint keys[];
};

layout(std430, binding = 2) restrict buffer Binding2 {
    uint counts[];
};

layout(std430, binding = 3) readonly restrict buffer Binding3 {
    uint params[];
};

shared uint digits[256];

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        digits[i_] = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint tile = (id.y * grid.x) + id.x;
    if (tile >= input_[1]) {
        return;
    }
    uint block = input_[input_[4] + tile];
    uint b = input_[3] + (block * 16u);
    uint start = (tile - input_[b + 10u]) * 2048u;
    uint shift = params[0];
    uint row = 1u << (params[1] & 31u);
    for (uint k = lane; k < 2048u; k += 256u) {
        if ((start + k) < input_[b + 3u]) {
            atomicAdd(digits[(keys[(input_[b + 2u] + start) + k] >> (shift & 31u)) & (row - 1u)], 1u);
        }
    }
    memoryBarrierShared(); barrier();
    if (lane < row) {
        counts[((tile + (2u * block)) * row) + lane] = digits[lane];
    }
}
