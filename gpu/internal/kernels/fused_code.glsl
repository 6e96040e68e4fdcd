#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint seqs[];
};

layout(std430, binding = 2) readonly restrict buffer Binding2 {
    uint marks[];
};

layout(std430, binding = 3) readonly restrict buffer Binding3 {
    uint state[];
};

layout(std430, binding = 4) restrict buffer Binding4 {
    uint streams[];
};

const uint PLAIN = 1u;

uint src = 0u;

uint size = 0u;

uint entry = 0u;

uint mark = 0u;

uint count = 0u;

bool plain = false;

uint load32(uint at, uint i) {
    uint w = at + (i >> 2u);
    uint s = (i & 3u) * 8u;
    return (input_[w] >> (s & 31u)) | ((input_[w + 1u] << 1u) << ((31u - s) & 31u));
}

uint start(uint stream, uint s) {
    if (stream == 0u) {
        return seqs[entry + (s * 3u)];
    }
    return marks[((mark + (s * 4u)) + stream) - 2u];
}

uint find(uint stream, uint i) {
    uint s = 0u;
    for (uint n = count + 1u; n > 1u; ) {
        uint half_ = n >> 1u;
        if (start(stream, s + half_) <= i) {
            s += half_;
        }
        n -= half_;
    }
    return s;
}

uint run(uint s) {
    return seqs[(entry + (s * 3u)) + 3u] - seqs[entry + (s * 3u)];
}

uint matchLength(uint s) {
    return (seqs[(entry + (s * 3u)) + 4u] - seqs[(entry + (s * 3u)) + 1u]) - run(s);
}

uint offset(uint s) {
    return seqs[(entry + (s * 3u)) + 2u];
}

uint token(uint s) {
    if (plain) {
        return min(run(s), 15u) | (min(matchLength(s) - 5u, 15u) << 4u);
    }
    return (min(run(s), 3u) | (min(matchLength(s) - 4u, 15u) << 2u)) | ((offset(s) >> 30u) << 6u);
}

uint part(uint stream, uint s, uint k) {
    if (stream == 0u) {
        return load32(src, min(seqs[(entry + (s * 3u)) + 1u] + k, size));
    }
    uint d = offset(s) & 0x3fffffffu;
    if (stream == 2u) {
        if (plain) {
            return d >> ((k * 8u) & 31u);
        }
        return (uint(findMSB((d >> 2u) + 1u)) << 2u) | (d & 3u);
    }
    uint v = run(s) - (plain ? 15u : 3u);
    if (stream == 4u) {
        v = matchLength(s) - (plain ? 20u : 19u);
    }
    if (v < 255u) {
        return v;
    }
    if (k == 0u) {
        return 255u | (v << 8u);
    }
    return v >> ((((k * 8u) - 8u) & 31u) & 31u);
}

uint gather(uint stream, uint i, uint length_) {
    uint have = 0u;
    uint v = 0u;
    for (; (have < 4u) && ((i + have) < length_); ) {
        uint s = find(stream, i + have);
        uint more = 4u - have;
        if (s < count) {
            more = min(more, max(start(stream, s + 1u) - (i + have), 1u));
        }
        uint p = part(stream, s, (i + have) - start(stream, s));
        v |= (p & (0xffffffffu >> ((32u - (more * 8u)) & 31u))) << ((have * 8u) & 31u);
        have += more;
    }
    return v;
}

uint gatherBits(uint i, uint length_) {
    uint have = 0u;
    uint v = 0u;
    for (; (have < 32u) && ((i + have) < length_); ) {
        uint s = find(5u, i + have);
        uint d = offset(s) & 0x3fffffffu;
        uint n = max(start(5u, min(s + 1u, count)) - start(5u, s), 1u);
        uint k = (i + have) - start(5u, s);
        v |= ((((d >> 2u) + 1u) & ((1u << ((n & 31u) & 31u)) - 1u)) >> ((k & 31u) & 31u)) << (have & 31u);
        have += max(n - min(k, n), 1u);
    }
    return v;
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
    uint now = input_[desc + 14u];
    if (state[now] != 1u) {
        return;
    }
    src = input_[b];
    size = input_[b + 1u];
    entry = input_[desc + 7u] * 3u;
    mark = input_[desc + 7u] * 4u;
    count = min(state[now + 6u], input_[desc + 8u] - 1u);
    plain = input_[desc + 9u] == PLAIN;
    uint step_ = input_[b + 11u] * 256u;
    for (uint k = 0u; k < 6u; k++) {
        uint dst = input_[desc + k];
        uint length_ = min(state[(now + 21u) + k], (input_[(desc + k) + 1u] - dst) * 4u);
        for (uint w = ((tile - input_[b + 10u]) * 256u) + lane; (w * 4u) < length_; w += step_) {
            uint v = 0u;
            if (k == 1u) {
                for (uint s = w * 4u; s < min((w * 4u) + 4u, count); s++) {
                    v |= token(s) << (((s & 3u) * 8u) & 31u);
                }
            } else if (k == 5u) {
                v = gatherBits(w * 32u, start(5u, count));
            } else {
                v = gather(k, w * 4u, length_);
            }
            streams[dst + w] = v;
        }
    }
}
