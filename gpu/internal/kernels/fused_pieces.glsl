#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint state[];
};

layout(std430, binding = 2) readonly restrict buffer Binding2 {
    uint words[];
};

layout(std430, binding = 3) restrict buffer Binding3 {
    uint plan[];
};

uint list = 0u;

uint most = 0u;

uint count = 0u;

uint at = 0u;

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

void piece(uint what, uint begin, uint n) {
    if ((n > 0u) && (count < most)) {
        plan[list + (count * 4u)] = at;
        plan[(list + (count * 4u)) + 1u] = what;
        plan[(list + (count * 4u)) + 2u] = begin;
        count++;
    }
    at += n;
}

layout(local_size_x = 1) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint block = (id.y * grid.x) + id.x;
    if (block >= input_[0]) {
        return;
    }
    uint desc = input_[5] + (block * 36u);
    uint now = input_[desc + 14u];
    uint own = input_[desc + 30u];
    plan[own + 15u] = 0u;
    if (plan[own + 14u] != 1u) {
        return;
    }
    list = input_[desc + 28u];
    most = input_[desc + 29u];
    piece(0u, input_[desc + 22u] * 4u, plan[own + 8u]);
    for (uint g = 0u; g < plan[own + 10u]; g++) {
        uint numbers = (own + 16u) + (g * 40u);
        uint descriptor = 4u + ((input_[desc + 32u] + g) * 4u);
        uint symbols = plan[numbers + 36u];
        uint result = (input_[desc + 32u] + g) * 36u;
        uint emitted = words[result];
        if (((emitted > symbols) || (words[result + 1u] != plan[numbers + 37u])) || (words[result + 2u] != ((emitted + 1u) >> 1u))) {
            return;
        }
        head = numbers;
        room = 144u;
        used = 0u;
        part = 0u;
        putNumber(emitted * 2u);
        uint lanes = 32u >> ((plan[descriptor + 3u] & 7u) & 31u);
        for (uint k = 0u; k < lanes; k++) {
            put(words[(result + 4u) + k], 4u);
        }
        plan[head + (used >> 2u)] = part;
        piece(0u, head * 4u, used);
        piece(1u, (plan[descriptor + 2u] * 4u) - (emitted * 2u), emitted * 2u);
    }
    for (uint k = 0u; k < 6u; k++) {
        uint length_ = state[(now + 21u) + k];
        if (length_ == 0u) {
            continue;
        }
        if (k >= input_[desc + 10u]) {
            piece(2u, input_[desc + k] * 4u, length_);
            continue;
        }
        for (uint s = 0u; s < plan[own + k]; s++) {
            uint segment = input_[10] + ((input_[(desc + 15u) + k] + s) * 208u);
            if (plan[segment] == 0u) {
                piece(2u, (input_[desc + k] * 4u) + plan[segment + 1u], plan[segment + 2u]);
            }
        }
    }
    if ((at <= (input_[desc + 31u] * 4u)) && (count < most)) {
        plan[own + 7u] = count;
        plan[own + 15u] = at;
    }
}
