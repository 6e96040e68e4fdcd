#version 430 core
// Generated from WGSL by internal/wgsl. DO NOT EDIT.

layout(std430, binding = 0) readonly restrict buffer Binding0 {
    uint input_[];
};

layout(std430, binding = 1) readonly restrict buffer Binding1 {
    uint streams[];
};

layout(std430, binding = 2) readonly restrict buffer Binding2 {
    uint state[];
};

layout(std430, binding = 3) restrict buffer Binding3 {
    uint plan[];
};

const uint UNIT = 8192u;

const uint SHORTEST = 4096u;

const uint SCALE = 2048u;

shared uint counts[256];

shared uint sums[8];

shared uint answer;

shared uint segmentCounts[256];

shared uint freqs[256];

shared uint scan[256];

shared uint best[16];

shared uint text[64];

uint iterations = 0u;

uint low = 0u;

uint high = 0u;

uint logarithm(uint v) {
    uint n = 31u - uint(findMSB(v));
    return ((31u - n) << 16u) + input_[input_[6] + (((v << (n & 31u)) >> 20u) & 2047u)];
}

uint over(uint a, uint b) {
    uint x = (a & 0xffffu) * (b & 0xffffu);
    uint y = ((a >> 16u) * (b & 0xffffu)) + (x >> 16u);
    uint z = ((a & 0xffffu) * (b >> 16u)) + (y & 0xffffu);
    return (((a >> 16u) * (b >> 16u)) + (y >> 16u)) + (z >> 16u);
}

void add(uint which, uint a, uint b) {
    uint lower = a * b;
    atomicAdd(sums[which], lower & 0xffffu);
    atomicAdd(sums[which + 1u], lower >> 16u);
    atomicAdd(sums[which + 2u], over(a, b));
}

void total(uint which) {
    uint x = sums[which];
    uint y = sums[which + 1u] + (x >> 16u);
    low = (x & 0xffffu) | (y << 16u);
    high = sums[which + 2u] + (y >> 16u);
}

void clear(uint lane) {
    if (lane < 8u) {
        sums[lane] = 0u;
    }
}

void describe(uint at, uint v, uint n) {
    if ((n == 0u) || ((at + n) > 2048u)) {
        return;
    }
    uint s = at & 31u;
    atomicOr(text[at >> 5u], v << (s & 31u));
    if ((s + n) > 32u) {
        atomicOr(text[(at >> 5u) + 1u], v >> (((32u - s) & 31u) & 31u));
    }
}

uint before(uint x, uint y, bool loses) {
    if ((x > 255u) || (y > 255u)) {
        return min(x, y);
    }
    uint one = loses ? ((freqs[x] * 2u) - 1u) : ((freqs[x] * 2u) + 1u);
    uint two = loses ? ((freqs[y] * 2u) - 1u) : ((freqs[y] * 2u) + 1u);
    uint a = segmentCounts[y] * one;
    uint b = segmentCounts[x] * two;
    uint c = over(segmentCounts[y], one);
    uint e = over(segmentCounts[x], two);
    if (loses) {
        return ((c < e) || ((c == e) && (a < b))) ? y : x;
    }
    return ((c > e) || ((c == e) && (a > b))) ? y : x;
}

bool able(uint x, bool loses) {
    return (loses && (freqs[x] > 1u)) || (!loses && (segmentCounts[x] > 0u));
}

void normalise(uint lane, uint n) {
    uint c = segmentCounts[lane];
    bool small = (c != 0u) && (c <= (n >> 11u));
    clear(lane);
    memoryBarrierShared(); barrier();
    if (small) {
        atomicAdd(sums[6], c);
        atomicAdd(sums[7], 1u);
    }
    memoryBarrierShared(); barrier();
    uint rest = n - sums[6];
    uint slots = SCALE - sums[7];
    uint f = small ? 1u : 0u;
    if ((c != 0u) && !small) {
        uint lower = ((c * slots) * 2u) + rest;
        uint upper = over(c, slots * 2u) + ((lower < rest) ? 1u : 0u);
        for (uint k = 2048u; k > 0u; k >>= 1u) {
            uint q = f | k;
            uint x = over(q, rest * 2u);
            if ((x < upper) || ((x == upper) && (((q * rest) * 2u) <= lower))) {
                f = q;
            }
        }
        f = max(f, 1u);
    }
    freqs[lane] = f;
    memoryBarrierShared(); barrier();
    clear(lane);
    memoryBarrierShared(); barrier();
    atomicAdd(sums[6], f);
    memoryBarrierShared(); barrier();
    if (lane == 0u) {
        answer = sums[6];
    }
    iterations += 12u;
    for (uint k = 0u; k < 512u; k++) {
        memoryBarrierShared(); barrier(); uint sum = answer; memoryBarrierShared(); barrier();
        if (sum == SCALE) {
            break;
        }
        bool loses = sum > SCALE;
        if (lane < 16u) {
            uint x = 256u;
            for (uint s = lane * 16u; s < ((lane * 16u) + 16u); s++) {
                if (able(s, loses)) {
                    x = before(x, s, loses);
                }
            }
            best[lane] = x;
        }
        memoryBarrierShared(); barrier();
        if (lane == 0u) {
            uint x = 256u;
            for (uint s = 0u; s < 16u; s++) {
                x = before(x, best[s], loses);
            }
            x = min(x, 255u);
            freqs[x] = loses ? (freqs[x] - 1u) : (freqs[x] + 1u);
            answer = loses ? (sum - 1u) : (sum + 1u);
        }
        iterations += 33u;
    }
    memoryBarrierShared(); barrier();
}

void accumulate(uint lane, bool greatest) {
    memoryBarrierShared(); barrier();
    for (uint d = 1u; d < 256u; d <<= 1u) {
        uint v = 0u;
        if (lane >= d) {
            v = scan[lane - d];
        }
        memoryBarrierShared(); barrier();
        scan[lane] = greatest ? max(scan[lane], v) : (scan[lane] + v);
        memoryBarrierShared(); barrier();
    }
    iterations += 8u;
}

uint write(uint lane) {
    uint f = freqs[lane];
    if (lane < 64u) {
        text[lane] = 0u;
    }
    scan[lane] = (f != 0u) ? (lane + 1u) : 0u;
    accumulate(lane, true);
    uint last = 0u;
    if (lane > 0u) {
        last = scan[lane - 1u];
    }
    memoryBarrierShared(); barrier();
    uint zeros = 0u;
    uint zeroBits = 0u;
    uint value = 0u;
    uint valueBits = 0u;
    if (f != 0u) {
        uint run = lane - last;
        if (run >= 4u) {
            uint n = uint(findMSB(run - 3u));
            zeros = (15u | (1u << ((4u + n) & 31u))) | (((run - 3u) & ((1u << (n & 31u)) - 1u)) << ((5u + n) & 31u));
            zeroBits = 5u + (2u * n);
        } else if (run > 0u) {
            zeros = 11u + run;
            zeroBits = 4u;
        }
        uint n = uint(findMSB(f));
        value = (n + 1u) | ((f & ((1u << (n & 31u)) - 1u)) << 4u);
        valueBits = 4u + n;
    }
    scan[lane] = zeroBits + valueBits;
    accumulate(lane, false);
    uint at = (scan[lane] - zeroBits) - valueBits;
    describe(at, zeros, zeroBits);
    describe(at + zeroBits, value, valueBits);
    memoryBarrierShared(); barrier();
    return scan[255];
}

layout(local_size_x = 256) in;

void main() {
    uvec3 id = gl_WorkGroupID;
    uvec3 grid = gl_NumWorkGroups;
    uint lane = gl_LocalInvocationIndex;
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        counts[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 8u; i_ += 256u) {
        sums[i_] = 0u;
    }
    if (gl_LocalInvocationIndex == 0u) {
        answer = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        segmentCounts[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        freqs[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 256u; i_ += 256u) {
        scan[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 16u; i_ += 256u) {
        best[i_] = 0u;
    }
    for (uint i_ = gl_LocalInvocationIndex; i_ < 64u; i_ += 256u) {
        text[i_] = 0u;
    }
    memoryBarrierShared();
    barrier();
    uint group = (id.y * grid.x) + id.x;
    uint block = group / 6u;
    uint stream = group - (block * 6u);
    if (block >= input_[0]) {
        return;
    }
    uint desc = input_[5] + (block * 36u);
    uint now = input_[desc + 14u];
    if ((stream >= input_[desc + 10u]) || (state[now] != 1u)) {
        return;
    }
    uint src = input_[desc + stream];
    uint length_ = min(state[(now + 21u) + stream], (input_[(desc + stream) + 1u] - src) * 4u);
    uint segment = input_[(desc + 15u) + stream];
    uint endSegment = input_[(desc + 16u) + stream];
    uint segments = 0u;
    bool wrong = false;
    uint all_ = 0u;
    uint costLow = 0u;
    uint costHigh = 0u;
    uint start = 0u;
    uint end = 0u;
    for (; start < length_; ) {
        uint n = 0u;
        uint next = 0u;
        uint nextLow = 0u;
        uint nextHigh = 0u;
        if (end < length_) {
            n = length_ - end;
            if (n >= (UNIT + SHORTEST)) {
                n = UNIT;
            }
            counts[lane] = 0u;
            clear(lane);
            memoryBarrierShared(); barrier();
            for (uint k = lane; (k * 4u) < n; k += 256u) {
                uint v = streams[(src + (end >> 2u)) + k];
                for (uint i = k * 4u; i < min((k * 4u) + 4u, n); i++) {
                    atomicAdd(counts[v & 255u], 1u);
                    v >>= 8u;
                }
                iterations += 5u;
            }
            memoryBarrierShared(); barrier();
            next = counts[lane];
            if (next != 0u) {
                uint whole = logarithm(n);
                add(0u, next, whole - min(logarithm(next), whole));
                atomicAdd(sums[1], 9u);
            }
            uint both = all_ + next;
            if (both != 0u) {
                uint whole = logarithm((end + n) - start);
                add(3u, both, whole - min(logarithm(both), whole));
                atomicAdd(sums[4], 9u);
            }
            atomicAdd(sums[6], next);
            if (lane == 0u) {
                atomicAdd(sums[1], 32u);
                atomicAdd(sums[4], 32u);
            }
            memoryBarrierShared(); barrier();
            if (lane == 0u) {
                if (sums[6] != n) {
                    wrong = true;
                }
                total(0u);
                nextLow = low;
                nextHigh = high;
                total(3u);
                uint apartLow = costLow + nextLow;
                uint apartHigh = (costHigh + nextHigh) + ((apartLow < costLow) ? 1u : 0u);
                answer = 0u;
                if (((end == start) || (high < apartHigh)) || ((high == apartHigh) && (low <= apartLow))) {
                    answer = 1u;
                    costLow = low;
                    costHigh = high;
                }
            }
            iterations += 8u;
        } else if (lane == 0u) {
            answer = 0u;
        }
        memoryBarrierShared(); barrier(); uint joined = answer; memoryBarrierShared(); barrier();
        if (joined != 0u) {
            all_ += next;
            end += n;
            continue;
        }
        uint size = end - start;
        segmentCounts[lane] = all_;
        memoryBarrierShared(); barrier();
        normalise(lane, size);
        uint bits = write(lane);
        clear(lane);
        memoryBarrierShared(); barrier();
        uint f = freqs[lane];
        if (all_ != 0u) {
            add(0u, all_, (11u * 65536u) - logarithm(max(f, 1u)));
            atomicAdd(sums[1], 9u);
            atomicAdd(sums[7], 1u);
        }
        memoryBarrierShared(); barrier();
        uint at = input_[10] + (segment * 208u);
        if (segment < endSegment) {
            if (lane == 0u) {
                atomicAdd(sums[1], 32u);
                total(0u);
                uint cost = (low >> 19u) | (high << 13u);
                uint mode = 0u;
                if (sums[7] == 1u) {
                    mode = 1u;
                } else if ((size >= 16u) && (cost < (size - (size >> 6u)))) {
                    mode = 2u;
                }
                plan[at] = mode;
                plan[at + 1u] = start;
                plan[at + 2u] = size;
                plan[at + 3u] = (end == length_) ? 1u : 0u;
                plan[at + 4u] = (bits + 7u) >> 3u;
            }
            if (all_ == size) {
                plan[at + 5u] = lane;
            }
            if (lane < 128u) {
                plan[(at + 16u) + lane] = freqs[lane * 2u] | (freqs[(lane * 2u) + 1u] << 16u);
            }
            if (lane < 64u) {
                plan[(at + 144u) + lane] = text[lane];
            }
        } else {
            wrong = true;
        }
        segments++;
        segment++;
        start = end;
        all_ = next;
        costLow = nextLow;
        costHigh = nextHigh;
        end += n;
        iterations++;
        memoryBarrierShared(); barrier();
    }
    if (lane == 0u) {
        plan[input_[desc + 30u] + stream] = (wrong || (iterations >= input_[8])) ? 0xffffffffu : segments;
    }
}
