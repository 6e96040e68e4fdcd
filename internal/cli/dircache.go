package cli

import (
	"os"
	"sync"
)

// dirCache holds directories that the jobs of a batch share, so that each is opened and synced
// once.
type dirCache struct {
	mu    sync.Mutex
	roots map[string]*os.Root // by path
}

// get returns the directory with a path. The first call opens it by calling open.
func (c *dirCache) get(path string, open func() (*os.Root, error)) (*os.Root, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if root := c.roots[path]; root != nil {
		return root, nil
	}
	root, err := open()
	if err != nil {
		return nil, err
	}
	if c.roots == nil {
		c.roots = make(map[string]*os.Root)
	}
	c.roots[path] = root
	return root, nil
}

// find returns the directory with a path if it is open, or nil.
func (c *dirCache) find(path string) *os.Root { return c.roots[path] }

// count returns how many directories are open.
func (c *dirCache) count() int { return len(c.roots) }

// close closes all directories.
func (c *dirCache) close() {
	for _, root := range c.roots {
		root.Close()
	}
	c.roots = nil
}

// closeHalf closes every second directory, whichever these are, but not the one with the path keep.
// So some directories on the way down to keep stay open, the more the deeper.
func (c *dirCache) closeHalf(keep string) {
	n := 0
	for path, root := range c.roots {
		n++
		if n%2 == 0 && path != keep {
			root.Close()
			delete(c.roots, path)
		}
	}
}
