package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/plot"
)

// benchRow is what -b measures of a level on a file, or on several files together.
type benchRow struct {
	name    string
	level   int
	files   int64
	content int64 // bytes
	packed  int64 // bytes

	packTime, unpackTime     time.Duration // of the best rounds
	packRounds, unpackRounds int
}

// speeds returns MB of content per second in both directions.
func (r *benchRow) speeds() (pack, unpack float64) {
	return megabytes(r.content, r.packTime), megabytes(r.content, r.unpackTime)
}

// megabytes returns MB per second.
func megabytes(n int64, d time.Duration) float64 { return float64(n) / 1e6 / d.Seconds() }

// addRow adds a row of another file to a sum.
func (r *benchRow) addRow(o benchRow) {
	r.files += o.files
	r.content += o.content
	r.packed += o.packed
	r.packTime += o.packTime
	r.unpackTime += o.unpackTime
}

// status returns what the terminal shows of a row whose rounds are not over.
func (r *benchRow) status() string {
	text := fmt.Sprintf("%s: level %d, %d", fitName(printable(r.name), 24), r.level, r.content)
	pack, unpack := r.speeds()
	if r.packTime > 0 {
		text += fmt.Sprintf(" -> %d (%.3f), %s MB/s", r.packed, ratio(r.content, r.packed),
			formatSpeed(pack))
	}
	if r.unpackTime > 0 {
		text += fmt.Sprintf(", %s MB/s", formatSpeed(unpack))
	}
	return text
}

func formatSpeed(speed float64) string {
	if speed < 100 {
		return fmt.Sprintf("%.1f", speed)
	}
	return fmt.Sprintf("%.0f", speed)
}

// benchListing is a row as -b --json prints it. Programs rely on the names of the fields: new
// fields may be added, but the existing ones do not change.
type benchListing struct {
	Name         string  `json:"name"`                  // invalid UTF-8 is replaced by U+FFFD
	NameBytes    []byte  `json:"name_base64,omitempty"` // the whole name, if it is not UTF-8
	Format       string  `json:"format"`                // pz, gz or zst
	Pipeline     string  `json:"pipeline"`
	Level        int     `json:"level"`
	Threads      int     `json:"threads"`
	Uncompressed int64   `json:"uncompressed"`     // bytes
	Compressed   int64   `json:"compressed"`       // bytes
	Ratio        float64 `json:"ratio"`            // uncompressed / compressed
	Compress     float64 `json:"compress_speed"`   // MB of content per second
	Decompress   float64 `json:"decompress_speed"` // the same
}

// A benchWriter prints what -b measures, each row as soon as it is there.
type benchWriter struct {
	app      *app
	pipeline string
	rows     int         // printed so far
	sums     []benchRow  // of the files of each level
	lines    []plot.Line // of the picture, one for each file
	fresh    bool        // no row of the current file is there
}

func newBenchWriter(a *app) *benchWriter {
	w := &benchWriter{app: a, pipeline: a.cfg.pipelineName()}
	for _, level := range a.cfg.levels() {
		w.sums = append(w.sums, benchRow{level: level})
	}
	return w
}

// pipelineName returns the name of the pipeline that the run writes with.
func (c *config) pipelineName() string {
	if c.pipeline != "" || c.format == compress.PZ {
		return cmp.Or(c.pipeline, bridge.DefaultPipeline)
	}
	for _, p := range bridge.Pipelines() {
		if p.Format == c.format {
			return p.Name
		}
	}
	return ""
}

// beginFile begins the rows of a file.
func (w *benchWriter) beginFile() { w.fresh = true }

// addRow prints a row of the current file.
func (w *benchWriter) addRow(r benchRow) {
	for i := range w.sums {
		if w.sums[i].level == r.level {
			w.sums[i].addRow(r)
		}
	}
	if w.app.cfg.bench.picture != "" {
		w.draw(r)
	}
	w.fresh = false
	if w.app.cfg.json {
		w.print(w.object(r))
	} else {
		w.print(w.line(r))
	}
}

// line returns a row of the table, behind the head where it is due. The pipeline, which is the same
// in all rows, needs -v.
func (w *benchWriter) line(r benchRow) (text string) {
	const row = "%5v %12v %12v %8s %13s %12s  %s\n"
	pipelines := [2]string{}
	if w.app.cfg.verbose {
		pipelines = [2]string{"pipeline  ", fmt.Sprintf("%-8s  ", w.pipeline)}
	}
	if w.rows == 0 && !w.app.cfg.quiet {
		text = fmt.Sprintf(row, "level", "uncompressed", "compressed", "ratio", "compress MB/s",
			"restore MB/s", pipelines[0]+"name")
	}
	w.rows++
	pack, unpack := r.speeds()
	return text + fmt.Sprintf(row, r.level, r.content, r.packed,
		fmt.Sprintf("%.3f", ratio(r.content, r.packed)), formatSpeed(pack), formatSpeed(unpack),
		pipelines[1]+printable(r.name))
}

// object returns an object of the JSON array, and what stands in front of it.
func (w *benchWriter) object(r benchRow) string {
	pack, unpack := r.speeds()
	l := benchListing{
		Name: r.name, Format: w.app.cfg.format.String(), Pipeline: w.pipeline, Level: r.level,
		Threads: w.app.sched.Workers(), Uncompressed: r.content, Compressed: r.packed,
		Ratio: roundRatio(r.content, r.packed), Compress: thousandths(pack), Decompress: thousandths(unpack),
	}
	if !utf8.ValidString(r.name) {
		l.NameBytes = []byte(r.name)
	}
	text, err := json.MarshalIndent(l, "  ", "  ")
	if err != nil {
		panic(err) // all fields are plain
	}
	before := ",\n  "
	if w.rows == 0 {
		before = "[\n  "
	}
	w.rows++
	return before + string(text)
}

// thousandths rounds to three decimals.
func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// print writes to standard output.
func (w *benchWriter) print(text string) {
	if w.app.stopped {
		return
	}
	if _, err := w.app.stdout.WriteString(text); err != nil {
		w.app.failStdout(err)
	}
}

// finishTable prints the sums of several files, or ends the array, and writes the picture.
func (w *benchWriter) finishTable() {
	several := false
	for i := range w.sums {
		r := &w.sums[i]
		r.name = fmt.Sprintf("(%d %s)", r.files, plural(r.files, "file"))
		several = several || r.files > 1
	}
	switch {
	case w.app.cfg.json && w.rows == 0:
		w.print("[]\n")
	case w.app.cfg.json:
		w.print("\n]\n")
	case several:
		for _, r := range w.sums {
			if r.files > 0 {
				w.print(w.line(r))
			}
		}
	}
	if len(w.lines) > 0 {
		w.writePicture(several)
	}
}

// draw adds a row of the current file to the picture.
func (w *benchWriter) draw(r benchRow) {
	if len(w.lines) > len(plot.Palette) {
		return // only the sums fit
	}
	if w.fresh {
		w.lines = append(w.lines, plot.Line{})
	}
	addPoint(&w.lines[len(w.lines)-1], r)
}

// addPoint adds a row to a line of the picture.
func addPoint(l *plot.Line, r benchRow) {
	pack, unpack := r.speeds()
	l.Title = fitName(printable(r.name), 20)
	l.Points = append(l.Points, plot.Point{
		Label: strconv.Itoa(r.level), Ratio: ratio(r.content, r.packed), Compress: pack, Decompress: unpack,
	})
}

// writePicture writes the picture of --svg: a line for each file, and one for the sums of several.
// If there are more files than colours, it has the sums alone.
func (w *benchWriter) writePicture(several bool) {
	a := w.app
	threads := int64(a.sched.Workers())
	p := plot.Picture{Unit: fmt.Sprintf("MB/s of content; %s, %d %s; the numbers are levels", w.pipeline,
		threads, plural(threads, "thread"))}
	if len(w.lines) < len(plot.Palette) {
		p.Lines = w.lines
	}
	if several {
		var sum plot.Line
		for _, r := range w.sums {
			if r.files > 0 {
				addPoint(&sum, r)
			}
		}
		p.Lines = append(p.Lines, sum)
	}
	for i := range p.Lines {
		p.Lines[i].Style = plot.Palette[i]
	}
	name, flags := a.cfg.bench.picture, os.O_WRONLY|os.O_CREATE|os.O_EXCL
	if a.cfg.force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if err == nil {
		_, err = f.Write(p.SVG())
		err = errors.Join(err, a.syncFile(f), f.Close())
	}
	if err != nil {
		a.fail(name, "%s", reason(err))
	}
}

// canWritePicture reports whether --svg can write its file, before a long measurement. If not, it
// prints a message.
func (a *app) canWritePicture() bool {
	name := a.cfg.bench.picture
	if name == "" {
		return true
	}
	fi, err := os.Stat(name)
	switch {
	case err == nil && fi.IsDir():
		a.fail(name, "is a directory; name a file with --svg")
		return false
	case err == nil && fi.Mode().IsRegular() && !a.cfg.force:
		a.fail(name, "already exists -- not overwritten; use -f to overwrite it")
		return false
	case err == nil:
		return true
	}
	if _, err = os.Stat(filepath.Dir(name)); err != nil {
		a.fail(filepath.Dir(name), "%s", reason(err))
		return false
	}
	return true
}
