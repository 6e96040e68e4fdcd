package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
)

// Measures of the picture in pixels.
const (
	panelWidth  = 560
	panelHeight = 420
	left        = 52 // room for the numbers of the vertical axis
	top         = 92 // room for the key
	gap         = 60 // between panels
	bottom      = 48
	width       = left + panelWidth + gap + panelWidth + 16
	height      = top + panelHeight + bottom
	letter      = 6.2 // width of a digit of a label
)

// style is the look of a family: a colour for light backgrounds, one for dark ones, and the shape of
// its points.
type style struct{ light, dark, shape string }

// styles has colours that differ for people with the common kinds of colour blindness, and in
// lightness.
var styles = map[string]style{
	"lzseqr":  {"#0050b0", "#6cb0ff", "circle"},
	"lzr":     {"#c23b00", "#ff9a62", "circle"},
	"lzf":     {"#007a5e", "#3fd6ac", "circle"},
	"deflate": {"#8a1f8f", "#e58ae8", "circle"},
	"zstd":    {"#222222", "#f2f2f2", "square"},
	"lz4":     {"#8a6d00", "#e6c84a", "square"},
	"kp-zstd": {"#5f6b76", "#a9b6c2", "triangle"},
	"kp-s2":   {"#b0003a", "#ff7d9c", "triangle"},
	"kp-gzip": {"#3f7d20", "#9bd67c", "triangle"},
}

// directions are the panels of the picture and the columns of the table.
var directions = []struct {
	title string
	speed func(*point) float64
}{
	{"Compression", (*point).compressSpeed},
	{"Decompression", (*point).decompressSpeed},
}

// picture returns an SVG with a panel for each direction: ratio over the logarithm of speed. Its
// colours follow the reader's preference for light or dark.
func picture(points []*point) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`+
		` role="img" aria-label="Ratio over speed">`+"\n", width, height, width, height)
	writeCSS(&b)
	fmt.Fprintf(&b, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", width, height)
	writeKey(&b, points)
	for i, d := range directions {
		writePanel(&b, left+i*(panelWidth+gap), d.title, d.speed, points)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func writeCSS(b *bytes.Buffer) {
	names := make([]string, 0, len(styles))
	for name := range styles {
		names = append(names, name)
	}
	slices.Sort(names)
	b.WriteString("<style>\n" +
		"text { font: 12px sans-serif; fill: #222 } .title { font-size: 14px; font-weight: bold }" +
		" .level { font-size: 10px }\n" +
		".paper { fill: #fff } .grid { stroke: #ddd } .axis { stroke: #666; fill: none }" +
		" .line { fill: none; stroke-width: 1.6 } .peer { stroke-dasharray: 4 3; stroke-width: 1.2 }\n")
	for _, name := range names {
		fmt.Fprintf(b, ".%s { stroke: %s } .%[1]s-fill { fill: %[2]s }\n", name, styles[name].light)
	}
	b.WriteString("@media (prefers-color-scheme: dark) {\n" +
		"text { fill: #e6e6e6 } .paper { fill: #14171a } .grid { stroke: #333a40 }" +
		" .axis { stroke: #9aa4ad }\n")
	for _, name := range names {
		fmt.Fprintf(b, ".%s { stroke: %s } .%[1]s-fill { fill: %[2]s }\n", name, styles[name].dark)
	}
	b.WriteString("}\n</style>\n")
}

// writeKey names the families, in columns of two.
func writeKey(b *bytes.Buffer, points []*point) {
	const column = 180
	n := 0
	var last *family
	for _, p := range points {
		f := p.family
		if f == last {
			continue
		}
		last = f
		x, y := float64(left+n/2*column), float64(22+n%2*20)
		fmt.Fprintf(b, `<path class="line %s%s" d="M%.0f %.0fh30"/>`, f.name, dashed(f), x, y)
		writePoint(b, f.name, x+15, y)
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f">%s</text>`+"\n", x+36, y+4, html.EscapeString(f.title))
		n++
	}
}

func dashed(f *family) string {
	if f.ours {
		return ""
	}
	return " peer"
}

func writePoint(b *bytes.Buffer, name string, x, y float64) {
	switch styles[name].shape {
	case "square":
		fmt.Fprintf(b, `<rect class="%s-fill" x="%.1f" y="%.1f" width="6.4" height="6.4"/>`,
			name, x-3.2, y-3.2)
	case "triangle":
		fmt.Fprintf(b, `<path class="%s-fill" d="M%.1f %.1fl4.2 7.2h-8.4z"/>`, name, x, y-4.6)
	default:
		fmt.Fprintf(b, `<circle class="%s-fill" cx="%.1f" cy="%.1f" r="3.6"/>`, name, x, y)
	}
	b.WriteByte('\n')
}

// box is an area that a point or a label takes.
type box struct{ x0, y0, x1, y1 float64 }

func (a box) meets(b box) bool { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 }

func writePanel(b *bytes.Buffer, x0 int, title string, speed func(*point) float64, points []*point) {
	xs := make([]float64, len(points))
	ys := make([]float64, len(points))
	for i, p := range points {
		xs[i], ys[i] = math.Log10(speed(p)), p.ratio()
	}
	xAxis := newAxis(xs, 0.04, float64(x0), panelWidth)
	yAxis := newAxis(ys, 0.05, top+panelHeight, -panelHeight)
	writeGrid(b, x0, title, xAxis, yAxis)

	var taken []box
	for i, p := range points {
		xs[i], ys[i] = xAxis.at(xs[i]), yAxis.at(ys[i])
		taken = append(taken, box{xs[i] - 4, ys[i] - 4, xs[i] + 4, ys[i] + 4})
		if i == 0 || p.family != points[i-1].family {
			if i > 0 {
				b.WriteString("\"/>\n")
			}
			fmt.Fprintf(b, `<path class="line %s%s" d="M`, p.family.name, dashed(p.family))
		} else {
			b.WriteString("L")
		}
		fmt.Fprintf(b, "%.1f %.1f", xs[i], ys[i])
	}
	b.WriteString("\"/>\n")
	frame := box{float64(x0), top, float64(x0 + panelWidth), top + panelHeight}
	for i, p := range points {
		writePoint(b, p.family.name, xs[i], ys[i])
		label := fmt.Sprint(p.level)
		if place, ok := freePlace(xs[i], ys[i], float64(len(label))*letter, frame, taken); ok {
			taken = append(taken, place)
			fmt.Fprintf(b, `<text class="level %s-fill" x="%.1f" y="%.1f">%s</text>`+"\n",
				p.family.name, place.x0, place.y1-1, label)
		}
	}
}

func writeGrid(b *bytes.Buffer, x0 int, title string, xAxis, yAxis axis) {
	fmt.Fprintf(b, `<text class="title" x="%d" y="%d">%s</text>`+"\n", x0, top-12, title)
	for _, v := range logTicks(xAxis.lo, xAxis.hi) {
		x := xAxis.at(math.Log10(v))
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dv%d"/>`, x, top, panelHeight)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", x, top+panelHeight+17, v)
	}
	for _, v := range linearTicks(yAxis.lo, yAxis.hi) {
		y := yAxis.at(v)
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fh%d"/>`, x0, y, panelWidth)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", x0-6, y+4, v)
	}
	fmt.Fprintf(b, `<rect class="axis" x="%d" y="%d" width="%d" height="%d"/>`+"\n",
		x0, top, panelWidth, panelHeight)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">MB/s of content, one thread</text>`+"\n",
		x0+panelWidth/2, height-12)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">ratio ↑</text>`+"\n", x0+panelWidth, top-12)
}

// freePlace returns a place for a label of width w near a point, inside the frame and clear of the
// places that are taken.
func freePlace(x, y, w float64, frame box, taken []box) (place box, ok bool) {
	const h, d = 9, 5 // height of a label, distance from the point
	corners := [][2]float64{
		{x + d, y - h - 1}, {x - d - w, y - h - 1}, {x + d, y + 1}, {x - d - w, y + 1},
		{x - w/2, y - d - h}, {x - w/2, y + d}, {x + d, y - h/2}, {x - d - w, y - h/2},
	}
	for _, c := range corners {
		place = box{c[0], c[1], c[0] + w, c[1] + h}
		if place.x0 < frame.x0 || place.x1 > frame.x1 || place.y0 < frame.y0 || place.y1 > frame.y1 {
			continue
		}
		if !slices.ContainsFunc(taken, place.meets) {
			return place, true
		}
	}
	return place, false
}
