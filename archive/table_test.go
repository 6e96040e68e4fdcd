package archive

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// TestTable compares the table with a simple one for random names.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "a!", "a.b", "A", "ab", "-", "ä", "\x01"}
	for range 300 {
		var tab table
		files := map[string]int64{}
		dirs := map[string]bool{}
		for i := range r.IntN(60) {
			var p []string
			for range 1 + r.IntN(4) {
				p = append(p, parts[r.IntN(len(parts))])
			}
			name := strings.Join(p, "/")
			tab.entries = append(tab.entries, entry{name: tab.text(name), size: int64(i)})
			files[name] = int64(i)
			for d := path.Dir(name); d != "."; d = path.Dir(d) {
				dirs[d] = true
			}
		}
		if err := tab.complete(); err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		children := map[string][]string{}
		for _, names := range []map[string]bool{dirs, keys(files)} {
			for name := range names {
				if !all[name] {
					all[name] = true
					children[path.Dir(name)] = append(children[path.Dir(name)], name)
				}
			}
		}
		if len(tab.entries) != len(all) {
			t.Fatalf("%d entries, want %d", len(tab.entries), len(all))
		}
		check := func(dir string, number int) {
			slices.Sort(children[dir])
			var got []string
			for _, k := range tab.children(number) {
				got = append(got, tab.get(tab.entries[k].name))
			}
			if !slices.Equal(got, children[dir]) {
				t.Fatalf("%s has %q, want %q", dir, got, children[dir])
			}
		}
		check(".", rootNumber)
		for name := range all {
			i, ok := tab.find([]byte(name))
			if !ok || tab.get(tab.entries[i].name) != name {
				t.Fatalf("find %q: %d, %v", name, i, ok)
			}
			e := &tab.entries[i]
			if e.mode.IsDir() != dirs[name] || !dirs[name] && e.size != files[name] {
				t.Fatalf("%q: %+v", name, e)
			}
			check(name, i)
		}
	}
	if n := unsafe.Sizeof(entry{}); n != entryMemory {
		t.Errorf("an entry has %d bytes, not %d", n, entryMemory)
	}
}

func keys(m map[string]int64) map[string]bool {
	k := map[string]bool{}
	for name := range m {
		k[name] = true
	}
	return k
}
