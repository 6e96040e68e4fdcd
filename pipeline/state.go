package pipeline

import (
	"fmt"
	"slices"
)

// blockState says who owns a block. Only the owner changes the state, and it does so before it
// passes the block on: through a queue under the lock of that queue, or through a channel.
//
//	free ── filling ── queued ── running ───────── done ── delivered ── free
//	                              │   ▲
//	                      requested   returned or reclaimed
//	                              ▼   │
//	                             on device
//
// A serial block whose turn has not come goes from running to chained and back.
//
// An idle worker reclaims a requested block directly. Close moves blocks that wait for a worker or
// the device to done. A stage that pauses leaves its block running.
type blockState uint8

const (
	stateFree      blockState = iota // in the free list of its Run
	stateFilling                     // with the caller, between Get and Submit
	stateQueued                      // in the queue of the Scheduler; no stage has run
	stateRunning                     // with a worker
	stateChained                     // in the chain of its Run, or queued behind it
	stateRequested                   // in a queue of the coordinator, for the device
	stateOnDevice                    // in a batch on the device
	stateReturned                    // in the queue of resumed blocks, with unverified results
	stateReclaimed                   // in the queue of resumed blocks, without results
	stateDone                        // finished; result or error are final
	stateDelivered                   // with the caller, after Next, until Put or Submit
)

var stateNames = [...]string{
	"free", "filling", "queued", "running", "chained", "requested", "on device", "returned", "reclaimed",
	"done", "delivered",
}

func (s blockState) String() string { return stateNames[s] }

// transitions lists the states that may follow each state.
var transitions = [...][]blockState{
	stateFree:      {stateFilling},
	stateFilling:   {stateQueued, stateFree},
	stateQueued:    {stateRunning, stateDone}, // done: the Run was closed
	stateRunning:   {stateChained, stateRequested, stateDone},
	stateChained:   {stateRunning, stateDone},                  // done: the Run was closed
	stateRequested: {stateOnDevice, stateReclaimed, stateDone}, // done: the Run was closed
	stateOnDevice:  {stateReturned, stateReclaimed, stateDone}, // done: the Run was closed
	stateReturned:  {stateRunning, stateDone},                  // done: the Run was closed
	stateReclaimed: {stateRunning, stateDone},                  // done: the Run was closed
	stateDone:      {stateDelivered},
	stateDelivered: {stateFree, stateQueued},
}

// setState moves a block to another state. A transition that the table lacks is a bug, and panics.
func (b *Block) setState(to blockState) {
	if !slices.Contains(transitions[b.state], to) {
		panic(fmt.Sprintf("pipeline: block %d changes from %v to %v", b.Index, b.state, to))
	}
	b.state = to
}

// deviceUse says which stages of a block the device may still get. Its value only grows while a
// block is with the scheduler.
type deviceUse uint8

const (
	useAssigned deviceUse = iota // those that the assignment gives to it
	useStrict                    // only strict ones: the device was crowded when the block began
	useNone                      // none: the device failed at the block
)
