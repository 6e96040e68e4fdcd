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
    uint best[];
};

uint load32(uint at, uint i) {
    uint w = at + (i >> 2u);
    uint s = (i & 3u) * 8u;
    return (s == 0u) ? input_[w] : ((input_[w] >> (s & 31u)) | (input_[w + 1u] << (((32u - s) & 31u) & 31u)));
}

int bits(uint v) {
    return int(uint(findMSB(v))) + 1;
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
    uint src = input_[b];
    uint size = input_[b + 1u];
    uint first = input_[b + 2u];
    uint count = input_[b + 3u];
    uint depth = input_[b + 6u];
    uint nice = input_[b + 7u];
    uint least = input_[b + 8u];
    uint maxOffset = input_[b + 9u];
    uint start = (tile - input_[b + 10u]) * 2048u;
    for (uint k = lane; (k < 2048u) && ((start + k) < count); k += 256u) {
        uint place = start + k;
        uint key = keys[first + place];
        uint i = positions[first + place];
        if (i >= count) {
            continue;
        }
        uint head = load32(src, i);
        uint most = min(nice, size - i);
        uint longest = least - 1u;
        uint offset = 0u;
        for (uint n = 1u; n <= min(depth, place); n++) {
            uint other = keys[(first + place) - n];
            if ((other >> 7u) != (key >> 7u)) {
                break;
            }
            if (other != key) {
                continue;
            }
            uint d = i - positions[(first + place) - n];
            if (d < 16u) {
                d = ((15u + d) / max(d, 1u)) * d;
            }
            if (d > maxOffset) {
                break;
            }
            if (d > i) {
                continue;
            }
            uint c = i - d;
            if (load32(src, c) != head) {
                continue;
            }
            uint m = 4u;
            for (; m < most; m += 4u) {
                uint x = load32(src, c + m) ^ load32(src, i + m);
                if (x != 0u) {
                    m += min(uint(findLSB(x)), 32u) >> 3u;
                    break;
                }
            }
            m = min(m, most);
            if ((m > longest) && ((offset == 0u) || ((4 * int(m - longest)) > (bits(d) - bits(offset))))) {
                longest = m;
                offset = d;
                if (m == most) {
                    break;
                }
            }
        }
        best[first + i] = (offset != 0u) ? (offset | ((longest - 4u) << 24u)) : 0u;
    }
}
