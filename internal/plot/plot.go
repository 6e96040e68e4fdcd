// Package plot draws compression ratio over speed as a picture in SVG.
package plot

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
)

// Picture is what to draw. It has two panels, for compression and decompression: ratio over the
// logarithm of speed.
type Picture struct {
	Unit  string // of the speeds, below each panel
	Lines []Line // at least one
}

// Line is a line through points, such as those of all levels of a compressor.
type Line struct {
	Title  string // in the key
	Style  Style
	Dashed bool
	Points []Point // at least one
}

// Point is a measurement. Ratio and speeds are greater than 0 and finite.
type Point struct {
	Label                string // beside the point, such as a level
	Ratio                float64
	Compress, Decompress float64 // speeds
}

// Style is the look of a line: a colour for light backgrounds, one for dark ones, and the shape of
// its points, which is circle, square or triangle.
type Style struct{ Light, Dark, Shape string }

// Palette has colours that differ for people with the common kinds of colour blindness, and in
// lightness.
var Palette = []Style{
	{"#0050b0", "#6cb0ff", "circle"},
	{"#c23b00", "#ff9a62", "circle"},
	{"#007a5e", "#3fd6ac", "circle"},
	{"#8a1f8f", "#e58ae8", "circle"},
	{"#222222", "#f2f2f2", "square"},
	{"#8a6d00", "#e6c84a", "square"},
	{"#5f6b76", "#a9b6c2", "triangle"},
	{"#b0003a", "#ff7d9c", "triangle"},
	{"#3f7d20", "#9bd67c", "triangle"},
}

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

// SVG returns the picture. Its colours follow the reader's preference for light or dark.
func (p *Picture) SVG() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`+
		` role="img" aria-label="Ratio over speed">`+"\n", width, height, width, height)
	p.writeCSS(&b)
	fmt.Fprintf(&b, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", width, height)
	p.writeKey(&b)
	p.writePanel(&b, left, "Compression", func(pt *Point) float64 { return pt.Compress })
	p.writePanel(&b, left+panelWidth+gap, "Decompression",
		func(pt *Point) float64 { return pt.Decompress })
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// writeCSS writes the style sheet. The elements of line i have the classes li and li-fill.
func (p *Picture) writeCSS(b *bytes.Buffer) {
	b.WriteString("<style>\n" +
		"text { font: 12px sans-serif; fill: #222 } .title { font-size: 14px; font-weight: bold }" +
		" .level { font-size: 10px }\n" +
		".paper { fill: #fff } .grid { stroke: #ddd } .axis { stroke: #666; fill: none }" +
		" .line { fill: none; stroke-width: 1.6 } .dashed { stroke-dasharray: 4 3; stroke-width: 1.2 }\n")
	for i := range p.Lines {
		fmt.Fprintf(b, ".l%d { stroke: %s } .l%[1]d-fill { fill: %[2]s }\n", i, p.Lines[i].Style.Light)
	}
	b.WriteString("@media (prefers-color-scheme: dark) {\n" +
		"text { fill: #e6e6e6 } .paper { fill: #14171a } .grid { stroke: #333a40 }" +
		" .axis { stroke: #9aa4ad }\n")
	for i := range p.Lines {
		fmt.Fprintf(b, ".l%d { stroke: %s } .l%[1]d-fill { fill: %[2]s }\n", i, p.Lines[i].Style.Dark)
	}
	b.WriteString("}\n</style>\n")
}

// writeKey names the lines, in columns of two.
func (p *Picture) writeKey(b *bytes.Buffer) {
	const column = 180
	for i := range p.Lines {
		l := &p.Lines[i]
		x, y := float64(left+i/2*column), float64(22+i%2*20)
		fmt.Fprintf(b, `<path class="%s" d="M%.0f %.0fh30"/>`, l.class(i), x, y)
		l.writePoint(b, i, x+15, y)
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f">%s</text>`+"\n", x+36, y+4, html.EscapeString(l.Title))
	}
}

// class returns the classes of the path of line i.
func (l *Line) class(i int) string {
	if l.Dashed {
		return fmt.Sprintf("line l%d dashed", i)
	}
	return fmt.Sprintf("line l%d", i)
}

// writePoint draws a point of line i.
func (l *Line) writePoint(b *bytes.Buffer, i int, x, y float64) {
	switch l.Style.Shape {
	case "square":
		fmt.Fprintf(b, `<rect class="l%d-fill" x="%.1f" y="%.1f" width="6.4" height="6.4"/>`,
			i, x-3.2, y-3.2)
	case "triangle":
		fmt.Fprintf(b, `<path class="l%d-fill" d="M%.1f %.1fl4.2 7.2h-8.4z"/>`, i, x, y-4.6)
	default:
		fmt.Fprintf(b, `<circle class="l%d-fill" cx="%.1f" cy="%.1f" r="3.6"/>`, i, x, y)
	}
	b.WriteByte('\n')
}

// box is an area that a point or a label takes.
type box struct{ x0, y0, x1, y1 float64 }

func (a box) meets(b box) bool { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 }

// spot is a point with its place in a panel.
type spot struct {
	*Point
	line int
	x, y float64
}

// writePanel draws the panel whose left edge is at x0.
func (p *Picture) writePanel(b *bytes.Buffer, x0 int, title string, speed func(*Point) float64) {
	var spots []spot
	var xs, ys []float64
	for i := range p.Lines {
		for k := range p.Lines[i].Points {
			pt := &p.Lines[i].Points[k]
			spots = append(spots, spot{Point: pt, line: i})
			xs, ys = append(xs, math.Log10(speed(pt))), append(ys, pt.Ratio)
		}
	}
	xAxis := newAxis(xs, 0.04, float64(x0), panelWidth)
	yAxis := newAxis(ys, 0.05, top+panelHeight, -panelHeight)
	p.writeGrid(b, x0, title, xAxis, yAxis)

	var taken []box
	for i := range spots {
		s := &spots[i]
		s.x, s.y = xAxis.at(xs[i]), yAxis.at(ys[i])
		taken = append(taken, box{s.x - 4, s.y - 4, s.x + 4, s.y + 4})
		if i == 0 || s.line != spots[i-1].line {
			if i > 0 {
				b.WriteString("\"/>\n")
			}
			fmt.Fprintf(b, `<path class="%s" d="M`, p.Lines[s.line].class(s.line))
		} else {
			b.WriteString("L")
		}
		fmt.Fprintf(b, "%.1f %.1f", s.x, s.y)
	}
	b.WriteString("\"/>\n")
	frame := box{float64(x0), top, float64(x0 + panelWidth), top + panelHeight}
	for _, s := range spots {
		p.Lines[s.line].writePoint(b, s.line, s.x, s.y)
		if place, ok := freePlace(s.x, s.y, float64(len(s.Label))*letter, frame, taken); ok {
			taken = append(taken, place)
			fmt.Fprintf(b, `<text class="level l%d-fill" x="%.1f" y="%.1f">%s</text>`+"\n",
				s.line, place.x0, place.y1-1, html.EscapeString(s.Label))
		}
	}
}

func (p *Picture) writeGrid(b *bytes.Buffer, x0 int, title string, xAxis, yAxis axis) {
	fmt.Fprintf(b, `<text class="title" x="%d" y="%d">%s</text>`+"\n", x0, top-12, title)
	for _, v := range logTicks(xAxis.lo, xAxis.hi) {
		x := xAxis.at(math.Log10(v))
		fmt.Fprintf(b, `<path class="grid" d="M%.1f %dv%d"/>`, x, top, panelHeight)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%.6g</text>`+"\n",
			x, top+panelHeight+17, v)
	}
	for _, v := range linearTicks(yAxis.lo, yAxis.hi) {
		y := yAxis.at(v)
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fh%d"/>`, x0, y, panelWidth)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%.6g</text>`+"\n", x0-6, y+4, v)
	}
	fmt.Fprintf(b, `<rect class="axis" x="%d" y="%d" width="%d" height="%d"/>`+"\n",
		x0, top, panelWidth, panelHeight)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
		x0+panelWidth/2, height-12, html.EscapeString(p.Unit))
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
