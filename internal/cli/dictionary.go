package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopz/compress"
)

// maxDictionary is the largest dictionary in bytes, that of the library.
const maxDictionary = 32 << 20

// loadDictionary reads the dictionary of -D. It returns false, with a message, if it cannot be
// used.
func (a *app) loadDictionary() bool {
	if a.cfg.dictionary == "" {
		return true
	}
	p, err := readDictionary(a.cfg.dictionary)
	if err == nil {
		a.dictionary, err = compress.NewDictionary(p)
	}
	if a.cfg.deep {
		a.deepDictionary = p
	}
	switch {
	case err == nil:
		return true
	case !errors.Is(err, compress.ErrCorrupt):
		a.fail(a.cfg.dictionary, "%s", reason(err))
	default:
		a.fail(a.cfg.dictionary, "%s", a.withDetails("is a damaged dictionary", err))
	}
	return false
}

// readDictionary reads a file that has the size of a dictionary.
func readDictionary(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := io.ReadAll(io.LimitReader(f, maxDictionary+1))
	switch {
	case len(p) > maxDictionary:
		return nil, fmt.Errorf("is larger than %s, so it is no dictionary", formatSize(maxDictionary))
	case err == nil && len(p) == 0:
		return nil, errors.New("is empty, so it is no dictionary")
	}
	return p, err
}

// checkDictionary rejects -D for formats without dictionaries.
func (c *config) checkDictionary() error {
	if c.dictionary != "" && c.compresses() && c.format == compress.Gzip {
		return errors.New("-D is for .pz and .zst files, not for .gz files")
	}
	return nil
}
