#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) restrict buffer Binding1 {
    uint output_[];
};

const uint LOWER = 32768u;

shared uint table[2048];

shared uint begins[257];

shared uint sums[32];

shared uint masks[3];

shared uint symbols[256];

shared uint wrong;

void build(uint lane, uint at) {
    uint sum = 0u;
    for (uint i = 0u; i < 4u; i++) {
        uint v = input_[(at + (lane * 4u)) + i];
        sum += (v & 0xffffu) + (v >> 16u);
    }
    sums[lane] = sum;
    memoryBarrierShared(); barrier();
    uint c = 0u;
    for (uint i = 0u; i < lane; i++) {
        c += sums[i];
    }
    for (uint i = 0u; i < 4u; i++) {
        uint v = input_[(at + (lane * 4u)) + i];
        begins[(lane * 8u) + (i * 2u)] = c;
        c += v & 0xffffu;
        begins[((lane * 8u) + (i * 2u)) + 1u] = c;
        c += v >> 16u;
    }
    if (lane == 31u) {
        begins[256] = 2048u;
    }
    memoryBarrierShared(); barrier();
    uint first = lane * 64u;
    uint s = 0u;
    for (uint step_ = 128u; step_ > 0u; step_ >>= 1u) {
        if (begins[s + step_] <= first) {
            s += step_;
        }
    }
    for (uint slot = first; slot < (first + 64u); slot++) {
        for (; (s < 255u) && (begins[s + 1u] <= slot); s++) {
        }
        table[slot] = (s | ((begins[s + 1u] - begins[s]) << 8u)) | ((slot - begins[s]) << 19u);
    }
    memoryBarrierShared(); barrier();
}

layout(local_size_x = 32) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 2048u; i_ += 32u) {
        table[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 257u; i_ += 32u) {
        begins[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 32u; i_ += 32u) {
        sums[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 3u; i_ += 32u) {
        masks[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 32u) {
        symbols[i_] = 0u;
    }
    if (gl_LocalInvocationIndex == 0u) {
        wrong = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint group = (id.y * grid.x) + id.x;
    if (group >= input_[0]) {
        return;
    }
    uint g = input_[1] + (group * 40u);
    uint wordsAt = input_[g];
    uint words = input_[g + 1u];
    uint spansAt = input_[g + 2u];
    uint spans = input_[g + 3u];
    uint below = (1u << (lane & 31u)) - 1u;
    uint x = input_[(g + 8u) + lane];
    uint used = 0u;
    uint current = 0u;
    for (uint p = 0u; p < spans; p++) {
        uint d = spansAt + (p * 4u);
        uint count = input_[d + 1u];
        uint dst = input_[d + 2u];
        build(lane, input_[d]);
        uint rounds = (count + 31u) / 32u;
        for (uint r = 0u; r < rounds; r++) {
            bool reads = false;
            if (((r * 32u) + lane) < count) {
                uint e = table[x & 2047u];
                x = (((e >> 8u) & 2047u) * (x >> 11u)) + (e >> 19u);
                symbols[((r & 7u) * 32u) + lane] = e & 255u;
                reads = x < LOWER;
                if (reads) {
                    atomicOr(masks[current], 1u << (lane & 31u));
                }
            }
            memoryBarrierShared(); barrier();
            uint mask = masks[current];
            uint last = (current == 0u) ? 2u : (current - 1u);
            if (lane == 0u) {
                masks[last] = 0u;
            }
            current = (current == 2u) ? 0u : (current + 1u);
            if (reads) {
                uint w = used + uint(bitCount(mask & below));
                uint v = 0u;
                if (w < words) {
                    v = (input_[wordsAt + (w >> 1u)] >> (((w & 1u) * 16u) & 31u)) & 0xffffu;
                }
                x = (x << 16u) | v;
            }
            used += uint(bitCount(mask));
            if (((r & 3u) == 3u) || ((r + 1u) == rounds)) {
                uint start = r & ~3u;
                if (((start * 32u) + (lane * 4u)) < count) {
                    uint s = (((start + (lane / 8u)) & 7u) * 32u) + ((lane & 7u) * 4u);
                    output_[(dst + (start * 8u)) + lane] = (((symbols[s] & 255u) | ((symbols[s + 1u] & 255u) << 8u)) | ((symbols[s + 2u] & 255u) << 16u)) | ((symbols[s + 3u] & 255u) << 24u);
                }
            }
        }
    }
    if (x != LOWER) {
        atomicOr(wrong, 1u);
    }
    memoryBarrierShared(); barrier();
    if (lane == 0u) {
        output_[group * 2u] = used;
        output_[(group * 2u) + 1u] = wrong;
    }
}
