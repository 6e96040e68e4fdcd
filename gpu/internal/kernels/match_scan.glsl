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
    uint number = (id.y * grid.x) + id.x;
    uint bits = params[1];
    uint block = number >> ((bits - 3u) & 31u);
    if (block >= input_[0]) {
        return;
    }
    uint b = input_[3] + (block * 16u);
    uint row = 1u << (bits & 31u);
    uint digit = ((number * 8u) & (row - 1u)) + (lane & 7u);
    uint first = ((input_[b + 10u] + (2u * block)) * row) + digit;
    uint tiles = input_[b + 11u];
    uint each = (tiles + 31u) / 32u;
    uint start = min((lane >> 3u) * each, tiles);
    uint to = min(start + each, tiles);
    uint sum = 0u;
    for (uint i = start; i < to; i++) {
        sum += counts[first + (i * row)];
    }
    sums[lane] = sum;
    memoryBarrierShared(); barrier();
    for (uint d = 8u; d < 256u; d <<= 1u) {
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
        uint v = counts[first + (i * row)];
        counts[first + (i * row)] = c;
        c += v;
    }
    if (lane >= 248u) {
        counts[first + (tiles * row)] = c;
    }
}
