package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopz/compress"
)

// formatOf returns the format of a file that begins with head: "pz", "gz", "zst", or "" if unknown.
func formatOf(head []byte) string {
	switch {
	case isPZ(head):
		return "pz"
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		return "gz"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")), isSkippableFrame(head):
		return "zst"
	}
	return ""
}

// isPZ also checks the version byte, if there is one, because a text may begin with PZ. Version
// numbers stay below the control characters of texts.
func isPZ(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PZ")) && (len(head) < 3 || head[2] < '\t')
}

// isSkippableFrame recognizes the 16 magic numbers of skippable frames (RFC 8878, section 3.1.2).
func isSkippableFrame(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// formatAliases maps further values of --format to formats.
var formatAliases = map[string]string{"gzip": "gz", "zstd": "zst"}

// formatNames lists the formats that pz writes, the default first. Each is also a suffix of files.
func formatNames() (names []string) {
	for _, p := range compress.Pipelines() {
		switch {
		case slices.Contains(names, p.Format.String()):
		case p.Name == compress.DefaultPipeline:
			names = slices.Insert(names, 0, p.Format.String())
		default:
			names = append(names, p.Format.String())
		}
	}
	return names
}

// pipelineOf returns the default pipeline of a format.
func pipelineOf(format string) string {
	found := ""
	for _, p := range compress.Pipelines() {
		if p.Format.String() == format && (found == "" || p.Name == compress.DefaultPipeline) {
			found = p.Name
		}
	}
	return found
}

// chooseFormat sets format and pipeline from --format, -p and the suffix of -o.
func (c *config) chooseFormat() error {
	if err := c.setFormat(); err != nil {
		return err
	}
	switch {
	case c.pipeline != "":
	case c.format != "":
		c.pipeline = pipelineOf(c.format)
	default:
		c.pipeline = compress.DefaultPipeline
	}
	var names []string
	for _, p := range compress.Pipelines() {
		if p.Name != c.pipeline {
			names = append(names, p.Name)
			continue
		}
		if c.format != "" && c.format != p.Format.String() {
			return fmt.Errorf("-p %s writes .%s files; use it without --format %s",
				p.Name, p.Format.String(), c.format)
		}
		c.format = p.Format.String()
		return nil
	}
	hint := ""
	if f := canonicalFormat(c.pipeline); slices.Contains(formatNames(), f) {
		hint = "; did you mean --format " + f + "?"
	}
	return fmt.Errorf("-p %s: the pipelines are %s%s",
		printable(c.pipeline), strings.Join(names, ", "), hint)
}

// setFormat replaces an alias in format. Without --format and -p it takes the format from the
// suffix of -o.
func (c *config) setFormat() error {
	if c.format == "" && c.pipeline == "" && c.mode == modeCompress {
		c.format = suffixFormat(filepath.Base(c.output))
	}
	c.format = canonicalFormat(c.format)
	if names := formatNames(); c.format != "" && !slices.Contains(names, c.format) {
		return fmt.Errorf("--format %s: the formats are %s",
			printable(c.format), strings.Join(names, ", "))
	}
	return nil
}

// canonicalFormat returns the format that a value of --format means. It leaves unknown values as
// they are.
func canonicalFormat(name string) string {
	name = strings.TrimPrefix(name, ".")
	if f, ok := formatAliases[name]; ok {
		return f
	}
	return name
}

// checkBlockSize rejects a block size that the format does not allow.
func (c *config) checkBlockSize() error {
	_, err := compress.WriterMemory(
		compress.WithPipeline(c.pipeline), compress.WithBlockSize(c.blockSize))
	if err != nil {
		return fmt.Errorf("-B: %s", libraryReason(err))
	}
	return nil
}
