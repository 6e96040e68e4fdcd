package main

import (
	"slices"
	"strconv"

	"github.com/gopz/compress/internal/plot"
)

// directions are the speeds in the columns of the table.
var directions = []func(*point) float64{(*point).compressSpeed, (*point).decompressSpeed}

// picture returns the points as a picture in SVG. A family has the same style in each picture.
func picture(points []*point) []byte {
	pic := plot.Picture{Unit: "MB/s of content, one thread"}
	var last *family
	for _, p := range points {
		if f := p.family; f != last {
			style := slices.IndexFunc(families, func(g family) bool { return g.name == f.name })
			pic.Lines = append(pic.Lines, plot.Line{
				Title: f.title, Style: plot.Palette[style], Dashed: !f.ours,
			})
			last = f
		}
		line := &pic.Lines[len(pic.Lines)-1]
		line.Points = append(line.Points, plot.Point{
			Label: strconv.Itoa(p.level), Ratio: p.ratio(),
			Compress: p.compressSpeed(), Decompress: p.decompressSpeed(),
		})
	}
	return pic.SVG()
}
