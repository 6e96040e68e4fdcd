package blockcache

import (
	"slices"
	"testing"
)

// TestClose checks that Close closes idle loaders at once and those of held entries at Release,
// wakes waiting callers, and leaves nothing of the file in the Cache.
func TestClose(t *testing.T) {
	for _, blocks := range []int{0, 8} {
		d, f := newDisk(blocks, 2)
		other := &disk{id: 1, blocks: 10}
		g := f.cache.File(1, other)
		use(t, g, 7)
		use(t, f, 8, 9)
		held, _, _ := f.Get(1, true)
		second, _, _ := f.Get(2, true)
		got := make(chan error)
		go func() {
			_, _, err := f.Get(3, true)
			got <- err
		}()
		await(f, 1)
		f.Close()
		if err := <-got; err != ErrClosed {
			t.Errorf("Get that waits: %v, want ErrClosed", err)
		}
		if !f.Closed() || d.closed != 0 {
			t.Errorf("Closed() = %v, %d loaders closed, want true and 0", f.Closed(), d.closed)
		}
		if p, err := content(held); err != nil || !d.has(p, 1) {
			t.Errorf("content of a held entry: %v", err)
		}
		f.Release(held)
		f.Release(second) // still loading
		if d.closed != 2 || !slices.Equal(d.canceled, []int64{2}) {
			t.Errorf("%d loaders closed, loads of %v canceled, want 2 and [2]", d.closed, d.canceled)
		}
		if _, _, err := f.Get(1, true); err != ErrClosed {
			t.Errorf("Get: %v, want ErrClosed", err)
		}
		n := 0
		f.Loaders(func(Loader[[]byte]) { n++ })
		if n != 2 {
			t.Errorf("Loaders visits %d loaders, want 2", n)
		}
		if s := f.cache.Stats(); s.Bytes != int64(min(1, blocks))*size {
			t.Errorf("%d bytes are left, want those of the other file's block", s.Bytes)
		}
		other.loaded()
		use(t, g, 7)
		checkLoads(t, other, "block of the other file")
		g.Close()
		for _, q := range []*queue[[]byte]{&f.cache.fresh, &f.cache.main, &f.cache.ghosts} {
			if q.oldest != nil || q.newest != nil || q.bytes != 0 {
				t.Errorf("a queue has %d bytes in the end", q.bytes)
			}
		}
	}
}
