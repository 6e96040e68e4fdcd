#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) restrict buffer Binding1 {
    uint state[];
};

const uint SEGMENT = 65536u;

const uint FRONT = 16384u;

const uint NO_REPEAT = 0x40000000u;

shared uint counts[256];

uint bits(uint v) {
    return uint(findMSB(v)) + 1u;
}

uint logarithm(uint v) {
    uint k = bits(v) - 1u;
    return (k * 8u) + (((v << (((31u - k) & 31u) & 31u)) << 1u) >> 29u);
}

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
    uint number = (id.y * grid.x) + id.x;
    if (number >= input_[13]) {
        return;
    }
    uint block = input_[input_[12] + number];
    uint desc = input_[5] + (block * 36u);
    uint k = number - input_[desc + 34u];
    uint s = (input_[desc + 14u] + 64u) + (k * 1088u);
    counts[lane] = 0u;
    memoryBarrierShared(); barrier();
    if (k > 0u) {
        uint front = input_[input_[3] + (block * 16u)] + (((k * SEGMENT) - FRONT) >> 2u);
        for (uint w = lane; w < (FRONT >> 2u); w += 256u) {
            uint x = input_[front + w];
            atomicAdd(counts[x & 255u], 1u);
            atomicAdd(counts[(x >> 8u) & 255u], 1u);
            atomicAdd(counts[(x >> 16u) & 255u], 1u);
            atomicAdd(counts[x >> 24u], 1u);
        }
    }
    memoryBarrierShared(); barrier();
    uint cost = 32u;
    if (k > 0u) {
        cost = min(logarithm(FRONT + 256u) - logarithm(counts[lane] + 1u), 255u);
    }
    if (lane < 64u) {
        uint v = 0u;
        if ((lane == 1u) || (lane == 2u)) {
            v = k * SEGMENT;
        } else if ((lane >= 3u) && (lane <= 5u)) {
            v = NO_REPEAT;
        } else if (lane == 19u) {
            v = 32u;
        } else if (lane == 36u) {
            v = 256u;
        }
        state[s + lane] = v;
    }
    state[(s + 64u) + lane] = cost;
    state[(s + 320u) + lane] = 0u;
}
