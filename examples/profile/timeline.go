package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gopz/compress"
)

// timeline writes Chrome's trace events ("Trace Event Format", the JSON array form), one a line. There is a track for each worker, one for
// the device (more if it has several batches at a time), and one for the ordered writing, where blocks wait for their turn.
type timeline struct {
	w      *bufio.Writer
	close  func() error
	start  time.Time
	named  map[int]bool
	device []lane
	buf    []byte
}

// lane is a track of the device, on which batches do not overlap.
type lane struct {
	begin, end time.Time
	stage      string
}

// Numbers of tracks. Workers have theirs from 0 on.
const (
	deviceTrack = 10_000
	orderTrack  = 20_000
)

func newTimeline(f io.WriteCloser) *timeline {
	t := &timeline{w: bufio.NewWriterSize(f, 64<<10), close: f.Close, named: map[int]bool{}}
	t.w.WriteString(`[{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"profile"}}`)
	return t
}

// track says what a track is called, before its first event.
func (t *timeline) track(tid int, name string) {
	if t.named[tid] {
		return
	}
	t.named[tid] = true
	fmt.Fprintf(t.w, ",\n"+`{"name":"thread_name","ph":"M","pid":1,"tid":%d,"args":{"name":%q}}`, tid, name)
	fmt.Fprintf(t.w, ",\n"+`{"name":"thread_sort_index","ph":"M","pid":1,"tid":%d,"args":{"sort_index":%d}}`, tid, tid)
}

// stage writes a stage of a block; a batch of the device once for all its blocks.
func (t *timeline) stage(e *compress.StageEvent) error {
	tid := e.Worker
	if e.Worker < 0 {
		i, known := t.lane(e)
		if known {
			return nil
		}
		tid = deviceTrack + i
		name := "device"
		if i > 0 {
			name += " " + strconv.Itoa(i+1)
		}
		t.track(tid, name)
	} else {
		t.track(tid, "worker "+strconv.Itoa(e.Worker))
	}
	t.complete(e.Stage, tid, e.Start, e.Took)
	t.arg(`,"args":{"block":`, e.Block)
	t.arg(`,"bytes":`, int64(e.Bytes))
	t.arg(`,"batch":`, int64(e.Batch))
	t.buf = append(t.buf, "}}"...)
	_, err := t.w.Write(t.buf)
	return err
}

// lane finds the track of what the device did, and whether it is written already.
func (t *timeline) lane(e *compress.StageEvent) (i int, known bool) {
	if e.Backend == compress.GPU {
		for i := range t.device {
			if l := &t.device[i]; l.begin.Equal(e.Start) && l.stage == e.Stage {
				return i, true
			}
		}
	}
	for i < len(t.device) && t.device[i].end.After(e.Start) {
		i++
	}
	if i == len(t.device) {
		t.device = append(t.device, lane{})
	}
	t.device[i] = lane{e.Start, e.Start.Add(e.Took), e.Stage}
	return i, false
}

// turn writes the time that a block has waited for its turn. Blocks wait side by side, so that these are events of the asynchronous kind.
func (t *timeline) turn(b *block) error {
	t.track(orderTrack, "ordered writing")
	for _, x := range [...]struct {
		phase byte
		at    time.Time
	}{{'b', b.last}, {'e', b.turn}} {
		t.buf = append(t.buf[:0], ",\n"+`{"name":"waits for its turn","cat":"order","ph":"`...)
		t.buf = append(t.buf, x.phase)
		t.arg(`","id":`, b.index)
		t.arg(`,"pid":1,"tid":`, orderTrack)
		t.micros(`,"ts":`, x.at.Sub(t.start))
		t.buf = append(t.buf, '}')
		if _, err := t.w.Write(t.buf); err != nil {
			return err
		}
	}
	return nil
}

// complete begins an event that has a length.
func (t *timeline) complete(name string, tid int, start time.Time, took time.Duration) {
	t.buf = append(t.buf[:0], ",\n"+`{"name":`...)
	t.buf = strconv.AppendQuote(t.buf, name)
	t.arg(`,"ph":"X","pid":1,"tid":`, int64(tid))
	t.micros(`,"ts":`, start.Sub(t.start))
	t.micros(`,"dur":`, took)
}

func (t *timeline) arg(key string, v int64) {
	t.buf = strconv.AppendInt(append(t.buf, key...), v, 10)
}

// micros writes a time in the format's unit, the microsecond.
func (t *timeline) micros(key string, d time.Duration) {
	t.buf = strconv.AppendFloat(append(t.buf, key...), float64(d)/1e3, 'f', 3, 64)
}

// finish completes the file.
func (t *timeline) finish() error {
	t.w.WriteString("\n]\n")
	err := t.w.Flush()
	if cerr := t.close(); err == nil {
		err = cerr
	}
	return err
}
