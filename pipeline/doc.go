// Package pipeline passes blocks through the stages of compression or decompression on a pool of
// workers, and returns them in the order of submission. It is a building block of package compress:
// a minor release may change it.
//
// A [Pipeline] is a row of one table: its name and the stages of a block. A [Run] is one ordered
// stream of blocks through a scheduler. A [Scheduler] is a bounded pool of workers, with the queues
// of all runs under one lock, and the way to a device if there is one. Runs share the workers' time
// equally.
//
// A worker takes a block from its run's queue and runs all stages of the block. Retiring a block
// and taking the next one is one critical section. Workers are goroutines only while there is work.
// So a scheduler needs no Close, and a run that is dropped leaks nothing. docs/BLOCK.md follows a
// block through the files of this package.
//
// The package knows nothing of containers or files: the caller keeps the payload, Raw, Kind and Sum
// of each block. Output depends only on input and settings, never on the number of workers or the
// device.
package pipeline
