#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint best[];
};

layout(std430, binding = 2) restrict buffer Binding2 {
    uint seqs[];
};

layout(std430, binding = 3) restrict buffer Binding3 {
    uint marks[];
};

layout(std430, binding = 4) restrict buffer Binding4 {
    uint state[];
};

const uint PLAIN = 1u;

const uint SEGMENT = 65536u;

const uint ENTRIES = 16386u;

const uint UPDATE = 1u;

const uint DONE = 2u;

const uint GIVE_UP = 3u;

shared uint costs[256];

shared uint counts[256];

shared uint begins[256];

shared uint runs[256];

shared uint total;

shared uint agreed;

shared uint known;

uint desc = 0u;

uint src = 0u;

uint size = 0u;

uint first = 0u;

uint end = 0u;

uint limit = 0u;

uint reach = 0u;

uint entry = 0u;

uint entries = 0u;

uint nice = 0u;

uint least = 0u;

uint repeats = 0u;

uint lazy = 0u;

uint maxOffset = 0u;

uint turns = 0u;

uint maxTurns = 0u;

uint reason = 0u;

uint i = 0u;

uint anchor = 0u;

uint r0 = 0u;

uint r1 = 0u;

uint r2 = 0u;

uint count = 0u;

uint updated = 0u;

uint every = 0u;

uint different = 0u;

uint second = 0u;

uint third = 0u;

uint lits = 0u;

uint offsets = 0u;

uint longRuns = 0u;

uint longMatches = 0u;

uint extra = 0u;

uint at = 0u;

uint n = 0u;

uint d = 0u;

int matchScore = 0;

uint ahead = 0u;

uint phase = 0u;

uint pending = 0u;

uint bestLength = 0u;

uint bestOffset = 0u;

int score = 0;

uint tested = 0u;

uint m = 0u;

uint candidate = 0u;

uint load32(uint at, uint i) {
    uint w = at + (i >> 2u);
    uint s = (i & 3u) * 8u;
    return (input_[w] >> (s & 31u)) | ((input_[w + 1u] << 1u) << ((31u - s) & 31u));
}

uint byte(uint k) {
    return (input_[src + (k >> 2u)] >> (((k & 3u) * 8u) & 31u)) & 255u;
}

uint equal(uint x) {
    return min(uint(findLSB(x)), 32u) >> 3u;
}

uint bits(uint v) {
    return uint(findMSB(v)) + 1u;
}

uint logarithm(uint v) {
    uint k = bits(v) - 1u;
    return (k * 8u) + (((v << (((31u - k) & 31u) & 31u)) << 1u) >> 29u);
}

uint extraBits(uint d) {
    return uint(findMSB((d >> 2u) + 1u));
}

void begin(uint p) {
    bestLength = 0u;
    bestOffset = 0u;
    score = 0;
    m = 4u;
    pending = 8u;
    uint v = load32(src, p);
    if (((repeats > 0u) && (r0 <= p)) && (load32(src, p - min(r0, p)) == v)) {
        pending |= 1u;
    }
    if ((((repeats > 1u) && (r1 <= p)) && (r1 != r0)) && (load32(src, p - min(r1, p)) == v)) {
        pending |= 2u;
    }
    if (((((repeats > 2u) && (r2 <= p)) && (r2 != r0)) && (r2 != r1)) && (load32(src, p - min(r2, p)) == v)) {
        pending |= 4u;
    }
}

void consider(uint p) {
    pending = 0u;
    if (bestLength > 0u) {
        score = (4 * int(bestLength)) + 1;
    }
    if (bestLength >= nice) {
        return;
    }
    tested = p + 1u;
    uint g = best[first + p];
    if (g == 0u) {
        return;
    }
    uint length_ = (g >> 24u) + 4u;
    candidate = g & 0xffffffu;
    if ((((candidate < 16u) || (candidate > p)) || (candidate > maxOffset)) || (length_ > (reach - p))) {
        reason = GIVE_UP;
        return;
    }
    m = length_;
    pending = 16u;
}

void extend(uint p) {
    uint by = r2;
    if ((pending & 2u) != 0u) {
        by = r1;
    }
    if ((pending & 1u) != 0u) {
        by = r0;
    }
    if (pending == 16u) {
        by = candidate;
    }
    uint longest = reach - p;
    bool ends = true;
    if ((pending != 16u) || (m >= nice)) {
        uint c = (p - min(by, p)) + m;
        uint o = p + m;
        uint k = 0u;
        if (m < longest) {
            k = equal(load32(src, c) ^ load32(src, o));
        }
        if ((k == 4u) && ((m + 4u) < longest)) {
            k += equal(load32(src, c + 4u) ^ load32(src, o + 4u));
        }
        if ((k == 8u) && ((m + 8u) < longest)) {
            k += equal(load32(src, c + 8u) ^ load32(src, o + 8u));
        }
        if ((k == 12u) && ((m + 12u) < longest)) {
            k += equal(load32(src, c + 12u) ^ load32(src, o + 12u));
        }
        m += k;
        ends = (k < 16u) || (m >= longest);
        m = min(m, longest);
    }
    if (!ends) {
        return;
    }
    if (pending == 16u) {
        pending = 0u;
        int gain = (4 * int(m)) - int(bits(max(by, 1u)));
        if (gain > score) {
            bestLength = m;
            bestOffset = by;
            score = gain;
        }
        return;
    }
    if ((m >= least) && (m > bestLength)) {
        bestLength = m;
        bestOffset = by;
    }
    pending &= pending - 1u;
    m = 4u;
}

void choose(uint p) {
    pending = 32u;
    if (ahead == 0u) {
        if (bestLength == 0u) {
            i += min(1u + ((i - anchor) >> 8u), 32u);
            return;
        }
        ahead = 1u;
    } else {
        int than = matchScore + 4;
        if (ahead == 2u) {
            than = matchScore + 7;
        }
        if (score <= than) {
            ahead++;
            return;
        }
        ahead = 1u;
    }
    at = p;
    n = bestLength;
    d = bestOffset;
    matchScore = score;
}

bool pays() {
    uint x = load32(src, at);
    uint y = load32(src, at + 4u);
    uint sum = ((costs[x & 255u] + costs[(x >> 8u) & 255u]) + costs[(x >> 16u) & 255u]) + costs[x >> 24u];
    if (n > 4u) {
        sum += costs[y & 255u];
    }
    if (n > 5u) {
        sum += costs[(y >> 8u) & 255u];
    }
    if (n > 6u) {
        sum += costs[(y >> 16u) & 255u];
    }
    return sum > ((bits(max(d, 1u)) + 4u) * 8u);
}

void updateCosts(uint lane) {
    if (lane == 0u) {
        known = count;
        total = 0u;
    }
    for (uint k = lane; k < 256u; k += 64u) {
        uint c = counts[k];
        counts[k] = c >> 1u;
    }
    memoryBarrierShared(); barrier();
    for (uint s = 0u; s < min(known, 256u); s++) {
        uint b = begins[s];
        uint run = runs[s];
        for (uint k = lane * 4u; (k < run) && ((b + k) < size); k += 256u) {
            uint x = load32(src, b + k);
            atomicAdd(counts[x & 255u], 4u);
            if ((k + 1u) < run) {
                atomicAdd(counts[(x >> 8u) & 255u], 4u);
            }
            if ((k + 2u) < run) {
                atomicAdd(counts[(x >> 16u) & 255u], 4u);
            }
            if ((k + 3u) < run) {
                atomicAdd(counts[x >> 24u], 4u);
            }
        }
        turns += 2u + (run >> 8u);
    }
    memoryBarrierShared(); barrier();
    for (uint k = lane; k < 256u; k += 64u) {
        atomicAdd(total, counts[k] + 1u);
    }
    memoryBarrierShared(); barrier();
    uint most = logarithm(max(total, 1u));
    for (uint k = lane; k < 256u; k += 64u) {
        costs[k] = min(most - logarithm(counts[k] + 1u), 255u);
    }
    turns += 64u;
    memoryBarrierShared(); barrier();
}

uint lengthBytes(uint v) {
    return (v < 255u) ? 1u : 5u;
}

void note() {
    uint s = (entry + count) * 3u;
    seqs[s] = lits;
    seqs[s + 1u] = anchor;
    uint k = (entry + count) * 4u;
    marks[k] = offsets;
    marks[k + 1u] = longRuns;
    marks[k + 2u] = longMatches;
    marks[k + 3u] = extra;
}

void emit() {
    if ((count + 1u) >= entries) {
        reason = GIVE_UP;
        return;
    }
    ahead = 0u;
    phase = 0u;
    if ((at + n) > limit) {
        n = limit - at;
        if (n < least) {
            i = limit;
            return;
        }
    }
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
    if ((place == 3u) && (different < 3u)) {
        if (different == 1u) {
            second = count;
        } else if (different == 2u) {
            third = count;
        }
        different++;
    }
    uint run = at - anchor;
    bool plain = input_[desc + 9u] == PLAIN;
    uint shortRun = plain ? 15u : 3u;
    uint shortMatch = plain ? 20u : 19u;
    if (run >= shortRun) {
        longRuns += lengthBytes(run - shortRun);
    }
    if (n >= shortMatch) {
        longMatches += lengthBytes(n - shortMatch);
    }
    if (plain) {
        offsets += 2u;
    } else if (place == 3u) {
        offsets++;
        extra += extraBits(d);
    }
    seqs[((entry + count) * 3u) + 2u] = d | (place << 30u);
    begins[count & 255u] = anchor;
    runs[count & 255u] = run;
    if (place >= 2u) {
        r2 = r1;
    }
    if (place >= 1u) {
        r1 = r0;
    }
    r0 = d;
    count++;
    lits += run;
    anchor = at + n;
    note();
    i = anchor;
}

void finish() {
    if (phase == 1u) {
        if ((((n < 8u) && (d != r0)) && (d != r1)) && (d != r2)) {
            if ((count - updated) >= every) {
                reason = UPDATE;
                return;
            }
            if (!pays()) {
                i = max(tested, i + 1u);
                ahead = 0u;
                phase = 0u;
                return;
            }
        }
        phase = 2u;
    }
    if (((at > anchor) && (at > d)) && (byte(at - 1u) == byte((at - 1u) - d))) {
        at--;
        n++;
        return;
    }
    emit();
}

void parse() {
    for (; (reason == 0u) && (turns < maxTurns); ) {
        turns++;
        if (phase == 0u) {
            if (i >= end) {
                reason = DONE;
            } else {
                uint p = (ahead == 0u) ? i : (at + ahead);
                if (pending == 32u) {
                    begin(p);
                }
                if (pending == 8u) {
                    consider(p);
                }
                if ((pending != 0u) && (reason == 0u)) {
                    extend(p);
                }
                if ((pending == 0u) && (reason == 0u)) {
                    choose(p);
                }
                if (((ahead > 0u) && (pending == 32u)) && (((ahead > lazy) || ((at + ahead) >= end)) || (n >= nice))) {
                    phase = 1u;
                }
            }
        } else {
            finish();
        }
    }
}

layout(local_size_x = 64) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 64u) {
        costs[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 64u) {
        counts[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 64u) {
        begins[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 64u) {
        runs[i_] = 0u;
    }
    if (gl_LocalInvocationIndex == 0u) {
        total = 0u;
    }
    if (gl_LocalInvocationIndex == 0u) {
        agreed = 0u;
    }
    if (gl_LocalInvocationIndex == 0u) {
        known = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint number = (id.y * grid.x) + id.x;
    if (number >= input_[13]) {
        return;
    }
    uint block = input_[input_[12] + number];
    uint b = input_[3] + (block * 16u);
    desc = input_[5] + (block * 36u);
    uint segment = number - input_[desc + 34u];
    uint now = (input_[desc + 14u] + 64u) + (segment * 1088u);
    src = input_[b];
    size = input_[b + 1u];
    first = input_[b + 2u];
    nice = input_[b + 7u];
    end = input_[b + 3u];
    limit = size;
    entry = input_[desc + 7u] + (segment * ENTRIES);
    entries = input_[desc + 8u] - (segment * ENTRIES);
    if (((segment + 1u) * SEGMENT) < end) {
        end = (segment + 1u) * SEGMENT;
        limit = end;
        entries = ENTRIES;
    }
    reach = min((end + nice) + 16u, size);
    maxOffset = input_[b + 9u];
    repeats = input_[desc + 11u];
    least = input_[desc + 12u];
    lazy = input_[desc + 13u];
    maxTurns = input_[7];
    if (lane == 0u) {
        agreed = state[now];
    }
    memoryBarrierShared(); barrier(); uint before = agreed; memoryBarrierShared(); barrier();
    if (before != 0u) {
        return;
    }
    i = min(state[now + 1u], size);
    anchor = min(state[now + 2u], size);
    r0 = state[now + 3u];
    r1 = state[now + 4u];
    r2 = state[now + 5u];
    count = min(state[now + 6u], entries - 1u);
    updated = min(state[now + 7u], count);
    lits = state[now + 8u];
    offsets = state[now + 9u];
    longRuns = state[now + 10u];
    longMatches = state[now + 11u];
    extra = state[now + 12u];
    at = min(state[now + 13u], size);
    n = state[now + 14u];
    d = state[now + 15u];
    matchScore = int(state[now + 16u]);
    ahead = min(state[now + 17u], 3u);
    phase = state[now + 18u];
    pending = state[now + 19u];
    bestLength = state[now + 20u];
    bestOffset = state[now + 27u];
    score = int(state[now + 28u]);
    tested = state[now + 29u];
    m = state[now + 30u];
    candidate = state[now + 31u];
    different = state[now + 33u];
    second = state[now + 34u];
    third = state[now + 35u];
    every = state[now + 36u];
    for (uint k = lane; k < 256u; k += 64u) {
        costs[k] = state[(now + 64u) + k];
        counts[k] = state[(now + 320u) + k];
        begins[k] = state[(now + 576u) + k];
        runs[k] = state[(now + 832u) + k];
    }
    memoryBarrierShared(); barrier();
    if ((lane == 0u) && (count == 0u)) {
        note();
    }
    for (uint k = 0u; k < 65536u; k++) {
        if (lane == 0u) {
            parse();
            agreed = reason;
        }
        memoryBarrierShared(); barrier(); uint verdict = agreed; memoryBarrierShared(); barrier();
        if (verdict != UPDATE) {
            break;
        }
        updateCosts(lane);
        updated = count;
        every = min(every * 2u, 1024u);
        reason = 0u;
    }
    for (uint k = lane; k < 256u; k += 64u) {
        state[(now + 64u) + k] = costs[k];
        state[(now + 320u) + k] = counts[k];
        state[(now + 576u) + k] = begins[k];
        state[(now + 832u) + k] = runs[k];
    }
    if (lane != 0u) {
        return;
    }
    if (reason == DONE) {
        state[now] = 1u;
    } else if (reason == GIVE_UP) {
        state[now] = 2u;
    }
    state[now + 1u] = i;
    state[now + 2u] = anchor;
    state[now + 3u] = r0;
    state[now + 4u] = r1;
    state[now + 5u] = r2;
    state[now + 6u] = count;
    state[now + 7u] = updated;
    state[now + 8u] = lits;
    state[now + 9u] = offsets;
    state[now + 10u] = longRuns;
    state[now + 11u] = longMatches;
    state[now + 12u] = extra;
    state[now + 13u] = at;
    state[now + 14u] = n;
    state[now + 15u] = d;
    state[now + 16u] = uint(matchScore);
    state[now + 17u] = ahead;
    state[now + 18u] = phase;
    state[now + 19u] = pending;
    state[now + 20u] = bestLength;
    state[now + 27u] = bestOffset;
    state[now + 28u] = uint(score);
    state[now + 29u] = tested;
    state[now + 30u] = m;
    state[now + 31u] = candidate;
    state[now + 33u] = different;
    state[now + 34u] = second;
    state[now + 35u] = third;
    state[now + 36u] = every;
}
