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

// close closes all directories.
func (c *dirCache) close() {
	for _, root := range c.roots {
		root.Close()
	}
	c.roots = nil
}
