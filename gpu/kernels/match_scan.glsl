#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) restrict buffer Binding1 {
    uint counts[];
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
    uint first = input_[b + 10u] * 16u;
    uint n = input_[b + 11u] * 16u;
    uint each = (n + 255u) / 256u;
    uint start = min(lane * each, n);
    uint to = min(start + each, n);
    uint sum = 0u;
    for (uint i = start; i < to; i++) {
        sum += counts[first + i];
    }
    sums[lane] = sum;
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
    uint c = sums[lane] - sum;
    for (uint i = start; i < to; i++) {
        uint v = counts[first + i];
        counts[first + i] = c;
        c += v;
    }
}
