package cli

// option is a row of the table from which --help, --help=all and the one-letter names of the
// options are made. It is plain data.
type option struct {
	group string // heading in --help=all
	short string // one-letter name; "" if there is none
	long  string // long name; "" for a row that is not an option
	value string // placeholder of the value; "" if the option takes none
	label string // shown in place of the names; "" for none
	brief string // text in --help; "" leaves the option out
	text  string // text in --help=all; helpValues replaces words in braces
}

// The groups of --help=all, in order.
const (
	groupCompress    = "Compressing"
	groupRestore     = "Restoring"
	groupArchive     = "Archives"
	groupList        = "Listing and checking"
	groupTrain       = "Making dictionaries"
	groupRecover     = "Recovery"
	groupBench       = "Measuring"
	groupInput       = "Input files"
	groupOutput      = "Output files"
	groupResources   = "Threads and memory"
	groupGPU         = "GPU"
	groupStatistics  = "Statistics and messages"
	groupInfo        = "Information"
	groupEnvironment = "Environment variables"
	groupExit        = "Exit codes"
)

var optionTable = []option{
	{group: groupCompress, short: "z", long: "compress",
		text: "Compress. This is the default."},
	{group: groupCompress, long: "level", value: "N", label: "-1 ... -9, --level N",
		brief: "Set the level: 1 fastest, 9 densest; default {level}.",
		text: "Set the level: 1 is fastest, 9 is densest. The default is {level}, " +
			"for .gz {gzlevel}."},
	{group: groupCompress, long: "fast",
		text: "Set level 1."},
	{group: groupCompress, long: "best",
		text: "Set level 9."},
	{group: groupCompress, long: "format", value: "FORMAT",
		brief: "Write format {formats}.",
		text: "Write format pz, gz or zst; gzip and zstd are accepted too. The default is the " +
			"format that the suffix of -o names, or else pz."},
	{group: groupCompress, short: "a", long: "auto",
		text: "Tune settings for each block from a sample. Most files take up to about " +
			"twice as long to compress. docs/TUNING.md has the effects."},
	{group: groupCompress, long: "trial",
		text: "Tune settings for each block by trying all of them on a larger sample. Most " +
			"files take longer than with --auto, and not all become smaller; see docs/TUNING.md."},
	{group: groupCompress, short: "p", long: "pipeline", value: "NAME",
		text: "Select the pipeline: {pipelines}. Files of lzr are larger and are " +
			"restored faster, most of all from level 6 on. docs/generated/frontier.md has the figures."},
	{group: groupCompress, short: "B", long: "block-size", value: "SIZE",
		text: "Set the block size: a power of two from {minblock} to {maxblock}. Larger blocks " +
			"often compress better but take more memory; .pz uses {blocks}."},
	{group: groupCompress, long: "parity", value: "PERCENT",
		text: "Add so much parity to .pz and .zst files. --repair then restores a file of which up to " +
			"that part is damaged or missing, anywhere in each 64M. -d does so in passing."},
	{group: groupCompress, long: "seekable", value: "SIZE", label: "    --seekable[=SIZE]",
		text: "Write blocks of SIZE for reading at random, by default {seekable}: to read a few bytes a " +
			"program decompresses one block. For .pz and .zst, which needs it for that; files become " +
			"about a sixth larger. Of --seekable and -B the last one sets the size."},
	{group: groupCompress, long: "rsyncable",
		text: "End blocks where the content says so. A local edit of FILE then changes the result " +
			"only nearby, for rsync and the like. Default blocks have 128K for .gz, else 1M."},
	{group: groupCompress, long: "long", value: "LOG", label: "    --long[=LOG]",
		text: "Find repetitions that are up to 2^LOG bytes apart, also across blocks; LOG is 20 to " +
			"31, default 27, or a size such as 128M. For .pz and .zst. Compressing and restoring take up " +
			"to 1.5 times as much memory in addition; restoring needs -M from LOG 30 on, .zst from 28 on."},
	{group: groupCompress, short: "D", long: "dictionary", value: "FILE",
		text: "Compress .pz or .zst files with the dictionary FILE, which --train or zstd --train has " +
			"made, or which is content like that of the files. Small files become less than half as large. " +
			"Restoring, -t and --recover need the same dictionary. FILE has at most 32M, of which the last " +
			"8M count. With -9 FILE may be an earlier version of the source: the result has little more " +
			"than the changes."},
	{group: groupCompress, long: "stream-size", value: "SIZE",
		text: "State that the content has SIZE bytes, for standard input and pipes. The header of " +
			"the result then has it, as that of a FILE does. Other content is an error."},
	{group: groupCompress, short: "n", long: "no-name",
		text: "Do not store the name and time of FILE in a .gz file. With -d, do not use them, " +
			"which is the default."},
	{group: groupCompress, long: "check",
		text: "Store checksums, and verify them with -d and -t. This is the default."},
	{group: groupCompress, long: "no-check",
		text: "Do not store checksums of the content. A .gz file always has one."},

	{group: groupRestore, short: "d", long: "decompress",
		brief: "Restore .pz, .gz and .zst files.",
		text: "Restore files. Their content tells which format they have. Besides .pz, .gz and .zst " +
			"these are xz, bzip2, lz4, lzip, lzma, compress (.Z), snappy, S2 and brotli; the last one " +
			"needs the suffix .br. FILE may be an http or https URL with -c, -o, -t, -l and -x."},
	{group: groupRestore, short: "N", long: "name",
		text: "Use the name and time that a .gz file stores; by default the name comes from " +
			"FILE. When compressing, store them, which is the default."},
	{group: groupRestore, long: "range", value: "OFF:LEN",
		text: "With -dc and -d -o, restore LEN bytes of the content from OFF on, or all from OFF on if LEN " +
			"is left out. Of a file with an index pz reads the blocks that it needs, and else all in front."},
	{group: groupRestore, label: "    --no-check",
		text: "With -d and -t, do not verify checksums of the content. With -d it excludes --rm."},

	{group: groupArchive, long: "tar",
		brief: "Make an archive of directories; with -l list one.",
		text: "Make a tar archive of each FILE and all below it: DIR.tar.pz, or -o FILE, or -c. " +
			"With -l, list the entries of archives; with -q only their names."},
	{group: groupArchive, short: "x", long: "extract",
		brief: "Extract an archive: -x ARCHIVE [PATH]...",
		text: "-x ARCHIVE [PATH]... extracts all, or each PATH and all below it, to the current " +
			"directory or --output-dir; with -c write the contents of files. PATH may have *, ? and " +
			"[a-z], as PATTERN of --exclude. Files that exist stay, unless -f is given. Of an archive " +
			"with an index pz reads only the blocks that it needs. ARCHIVE may be a URL."},

	{group: groupList, short: "t", long: "test",
		brief: "Check that files can be restored; write nothing.",
		text: "Check that files can be restored. Write nothing, also with -d or -x. -l outranks " +
			"-t."},
	{group: groupList, long: "deep",
		text: "With -t, also decompress each file with a second, independent decoder, and compare the " +
			"contents: .gz files with that of Go, .pz and .zst files with ones that follow the text of the " +
			"format and are slow. That of .pz takes the file into memory, {readermemory} or -M at most. " +
			"Files without a second decoder are a warning."},
	{group: groupList, short: "l", long: "list",
		brief: "List sizes, ratio and format of files.",
		text: "List the contents. pz reads the index of a file where there is one, and otherwise " +
			"decompresses it. With -v also list the blocks of .pz, members of .gz and frames of .zst, and " +
			"print the ID of the dictionary and the stored name and time."},
	{group: groupList, long: "json",
		text: "With -l, print a JSON array with an object for each file: name, format, streams, " +
			"blocks, block_size, compressed, uncompressed, ratio, check, seekable and pipeline; " +
			"where they apply, name_base64, index, window, restore_memory and dictionary. Sizes are in " +
			"bytes. With -v each object also has block_list, and damaged where blocks behind it cannot be " +
			"read. With --tar, print an object for each entry: archive, name, type, mode, size, " +
			"modified and link. With -b, print an array with an object for each row."},
	{group: groupList, long: "index",
		text: "Write FILE.gz.gzidx, an index of FILE.gz for random access, in the format of " +
			"indexed_gzip. With -o NAME.gzi write the format of bgzip for BGZF files, and else " +
			"that of gztool. -l uses an index with such a name beside FILE.gz."},

	{group: groupTrain, long: "train",
		text: "Make a dictionary for -D from small files of one kind, and write it to -o FILE or -c. " +
			"It takes the first 128K of each file, 64M together. A few hundred files are enough; " +
			"together they should have ten times the size of the dictionary."},
	{group: groupTrain, long: "maxdict", value: "SIZE",
		text: "With --train, make a dictionary of at most SIZE bytes; the default is 110K."},
	{group: groupTrain, long: "dictID", value: "N",
		text: "With --train, set the ID that files name the dictionary by: from 1 to 4294967295. The " +
			"default depends on the content of the dictionary."},

	{group: groupRecover, long: "recover",
		text: "Write what is left of a damaged .pz, .gz or .zst file to -o FILE or -c, and report " +
			"what is lost. It gives at least what -dc gives."},
	{group: groupRecover, long: "repair",
		text: "Write a damaged file as it was to -o FILE or -c, from the parity that --parity added. " +
			"What cannot be read counts as damage. What cannot be repaired is copied as it is, with " +
			"exit code 2."},
	{group: groupRecover, long: "merge",
		text: "Restore a file from two or more damaged copies, to -o FILE or -c: --merge COPY COPY... " +
			"-o FILE. Of each block pz takes the bytes that its check confirms, from any copy. The " +
			"result is checked before it gets its name. It needs checks: .zst and .pz files without " +
			"checksums cannot be merged."},
	{group: groupRecover, long: "zero-fill",
		text: "With --recover, write zeros in place of lost content."},

	{group: groupBench, short: "b", long: "bench", value: "LEVELS", label: "-b, --bench[=LEVELS]",
		text: "Compress and restore each FILE in memory, and print ratio and speeds. LEVELS is a " +
			"list such as 3, 1-9 or 1,3,5-7; without it the level is that of --level. Write -b3 or " +
			"-b1-9 for short. A speed is MB of content per second on the clock, with all threads; " +
			"the best round counts. Options for compressing hold. Each round checks the content."},
	{group: groupBench, short: "e", long: "bench-to", value: "N",
		text: "With -b, measure all levels from that of -b up to N, as in -b1 -e9."},
	{group: groupBench, short: "i", long: "bench-time", value: "SECONDS",
		text: "With -b, repeat each direction for so long. The default is 3; 0 is for one round."},
	{group: groupBench, long: "svg", value: "FILE",
		text: "With -b, also draw ratio over speed: write a picture in SVG to FILE."},

	{group: groupInput, short: "r", long: "recursive",
		brief: "Process all files in directories.",
		text: "Process all files in the given directories and below. Compressing skips files " +
			"with the suffixes {suffixes}; the other modes skip files without the suffix of a " +
			"format that they read. Symbolic links and special files give a warning, also with -f."},
	{group: groupInput, long: "exclude", value: "PATTERN",
		text: "Skip files and directories whose name, or end of the path, matches PATTERN, which " +
			"may have *, ? and [a-z]. May be given several times."},
	{group: groupInput, long: "files-from", value: "FILE",
		text: "Process also the files that FILE names, one in each line; - is standard input."},
	{group: groupInput, long: "files0-from", value: "FILE",
		text: "The same, with a zero byte behind each name, as find -print0 writes them."},

	{group: groupOutput, short: "c", long: "stdout",
		brief: "Write to standard output.",
		text:  "Write to standard output."},
	{group: groupOutput, short: "o", long: "output", value: "FILE",
		brief: "Write to FILE; its suffix sets the format.",
		text: "Write the result of one file to FILE; a device or pipe is written in place. The " +
			"name - stands for standard output. When compressing, the suffix of FILE sets the format " +
			"unless --format or -p does."},
	{group: groupOutput, long: "output-dir", value: "DIR",
		text: "Write results below DIR, each into a directory of the same path as that of its " +
			"source. Create these directories and DIR, but not the directory that DIR is in."},
	{group: groupOutput, short: "S", long: "suffix", value: ".SUF",
		text: "Use the suffix .SUF instead of .pz, .gz or .zst. It is used as given, dot " +
			"included."},
	{group: groupOutput, short: "f", long: "force",
		brief: "Overwrite existing files.",
		text: "Overwrite existing files, follow symbolic links, compress compressed files " +
			"again, and use a terminal for compressed data. With --rm, remove files that have " +
			"several hard links; with -dc, copy data of unknown formats."},
	{group: groupOutput, long: "sparse",
		text: "With -d and --recover, leave holes in a file in place of 32K of zeros and more. This " +
			"is the default. Standard output gets all zeros."},
	{group: groupOutput, long: "no-sparse",
		text: "Write all zeros."},
	{group: groupOutput, long: "synchronous",
		text: "Sync each file to disk. This is the default."},
	{group: groupOutput, short: "k", long: "keep",
		brief: "Keep the source; the default.",
		text:  "Keep the source. This is the default."},
	{group: groupOutput, long: "rm", value: "fast", label: "    --rm[=fast]",
		brief: "Remove the source once the result is safe on disk.",
		text: "Remove the source once the result is safe on disk. When compressing, the result is " +
			"first restored and compared with the source; --rm=fast leaves that out. A source stays " +
			"if its result went to standard output, a device or a pipe."},
	{group: groupOutput, long: "no-sync",
		text: "Do not wait until results are on disk. After a power failure files written last may " +
			"then be empty or incomplete, also with --rm."},

	{group: groupResources, short: "T", long: "threads", value: "N",
		brief: "Use N threads; the default 0 uses all processors.",
		text:  "Use N threads. The default 0 uses all processors."},
	{group: groupResources, short: "M", long: "memory", value: "LIMIT",
		brief: "Limit the memory.",
		text: "Limit the memory for blocks and workers; pz then processes fewer blocks at a " +
			"time. Without it they take a quarter of the memory of this machine, or more if one " +
			"block does; restoring takes at most {readermemory}, and windows of .zst frames 128 MiB."},

	{group: groupGPU, long: "backend", value: "BACKEND",
		text: "Select where matching and entropy coding run: auto (the default), cpu, gpu or " +
			"fused; two values, as in cpu,gpu, select one for each. auto uses a GPU only where " +
			"it saves CPU time, fused runs whole blocks on the GPU where possible."},
	{group: groupGPU, long: "gpu-device", value: "NAME",
		text: "Use the device NAME; this build has {devices}. soft is a software device for " +
			"tests."},
	{group: groupGPU, long: "list-gpus",
		text: "List the GPUs of this machine and their names for --gpu-device."},

	{group: groupStatistics, short: "v", long: "verbose",
		brief: "Report sizes, ratio and speed of each file.",
		text: "Report ratio, sizes, blocks, threads and speed of each file, and details of " +
			"damage."},
	{group: groupStatistics, short: "q", long: "quiet",
		brief: "Suppress warnings and the progress bar.",
		text:  "Suppress warnings, the progress bar, and the head of the tables of -l and -b."},

	{group: groupInfo, short: "h", long: "help", value: "all", label: "-h, --help, --help=all",
		text: "Show the most used options, or all of them with a table of the memory that each level " +
			"takes. The table depends on -T, -M, -B, -a, --long, --rsyncable, --format and -p. " +
			"--help=man prints a man page, and --help=bash, --help=zsh and --help=fish completions for " +
			"a shell."},
	{group: groupInfo, short: "H", long: "long-help",
		text: "The same as --help=all."},
	{group: groupInfo, short: "V", long: "version",
		brief: "Show the version.",
		text:  "Show the version and the instruction set of the inner loops."},
	{group: groupInfo, label: "--",
		text: "End of the options. Each following argument is a FILE even if it begins with -. A single - " +
			"is still standard input."},

	{group: groupEnvironment, label: "PZ_LEVEL",
		text: "Default of --level."},
	{group: groupEnvironment, label: "PZ_THREADS",
		text: "Default of --threads."},
	{group: groupEnvironment, label: "PZ_SIMD",
		text: "Best instruction set that the inner loops may use: portable, avx2, avx512 or " +
			"neon. The output is the same."},

	{group: groupExit, label: "0",
		text: "Success."},
	{group: groupExit, label: "1",
		text: "An error; the other files are still processed."},
	{group: groupExit, label: "2",
		text: "A warning: pz skipped a file or left something out. What -r skips for its suffix " +
			"does not count."},
	{group: groupExit, label: "128+N",
		text: "Signal N ended the program; SIGPIPE (13) if a reader closed its pipe early, as in " +
			"pz -dc FILE | head."},
}

// shortName returns the one-letter name of an option, or "".
func shortName(long string) string {
	for _, o := range optionTable {
		if o.long == long {
			return o.short
		}
	}
	return ""
}
