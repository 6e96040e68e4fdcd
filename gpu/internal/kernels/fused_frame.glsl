#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint state[];
};

layout(std430, binding = 2) restrict buffer Binding2 {
    uint plan[];
};

const uint FEW = 8192u;

const uint PAIR = 524288u;

uint iterations = 0u;

uint head = 0u;

uint room = 0u;

uint used = 0u;

uint part = 0u;

uint puts = 0u;

void put(uint v, uint n) {
    uint have = used & 3u;
    part |= v << ((have * 8u) & 31u);
    if ((have + n) >= 4u) {
        if (used < room) {
            plan[head + (used >> 2u)] = part;
        }
        part = (have > 0u) ? (v >> (((32u - (have * 8u)) & 31u) & 31u)) : 0u;
    }
    used += n;
    puts++;
}

void putNumber(uint v) {
    uint rest = v;
    for (; rest >= 128u; ) {
        put((rest & 127u) | 128u, 1u);
        rest >>= 7u;
    }
    put(rest, 1u);
}

uint groupEnd(uint coded, uint groups, uint n) {
    if (n >= groups) {
        return coded;
    }
    return (((coded * n) / max(groups, 1u)) + 31u) & 0xffffffe0u;
}

layout(local_size_x = 1) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint block = (id.y * grid.x) + id.x;
    if (block >= input_[0]) {
        return;
    }
    if (block == 0u) {
        plan[0] = input_[11];
        plan[1] = 4u;
    }
    uint desc = input_[5] + (block * 36u);
    uint now = input_[desc + 14u];
    uint own = input_[desc + 30u];
    uint descriptors = 4u + (input_[desc + 32u] * 4u);
    for (uint k = 0u; k < (input_[desc + 33u] * 4u); k++) {
        plan[descriptors + k] = 0u;
    }
    plan[own + 14u] = 0u;
    if (state[now] != 1u) {
        return;
    }
    uint coding = min(input_[desc + 10u], 6u);
    head = input_[desc + 22u];
    room = input_[desc + 23u] * 4u;
    put(input_[desc + 9u], 1u);
    uint coded = 0u;
    for (uint k = 0u; k < 6u; k++) {
        uint length_ = state[(now + 21u) + k];
        putNumber(length_);
        if (length_ == 0u) {
            continue;
        }
        if (k >= coding) {
            put(4u, 1u);
            continue;
        }
        uint count = plan[own + k];
        if (count > (input_[(desc + 16u) + k] - input_[(desc + 15u) + k])) {
            return;
        }
        for (uint s = 0u; s < count; s++) {
            uint at = input_[10] + ((input_[(desc + 15u) + k] + s) * 208u);
            uint mode = plan[at];
            uint size = plan[at + 2u];
            put(mode | (plan[at + 3u] << 2u), 1u);
            if (plan[at + 3u] == 0u) {
                putNumber(size);
            }
            if (mode == 1u) {
                put(plan[at + 5u], 1u);
            }
            if (mode == 2u) {
                coded += size;
                uint bytes = min(plan[at + 4u], 256u);
                for (uint i = 0u; i < bytes; i += 4u) {
                    uint n = min(bytes - i, 4u);
                    put(plan[(at + 144u) + (i >> 2u)] & (0xffffffffu >> ((32u - (n * 8u)) & 31u)), n);
                }
            }
            iterations += 4u;
        }
    }
    if (used >= room) {
        return;
    }
    plan[head + (used >> 2u)] = part;
    uint groups = 1u;
    uint lanes = 2u;
    if (coded >= FEW) {
        groups = (((coded + PAIR) - 1u) / PAIR) * 2u;
        lanes = 5u;
    }
    uint words = input_[desc + 26u];
    if ((groups > input_[desc + 33u]) || (((words + (coded >> 1u)) + (groups * 3u)) > input_[desc + 27u])) {
        return;
    }
    uint round_ = (1u << (lanes & 31u)) - 1u;
    uint spans = input_[desc + 24u];
    uint n = 0u;
    uint at = 0u;
    uint g = 0u;
    uint before = 0u;
    uint end = groupEnd(coded, groups, 1u);
    uint first = 0u;
    uint rounds = 0u;
    for (uint k = 0u; k < coding; k++) {
        uint count = plan[own + k];
        if (state[(now + 21u) + k] == 0u) {
            count = 0u;
        }
        for (uint s = 0u; s < count; s++) {
            uint segment = input_[10] + ((input_[(desc + 15u) + k] + s) * 208u);
            iterations++;
            if (plan[segment] != 2u) {
                continue;
            }
            uint size = plan[segment + 2u];
            for (uint done = 0u; ((done < size) && (g < groups)) && (n < input_[desc + 25u]); ) {
                uint begin = plan[segment + 1u] + done;
                uint symbols = min(size - done, end - at);
                plan[spans + (n * 4u)] = segment + 16u;
                plan[(spans + (n * 4u)) + 1u] = symbols;
                plan[(spans + (n * 4u)) + 2u] = input_[desc + k] + (begin >> 2u);
                plan[(spans + (n * 4u)) + 3u] = begin & 3u;
                n++;
                rounds += (symbols + round_) >> (lanes & 31u);
                done += symbols;
                at += symbols;
                iterations++;
                if (at == end) {
                    words += (((end - before) + 1u) >> 1u) + 2u;
                    plan[descriptors + (g * 4u)] = spans + (first * 4u);
                    plan[(descriptors + (g * 4u)) + 1u] = n - first;
                    plan[(descriptors + (g * 4u)) + 2u] = words;
                    plan[(descriptors + (g * 4u)) + 3u] = 5u - lanes;
                    plan[((own + 16u) + (g * 40u)) + 36u] = end - before;
                    plan[((own + 16u) + (g * 40u)) + 37u] = rounds;
                    g++;
                    before = end;
                    end = groupEnd(coded, groups, g + 1u);
                    first = n;
                    rounds = 0u;
                }
            }
        }
    }
    if ((at != coded) || ((iterations + puts) >= input_[8])) {
        return;
    }
    plan[own + 8u] = used;
    plan[own + 9u] = coded;
    plan[own + 10u] = g;
    plan[own + 14u] = 1u;
}
