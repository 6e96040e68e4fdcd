// Package pzbeam compresses, restores and verifies files with Apache Beam: on one machine, or on as
// many as a runner has.
//
//	p, s := beam.NewPipelineWithRoot()
//	files := pzbeam.Match(s, "gs://in/*.log")
//	pzbeam.Compress(s, files, pzbeam.Options{Output: "gs://out"})
//	err := beamx.Run(ctx, p)
//
// [Compress] writes for each file the same bytes as the command pz does, in .zst with --seekable.
// [Decompress], [Recover] and [Verify] read them, and [ReadBlocks] and [ReadLines] read their
// content into a pipeline.
//
// Runners split a large file into groups of blocks, which any worker can do. A worker writes the
// result of a group to a part file. When all groups of a file are done, one worker joins the parts.
//
// # Output
//
// An output file appears at once and complete, or not at all. One that exists is an error, unless
// [Options].Existing says otherwise. Names and bytes depend only on
// the source and the options, so a bundle may run any number of times. Part files lie in the
// directory .pzbeam below [Options].Output until their file is complete. A pipeline that fails
// leaves parts there. The next run with the same files and options replaces and then removes them.
//
// # File systems
//
// Files are opened through Beam's package filesystem, so a program imports the file systems that it
// needs. A large file is split only if its file system can read at any offset, which [ReadRanges]
// says. Other files are read once from the front, by one worker.
package pzbeam
