package plot

import (
	"math"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestPicture draws a point alone, points in one place, and every style.
func TestPicture(t *testing.T) {
	p := Picture{Unit: "MB/s & more"}
	for i, style := range Palette {
		p.Lines = append(p.Lines, Line{
			Title: "a <title>", Style: style, Dashed: i%2 == 1,
			Points: []Point{{Label: "1", Ratio: 2, Compress: 10, Decompress: 100}},
		})
		testenv.SVG(t, p.SVG())
	}
	text := string(p.SVG())
	for part, want := range map[string]int{
		"<circle": 4 * 3, `<rect class="l`: 2 * 3, " dashed\"": 4 * 3, // in the key and in each panel
		"a &lt;title&gt;": 9, "MB/s &amp; more": 2, "#b0003a": 2, "#ff7d9c": 2,
	} {
		if n := strings.Count(text, part); n != want {
			t.Errorf("%d times %q, want %d", n, part, want)
		}
	}
}

// TestPanelOrder checks that a faster point lies further right and a higher ratio further up, and
// that a line connects its points.
func TestPanelOrder(t *testing.T) {
	p := Picture{Lines: []Line{{Style: Palette[0], Points: []Point{
		{"1", 2, 100, 1000}, {"9", 4, 10, 2000},
	}}}}
	text := string(p.SVG())
	testenv.SVG(t, []byte(text))
	// The margins of the axes are parts of the range: 4% and 5%.
	for _, path := range []string{
		`<path class="line l0" d="M591.3 492.9L72.7 111.1"/>`,
		`<path class="line l0" d="M692.7 492.9L1211.3 111.1"/>`,
	} {
		if !strings.Contains(text, path) {
			t.Errorf("no %s in %s", path, text)
		}
	}
	if n := strings.Count(text, `class="level l0-fill"`); n != 4 {
		t.Errorf("%d labels, want 4", n)
	}
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		got  []float64
		want int
	}{
		{logTicks(1, 3), 7}, {logTicks(1.1, 1.2), 6}, {logTicks(2.2, 2.4), 10},
		{linearTicks(2.9, 10.1), 8}, {linearTicks(0.9, 2.1), 5}, {linearTicks(0, 4), 9},
	} {
		if len(tt.got) != tt.want {
			t.Errorf("%v, want %d ticks", tt.got, tt.want)
		}
	}
	a := newAxis([]float64{1, 3}, 0, 100, -50)
	if x, y := a.at(a.lo), a.at(a.hi); math.Abs(x-100) > 1e-9 || math.Abs(y-50) > 1e-9 {
		t.Errorf("axis ends at %g and %g", x, y)
	}
}
