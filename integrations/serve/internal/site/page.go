package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/gopz/compress/integrations/serve/internal/source"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageRows is the most rows of a page.
const pageRows = 1000

// page is what the template shows.
type page struct {
	Title    string
	Path     []crumb
	Summary  string
	Columns  []column
	Rows     []row
	Packed   bool // some sizes are those of stored files
	Previous string
	Next     string
}

// crumb is an element of the path of a page.
type crumb struct{ Name, Link string }

// column is the head of a column. Its Order is as in the attribute aria-sort.
type column struct{ Name, Class, Link, Order, Arrow string }

// row is a file or directory.
type row struct {
	Name, Link  string // no link: it cannot be opened
	Dir         bool
	Size, Exact string
	Stored      string // the format, if Size is that of the stored file
	Time        string

	bytes int64
	when  time.Time
}

// sourcesPage lists the sources.
func (h *Handler) sourcesPage(x *response, r *http.Request) error {
	p := &page{
		Title: "pzserve", Path: []crumb{{Name: "pzserve"}},
		Summary: english.Plural(len(h.Set.Sources), "source", ""),
		Columns: []column{{Name: "Name", Class: "name"}, {Name: "Kind", Class: "size"}},
	}
	for _, s := range h.Set.Sources {
		p.Rows = append(p.Rows, row{Name: s.Name, Link: link(s.Name, true), Dir: true, Size: s.Kind})
	}
	return h.send(x, r, p)
}

// directoryPage lists a directory.
func (h *Handler) directoryPage(x *response, r *http.Request, v *source.View, name string) error {
	if err := h.builds.Acquire(r.Context(), 1); err != nil {
		return err
	}
	p, err := h.directory(r, v, name)
	h.builds.Release(1)
	if err != nil {
		return err
	}
	return h.send(x, r, p)
}

// directory makes the page of a directory.
func (h *Handler) directory(r *http.Request, v *source.View, name string) (*page, error) {
	list, err := v.ReadDir(name)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	number, err := strconv.Atoi(q.Get("page"))
	pages := max(1, (len(list)+pageRows-1)/pageRows)
	if err != nil || number < 1 || number > pages {
		number = 1
	}
	order := q.Get("sort")
	if pages > 1 {
		order = "" // it would take to look at all files
	}
	begin := (number - 1) * pageRows
	p := &page{Path: h.crumbs(v, name), Summary: english.Plural(len(list), "entry", "")}
	if len(list) == 0 {
		p.Summary = "This directory is empty."
	}
	if pages > 1 {
		p.Summary = fmt.Sprintf("%s, page %d of %d", p.Summary, number, pages)
	}
	p.Title = p.Path[len(p.Path)-1].Name
	for _, e := range list[begin:min(begin+pageRows, len(list))] {
		p.Rows = append(p.Rows, entryRow(v, path.Join(name, e.Name())))
	}
	for i := range p.Rows {
		p.Packed = p.Packed || p.Rows[i].Stored != ""
	}
	sortRows(p.Rows, order)
	p.Columns = columns(order, pages == 1 && len(list) > 1)
	if number > 1 {
		p.Previous = "?page=" + strconv.Itoa(number-1)
	}
	if number < pages {
		p.Next = "?page=" + strconv.Itoa(number+1)
	}
	return p, nil
}

// entryRow describes a file or directory.
func entryRow(v *source.View, name string) row {
	e := row{Name: printable(path.Base(name)), Size: "not readable"}
	info, err := v.Lookup(name)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return e
	}
	e.Dir, e.when, e.bytes = info.IsDir(), info.ModTime(), info.Size()
	e.Link = link(path.Base(name), e.Dir)
	e.Size, e.Exact = humanize.Bytes(uint64(info.Size())), exactSize(info.Size())
	if e.Dir {
		e.Size, e.Exact, e.bytes = "", "", -1
	} else if stored, _, ok := v.Stored(name); ok {
		e.Stored = strings.TrimPrefix(path.Ext(stored), ".")
	}
	if !e.when.IsZero() && e.when.Unix() != 0 {
		e.Time = e.when.UTC().Format("2006-01-02 15:04")
	}
	return e
}

// crumbs returns the way to a directory.
func (h *Handler) crumbs(v *source.View, name string) []crumb {
	var names []string
	if h.single == nil {
		names = append(names, "pzserve")
	}
	names = append(names, v.Name())
	if name != "." {
		names = append(names, strings.Split(name, "/")...)
	}
	list := make([]crumb, len(names))
	for i, n := range names {
		list[i].Name = printable(n)
		if up := len(names) - 1 - i; up > 0 {
			list[i].Link = strings.Repeat("../", up)
		}
	}
	return list
}

// orders compares rows. Their names are values of the parameter sort; a "-" before it is the other
// way round.
var orders = map[string]func(a, b row) int{
	"name": func(a, b row) int { return strings.Compare(a.Name, b.Name) },
	"size": func(a, b row) int { return cmp.Compare(a.bytes, b.bytes) },
	"time": func(a, b row) int { return a.when.Compare(b.when) },
}

// sortRows sorts rows. Without an order of the client directories come first.
func sortRows(rows []row, order string) {
	name, down := strings.CutPrefix(order, "-")
	compare := orders[name]
	if compare == nil {
		compare, down = func(a, b row) int {
			switch {
			case a.Dir == b.Dir:
				return 0
			case a.Dir:
				return -1
			}
			return 1
		}, false
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if down {
			a, b = b, a
		}
		return compare(a, b)
	})
}

// columns returns the heads of the columns. With links they sort.
func columns(order string, links bool) []column {
	list := []column{
		{Name: "Name", Class: "name"}, {Name: "Size", Class: "size"}, {Name: "Modified (UTC)", Class: "time"},
	}
	if !links {
		return list
	}
	for i := range list {
		c := &list[i]
		c.Link = "?sort=" + c.Class
		switch order {
		case c.Class:
			c.Link, c.Order, c.Arrow = "?sort=-"+c.Class, "ascending", " ↑"
		case "-" + c.Class:
			c.Order, c.Arrow = "descending", " ↓"
		}
	}
	return list
}

// send sends a page, compressed unless too many are being compressed. Its tag lets clients ask
// whether it has changed.
func (h *Handler) send(x *response, r *http.Request, p *page) error {
	text, err := p.render(x.Header())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	x.Header().Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	r = r.WithContext(context.WithValue(r.Context(), pageKey{}, text))
	if !h.packs.TryAcquire(1) {
		sendPage(x, r)
		return nil
	}
	defer h.packs.Release(1)
	h.packed.ServeHTTP(x, r)
	return nil
}

// render returns the HTML of a page, and sets the header for it.
func (p *page) render(header http.Header) ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, err
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	header.Set("X-Content-Type-Options", "nosniff")
	return b.Bytes(), nil
}

// pageKey is the key of the text of a page in the context of its request.
type pageKey struct{}

func sendPage(w http.ResponseWriter, r *http.Request) {
	text := r.Context().Value(pageKey{}).([]byte)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// link returns a relative link to an entry of the directory.
func link(name string, dir bool) string {
	if dir {
		name += "/"
	}
	return (&url.URL{Path: "./" + name}).String()
}

// printable returns a name without control characters.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != ' ' {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

func exactSize(n int64) string { return fmt.Sprintf("%d bytes", n) }
