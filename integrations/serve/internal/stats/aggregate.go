package stats

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// A Sum has the last snapshot of each of several runs, and their sum.
type Sum struct {
	Runs  []*Snapshot `json:"runs"` // by ID
	Total *Snapshot   `json:"total"`
}

// ReadRuns reads the snapshots in files and directories, and keeps the last one of each run. Other
// files of a directory are passed over.
func ReadRuns(paths []string) ([]*Snapshot, error) {
	last := map[string]*Snapshot{}
	for _, path := range paths {
		files, err := snapshotFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			s, err := readSnapshot(file)
			if err != nil {
				return nil, err
			}
			if old := last[s.Run.ID]; old == nil || s.Number > old.Number {
				last[s.Run.ID] = s
			}
		}
	}
	if len(last) == 0 {
		return nil, fmt.Errorf("no snapshots in %s", strings.Join(paths, ", "))
	}
	var runs []*Snapshot
	for _, s := range last {
		runs = append(runs, s)
	}
	slices.SortFunc(runs, func(a, b *Snapshot) int { return strings.Compare(a.Run.ID, b.Run.ID) })
	return runs, nil
}

// snapshotName matches the names that Profile gives to snapshots.
var snapshotName = regexp.MustCompile(`\.\d{6,}\.json$`)

// snapshotFiles returns the snapshots in a directory, or the file.
func snapshotFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && snapshotName.MatchString(name) {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// Add adds up runs. top is how many blocks and files the sum has.
func Add(runs []*Snapshot, top int) *Sum {
	total := &Snapshot{Format: Format, Kind: "sum"}
	for _, s := range runs {
		total.addSnapshot(s)
		if s.Taken.After(total.Taken) {
			total.Taken = s.Taken
		}
	}
	total.Blocks, total.Files = merge(total.Blocks, top), merge(total.Files, top)
	return &Sum{runs, total}
}

// Write writes the sum to the files sum.json and summary.md in dir, which must have neither.
func (s *Sum) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{"summary.md", []byte(s.Summary())}, {"sum.json", append(text, '\n')}} {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists; name another directory", path)
		}
		if err := replaceFile(path, f.text); err != nil {
			return err
		}
	}
	return nil
}

// Summary returns the sum as Markdown.
func (s *Sum) Summary() string {
	var b strings.Builder
	t := s.Total
	fmt.Fprintf(&b, "# pzserve: %s\n\n", english.Plural(len(s.Runs), "run", ""))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, fmt.Sprintf(format, args...))
	}
	b.WriteString("| all runs | |\n|---|--:|\n")
	line("requests", "%d", t.Requests.Total())
	line("failed by the server (5xx, cut)", "%d", failures(t))
	line("sent", "%s", size(t.Requests.Bytes))
	line("time of a request, median", "%s", quantile(&t.Requests.Time, 0.5))
	line("time of a request, 99%", "%s", quantile(&t.Requests.Time, 0.99))
	line("cache hits", "%s", percent(t.Cache.Hits, t.Cache.Hits+t.Cache.Misses))
	line("decompressed", "%s in %d blocks", size(t.Decode.Bytes), t.Decode.Items)
	line("decompression, worker time", "%s", short(t.Decode.Time))
	line("read of stored files", "%s in %d reads", size(t.Stored.Bytes), t.Stored.Items)
	line("waits for memory", "%d, %s", t.Waits.Count, short(t.Waits.Time))
	b.WriteString("\n| run | host | mode | up | last snapshot | requests | failed | sent | hits |" +
		" memory |\n" +
		"|---|---|---|--:|---|--:|--:|--:|--:|--:|\n")
	for _, r := range s.Runs {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %d | %s | %s | %s |\n",
			r.Run.ID, r.Run.Host, r.Run.Mode, short(r.Uptime), r.Kind, r.Requests.Total(),
			failures(r), size(r.Requests.Bytes), percent(r.Cache.Hits, r.Cache.Hits+r.Cache.Misses),
			size(r.Process.Memory))
	}
	if len(t.Errors) > 0 {
		b.WriteString("\n| error | requests |\n|---|--:|\n")
		for _, reason := range sortedKeys(t.Errors) {
			line(reason, "%d", t.Errors[reason])
		}
	}
	costTable(&b, "file", "requests", t.Files)
	costTable(&b, "block", "loads", t.Blocks)
	if n := t.Log.Dropped; n > 0 {
		fmt.Fprintf(&b, "\nThe full logs lack %d rows, because they had reached their size.\n", n)
	}
	return b.String()
}

func costTable(b *strings.Builder, key, count string, list []Cost) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s | time | at most too high by | %s | bytes |\n|---|--:|--:|--:|--:|\n", key, count)
	for _, c := range list {
		name := strings.NewReplacer("|", `\|`, "\n", " ").Replace(c.Key)
		fmt.Fprintf(b, "| %s | %s | %s | %d | %s |\n", name, short(c.Time), short(c.Over), c.Count,
			size(c.Bytes))
	}
}

func failures(s *Snapshot) (n int64) {
	for status, k := range s.Requests.ByStatus {
		if strings.HasPrefix(status, "5") {
			n += k
		}
	}
	return n + s.Requests.Cut
}

func sortedKeys(m map[string]int64) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	return keys
}

func quantile(h *Histogram, q float64) string {
	if bound, ok := h.Quantile(q); ok {
		return "at most " + bound.String()
	}
	return "-"
}

func percent(part, all int64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(all))
}

func size(n int64) string { return humanize.Bytes(uint64(max(0, n))) }

func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.String()
}
