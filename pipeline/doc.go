// Package pipeline holds the scheduler and the table of pipelines. It turns blocks into coded
// payloads, or payloads back into blocks, on a pool of workers, and returns them in the order of
// submission.
//
// A [Pipeline] is a row of one table: its name and the stages of a block. A [Scheduler] is a
// bounded pool of workers with one queue under one lock, and the way to a device if there is one. A
// [Run] is one ordered stream of blocks through a scheduler. Many runs may share a scheduler.
//
// A worker takes a block from the queue and runs all its stages; the next stage of a block does not
// pass through the queue. Retiring a block and taking the next one is one critical section. Workers
// are goroutines only while there is work. So a scheduler needs no Close, and a run that is dropped
// leaks nothing.
//
// The package knows nothing of containers or files. Output depends only on input and settings,
// never on the number of workers or the device.
package pipeline
