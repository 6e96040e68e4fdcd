package pipeline

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/pipeline/internal/offload"
)

var (
	errDevice   = errors.New("there is a device already")
	errNoDevice = errors.New("no device to run on")
)

// SetDevice gives the scheduler a device for the runs that start from then on. The caller closes
// the device after the last run that may use it. SetDevice returns an error if d is nil, or if the
// scheduler has another device already.
func (s *Scheduler) SetDevice(d gpu.Device) error {
	if d == nil {
		return errNoDevice
	}
	if s.Device() == nil && s.device.CompareAndSwap(nil, offload.New(port{s}, s.workers, d)) {
		return nil
	}
	if s.Device() != d {
		return errDevice
	}
	return nil
}

// Device returns the scheduler's device, nil if there is none.
func (s *Scheduler) Device() gpu.Device {
	if c := s.device.Load(); c != nil {
		return c.Device()
	}
	return nil
}

// deviceFor returns the coordinator of the scheduler's device for a run with the assignment a. It
// is nil if there is no device, or if a leaves all stages to the CPU.
func (s *Scheduler) deviceFor(a Assignment) *offload.Coordinator {
	if a.onCPU() {
		return nil
	}
	return s.device.Load()
}

// DeviceError returns why the scheduler's device is lost, nil if it is not or there is none.
func (s *Scheduler) DeviceError() error {
	if c := s.device.Load(); c != nil {
		return c.Err()
	}
	return nil
}

// DeviceStatus returns the status of the scheduler's device, and false if there is none.
func (s *Scheduler) DeviceStatus() (st gpu.Status, ok bool) {
	c := s.device.Load()
	if c == nil {
		return st, false
	}
	d := c.Device()
	st = gpu.Status{Name: d.Info().Name, TooSlow: c.TooSlow(), Err: c.Err()}
	if x, ok := d.(gpu.StartTimer); ok {
		st.StartTime = x.StartTime()
		st.StartErr = x.StartError()
	}
	return st, true
}

// port is the scheduler as its coordinator sees it. It implements offload.Scheduler.
type port struct{ s *Scheduler }

func (p port) Moved(r *offload.Request, to offload.Place) {
	b := r.Block.(*Block)
	switch to {
	case offload.Waiting:
		b.setState(stateRequested)
	case offload.OnDevice:
		b.setState(stateOnDevice)
	}
}

func (p port) Complete(r *offload.Request, out offload.Outcome) {
	b := r.Block.(*Block)
	switch out {
	case offload.Finished:
		b.setState(stateReturned)
	case offload.Reclaimed:
		b.retireMemory()
		b.reclaimFromDevice()
	case offload.Declined:
		b.reclaimFromDevice()
	case offload.Abandoned:
		b.retireMemory()
		fallthrough
	case offload.Failed:
		b.setState(stateReclaimed)
		b.use = useNone
		b.run.countReturned(nil)
	case offload.Dropped:
		b.leaveMemory()
		b.payload = nil
		fallthrough
	case offload.Canceled:
		p.s.cancelBlock(b)
		return
	}
	p.s.resumeBlock(b)
}

func (p port) Closed(r *offload.Request) bool { return r.Block.(*Block).run.canceled.Load() }

func (p port) Ended(r *offload.Request) bool { return r.Block.(*Block).run.ended() }

func (p port) IdleWorkers() int { return p.s.idleWorkers() }

func (p port) PanicError(stage string, value any) error {
	return &PanicError{Stage: stage, Value: value, Stack: debug.Stack()}
}

// reclaimFromDevice takes a block back that the device may have begun, for a worker.
func (b *Block) reclaimFromDevice() {
	b.setState(stateReclaimed)
	b.run.countReclaimed()
}

// retireMemory leaves to the device whatever it may still touch, and gives the block new memory.
// Src, which the device only reads, is retired by Put.
func (b *Block) retireMemory() {
	b.leaveMemory()
	if b.payload == nil {
		return
	}
	old := b.payload
	b.payload = new(payload)
	if b.op.op == gpu.StageN && b.run.cfg.Op == Compress {
		b.payload.streams.Copy(&old.streams) // device and worker both read them
	}
}

// leaveMemory leaves to the device whatever it may still touch, but for the payload.
func (b *Block) leaveMemory() {
	b.request.GPU, b.dst, b.copied, b.srcRetired = nil, nil, nil, !b.CallerOwned
}

func init() { gpu.Register("soft", softDriver{}) }

// softDriver opens software devices. It is a [gpu.Driver] without adapters.
type softDriver struct{}

func (softDriver) Adapters() ([]gpu.Adapter, error) { return nil, gpu.ErrNoGPU }

func (softDriver) Open(n int) (gpu.Device, error) {
	if n != 0 {
		return nil, gpu.ErrNoGPU
	}
	return gpu.NewSoft(Host, gpu.SoftConfig{}), nil
}

func (softDriver) OpenBest() (gpu.Device, error) { return nil, gpu.ErrNoGPU }

func (softDriver) BaseInfo() gpu.Info { return gpu.NewSoft(Host, gpu.SoftConfig{}).Info() }

// Host does a device's request on the CPU with the code of the stages. A software device is made of
// it. It is safe for concurrent use.
func Host(r *gpu.Request) error {
	ws := spare.Get().(*workspace)
	ws.setCheckpoint(nil) // it may have been a worker's
	if err := ws.host(r); err != nil {
		spare.Put(ws)
		return err
	}
	spare.Put(ws) // not after a panic
	return nil
}

func (ws *workspace) host(r *gpu.Request) (err error) {
	switch {
	case r.Op == gpu.Stage0 && r.Params.CandidatesFit(len(r.Src)):
		r.Candidates = gpu.NewCandidates(max(0, len(r.Src)-finder.Tail))
		ws.matcher.FindCandidates(r.Candidates, r.Src, r.Params, r.Limits)
	case r.Op == gpu.Stage0:
		r.Candidates = nil
		r.Seqs = ws.matcher.Matcher.ParseFrom(r.Seqs[:0], r.Src, r.Window, r.Params, r.Limits)
	case r.Op == gpu.StageN && r.Decode:
		var ranges []byte
		r.Layout, ranges, err = ws.decodePayload(r.Src, r.Size, r.Streams)
		if err == nil && ranges != nil { // a request has no field for them
			err = fmt.Errorf("%v of filtered content", r.Op)
		}
	case r.Op == gpu.StageN:
		r.Dst = ws.encodePayload(r.Dst[:0], r.Layout, r.Streams)
	case r.Op == gpu.Fused:
		p := ws.takePayload()
		p.seqs = ws.matcher.Parse(p.seqs[:0], r.Src, r.Params, r.Limits)
		ws.streams(p).Encode(r.Layout, r.Src, p.seqs)
		r.Dst = ws.encodePayload(r.Dst[:0], r.Layout, &p.streams)
	default:
		err = fmt.Errorf("%v is not known", r.Op)
	}
	return err
}
