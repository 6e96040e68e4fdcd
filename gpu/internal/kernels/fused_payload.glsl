#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint plan[];
};

layout(std430, binding = 2) readonly restrict buffer Binding2 {
    uint words[];
};

layout(std430, binding = 3) readonly restrict buffer Binding3 {
    uint streams[];
};

layout(std430, binding = 4) restrict buffer Binding4 {
    uint output_[];
};

uint load(uint what, uint w) {
    if (what == 0u) {
        return plan[w];
    }
    if (what == 1u) {
        return words[w];
    }
    return streams[w];
}

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    uint tile = (id.y * grid.x) + id.x;
    if (tile >= input_[9]) {
        return;
    }
    uint block = input_[input_[4] + tile];
    uint b = input_[3] + (block * 16u);
    uint desc = input_[5] + (block * 36u);
    uint own = input_[desc + 30u];
    uint size = plan[own + 15u];
    if ((tile == input_[b + 10u]) && (lane < 4u)) {
        output_[(block * 4u) + lane] = (lane == 0u) ? size : 0u;
    }
    uint base = input_[0] * 4u;
    for (uint k = 0u; k < block; k++) {
        base += (plan[input_[(input_[5] + (k * 36u)) + 30u] + 15u] + 3u) >> 2u;
    }
    uint list = input_[desc + 28u];
    uint count = plan[own + 7u];
    uint start = (tile - input_[b + 10u]) * 640u;
    for (uint k = start + lane; (k < (start + 640u)) && ((k * 4u) < size); k += 256u) {
        uint have = 0u;
        uint v = 0u;
        for (; (have < 4u) && (((k * 4u) + have) < size); ) {
            uint i = (k * 4u) + have;
            uint p = 0u;
            for (uint n = count; n > 1u; ) {
                uint half_ = n >> 1u;
                if (plan[list + ((p + half_) * 4u)] <= i) {
                    p += half_;
                }
                n -= half_;
            }
            uint begin = plan[list + (p * 4u)];
            uint what = plan[(list + (p * 4u)) + 1u];
            uint more = 4u - have;
            if ((p + 1u) < count) {
                more = min(more, max(plan[(list + (p * 4u)) + 4u] - i, 1u));
            }
            uint at = (plan[(list + (p * 4u)) + 2u] + i) - begin;
            uint s = (at & 3u) * 8u;
            uint x = load(what, at >> 2u) >> (s & 31u);
            if ((s + (more * 8u)) > 32u) {
                x |= load(what, (at >> 2u) + 1u) << (((32u - s) & 31u) & 31u);
            }
            v |= (x & (0xffffffffu >> ((32u - (more * 8u)) & 31u))) << ((have * 8u) & 31u);
            have += more;
        }
        output_[base + k] = v;
    }
}
