package cli

import "strings"

// suffixes are what names of compressed files end with, and what a restored file has in its place.
var suffixes = []struct{ packed, content string }{
	{".pz", ""}, {".gz", ""}, {".zst", ""}, {".tgz", ".tar"}, {".tzst", ".tar"},
}

// suffix is what the name of a compressed file gets.
func (c *config) suffix() string {
	if c.ownSuffix != "" {
		return c.ownSuffix
	}
	return "." + c.format
}

// packedName says whether a name ends as those of compressed files do, with what, and which name the content has. As with gzip the suffix of -S comes first,
// and does not make the others unknown. A name that is nothing but a suffix is none of them.
func (c *config) packedName(name string) (content, suffix string, ok bool) {
	if c.ownSuffix != "" {
		if stem, ok := strings.CutSuffix(name, c.ownSuffix); ok && stem != "" {
			return stem, c.ownSuffix, true
		}
	}
	for _, s := range suffixes {
		if stem, ok := strings.CutSuffix(name, s.packed); ok && stem != "" {
			return stem + s.content, s.packed, true
		}
	}
	return "", "", false
}

// outputName makes the name of the result from the name of the source, or takes the one that -N finds in it.
func (a *app) outputName(e entry, in *source) (string, bool) {
	content, suffix, ok := a.cfg.packedName(e.base)
	if a.cfg.mode == modeCompress {
		if ok && !a.cfg.force {
			a.warn(e.path, "already has %s suffix -- unchanged (-f compresses it again)", suffix)
			return "", false
		}
		return e.base + a.cfg.suffix(), true
	}
	switch {
	case in.origin.name != "":
		return in.origin.name, true
	case ok:
		return content, true
	}
	head := in.beginning()
	if form, tool := recognize(head); form != "" {
		a.warn(e.path, "is %s data -- ignored (use %s)", form, tool)
	} else if isTar(in) {
		a.warn(e.path, "is a tar archive that is not compressed -- ignored (use tar -xf)")
	} else if formatOf(head) == "" {
		a.warn(e.path, "%s, and has another suffix -- ignored", notPacked)
	} else {
		a.warn(e.path, "unknown suffix -- ignored (-o FILE or -c says where to put the result)")
	}
	return "", false
}

// knownSuffixes lists the suffixes for a sentence.
func knownSuffixes() string {
	var list []string
	for _, s := range suffixes {
		list = append(list, s.packed)
	}
	return strings.Join(list, " ")
}
