// The target of put, in the plan.
var<private> head: u32; // index
var<private> room: u32; // size in bytes
var<private> used: u32; // bytes
var<private> part: u32; // bytes that do not fill a u32 yet
var<private> puts: u32; // calls

// put appends n bytes, 1 to 4.
fn put(v: u32, n: u32) {
    let have = used & 3u;
    part |= v << (have * 8u);
    if (have + n >= 4u) {
        if (used < room) {
            plan[head + (used >> 2u)] = part;
        }
        part = select(0u, v >> ((32u - have * 8u) & 31u), have > 0u);
    }
    used += n;
    puts++;
}

// putNumber appends a varint.
fn putNumber(v: u32) {
    var rest = v;
    for (; rest >= 128u;) {
        put((rest & 127u) | 128u, 1u);
        rest >>= 7u;
    }
    put(rest, 1u);
}
