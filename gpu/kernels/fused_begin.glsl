#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) restrict buffer Binding1 {
    uint state[];
};

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    uint block = (id.y * grid.x) + id.x;
    if (block >= input_[0]) {
        return;
    }
    uint s = input_[(input_[5] + (block * 36u)) + 14u];
    if (lane < 64u) {
        state[s + lane] = ((lane >= 3u) && (lane <= 5u)) ? 64u : ((lane == 19u) ? 32u : 0u);
    }
    state[(s + 64u) + lane] = 32u;
    state[(s + 320u) + lane] = 0u;
}
