#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) restrict buffer Binding1 {
    uint counts[];
};

layout(std430, binding = 2) readonly restrict buffer Binding2 {
    uint params[];
};

shared uint sums[256];

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        sums[i_] = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint block = (id.y * grid.x) + id.x;
    if (block >= input_[0]) {
        return;
    }
    uint b = input_[3] + (block * 16u);
    uint row = 1u << (params[1] & 31u);
    uint all_ = ((input_[b + 10u] + (2u * block)) + input_[b + 11u]) * row;
    uint own = 0u;
    if (lane < row) {
        own = counts[all_ + lane];
    }
    sums[lane] = own;
    memoryBarrierShared(); barrier();
    for (uint d = 1u; d < 256u; d <<= 1u) {
        uint v = 0u;
        if (lane >= d) {
            v = sums[lane - d];
        }
        memoryBarrierShared(); barrier();
        sums[lane] += v;
        memoryBarrierShared(); barrier();
    }
    if (lane < row) {
        counts[(all_ + row) + lane] = sums[lane] - own;
    }
}
