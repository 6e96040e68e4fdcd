#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint localSeqs[];
};

layout(std430, binding = 2) readonly restrict buffer Binding2 {
    uint localMarks[];
};

layout(std430, binding = 3) readonly restrict buffer Binding3 {
    uint state[];
};

layout(std430, binding = 4) restrict buffer Binding4 {
    uint seqs[];
};

layout(std430, binding = 5) restrict buffer Binding5 {
    uint marks[];
};

const uint PLAIN = 1u;

const uint ENTRIES = 16386u;

uint extraBits(uint d) {
    return uint(findMSB((d >> 2u) + 1u));
}

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    uint number = (id.y * grid.x) + id.x;
    if (number >= input_[13]) {
        return;
    }
    uint block = input_[input_[12] + number];
    uint desc = input_[5] + (block * 36u);
    uint now = input_[desc + 14u];
    if (state[now] != 1u) {
        return;
    }
    uint segment = number - input_[desc + 34u];
    uint s = (now + 64u) + (segment * 1088u);
    uint base = input_[desc + 7u];
    uint most = input_[desc + 8u];
    uint entry = base + (segment * ENTRIES);
    if ((segment == 0u) && (lane < 2u)) {
        seqs[(base * 3u) + lane] = 0u;
    }
    if ((segment == 0u) && (lane < 4u)) {
        marks[(base * 4u) + lane] = 0u;
    }
    uint count = min(state[s + 6u], ENTRIES - 1u);
    if (count == 0u) {
        return;
    }
    uint different = state[s + 33u];
    uint second = (different > 1u) ? state[s + 34u] : count;
    uint third = (different > 2u) ? state[s + 35u] : count;
    bool repeats = input_[desc + 9u] != PLAIN;
    bool saves0 = repeats && (state[s + 48u] < 3u);
    bool saves1 = (repeats && (second < count)) && (state[s + 49u] < 3u);
    bool saves2 = (repeats && (third < count)) && (state[s + 50u] < 3u);
    uint bits0 = extraBits(localSeqs[(entry * 3u) + 2u] & 0x3fffffffu);
    uint bits1 = extraBits(localSeqs[((entry + min(second, count - 1u)) * 3u) + 2u] & 0x3fffffffu);
    uint bits2 = extraBits(localSeqs[((entry + min(third, count - 1u)) * 3u) + 2u] & 0x3fffffffu);
    for (uint e = lane; e <= count; e += 256u) {
        uint to = state[s + 40u] + e;
        if (to >= most) {
            continue;
        }
        uint source = (entry + e) * 3u;
        if ((e >= state[s + 46u]) && (e < count)) {
            uint place = localSeqs[source + 2u] >> 30u;
            if (e == 0u) {
                place = state[s + 48u];
            } else if (e == second) {
                place = state[s + 49u];
            } else if (e == third) {
                place = state[s + 50u];
            }
            seqs[((base + to) * 3u) + 2u] = (localSeqs[source + 2u] & 0x3fffffffu) | (place << 30u);
        }
        if ((e == 0u) || (e > state[s + 47u])) {
            continue;
        }
        seqs[(base + to) * 3u] = state[s + 41u] + localSeqs[source];
        seqs[((base + to) * 3u) + 1u] = localSeqs[source + 1u];
        uint saved = 0u;
        uint savedBits = 0u;
        if (saves0) {
            saved++;
            savedBits += bits0;
        }
        if (saves1 && (e > second)) {
            saved++;
            savedBits += bits1;
        }
        if (saves2 && (e > third)) {
            saved++;
            savedBits += bits2;
        }
        uint mark = (entry + e) * 4u;
        uint next = (base + to) * 4u;
        marks[next] = (state[s + 42u] + localMarks[mark]) - saved;
        marks[next + 1u] = state[s + 43u] + localMarks[mark + 1u];
        marks[next + 2u] = state[s + 44u] + localMarks[mark + 2u];
        marks[next + 3u] = (state[s + 45u] + localMarks[mark + 3u]) - savedBits;
    }
}
