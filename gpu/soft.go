package gpu

import (
	"errors"
	"sync/atomic"
	"time"
)

// SoftConfig configures a software device.
type SoftConfig struct {
	Batch         int           // most requests in a batch, run one after the other; 0 means 1
	Bytes         int           // as in Limits
	Concurrent    int           // as in Info; 0 means 1
	Latency       time.Duration // added to every batch
	MinSize       int           // as in Limits
	MaxSize       int           // as in Limits; 0 means no limit
	RowHashOnly   bool          // as in Limits
	MinAuto       int           // as in Limits
	MinAutoDecode int           // as in Limits
	Ops           []Op          // supported kinds of requests; nil means all
	Timeout       time.Duration // as in Info
	Trial         bool          // Auto tries the pace of the device before it uses it

	// FailBlock, if set, is called for every request. Its error becomes the request's.
	FailBlock func(r *Request) error
	// Fault, if set, is called before every batch. Its error becomes the error of Run.
	Fault func() error
	// LostAfter is the number of batches before the device is lost. 0 means never.
	LostAfter int64
	// StallAfter is the number of batches before one that does not return until Close. 0 means
	// never.
	StallAfter int64
	// Observe, if set, is called with every batch before it runs.
	Observe func(op Op, batch []*Request)
}

// ErrLost is the error of Soft.Run for a device that is lost or closed.
var ErrLost = errors.New("gpu: device lost")

// Soft is a device in software. It runs the CPU's own code behind the contract of a device, so that
// routing, batches and failures can be tested on every machine. Its methods may be called from any
// goroutine.
type Soft struct {
	cfg     SoftConfig
	host    func(*Request) error
	batches atomic.Int64
	closed  atomic.Bool
	release chan struct{} // closed by Close
}

// NewSoft returns a device that runs each request with host, which must be safe for concurrent use.
func NewSoft(host func(*Request) error, cfg SoftConfig) *Soft {
	if cfg.Batch <= 0 {
		cfg.Batch = 1
	}
	if cfg.Concurrent <= 0 {
		cfg.Concurrent = 1
	}
	return &Soft{cfg: cfg, host: host, release: make(chan struct{})}
}

// Info describes the device as configured.
func (d *Soft) Info() Info {
	info := Info{
		Name: "soft", Concurrent: d.cfg.Concurrent, Timeout: d.cfg.Timeout, NoTrial: !d.cfg.Trial,
	}
	limits := Limits{
		Batch:         d.cfg.Batch,
		Bytes:         d.cfg.Bytes,
		MinSize:       d.cfg.MinSize,
		MaxSize:       d.cfg.MaxSize,
		RowHashOnly:   d.cfg.RowHashOnly,
		MinAuto:       d.cfg.MinAuto,
		MinAutoDecode: d.cfg.MinAutoDecode,
	}
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

// Accepts returns true: the device can run everything that the CPU can.
func (d *Soft) Accepts(*Request) bool { return true }

// Run runs the requests one after the other.
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

// Close makes a stalled batch return.
func (d *Soft) Close() error {
	if !d.closed.Swap(true) {
		close(d.release)
	}
	return nil
}
