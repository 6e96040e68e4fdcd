#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint symbols[];
};

layout(std430, binding = 2) restrict buffer Binding2 {
    uint output_[];
};

const uint LOWER = 32768u;

shared uint table[256];

shared uint sums[32];

shared uint masks[3];

shared uint buffered[128];

shared uint rest;

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
        table[(lane * 8u) + (i * 2u)] = (v & 0xffffu) | (c << 16u);
        c += v & 0xffffu;
        table[((lane * 8u) + (i * 2u)) + 1u] = (v >> 16u) | (c << 16u);
        c += v >> 16u;
    }
    memoryBarrierShared(); barrier();
}

layout(local_size_x = 32) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 32u) {
        table[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 32u; i_ += 32u) {
        sums[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 3u; i_ += 32u) {
        masks[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 128u; i_ += 32u) {
        buffered[i_] = 0u;
    }
    if (gl_LocalInvocationIndex == 0u) {
        rest = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint group = (id.y * grid.x) + id.x;
    if (group >= input_[0]) {
        return;
    }
    uint g = input_[1] + (group * 4u);
    uint spansAt = input_[g];
    uint spans = input_[g + 1u];
    uint end = input_[g + 2u];
    uint bits = 5u - (input_[g + 3u] & 3u);
    uint lanes = 1u << (bits & 31u);
    uint above = 0xfffffffeu << (lane & 31u);
    uint x = LOWER;
    uint emitted = 0u;
    uint stored = 0u;
    uint current = 0u;
    uint coded = 0u;
    for (uint p = spans; p > 0u; p--) {
        uint d = spansAt + ((p - 1u) * 4u);
        uint count = input_[d + 1u];
        uint src = input_[d + 2u];
        uint first = input_[d + 3u];
        build(lane, input_[d]);
        for (uint r = ((count + lanes) - 1u) >> (bits & 31u); r > 0u; r--) {
            uint i = (lane < lanes) ? (((r - 1u) << (bits & 31u)) + lane) : count;
            bool emits = false;
            uint e = 0u;
            if (i < count) {
                uint at = first + i;
                e = table[(symbols[src + (at >> 2u)] >> (((at & 3u) * 8u) & 31u)) & 255u];
                emits = x >= ((e & 0xffffu) << 20u);
                if (emits) {
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
            if ((emitted - (stored * 64u)) >= 64u) {
                uint s = ((stored & 1u) * 64u) + (lane * 2u);
                output_[((end - 1u) - (stored * 32u)) - lane] = buffered[s + 1u] | (buffered[s] << 16u);
                stored++;
            }
            if (emits) {
                buffered[(emitted + uint(bitCount(mask & above))) & 127u] = x & 0xffffu;
                x >>= 16u;
            }
            emitted += uint(bitCount(mask));
            if (i < count) {
                uint f = max(e & 0xffffu, 1u);
                uint q = x / f;
                x = ((q << 11u) + (x - (q * f))) + (e >> 16u);
            }
            coded++;
        }
    }
    memoryBarrierShared(); barrier();
    uint left = emitted - (stored * 64u);
    for (uint k = lane; (k * 2u) < left; k += 32u) {
        uint s = (stored * 64u) + (k * 2u);
        uint v = buffered[s & 127u] << 16u;
        if (((k * 2u) + 1u) < left) {
            v |= buffered[(s + 1u) & 127u];
        }
        output_[((end - 1u) - (stored * 32u)) - k] = v;
        atomicAdd(rest, 1u);
    }
    memoryBarrierShared(); barrier();
    output_[((group * 36u) + 4u) + lane] = x;
    if (lane == 0u) {
        output_[group * 36u] = emitted;
        output_[(group * 36u) + 1u] = coded;
        output_[(group * 36u) + 2u] = (stored * 32u) + rest;
    }
}
