package interp

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/gopz/compress/gpu/internal/host"
)

// head begins the kernels of these tests.
const head = `
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
var<workgroup> a: array<u32, 64>;
var<workgroup> n: array<atomic<u32>, 4>;
var<workgroup> shared1: u32;
var<private> p: u32;
fn next(x: u32) -> u32 { p += x; return p; }
fn late(x: u32) -> u32 { if (x > 2u) { return next(x); } return 7u; }
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) id: vec3<u32>) {
`

// runKernel runs a kernel with a body on two workgroups, whose input is 0, 1, 2, … and output 256
// words.
func runKernel(t *testing.T, o Options, body string) ([]uint32, Counters, error) {
	t.Helper()
	src := head + body + "}\n"
	o.Source = func(string) string { return src }
	d := New(o)
	defer d.Close()
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	up, err := q.Upload(1024)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(256) {
		binary.LittleEndian.PutUint32(up[4*i:], i)
	}
	err = q.Submit(&host.Submission{
		UploadSize: 1024, UploadTo: host.In,
		Reserve: []host.BufferSize{{Buffer: host.Out, Size: 1024}},
		Kernels: []host.Dispatch{{
			Kernel: "test", Groups: 2, Times: 1, Bind: []host.Binding{{Buffer: host.In}, {Buffer: host.Out}},
		}},
		Downloads: []host.Range{{Buffer: host.Out, Size: 1024}},
	})
	var out []uint32
	if err == nil {
		err = q.Downloaded(func(b []byte) {
			for i := 0; i < len(b); i += 4 {
				out = append(out, binary.LittleEndian.Uint32(b[i:]))
			}
		})
	}
	return out, d.Counters()["test"], err
}

// TestValues compares values that kernels compute.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		code string // of v, from x = 5 and lane 0
		want uint32
	}{
		{"var v = x - 6u;", 1<<32 - 1},
		{"var v = x << 33u;", 10},
		{"var v = (0xffffffffu >> (x & 31u)) + x / 2u + x % 3u;", 0x07ffffff + 4},
		{"var v = u32(i32(x) - 9 >> 1u) ^ ~x;", (1<<32 - 2) ^ (1<<32 - 6)},
		{"var v = u32(-i32(x)); if (i32(v) < 0 && -1 >= i32(v)) { v = 3u; }", 3},
		{"var v = u32(min(i32(x) - 9, 2)) + max(x, 9u) + min(x, 9u);", 10},
		{"var v = firstLeadingBit(x) + countTrailingZeros(x << 3u) * 10u + countOneBits(x) * 100u;", 232},
		{"var v = firstLeadingBit(x - 5u) + countTrailingZeros(x - 5u);", 31},
		{"var v = 1u; v = select(v, 9u, x == 5u) + select(v, 9u, x != 5u);", 10},
		{"var v = next(1u) * 10u + next(x);", 16},
		{"p = 1u; var v = p + next(x) + p;", 13},
		{"var v = late(next(1u) + late(2u)) + u32(true);", 10},
		{"var v = 0u; if (x < 5u || x > 4u && !(x == 6u)) { v = 1u; } else if (true) { v = 2u; }", 1},
		{"var v = 0u; for (var i = 0u; i < 9u; i++) { if (i == 2u) { continue; } " +
			"if (i > x) { break; } v += i; }", 13},
		{"var q: array<u32, 3>; q[x - 4u] = 4u; q[x & 1u] += 3u; let r = q; q[1] = 0u; " +
			"var v = r[1] + q[1];", 7},
		{"var w = vec4<u32>(1u, 2u, x, 4u); w += vec4<u32>(w.y, w.x, w.x, w.z); " +
			"w = vec4<u32>(w.y, w.x, w.z, w.w); " +
			"var v = w.x * 1000u + w.y * 100u + w[2] * 10u + w.w;", 3369},
		{"let c = x > 4u && x < 9u; var v = u32(c) + u32(!c) * 2u;", 1},
	} {
		out, _, err := runKernel(t, Options{}, "let x = input[5];"+tt.code+
			"if (lane == 0u && id.x == 0u) { output[0] = v; }")
		if err != nil || out[0] != tt.want {
			t.Errorf("%s: error %v, value %d, want %d", tt.code, err, out, tt.want)
		}
	}
}

// TestFaults checks faults of each kind, and code that is free of them.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		code string
		want Kind // "" for none
	}{
		{"a[lane] = lane; workgroupBarrier(); output[id.x * 64u + lane] = a[63u - lane];", ""},
		{"a[lane] = lane; output[id.x * 64u + lane] = a[63u - lane];", Race},
		{"p = a[63u - lane]; a[lane] = lane;", Race},
		{"p = a[63u - lane]; workgroupBarrier(); a[lane] = lane;", ""},
		{"a[lane] = lane; a[lane] += a[lane];", ""},
		{"shared1 = 1u;", Race},
		{"if (lane == 9u) { shared1 = 1u; } p = workgroupUniformLoad_;", ""},
		{"atomicAdd(&n[0], lane); atomicAdd(&n[0], 1u);", ""},
		{"atomicAdd(&n[0], lane); atomicOr(&n[0], 1u);", Unordered},
		{"atomicAdd(&n[lane & 3u], lane); p = atomicLoad(&n[0]);", Unordered},
		{"atomicStore(&n[0], 0u);", Unordered},
		{"output[lane] = 1u;", Race},
		{"output[id.x * 64u + lane] = 1u; workgroupBarrier(); p = output[id.x * 64u];", Race},
		{"p = output[id.x * 64u]; workgroupBarrier(); output[id.x * 64u + lane] = 1u;", ""},
		{"p = output[id.x * 64u]; output[id.x * 64u + lane] = 1u;", Race},
		{"p = output[0]; workgroupBarrier(); if (lane == 0u) { output[id.x] = 1u; }", Race},
		{"p = input[lane * 4u + 4u];", Bounds},
		{"a[lane + 1u] = 1u;", Bounds},
		{"var q: array<u32, 8>; q[lane] = 1u;", Bounds},
		{"output[id.x * 64u + lane - 1u] = 1u;", Overflow},
		{"p = input[(lane + 2u) * 0x40000000u];", Overflow},
		{"if (lane < 32u) { workgroupBarrier(); }", Divergence},
		{"if (lane < 32u) { workgroupBarrier(); } else { workgroupBarrier(); }", Divergence},
		{"for (; p == 0u;) { }", Endless},
	} {
		code := strings.Replace(tt.code, "p = workgroupUniformLoad_",
			"let u = workgroupUniformLoad(&shared1); p = u", 1)
		for seed := range uint64(3) {
			for _, lockstep := range []bool{false, true} {
				_, _, err := runKernel(t, Options{Seed: seed, Lockstep: lockstep, MaxSteps: 1e5}, code)
				var f *Fault
				errors.As(err, &f)
				if err == nil != (tt.want == "") || f != nil && f.Kind != tt.want {
					t.Errorf("%s, seed %d, lockstep %v: error %v, want %q",
						code, seed, lockstep, err, tt.want)
				}
			}
		}
	}
}

// TestOverlap binds the same memory twice.
func TestOverlap(t *testing.T) {
	d := New(Options{Source: func(string) string { return head + "}" }})
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	for offset, want := range map[uint64]Kind{0: Overlap, 256: ""} {
		err := q.Submit(&host.Submission{
			Reserve: []host.BufferSize{{Buffer: host.Out, Size: 1024}},
			Kernels: []host.Dispatch{{Kernel: "test", Groups: 1, Times: 1, Bind: []host.Binding{
				{Buffer: host.Out, Size: 256}, {Buffer: host.Out, Offset: offset},
			}}},
		})
		var f *Fault
		errors.As(err, &f)
		if err == nil != (want == "") || f != nil && f.Kind != want {
			t.Errorf("offset %d: error %v, want %q", offset, err, want)
		}
	}
}

// TestTally compares counts with those made by hand. There are four warps.
func TestTally(t *testing.T) {
	for _, tt := range []struct {
		code string
		get  func(*Counters) [2]int64
		want [2]int64
	}{
		{"p = input[id.x * 64u + lane];", requests, [2]int64{4, 4}},
		{"p = input[id.x * 64u + lane + 16u];", requests, [2]int64{4, 8}},
		{"p = input[0];", requests, [2]int64{4, 4}},
		{"p = input[(lane & 7u) * 32u];", requests, [2]int64{4, 32}},
		{"if (lane < 32u) { p = input[lane]; }", requests, [2]int64{2, 2}},
		{"if (lane < 32u) { p = 1u; }", branches, [2]int64{4, 0}},
		{"if (lane < 40u) { p = 1u; }", branches, [2]int64{4, 2}},
		{"for (var i = 0u; i < (lane & 1u); i++) { }", branches, [2]int64{8, 4}},
		{"a[lane] = 1u;", banks, [2]int64{4, 4}},
		{"p = a[(lane * 2u) & 63u];", banks, [2]int64{4, 8}},
		{"p = a[5];", banks, [2]int64{4, 4}},
		{"atomicAdd(&n[lane & 3u], 1u);", atomics, [2]int64{4, 112}},
		{"if (lane == 7u) { atomicAdd(&n[0], 1u); }", atomics, [2]int64{2, 0}},
		{"p = a[lane];", func(c *Counters) [2]int64 { return [2]int64{c.Unwritten, c.Barriers} },
			[2]int64{128, 0}},
		{"workgroupBarrier(); workgroupBarrier();",
			func(c *Counters) [2]int64 { return [2]int64{c.Workgroups, c.Barriers} }, [2]int64{2, 4}},
		{"p = lane / 3u; p = lane % 3u;",
			func(c *Counters) [2]int64 { return [2]int64{c.Workgroups, c.Divisions} }, [2]int64{2, 8}},
		{"p = input[id.x * 64u + lane]; p = input[id.x * 64u + lane];", misses, [2]int64{8, 4}},
		{"p = input[id.x * 64u + lane]; p = input[id.x * 64u + lane];", sectors, [2]int64{16, 16}},
		{"p = input[lane];", sectors, [2]int64{16, 8}},
		{"output[id.x * 64u + lane] = 1u; output[id.x * 64u + lane] = 2u;", sectors, [2]int64{32, 16}},
		{"if (lane < 32u) { p = input[0]; } p = input[1]; workgroupBarrier(); p = input[lane];",
			chains, [2]int64{6, 3}},
		{"if (id.x == 1u) { p = input[0]; } workgroupBarrier();", chains, [2]int64{1, 1}},
	} {
		_, c, err := runKernel(t, Options{Lockstep: true}, tt.code)
		if err != nil {
			t.Errorf("%s: error %v", tt.code, err)
		} else if got := tt.get(&c); got != tt.want {
			t.Errorf("%s: counts %v, want %v", tt.code, got, tt.want)
		}
	}
}

func requests(c *Counters) [2]int64 { return [2]int64{c.Requests, c.Segments} }
func branches(c *Counters) [2]int64 { return [2]int64{c.Branches, c.Divergent} }
func banks(c *Counters) [2]int64    { return [2]int64{c.Shared, c.BankCycles} }
func atomics(c *Counters) [2]int64  { return [2]int64{c.Atomics, c.Conflicts} }
func misses(c *Counters) [2]int64   { return [2]int64{c.Loads, c.Misses} }
func sectors(c *Counters) [2]int64  { return [2]int64{c.Sectors, c.Memory} }
func chains(c *Counters) [2]int64   { return [2]int64{c.Chain.Loads, c.Longest.Loads} }

// BenchmarkExec measures instructions of the interpreter.
func BenchmarkExec(b *testing.B) {
	p, err := compile("test", head+`
		var v = 1u;
		for (var i = 0u; i < 1000u; i++) { v = (v * 5u + i) ^ (v >> 3u); }
		p = v; }`)
	if err != nil {
		b.Fatal(err)
	}
	g := newGroup(p)
	l := &g.lanes[0]
	b.SetBytes(1) // MB/s are millions of instructions a second
	for n := 0; n < b.N; n += 1 << 12 {
		if l.state != running || l.pc == 0 {
			l.pc = p.main
		}
		l.state = g.exec(l, 1<<12)
	}
}
