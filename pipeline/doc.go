// Package pipeline holds the scheduler and the table of pipelines: it turns blocks into coded payloads, or payloads back
// into blocks, on a pool of workers, and hands them back in the order they came.
//
// A [Pipeline] is a row of one table: its name and the stages a block goes through. A [Scheduler] is a bounded pool of
// workers with one queue under one lock. A [Run] is one ordered stream of blocks through a scheduler; many runs may share one.
//
// A worker takes a block from the queue, runs all its stages and only then returns to the queue: a block's next stage never
// makes a trip through it. Retiring a block and taking the next is one critical section. Workers are goroutines only while there
// is work: the last one to find the queue empty ends, so a scheduler needs no Close, and a run that is dropped leaks nothing.
//
// The package knows nothing of containers or files. What it gives depends on the input and the settings alone, never on the number of workers.
package pipeline
