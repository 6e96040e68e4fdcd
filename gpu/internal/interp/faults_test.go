package interp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/gpu/internal/kernels"
	"github.com/gopz/compress/internal/testenv"
)

// uses holds the kind of request that runs each kernel.
var uses = map[string]string{
	"fused_begin": "fused", "fused_code": "fused", "fused_cut": "fused", "fused_frame": "fused",
	"fused_join": "fused", "fused_place": "fused",
	"fused_parse": "fused", "fused_payload": "fused", "fused_pieces": "fused",
	"histogram": "encode", "rans_encode": "encode", "rans_decode": "decode",
	"match_base": "match", "match_best": "match", "match_count": "match", "match_hash": "match",
	"match_scan": "match", "match_scatter": "match",
}

// try runs requests for blocks of size bytes with a kernel whose source has changed.
func try(kernel, src string, size int) error {
	d, err := host.New(New(Options{
		Seed: 3, MaxSteps: 1 << 28,
		Source: func(name string) string {
			if name == kernel {
				return src
			}
			return kernels.Source(name)
		},
	}), host.Config{Name: "interpreter", Kind: gpu.Software})
	if err != nil {
		return err
	}
	defer d.Close()
	return gputest.Try(d, uses[kernel], size)
}

// spare holds barriers that order nothing, by kernel and number: another barrier follows before the
// memory is used again. One matters only if a loop reaches its bound, which it never does.
var spare = map[string][]int{"fused_cut": {7, 12, 17}}

// barriers returns versions of a source that lack one barrier each.
func barriers(kernel, src string) (list []string) {
	spares := spare[kernel]
	lines := strings.SplitAfter(src, "\n")
	n := -1
	for i, old := range lines {
		if strings.HasPrefix(strings.TrimSpace(old), "//") {
			continue
		}
		line := strings.Replace(old, "workgroupBarrier();", "", 1)
		line = strings.Replace(line, "workgroupUniformLoad(&answer)", "answer", 1)
		line = strings.Replace(line, "workgroupUniformLoad(&agreed)", "agreed", 1)
		if line == old {
			continue
		}
		n++
		if slices.Contains(spares, n) {
			continue
		}
		lines[i] = line
		list = append(list, strings.Join(lines, ""))
		lines[i] = old
	}
	return list
}

// TestBarriers removes a barrier of each kernel, or with PZ_TEST=all each barrier. That must be a
// fault.
func TestBarriers(t *testing.T) {
	testenv.Slow(t)
	for _, kernel := range slices.Sorted(maps.Keys(uses)) {
		src := kernels.Source(kernel)
		if kernel == "rans_decode" { // its last barrier matters for states that end wrong
			src = strings.Replace(src, "x != LOWER", "x == LOWER", 1)
		}
		list := barriers(kernel, src)
		if len(list) > 1 && !testenv.All() {
			list = list[len(list)-1:]
		}
		for _, changed := range list {
			err := try(kernel, changed, 70_000) // more than a segment of the parse
			var f *Fault
			if errors.As(err, &f) && f.Kernel == kernel && (f.Kind == Race || f.Kind == Unordered) {
				t.Log(err)
				continue
			}
			at := 0
			for at < len(changed) && changed[at] == src[at] {
				at++
			}
			t.Errorf("%s: line %d without its barrier: error %v",
				kernel, 1+strings.Count(src[:at], "\n"), err)
		}
	}
}

// mistake is a fault to plant: a text to replace, and the kind of fault it makes. "" stands for a
// wrong result.
type mistake struct {
	kernel, old, new string
	want             Kind
}

var mistakes = []mistake{
	// Races in renormalisation of rANS.
	{"rans_decode", "current = select(current + 1u, 0u, current == 2u);", "", Unordered},
	{"rans_decode", "let last = select(current - 1u, 2u, current == 0u);",
		"let last = select(current + 1u, 0u, current == 2u);", Unordered},
	{"rans_decode", "symbols[(r & 7u) * 32u + lane] = e", "symbols[(r & 3u) * 32u + lane] = e", Race},
	{"rans_encode", "current = select(current + 1u, 0u, current == 2u);", "", Unordered},
	{"rans_encode", "let above = 0xfffffffeu << lane;", "let above = 0xffffffffu << lane;", ""},
	{"rans_encode", "let above = 0xfffffffeu << lane;", "let above = 0xfffffffcu << lane;", Race},

	// Indices and bounds that are off by one.
	{"rans_decode", "begins[256] = 2048u;", "begins[lane + 226u] = 2048u;", Bounds},
	{"rans_decode", "output[group * 2u + 1u] =", "output[group * 2u + 2u] =", Race},
	{"rans_encode", "table[lane * 8u + i * 2u + 1u] =", "table[lane * 8u + i * 2u + 2u] =", Race},
	{"histogram", "atomicLoad(&counts[lane * 2u + 1u])", "atomicLoad(&counts[lane * 2u + 2u])", Bounds},
	{"match_hash", "if (i < input[b + 3u]) {", "if (i <= input[b + 3u]) {", Bounds},
	{"match_count", "if (start + k < input[b + 3u]) {", "if (start + k <= input[b + 3u]) {", Bounds},
	{"match_base", "v = sums[lane - d];", "v = sums[lane - d - 1u];", Overflow},
	{"match_scan", "v = sums[lane - d];", "v = sums[lane - d - 1u];", Overflow},
	{"match_scatter", "own = counts[at + row] - place;", "own = counts[at] - place;", Race},
	{"match_scatter", "v = words[lane - d];", "v = words[lane - d + 1u];", Race},
	{"match_scatter", "slot[k] = words[at] + before;", "slot[k] = words[at];", Race},
	{"match_best", "let end = min(depth, start + k);", "let end = min(depth, start + k + 1u);", Overflow},
	{"match_best", "let z = c + longest - 3u;", "let z = c + longest - 2u;", ""},
	{"fused_begin", "state[s + 320u + lane] = 0u;", "state[s + 319u + lane] = 0u;", Race},
	{"fused_code", "streams[dst + w] = v;", "streams[dst + w + 1u] = v;", ""},
	{"fused_cut", "last = scan[lane - 1u];", "last = scan[lane - 2u];", Overflow},
	{"fused_frame", "plan[descriptors + k] = 0u;", "plan[descriptors - k] = 0u;", Overflow},
	{"fused_parse", "begins[count & 255u] = anchor;", "begins[(count & 255u) + 1u] = anchor;", Bounds},
	{"fused_payload", "output[base + k] = v;", "output[base + k + 1u] = v;", ""},
	{"fused_join", "return seqs[e * 3u + 2u] &", "return seqs[e * 3u - 2u] &", Overflow},
	{"fused_place", "seqs[base * 3u + lane] = 0u;", "seqs[base * 3u + (lane >> 1u)] = 0u;", Race},
	{"fused_pieces", "used = 0u;", "used = 1u;", ""},
}

// TestMistakes plants faults.
func TestMistakes(t *testing.T) {
	testenv.Slow(t)
	for _, m := range mistakes {
		src := kernels.Source(m.kernel)
		if strings.Count(src, m.old) != 1 {
			t.Errorf("%s has %d times %q", m.kernel, strings.Count(src, m.old), m.old)
			continue
		}
		err := try(m.kernel, strings.Replace(src, m.old, m.new, 1), 20_000)
		var f *Fault
		switch {
		case err == nil:
			t.Errorf("%s: %q for %q is not found", m.kernel, m.new, m.old)
		case errors.As(err, &f) && f.Kind != m.want, f == nil && m.want != "":
			t.Errorf("%s: %q for %q: error %v, want %q", m.kernel, m.new, m.old, err, m.want)
		case f != nil:
			line := 1 + strings.Count(src[:strings.Index(src, m.old)], "\n")
			t.Logf("%s, line %d: %s", m.kernel, line, fmt.Sprint(err))
		}
	}
}
