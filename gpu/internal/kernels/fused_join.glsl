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

layout(std430, binding = 3) restrict buffer Binding3 {
    uint state[];
};

const uint PLAIN = 1u;

const uint SEGMENT = 65536u;

const uint ENTRIES = 16386u;

bool plain = false;

uint r0 = 0u;

uint r1 = 0u;

uint r2 = 0u;

uint lits = 0u;

uint offsets = 0u;

uint longRuns = 0u;

uint longMatches = 0u;

uint extra = 0u;

uint count = 0u;

uint anchor = 0u;

uint length_ = 0u;

uint last = 0u;

uint extraBits(uint d) {
    return uint(findMSB((d >> 2u) + 1u));
}

uint longBytes(uint v, uint most) {
    if (v < most) {
        return 0u;
    }
    return ((v - most) < 255u) ? 1u : 5u;
}

uint repeat(uint d) {
    uint place = 3u;
    if (d == r2) {
        place = 2u;
    }
    if (d == r1) {
        place = 1u;
    }
    if (d == r0) {
        place = 0u;
    }
    if (place >= 2u) {
        r2 = r1;
    }
    if (place >= 1u) {
        r1 = r0;
    }
    r0 = d;
    return place;
}

uint offsetOf(uint e) {
    return seqs[(e * 3u) + 2u] & 0x3fffffffu;
}

void join(uint s, uint begin, uint entry, uint n) {
    uint run = seqs[(entry * 3u) + 3u];
    uint match0 = (seqs[(entry * 3u) + 4u] - begin) - run;
    uint front = begin - anchor;
    bool joined = (((count > 0u) && (front == 0u)) && (run == 0u)) && (offsetOf(entry) == r0);
    uint different = min(state[s + 33u], 3u);
    uint saved = 0u;
    uint savedBits = 0u;
    uint savedFirst = 0u;
    uint savedBitsFirst = 0u;
    for (uint k = 0u; k < different; k++) {
        uint e = entry;
        if (k > 0u) {
            e += min(state[(s + 33u) + k], n - 1u);
        }
        uint d = offsetOf(e);
        uint place = repeat(d);
        state[(s + 48u) + k] = place;
        if ((place < 3u) && !plain) {
            saved++;
            savedBits += extraBits(d);
        }
        if (k == 0u) {
            savedFirst = saved;
            savedBitsFirst = savedBits;
        }
    }
    r0 = state[s + 3u];
    if (different > 1u) {
        r1 = state[s + 4u];
    }
    if (different > 2u) {
        r2 = state[s + 5u];
    }
    uint first = match0;
    if (joined) {
        first += length_;
        uint most = plain ? 20u : 19u;
        count--;
        state[last + 47u] -= 1u;
        longMatches += longBytes(first, most) - longBytes(length_, most);
        offsets -= marks[(entry * 4u) + 4u] - savedFirst;
        longRuns -= marks[(entry * 4u) + 5u];
        longMatches -= marks[(entry * 4u) + 6u];
        extra -= marks[(entry * 4u) + 7u] - savedBitsFirst;
    } else {
        uint most = plain ? 15u : 3u;
        longRuns += longBytes(run + front, most) - longBytes(run, most);
        lits += front;
    }
    state[s + 40u] = count;
    state[s + 41u] = lits;
    state[s + 42u] = offsets;
    state[s + 43u] = longRuns;
    state[s + 44u] = longMatches;
    state[s + 45u] = extra;
    state[s + 46u] = joined ? 1u : 0u;
    state[s + 47u] = n;
    uint end = (entry + n) * 3u;
    length_ = first;
    if (n > 1u) {
        length_ = (seqs[end + 1u] - seqs[end - 2u]) - (seqs[end] - seqs[end - 3u]);
    }
    count += n;
    lits += seqs[end];
    anchor = seqs[end + 1u];
    offsets += marks[(entry + n) * 4u] - saved;
    longRuns += marks[((entry + n) * 4u) + 1u];
    longMatches += marks[((entry + n) * 4u) + 2u];
    extra += marks[((entry + n) * 4u) + 3u] - savedBits;
    last = s;
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
    plain = input_[desc + 9u] == PLAIN;
    r0 = 64u;
    r1 = 64u;
    r2 = 64u;
    uint status = 1u;
    for (uint k = 0u; k < input_[desc + 35u]; k++) {
        uint s = (now + 64u) + (k * 1088u);
        uint n = min(state[s + 6u], ENTRIES - 1u);
        if (state[s] != 1u) {
            status = 2u;
        }
        if ((n > 0u) && (status == 1u)) {
            join(s, k * SEGMENT, input_[desc + 7u] + (k * ENTRIES), n);
        }
    }
    state[now] = status;
    state[now + 6u] = count;
    state[now + 21u] = (lits + input_[(input_[3] + (block * 16u)) + 1u]) - anchor;
    state[now + 22u] = count;
    state[now + 23u] = offsets;
    state[now + 24u] = longRuns;
    state[now + 25u] = longMatches;
    state[now + 26u] = (extra + 7u) >> 3u;
}
