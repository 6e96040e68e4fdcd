package cli

import (
	"errors"

	"github.com/gopz/compress"
)

// job is the work on one entry. run does all but the commit, which several jobs may share.
type job struct {
	app     *app // of its own for a job of a batch; see batch
	e       entry
	in      *source  // nil if the entry cannot be opened or is left out
	out     *output  // nil if it cannot be created
	m       *meter   // nil until the transfer begins
	remove  bool     // remove the source after the commit
	ready   bool     // out is a complete file that waits for its name
	synced  bool     // sync has been called
	syncErr error    // of sync
	release []func() // closes directories

	// For a job of a batch.
	alone    entry    // what to process if the job is put off
	panicked any      // what run has panicked with
	later    []string // messages of the program that come behind those of the job
}

// process compresses, restores, checks or recovers one entry.
func (a *app) process(e entry) {
	a.bar.close() // of the run
	j := &job{app: a, e: e}
	// After a commit this discards nothing. It runs also after a panic.
	defer j.close()
	j.run()
	a.commit([]*job{j})
	a.batch.progress.addFile(j.m)
}

// sync brings an output that is ready to disk and closes it, unless that has been done.
func (j *job) sync() {
	if j.ready && !j.synced {
		j.synced, j.syncErr = true, j.out.sync()
	}
}

// run opens the source and the output of the job and transfers the data.
func (j *job) run() {
	a, e := j.app, j.e
	if j.in = a.openSource(e); j.in == nil {
		return
	}
	in := j.in
	if a.cfg.mode != modeCompress && in.f == a.stdin && !a.cfg.force && a.isTerminal(a.stdin) {
		a.fail("", "compressed data is not read from a terminal; name a FILE or redirect, "+
			"or use -f to read it anyway")
		return
	}
	in.stored = a.readStoredName(in)
	if !j.open() {
		return
	}
	j.m = a.newMeter(in, j.out)
	if a.held == nil {
		a.collectGarbage()
	}
	err := a.transfer(in, j.out, j.m)
	j.m.closeBar()
	a.garbage += j.m.last.Content + j.m.w.n
	j.finishOutput(err)
}

// open opens the output, and the directory of a source that is to be removed. It returns false,
// with a message, if that is not possible.
func (j *job) open() bool {
	a := j.app
	if a.cfg.mode == modeTest {
		j.out = &output{app: a, name: "nowhere"}
		return true
	}
	var release func()
	j.out, release = a.openOutput(j.e, j.in)
	j.release = append(j.release, release)
	if j.out == nil {
		return false
	}
	if j.out.temp != "" {
		a.step("created")
	}
	// A result on standard output, a device or a pipe may not be stored anywhere, so its source
	// stays.
	j.remove = a.cfg.remove && j.out.temp != "" && j.in.link != nil
	return !j.remove || j.openLocation()
}

// openLocation opens the directory of a source that is to be removed. It returns false, with a
// message, if the source cannot be removed.
func (j *job) openLocation() bool {
	a, in := j.app, j.in
	if !a.removable(in) {
		return false
	}
	var err error
	in.at, err = j.e.sibling(j.e.base)
	if err != nil {
		a.fail(j.e.path, "cannot open its directory: %s", reason(err))
		return false
	}
	if j.e.root == nil {
		j.release = append(j.release, func() { in.at.root.Close() })
	}
	return true
}

// finishOutput prepares the output for the commit, or reports the error err of transfer.
func (j *job) finishOutput(err error) {
	a, in, out, m := j.app, j.in, j.out, j.m
	switch {
	case m.w.err == nil && errors.Is(err, compress.ErrTrailing):
		// The content is complete and verified. The source stays, because the rest may be damaged
		// compressed data.
		a.warn(in.name, "%s%s", a.explain(in, err), notRemoved(j.remove))
		j.remove = false
	case errors.Is(err, compress.ErrMemory) && a.cfg.memory == 0 && a.putOff():
		return
	case err != nil:
		a.report(in, out, m, err)
		return
	}
	if f := m.foreign; j.remove && f != nil && (f.Unchecked || f.Endless) {
		a.warn(in.name, "is %s data, which does not show all damage%s", f.Name, notRemoved(true))
		j.remove = false
	}
	j.remove = a.checkChanges(in, m, j.remove)
	if out.temp == "" {
		a.summary(in, out, m)
		return
	}
	if j.verifies() {
		a.step("compressed")
		if err := j.verify(); err != nil {
			a.fail(out.name, "%s; the source is kept", err)
			return
		}
	}
	if err := out.complete(in); err != nil {
		a.fail(out.name, "%s", reason(err))
		return
	}
	j.ready = true
}

// close discards an output that has not been committed, and closes all files.
func (j *job) close() {
	if j.out != nil {
		j.out.discard()
	}
	for _, release := range j.release {
		release()
	}
	if j.in != nil && j.in.f != j.app.stdin {
		j.in.close()
	}
}
