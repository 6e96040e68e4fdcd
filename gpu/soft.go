package gpu

import (
	"errors"
	"sync/atomic"
	"time"
)

// SoftConfig says what a software device is like.
type SoftConfig struct {
	Batch         int           // most requests in a batch; 0 means 1: they are done one after the other
	Bytes         int           // see Limits
	Concurrent    int           // batches at the same time; 0 means 1
	Latency       time.Duration // added to every batch
	MinSize       int           // least block, in bytes
	MaxSize       int           // greatest block; 0 means no limit
	RowHashOnly   bool          // see Limits
	MinAuto       int           // likewise
	MinAutoDecode int           // likewise
	Ops           []Op          // what it does; nil means everything
	Timeout       time.Duration // see Info

	// FailBlock, if set, is asked about every request; an error makes the request fail.
	FailBlock func(r *Request) error
	// Fault, if set, is asked before every batch; an error plays the loss of the device.
	Fault func() error
	// LostAfter is how many batches the device does before it is lost; 0 means that it is not.
	LostAfter int64
	// StallAfter is how many batches the device does before one does not return until Close; 0 means that none does so.
	StallAfter int64
	// Observe, if set, sees every batch before it is done.
	Observe func(op Op, batch []*Request)
}

// ErrLost is what Soft.Run returns when it plays a device that is lost.
var ErrLost = errors.New("gpu: device lost")

// Soft is a device in software. It does what the CPU does, with the CPU's own code, behind the same contract as any other,
// so that routing, batches and failures can be tried and tested everywhere. Its methods may be called from any goroutine.
type Soft struct {
	cfg     SoftConfig
	host    func(*Request) error
	batches atomic.Int64
	closed  atomic.Bool
	release chan struct{}
}

// NewSoft returns a device that does requests with host, which must be safe for concurrent use.
func NewSoft(host func(*Request) error, cfg SoftConfig) *Soft {
	if cfg.Batch <= 0 {
		cfg.Batch = 1
	}
	if cfg.Concurrent <= 0 {
		cfg.Concurrent = 1
	}
	return &Soft{cfg: cfg, host: host, release: make(chan struct{})}
}

func (d *Soft) Info() Info {
	info := Info{Name: "soft", Concurrent: d.cfg.Concurrent, Timeout: d.cfg.Timeout}
	limits := Limits{Batch: d.cfg.Batch, Bytes: d.cfg.Bytes, MinSize: d.cfg.MinSize, MaxSize: d.cfg.MaxSize, RowHashOnly: d.cfg.RowHashOnly, MinAuto: d.cfg.MinAuto, MinAutoDecode: d.cfg.MinAutoDecode}
	if limits.MaxSize == 0 {
		limits.MaxSize = 1 << 30
	}
	if d.cfg.Ops == nil {
		info.Ops = [NumOps]Limits{limits, limits, limits}
	}
	for _, op := range d.cfg.Ops {
		info.Ops[op] = limits
	}
	return info
}

// Accepts is always true: what the CPU can do this device can.
func (d *Soft) Accepts(*Request) bool { return true }

func (d *Soft) Run(op Op, batch []*Request) error {
	if d.closed.Load() {
		return ErrLost
	}
	n := d.batches.Add(1)
	if d.cfg.Observe != nil {
		d.cfg.Observe(op, batch)
	}
	if d.cfg.StallAfter > 0 && n > d.cfg.StallAfter {
		<-d.release
		return ErrLost
	}
	if d.cfg.Fault != nil {
		if err := d.cfg.Fault(); err != nil {
			return err
		}
	}
	if d.cfg.LostAfter > 0 && n > d.cfg.LostAfter {
		return ErrLost
	}
	time.Sleep(d.cfg.Latency)
	for _, r := range batch {
		if d.cfg.FailBlock != nil {
			if r.Err = d.cfg.FailBlock(r); r.Err != nil {
				continue
			}
		}
		r.Err = d.host(r)
	}
	return nil
}

// Close lets go of a batch that stalls.
func (d *Soft) Close() error {
	if !d.closed.Swap(true) {
		close(d.release)
	}
	return nil
}
