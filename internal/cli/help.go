package cli

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/gopz/compress"
)

// programMemory is what the program takes besides the blocks and workers that the library counts: code, stacks and
// the reserve of the Go runtime. It was measured as the largest resident size of small runs, and rounded up.
const programMemory = 32 << 20

func versionText() string {
	version := "(built from source)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	return "pz " + version + ", .pz format version 1, kernels: " + compress.Kernels()
}

const usageText = `Usage: pz [OPTION]... [FILE]...

Compresses each FILE to FILE.pz (or FILE.gz, FILE.zst), or restores it with -d. The source is kept unless --rm is given.
Without FILE, or where FILE is -, pz reads standard input and writes standard output.

What to do (the last one given counts):
  -z, --compress           compress; the default
  -d, --decompress         restore; the content of FILE says whether it is .pz, .gz or .zst
  -t, --test               check that files can be restored, write nothing
  -l, --list               say what is in files, from their index; .gz, and frames of .zst that do not say how much
                           they hold, are decompressed for that
      --json               with -l: as a JSON array, for each file an object with name, format, streams, blocks,
                           block_size, compressed, uncompressed, ratio, check, seekable, pipeline; sizes are in bytes.
                           Blocks of .gz are its members, blocks of .zst its frames. For a name that is not UTF-8,
                           name shows the wrong bytes as U+FFFD, and name_base64 has all of it in base64
      --recover            write all that is intact of a damaged FILE to -o FILE or -c, and say what is lost: of .pz,
                           and of .zst whose frames say how much they hold, as those that pz makes do
      --zero-fill          with --recover: put zeros where content is lost

How to compress:
  -1 ... -9, --level N     level: 1 (--fast) is fastest, 9 (--best) is densest; default %[1]d
  -a, --auto               for each block, look at a sample and take settings that suit it better than the
                           level's, if there are some: programs, images, sounds, numbers and data without
                           repeats become smaller, prose and markup hardly. Looking takes about a tenth of the
                           time, a third at -1 and -2, more for small files. Other settings may take more: at
                           -5 and -6 images and sounds take several times as long to compress, and two to three
                           times to restore; entropy coding of those is the CPU's, whatever --backend says
      --trial              the same by trying all settings on a larger sample: a little smaller again, a third
                           to three quarters slower than without. Of --auto and --trial the last one counts
      --format FORMAT      pz, the default; gz for every gzip to read, zst for every zstd
  -p, --pipeline NAME      %[2]s
  -B, --block-size SIZE    a power of two from %[3]s to %[4]s; without it the level's.
                           Larger blocks often compress better, but take more memory, also to restore. A file of fewer
                           blocks than threads does not keep all of them busy: those of .pz have 1 MiB up to -3, 2 MiB
                           at -4, 4 MiB at -5 to -7, 8 MiB at -8, 16 MiB at -9
  -n, --no-name            .gz: do not store name and time of FILE; with -d, the default: do not use them
  -N, --name               .gz: store them, the default; with -d: give the result the name and time in FILE
      --no-check           leave out the checks of the content (.gz: never); with -d, -t: do not compare them (not
                           with -d --rm)

Where to:
  -c, --stdout             write to standard output
  -o, --output FILE        write to FILE (one input only); a device or pipe is written as it is
  -S, --suffix .SUF        use .SUF, as it is given, dot and all, instead of %[5]s
  -r, --recursive          work on all files in the directories given, and below them; with -d, -t, -l only on those
                           that have a suffix of compressed files (%[10]s), else only on those
                           that have none
  -f, --force              do what is refused otherwise:
                             overwrite files, follow symbolic links,
                             compress files that have such a suffix already,
                             write compressed data to a terminal, and read it from there,
                             with --rm: remove one of several names (hard links) of a file,
                             with -dc: pass on unchanged what is not compressed by pz, gzip or zstd
  -k, --keep               keep the source; the default
      --rm                 remove the source once the result is safely on the disk; never when the result went to
                           standard output, a device or a pipe

How to run:
  -T, --threads N          use N threads; 0, the default, is for all processors
  -M, --memory LIMIT       memory for blocks and workers; fewer blocks are worked on at a time to keep to it.
                           Without it: no limit to compress, %[6]s to restore, and frames of .zst
                           with a window of more than 128 MiB (zstd --long=28 and up) are refused
      --backend BACKEND    where matching and entropy coding run: auto (on a GPU if there is one and that pays),
                           cpu or gpu; or two, one for each: cpu,gpu. The result is the same. Default auto.
                           fused is gpu with a whole block in one go, where that is possible: .pz at levels 5 and 6.
                           Matching runs on a GPU at levels 5 and 6, for .gz at 7 too, entropy coding of .pz at all,
                           but for 7 to 9 of lzseqr; at others gpu and fused are errors. auto never has a GPU code.
                           Entropy coding of .gz and .zst is always the CPU's
      --gpu-device NAME    %[9]s
      --list-gpus          the GPUs of this machine and their names for --gpu-device
  -q, --quiet              no warnings and no progress bar
  -v, --verbose            for each file a line with ratio, sizes, blocks, threads and speed; details of damage
  -h, --help               this text; with other options the table below is about them
  -V, --version            the version, and the instructions that the inner loops use
      --                   end of options: what follows is a file even if it begins with -

A SIZE or LIMIT is a number of bytes, with K, M or G behind it (or KiB, MiB, GiB) for units of 1024.
Environment: PZ_LEVEL and PZ_THREADS are the defaults of --level and --threads. PZ_SIMD names the best instructions that
the inner loops may use: portable, avx2, avx512 or neon; without it they are the best there are. The result is the same.
Exit code: 0 if all went well, 1 after an error, 2 after a warning (something was left out), 128+N after signal N.
A reader that stops early, as in pz -dc FILE | head, is an error: "broken pipe", exit code 1.

Examples:
  pz -9 access.log                 write access.log.pz, keep access.log
  pz --rm -r logs                  replace all files below logs
  pz -d access.log.pz              restore access.log
  pz -dc *.pz | grep error         read compressed files
  pz --format gz access.log        write access.log.gz
  tar -I pz -cf home.tar.pz home   and back: tar -I pz -xf home.tar.pz

Most memory that pz takes with %[7]s:
%[8]s`

func (a *app) printHelp() error {
	text, err := a.cfg.helpText()
	if err != nil {
		return err
	}
	_, err = a.stdout.WriteString(text)
	return err
}

func (c *config) helpText() (string, error) {
	var pipelines []string
	for _, p := range compress.Pipelines() {
		s := p.Name
		if p.Name == compress.DefaultPipeline {
			s += ", the default"
		}
		if p.Doc != "" {
			s += ": " + p.Doc
		}
		pipelines = append(pipelines, s)
	}
	threads := compress.NewScheduler(c.threads).Workers()
	table, err := c.memoryTable(threads)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(usageText, compress.DefaultLevel, strings.Join(pipelines, "\n"+strings.Repeat(" ", 27)),
		formatSize(minBlockSize), formatSize(maxBlockSize), ".pz, .gz or .zst", formatSize(compress.DefaultReaderMemory),
		fmt.Sprintf("%d %s (-T)", threads, plural(int64(threads), "thread")), table,
		"device to use; this build knows: "+strings.Join(compress.Devices(), ", ")+" (soft is no GPU, but for tests)", knownSuffixes()), nil
}

// memoryTable says for each level what compressing takes, and restoring what the level made.
func (c *config) memoryTable(threads int) (string, error) {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "level\tto compress\tto restore\t")
	text := func(n int64, err error) string {
		if err != nil {
			return "over the limit"
		}
		return formatSize(n + programMemory)
	}
	for level := minLevel; level <= maxLevel; level++ {
		opts := c.memoryOptions(level, threads)
		writer := text(compress.WriterMemory(opts...))
		reader := text(compress.ReaderMemory(c.blockSize, opts...)) // size 0: the level's
		fmt.Fprintf(t, "%d\t%s\t%s\t\n", level, writer, reader)
	}
	err := t.Flush()
	return b.String(), err
}

func (c *config) memoryOptions(level, threads int) []compress.Option {
	opts := []compress.Option{
		compress.WithLevel(level), compress.WithConcurrency(threads),
		compress.WithMaxMemory(c.memory), compress.WithBlockSize(c.blockSize), compress.WithTuning(c.tuning),
	}
	if c.pipeline != "" {
		opts = append(opts, compress.WithPipeline(c.pipeline))
	}
	return opts
}
