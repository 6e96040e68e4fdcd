package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gopz/compress"
)

// timeline writes Chrome's trace events (Trace Event Format, JSON array), one a line. There is a
// track for each worker, one for each batch that the device has at the same time, and one for the
// ordered output, where blocks wait for their turn. A reader accepts an array without its last
// bracket.
type timeline struct {
	file   io.WriteCloser
	buf    bytes.Buffer // whole events
	start  time.Time
	named  map[int]bool // tracks
	device []batchTrack
	event  []byte // scratch memory
	broken bool   // a write has failed
}

// batchTrack is a track of the device, on which batches do not overlap.
type batchTrack struct {
	begin, end time.Time
	stage      string
}

// Numbers of tracks. Those of workers are their numbers, from 0.
const (
	deviceTrack = 10_000
	orderTrack  = 20_000
)

// timelineBuffer is how much a timeline holds in memory before it writes, in bytes.
const timelineBuffer = 64 << 10

func newTimeline(f io.WriteCloser) *timeline {
	t := &timeline{file: f, named: map[int]bool{}}
	t.buf.WriteString(`[{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"profile"}}`)
	return t
}

// track names a track before its first event.
func (t *timeline) track(id int, name string) {
	if t.named[id] {
		return
	}
	t.named[id] = true
	fmt.Fprintf(&t.buf, ",\n"+`{"name":"thread_name","ph":"M","pid":1,"tid":%d,"args":{"name":%q}}`,
		id, name)
	fmt.Fprintf(&t.buf,
		",\n"+`{"name":"thread_sort_index","ph":"M","pid":1,"tid":%d,"args":{"sort_index":%d}}`, id, id)
}

// stage writes a stage of a block. A batch of the device is one event for all its blocks.
func (t *timeline) stage(e *compress.Stage) error {
	id := e.Worker
	if e.Worker < 0 {
		i, known := t.batch(e)
		if known {
			return nil
		}
		id = deviceTrack + i
		name := "device"
		if i > 0 {
			name += " " + strconv.Itoa(i+1)
		}
		t.track(id, name)
	} else {
		t.track(id, "worker "+strconv.Itoa(e.Worker))
	}
	t.event = append(t.event[:0], ",\n"+`{"name":`...)
	t.event = strconv.AppendQuote(t.event, e.Name)
	t.number(`,"ph":"X","pid":1,"tid":`, int64(id))
	t.micros(`,"ts":`, e.Start.Sub(t.start))
	t.micros(`,"dur":`, e.Time)
	t.number(`,"args":{"block":`, e.Block)
	t.number(`,"bytes":`, e.Bytes)
	t.number(`,"batch":`, int64(e.Batch))
	t.event = append(t.event, "}}"...)
	t.buf.Write(t.event)
	return t.flushFull()
}

// batch returns the track of a batch, and whether its event is written already.
func (t *timeline) batch(e *compress.Stage) (i int, known bool) {
	for i := range t.device {
		if b := &t.device[i]; b.begin.Equal(e.Start) && b.stage == e.Name {
			return i, true
		}
	}
	for i < len(t.device) && t.device[i].end.After(e.Start) {
		i++
	}
	if i == len(t.device) {
		t.device = append(t.device, batchTrack{})
	}
	t.device[i] = batchTrack{e.Start, e.Start.Add(e.Time), e.Name}
	return i, false
}

// turn writes how long a block has waited for its turn. Such waits overlap, so the events are of
// the asynchronous kind.
func (t *timeline) turn(b *block) error {
	t.track(orderTrack, "ordered output")
	for _, x := range [...]struct {
		phase byte
		at    time.Time
	}{{'b', b.last}, {'e', b.turn}} {
		t.event = append(t.event[:0], ",\n"+`{"name":"waits for its turn","cat":"order","ph":"`...)
		t.event = append(t.event, x.phase)
		t.number(`","id":`, b.index)
		t.number(`,"pid":1,"tid":`, orderTrack)
		t.micros(`,"ts":`, x.at.Sub(t.start))
		t.event = append(t.event, '}')
		t.buf.Write(t.event)
	}
	return t.flushFull()
}

func (t *timeline) number(key string, v int64) {
	t.event = strconv.AppendInt(append(t.event, key...), v, 10)
}

// micros appends a time in the format's unit, the microsecond.
func (t *timeline) micros(key string, d time.Duration) {
	t.event = strconv.AppendFloat(append(t.event, key...), float64(d)/1e3, 'f', 3, 64)
}

func (t *timeline) flushFull() error {
	if t.buf.Len() < timelineBuffer {
		return nil
	}
	return t.flush()
}

// flush writes the events in memory.
func (t *timeline) flush() error {
	_, err := t.file.Write(t.buf.Bytes())
	t.buf.Reset()
	return err
}

// close completes the file and closes it.
func (t *timeline) close() error {
	if t.broken {
		return t.file.Close()
	}
	t.buf.WriteString("\n]\n")
	return errors.Join(t.flush(), t.file.Close())
}
