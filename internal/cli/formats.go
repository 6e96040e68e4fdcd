package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gopz/compress"
)

// formatOf names the format of a file that begins with head; "" is one that pz does not know.
func formatOf(head []byte) string {
	switch {
	case isPZ(head):
		return "pz"
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		return "gz"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")), len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18":
		return "zst" // also one that begins with any of the 16 sorts of frames that are skipped
	}
	return ""
}

// isPZ looks at the version byte, too, if there is one, because a text may well begin with PZ; versions stay below the control
// characters that texts contain.
func isPZ(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PZ")) && (len(head) < 3 || head[2] < '\t')
}

// notPacked is said of data that pz does not restore.
const notPacked = "is not .pz, .gz or .zst data"

// formatNames lists the formats that pz writes, each of which is also the suffix of its files. The default is the first.
func formatNames() (names []string) {
	for _, p := range compress.Pipelines() {
		switch {
		case slices.Contains(names, p.Format):
		case p.Name == compress.DefaultPipeline:
			names = slices.Insert(names, 0, p.Format)
		default:
			names = append(names, p.Format)
		}
	}
	return names
}

// pipelineOf is the pipeline that writes a format if nobody asks for another one.
func pipelineOf(format string) string {
	found := ""
	for _, p := range compress.Pipelines() {
		if p.Format == format && (found == "" || p.Name == compress.DefaultPipeline) {
			found = p.Name
		}
	}
	return found
}

// chooseFormat makes one of -p and --format, and tells of a mistyped name before any file is touched.
func (c *config) chooseFormat() error {
	c.format = strings.TrimPrefix(c.format, ".")
	formats := formatNames()
	switch {
	case c.format != "" && !slices.Contains(formats, c.format):
		return fmt.Errorf("--format %s: the formats are %s", printable(c.format), strings.Join(formats, ", "))
	case c.pipeline == "" && c.format == "":
		c.pipeline = compress.DefaultPipeline
	case c.pipeline == "":
		c.pipeline = pipelineOf(c.format)
	}
	var pipelines []string
	for _, p := range compress.Pipelines() {
		if p.Name != c.pipeline {
			pipelines = append(pipelines, p.Name)
			continue
		}
		if c.format != "" && c.format != p.Format {
			return fmt.Errorf("-p %s writes .%s files, which --format %s contradicts", p.Name, p.Format, c.format)
		}
		c.format = p.Format
		return nil
	}
	hint := ""
	if slices.Contains(formats, c.pipeline) {
		hint = "; did you mean --format " + c.pipeline + "?"
	}
	return fmt.Errorf("no pipeline is called %q; there are %s%s", c.pipeline, strings.Join(pipelines, ", "), hint)
}

// checkBlockSize tells of blocks that the format has no room for.
func (c *config) checkBlockSize() error {
	if _, err := compress.WriterMemory(compress.WithPipeline(c.pipeline), compress.WithBlockSize(c.blockSize)); err != nil {
		return fmt.Errorf("-B: %s", libraryReason(err))
	}
	return nil
}
