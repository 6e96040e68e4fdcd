package cli

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/simd"
)

// buildVersion returns the version of the module that this program was built from.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			return v
		}
	}
	return "(built from source)"
}

// versionText returns what -V prints, and with -L of gzip also the license.
func (c *config) versionText() string {
	text := "pz " + buildVersion() + ", .pz format version 1, kernels: " + simd.Tier()
	if c.license {
		text += "\nCopyright (c) 2026, the pz authors\n3-Clause BSD License: see the file LICENSE of pz"
	}
	return text
}

const (
	// Brief help fits into a terminal of 24 rows, of which one is for the prompt.
	briefHead = `Usage: pz [OPTION]... [FILE]...

Compress each FILE to FILE.{format}, or restore it with -d. Keep the source.
Without FILE, or where FILE is -, read standard input and write standard output.
`
	examples = `  pz access.log                    write access.log.pz
  pz -d access.log.pz              restore access.log
  pz -9 -r --rm logs               replace all files in logs by .pz files
  pz -dc *.pz | grep error         search compressed files
  pz --tar home                    write the archive home.tar.pz
  pz -x home.tar.pz home/notes     extract a file or directory of it
`
	briefTail = `Examples and all options: pz --help=all, or pz --help=man | man -l -
`
	fullHead = `Usage: pz [OPTION]... [FILE]...
       pz -x [OPTION]... ARCHIVE [PATH]...

pz compresses each FILE to FILE.pz, FILE.gz or FILE.zst, or restores it with -d.
It keeps the source unless --rm is given. Without FILE, or where FILE is -, it
reads standard input and writes standard output. Of opposite options, such as
--keep and --rm, the last one counts. Long options may be abbreviated. A SIZE or
LIMIT is a number of bytes, or a number with K, M or G for units of 1024.
`
)

// helpText returns what --help prints, with any of its values.
func (c *config) helpText() string {
	if slices.Contains(generatedHelp, c.help) {
		return generateHelp(c.help)
	}
	if c.help == helpBrief {
		return c.briefHelp()
	}
	threads := compress.NewScheduler(c.threads).Workers()
	var b strings.Builder
	b.WriteString(fullHead)
	group := ""
	for i, o := range optionTable {
		if o.group != group {
			group = o.group
			b.WriteString("\n" + group + ":\n")
		}
		writeRow(&b, o.names(), helpValues().Replace(o.text))
		if group == groupResources && optionTable[i+1].group != group {
			fmt.Fprintf(&b, "\n  Maximum memory with %d %s (-T):\n%s",
				threads, plural(int64(threads), "thread"), c.memoryTable(threads))
		}
	}
	b.WriteString("\nExamples:\n" + examples)
	return b.String()
}

// briefHelp returns what --help prints. Other formats than .pz are the default under other names of
// the program.
func (c *config) briefHelp() string {
	var b strings.Builder
	values := helpValues()
	if c.ofGzip {
		b.WriteString(gzipHelpHead)
		for _, o := range gzipOptions {
			writeRow(&b, o[0], values.Replace(o[1]))
		}
		b.WriteString(gzipHelpTail)
		return b.String()
	}
	format := c.format.String()
	own := strings.NewReplacer("{format}", format,
		"{formats}", strings.Replace("pz, gz or zst", format, format+" (default)", 1))
	b.WriteString(own.Replace(briefHead))
	for _, o := range optionTable {
		if o.brief != "" {
			writeRow(&b, o.names(), values.Replace(own.Replace(o.brief)))
		}
	}
	b.WriteString(briefTail)
	return b.String()
}

// names returns what --help shows for the option, as in "-o, --output FILE".
func (o *option) names() string {
	if o.label != "" {
		return o.label
	}
	s := "    "
	if o.short != "" {
		s = "-" + o.short + ", "
	}
	s += "--" + o.long
	if o.value != "" {
		s += " " + o.value
	}
	return s
}

// helpValues replaces the words in braces in optionTable.
func helpValues() *strings.Replacer {
	var pipelines []string
	for _, p := range bridge.Pipelines() {
		s := p.Name + " (." + p.Format.String() + ")"
		if p.Name == bridge.DefaultPipeline {
			s = p.Name + " (." + p.Format.String() + ", the default)"
		}
		pipelines = append(pipelines, s)
	}
	last := len(pipelines) - 1
	return strings.NewReplacer(
		"{level}", fmt.Sprint(compress.DefaultLevel),
		"{gzlevel}", fmt.Sprint(compress.DefaultGzipLevel),
		"{minblock}", formatSize(minBlockSize),
		"{seekable}", formatSize(seekableBlock),
		"{maxblock}", formatSize(maxBlockSize),
		"{blocks}", defaultBlocks(),
		"{readermemory}", formatSize(compress.DefaultReaderMemory),
		"{suffixes}", knownSuffixes(),
		"{devices}", strings.Join(gpu.Devices(), ", "),
		"{pipelines}", strings.Join(pipelines[:last], ", ")+" or "+pipelines[last])
}

// defaultBlocks lists the default block sizes of .pz: "1M at level 1, 2M from level 2 and 4M from
// 5".
func defaultBlocks() string {
	var list []string
	for level := 1; level <= compress.MaxLevel; level++ {
		switch size := levelBlock(level); {
		case level == 1:
			list = append(list, formatSize(size)+" at level 1")
		case levelBlock(level-1) != size:
			list = append(list, fmt.Sprint(formatSize(size), " from ", level))
		}
	}
	last := len(list) - 1
	text := strings.Join(list[:last], ", ") + " and " + list[last]
	return strings.Replace(text, " from ", " from level ", 1)
}

// levelBlock returns the default block size of .pz in bytes.
func levelBlock(level int) int64 {
	plan, err := compress.NewPlan(maxBlockSize, compress.WithLevel(level))
	if err != nil {
		panic(err) // the level is in range
	}
	return int64(plan.BlockSize())
}

// The columns of a row of help.
const (
	helpIndent = 27 // first column of the text
	helpWidth  = 80
)

// writeRow writes a name and a text that is wrapped beside it.
func writeRow(b *strings.Builder, name, text string) {
	line := "  " + name
	if len(line) > helpIndent-2 {
		b.WriteString(line + "\n")
		line = ""
	}
	line += strings.Repeat(" ", helpIndent-len(line))
	empty := true
	for word := range strings.FieldsSeq(text) {
		if !empty && len(line)+1+len(word) > helpWidth {
			b.WriteString(line + "\n")
			line, empty = strings.Repeat(" ", helpIndent), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	b.WriteString(line + "\n")
}

func (a *app) printHelp() error {
	a.setTarget(-1)
	_, err := a.stdout.WriteString(a.cfg.helpText())
	return err
}
