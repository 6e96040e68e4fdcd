// Package offload passes blocks from the workers of a scheduler to a device and back.
//
// A worker offers a [Request] at the beginning of a stage. The [Coordinator], one goroutine that
// runs only while there are requests, collects requests into batches and runs the batches on the
// device. Each accepted request returns to the scheduler exactly once, through [Scheduler.Complete]
// or [Coordinator.Reclaim].
//
// The output of a run is in order, and its blocks in flight are bounded. A device that is slower
// than the workers would therefore hold up all of them. Four mechanisms prevent that for requests
// that are not strict:
//
//   - Before the device gets blocks, a trial on a copy of one shows whether it is fast enough.
//   - Queues have a bounded depth.
//   - A back-pressure score keeps new blocks away from the device while its queues are full.
//   - An idle worker reclaims requests that wait. It also reclaims those of a batch that takes
//     longer on the device than one worker would.
//
// Results of a device count only after a worker has verified them with a [Verifier].
package offload
