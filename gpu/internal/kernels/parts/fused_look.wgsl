// How fused_parse tests a position.

// begin begins the test of a position. It selects the repeat offsets whose first 4 bytes match.
fn begin(p: u32) {
    bestLength = 0u;
    bestOffset = 0u;
    score = 0;
    m = 4u;
    pending = 8u;
    let v = load32(src, p);
    if (repeats > 0u && r0 <= p && load32(src, p - min(r0, p)) == v) {
        pending |= 1u;
    }
    if (repeats > 1u && r1 <= p && r1 != r0 && load32(src, p - min(r1, p)) == v) {
        pending |= 2u;
    }
    if (repeats > 2u && r2 <= p && r2 != r0 && r2 != r1 && load32(src, p - min(r2, p)) == v) {
        pending |= 4u;
    }
}

// consider tests the candidate of a position. It follows the repeat offsets.
fn consider(p: u32) {
    pending = 0u;
    if (bestLength > 0u) {
        score = 4 * i32(bestLength) + 1;
    }
    if (bestLength >= nice) {
        return;
    }
    tested = p + 1u;
    let g = best[first + p];
    if (g == 0u) {
        return;
    }
    let length = (g >> 24u) + 4u;
    candidate = g & 0xffffffu;
    if (candidate < 16u || candidate > p || candidate > maxOffset || length > reach - p) {
        reason = GIVE_UP; // only after an error of an earlier kernel
        return;
    }
    m = length;
    pending = 16u;
}

// extend compares 16 more bytes.
fn extend(p: u32) {
    var by = r2;
    if ((pending & 2u) != 0u) {
        by = r1;
    }
    if ((pending & 1u) != 0u) {
        by = r0;
    }
    if (pending == 16u) {
        by = candidate;
    }
    let longest = reach - p;
    var ends = true;
    // The length of a candidate is final if it is below nice.
    if (pending != 16u || m >= nice) {
        let c = p - min(by, p) + m;
        let o = p + m;
        var k = 0u;
        if (m < longest) {
            k = equal(load32(src, c) ^ load32(src, o));
        }
        if (k == 4u && m + 4u < longest) {
            k += equal(load32(src, c + 4u) ^ load32(src, o + 4u));
        }
        if (k == 8u && m + 8u < longest) {
            k += equal(load32(src, c + 8u) ^ load32(src, o + 8u));
        }
        if (k == 12u && m + 12u < longest) {
            k += equal(load32(src, c + 12u) ^ load32(src, o + 12u));
        }
        m += k;
        ends = k < 16u || m >= longest;
        m = min(m, longest);
    }
    if (!ends) {
        return;
    }
    if (pending == 16u) {
        pending = 0u;
        let gain = 4 * i32(m) - i32(bits(max(by, 1u)));
        if (gain > score) {
            bestLength = m;
            bestOffset = by;
            score = gain;
        }
        return;
    }
    if (m >= least && m > bestLength) {
        bestLength = m;
        bestOffset = by;
    }
    pending &= pending - 1u;
    m = 4u;
}

// choose compares the match of the tested position with the best match so far.
fn choose(p: u32) {
    pending = 32u;
    if (ahead == 0u) {
        if (bestLength == 0u) {
            i += min(1u + ((i - anchor) >> 8u), 32u);
            return;
        }
        ahead = 1u;
    } else {
        var than = matchScore + 4;
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
