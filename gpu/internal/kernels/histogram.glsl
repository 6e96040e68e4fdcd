#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) restrict buffer Binding1 {
    uint output_[];
};

shared uint counts[256];

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        counts[i_] = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint unit = (id.y * grid.x) + id.x;
    if (unit >= input_[0]) {
        return;
    }
    uint src = input_[input_[1] + (unit * 2u)];
    uint count = input_[(input_[1] + (unit * 2u)) + 1u];
    for (uint k = lane; (k * 4u) < count; k += 256u) {
        uint v = input_[src + k];
        for (uint i = k * 4u; i < min((k * 4u) + 4u, count); i++) {
            atomicAdd(counts[v & 255u], 1u);
            v >>= 8u;
        }
    }
    memoryBarrierShared(); barrier();
    if (lane < 128u) {
        output_[(unit * 128u) + lane] = (counts[lane * 2u] & 0xffffu) | (counts[(lane * 2u) + 1u] << 16u);
    }
}
