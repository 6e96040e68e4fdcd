package cli

import (
	"slices"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/cli/internal/foreign"
)

// suffixes lists the suffixes of compressed files, what replaces them in the name of the restored
// file, and their formats.
var suffixes = []struct {
	packed, content string
	format          compress.Format
}{
	{".pz", "", compress.PZ},
	{".gz", "", compress.Gzip},
	{".zst", "", compress.Zstd},
	{"-gz", "", compress.Gzip},
	{".tgz", ".tar", compress.Gzip},
	{".tzst", ".tar", compress.Zstd},
}

// oldGzipSuffixes lists suffixes that only gzip takes for those of compressed files.
var oldGzipSuffixes = []string{".z", "-z", "_z"}

// suffix returns the suffix that a compressed file gets.
func (c *config) suffix() string {
	if c.ownSuffix != "" {
		return c.ownSuffix
	}
	return "." + c.format.String()
}

// splitSuffix returns the name of the content of a compressed file, and the suffix of the file. As
// in gzip the suffix of -S comes first, unless it is the end of another one, and the others stay
// valid. ok is false if the name has no known suffix or consists of one alone.
func (c *config) splitSuffix(name string) (content, suffix string, ok bool) {
	content, suffix, ok = c.splitKnownSuffix(name)
	own := c.ownSuffix
	if stem, owned := foreign.CutSuffix(name, own); owned && own != "" && len(own) >= len(suffix) {
		return stem, own, true
	}
	return content, suffix, ok
}

// splitKnownSuffix is splitSuffix without -S.
func (c *config) splitKnownSuffix(name string) (content, suffix string, ok bool) {
	if c.ofGzip {
		for _, suffix := range oldGzipSuffixes {
			if stem, ok := foreign.CutSuffix(name, suffix); ok {
				return stem, suffix, true
			}
		}
	}
	for _, s := range suffixes {
		if stem, ok := foreign.CutSuffix(name, s.packed); ok {
			return stem + s.content, s.packed, true
		}
	}
	return "", "", false
}

// suffixFormat returns the format that the suffix of name stands for, or the default.
func suffixFormat(name string) compress.Format {
	for _, s := range suffixes {
		if _, ok := foreign.CutSuffix(name, s.packed); ok {
			return s.format
		}
	}
	return compress.PZ
}

// otherSuffixes returns suffixes of formats that pz does not write, in lower case.
func otherSuffixes() []string {
	list := []string{".zip", ".7z"}
	for _, s := range foreign.Suffixes() {
		list = append(list, strings.ToLower(s))
	}
	return list
}

// misnames reports whether the suffix of name stands for another format than the one that is
// written. Case makes no difference.
func (c *config) misnames(name string) bool {
	if _, ok := foreign.CutSuffix(name, c.ownSuffix); ok && c.ownSuffix != "" {
		return false
	}
	name = strings.ToLower(name)
	for _, s := range suffixes {
		if stem, ok := strings.CutSuffix(name, s.packed); ok && stem != "" {
			return s.format != c.format
		}
	}
	return slices.ContainsFunc(otherSuffixes(), func(suffix string) bool {
		stem, ok := strings.CutSuffix(name, suffix)
		return ok && stem != ""
	})
}

// knownSuffixes returns the suffixes of compressed files, separated by spaces.
func knownSuffixes() string {
	var list []string
	for _, s := range suffixes {
		list = append(list, s.packed)
	}
	return strings.Join(list, " ")
}

// usualResult returns the name of the result of a file unless -N gives it another one, "" if there
// is none.
func (c *config) usualResult(base string) string {
	if c.mode == modeCompress {
		return base + c.suffix()
	}
	content, _, ok := c.splitSuffix(base)
	if f, stem, _ := foreign.BySuffix(base); !ok && f != nil {
		return stem
	}
	return content
}

// resultName returns the name of the result: the source's name with the suffix added or removed, or
// the name that the source stores if -N wants it. It reports false, with a warning, if there is
// none.
func (a *app) resultName(e entry, in *source) (string, bool) {
	if a.cfg.mode == modeIndex {
		return e.base + indexSuffix, true
	}
	name := a.cfg.usualResult(e.base)
	if a.cfg.mode == modeCompress {
		if _, suffix, ok := a.cfg.splitSuffix(e.base); ok && !a.cfg.force {
			a.warn(e.path, "already has suffix %s -- not compressed; use -f to compress it again",
				suffix)
			return "", false
		}
		return name, true
	}
	switch {
	case in.stored.name != "":
		return in.stored.name, true
	case name != "":
		return name, true
	}
	_, ok := in.format()
	if ok || in.foreignFormat() != nil {
		a.warn(e.path, "has an unknown suffix -- ignored; name the result with -o FILE or use -c")
	} else if format, tool := a.recognize(in); format != "" {
		a.fail(e.path, "is %s data; use %s", format, tool) // as with -c
	} else if isTar(in) {
		a.warn(e.path, "is an uncompressed tar archive -- ignored; use tar -xf")
	} else {
		a.warn(e.path, "%s and has no suffix of such data -- ignored", unknownFormat)
	}
	return "", false
}
