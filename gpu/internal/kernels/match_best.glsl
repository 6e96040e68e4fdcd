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
        uint at = (first + start) + k;
        uint key = keys[at];
        uint i = positions[at];
        if (i >= count) {
            continue;
        }
        uint mine = src + (i >> 2u);
        uint s = (i & 3u) * 8u;
        uint up = 31u - s;
        uint second = input_[mine + 1u];
        uint head = (input_[mine] >> (s & 31u)) | ((second << 1u) << (up & 31u));
        uint most = min(nice, size - i);
        uint longest = least - 1u;
        uint last = 0u;
        uint offset = 0u;
        uint end = min(depth, start + k);
        for (uint n = 1u; n <= end; n++) {
            uint differs = keys[at - n] ^ key;
            if (differs > 127u) {
                break;
            }
            if (differs != 0u) {
                continue;
            }
            uint d = i - positions[at - n];
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
            if (offset != 0u) {
                uint z = (c + longest) - 3u;
                uint y = src + (z >> 2u);
                uint q = (z & 3u) * 8u;
                if (((input_[y] >> (q & 31u)) | ((input_[y + 1u] << 1u) << ((31u - q) & 31u))) != last) {
                    continue;
                }
            }
            uint theirs = src + (c >> 2u);
            uint r = (c & 3u) * 8u;
            uint above = 31u - r;
            uint high = input_[theirs + 1u];
            if (((input_[theirs] >> (r & 31u)) | ((high << 1u) << (above & 31u))) != head) {
                continue;
            }
            uint my = second;
            uint m = 4u;
            for (uint w = 2u; m < most; w++) {
                uint low = high;
                uint own = my;
                high = input_[theirs + w];
                my = input_[mine + w];
                uint x = ((low >> (r & 31u)) | ((high << 1u) << (above & 31u))) ^ ((own >> (s & 31u)) | ((my << 1u) << (up & 31u)));
                if (x != 0u) {
                    m += min(uint(findLSB(x)), 32u) >> 3u;
                    break;
                }
                m += 4u;
            }
            m = min(m, most);
            if ((m > longest) && ((offset == 0u) || ((4 * int(m - longest)) > (int(uint(findMSB(d))) - int(uint(findMSB(offset))))))) {
                longest = m;
                offset = d;
                if (m == most) {
                    break;
                }
                last = load32(src, (i + m) - 3u);
            }
        }
        best[first + i] = (offset != 0u) ? (offset | ((longest - 4u) << 24u)) : 0u;
    }
}
