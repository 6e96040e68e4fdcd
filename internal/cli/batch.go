package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
)

const (
	// largestInBatch is the size in bytes of the largest file that is processed in a batch. A
	// larger one is processed alone, by all threads.
	largestInBatch = 256 << 10

	// batchFiles is the most files in a batch: this many results wait for their names at a time,
	// and a power failure leaves at most this many temporary files.
	batchFiles = 256

	// batchBytes ends a batch: once its sources have this many bytes, it is committed. It limits
	// how much the disk has to take at once while pz waits.
	batchBytes = 16 << 20

	// filesOfJob is the number of files that a job keeps open: source, output and their
	// directories.
	filesOfJob = 4

	// filesOfProgram is the number of files that remain for all else.
	filesOfProgram = 32 + maxOpenDirs

	// jobMemory limits the memory to restore a file in a batch, in bytes, because several run at
	// the same time. A file that needs more is processed by itself.
	jobMemory = 64 << 20
)

// batch is a group of small files that are processed at the same time and committed together, so
// that files are synced at the same time and each directory once.
//
// Each job of a batch has a copy of the app that holds its messages back. They appear in the order
// of the files. A job that cannot go on beside others, because it has to ask the user for example,
// is put off: it has no effect, and its entry is processed alone when its turn comes.
type batch struct {
	jobs     []*job
	bytes    int64     // sizes of the sources
	queue    chan *job // nil before the first job
	running  int       // workers
	working  sync.WaitGroup
	release  []func()        // closes directories of -r that jobs may use
	replaced map[string]bool // base names, in lower case, that jobs may replace under -f
	sources  dirCache        // directories of operands
	results  dirCache        // directories below --output-dir

	progress progress
}

// heldMessages is what a job of a batch would have printed.
type heldMessages struct {
	texts  []string
	putOff bool
}

// putOff leaves the entry of a job for later, when no other job runs. It returns false, and does
// nothing, if a is not of a batch.
func (a *app) putOff() bool {
	if a.held != nil {
		a.held.putOff = true
	}
	return a.held != nil
}

var errPutOff = errors.New("is to be processed alone")

// addEntry processes an entry, at once or in a batch.
func (a *app) addEntry(e entry) {
	alone := e
	b := a.batch
	if b.replaced[strings.ToLower(e.base)] {
		a.flush() // e may be the result of a job, once that has its name
	}
	if !a.batches(&e) {
		a.flush()
		a.process(alone)
		return
	}
	if a.overwrites() {
		b.noteResult(a.cfg.usualResult(e.base))
	}
	a.showRun()
	own := *a
	own.held, own.garbage, own.status = new(heldMessages), 0, exitOK
	j := &job{app: &own, e: e, alone: alone}
	b.jobs = append(b.jobs, j)
	b.bytes += e.info.Size()
	b.startWorker(a.batchWorkers())
	b.working.Add(1)
	b.queue <- j
	if len(b.jobs) >= a.batchFiles || len(b.release) >= a.batchFiles || b.bytes >= batchBytes {
		a.flush()
	}
}

// noteResult notes the base name of a result that may replace a file.
func (b *batch) noteResult(base string) {
	if b.replaced == nil {
		b.replaced = make(map[string]bool)
	}
	b.replaced[strings.ToLower(base)] = true // some file systems ignore case
}

// batches reports whether an entry goes into a batch. It then notes the directory of an operand,
// and what Lstat says about the entry.
func (a *app) batches(e *entry) bool {
	c := &a.cfg
	alone := len(c.files) == 1 && !c.recursive && len(c.lists) == 0
	// Nothing tells which file such a result replaces before the source is read.
	anyName := a.overwrites() && c.mode == modeDecompress && c.names == namesUse
	if alone || anyName || e.path == "-" || e.url != "" || a.batchFiles < 2 ||
		c.mode != modeTest && (!a.writesBeside() || c.mode == modeIndex) {
		return false
	}
	in := *e
	var err error
	if in.root == nil {
		dir := filepath.Dir(e.path)
		in.root, err = a.batch.sources.get(dir, func() (*os.Root, error) { return os.OpenRoot(dir) })
		if err != nil {
			return false
		}
	}
	in.info, err = in.lstat()
	if err != nil || !in.info.Mode().IsRegular() || in.info.Size() > largestInBatch {
		return false
	}
	*e = in
	return true
}

// batchWorkers returns the number of files in a batch that are processed at the same time. -M is
// the limit of one file, so then there is one.
func (a *app) batchWorkers() int {
	if a.cfg.memory != 0 {
		return 1
	}
	return a.sched.Workers()
}

// startWorker starts a worker unless there are as many as wanted. Workers live as long as the
// program.
func (b *batch) startWorker(wanted int) {
	if b.queue == nil {
		b.queue = make(chan *job, batchFiles)
	}
	if b.running == wanted {
		return
	}
	b.running++
	go func() {
		for j := range b.queue {
			j.attempt()
			b.working.Done()
		}
	}()
}

// attempt runs the job. It keeps a panic for flush.
func (j *job) attempt() {
	defer func() {
		if p := recover(); p != nil {
			j.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	j.run()
	if !j.app.held.putOff {
		j.app.batch.progress.addFile(j.m)
	}
	switch {
	case !j.ready:
	case j.app.cfg.noSync:
		j.sync() // only closes it
	default:
		startWriteback(j.out.f, 0, 0)
	}
	if in := j.in; in != nil && !j.remove && !j.app.cfg.verbose {
		in.close() // nothing reads it any more
	}
}

// flush waits for the jobs of the batch, commits them and prints their messages.
func (a *app) flush() {
	b := a.batch
	defer b.sources.close()
	defer b.results.close()
	if len(b.jobs) == 0 {
		return
	}
	b.working.Wait()
	for _, j := range b.jobs {
		if j.panicked != nil {
			panic(j.panicked)
		}
	}
	a.commit(b.jobs)
	jobs, release := b.jobs, b.release
	b.jobs, b.bytes, b.release, b.replaced = nil, 0, nil, nil
	for _, j := range jobs {
		j.close()
		a.garbage += j.app.garbage
	}
	for _, j := range jobs {
		a.conclude(j)
	}
	for _, f := range release {
		f()
	}
	a.collectGarbage()
}

// conclude prints the messages of a job of a batch, or processes its entry if the job was put off.
func (a *app) conclude(j *job) {
	if j.app.held.putOff {
		a.process(j.alone)
	} else {
		if j.app.status != exitOK {
			a.raise(j.app.status)
		}
		for _, text := range j.app.held.texts {
			a.write(text)
		}
	}
	for _, text := range j.later {
		a.write(text)
	}
}

// abandonBatch ends the progress bar of the run, and discards what a panic has left of the batch.
func (a *app) abandonBatch() {
	a.bar.close()
	b := a.batch
	b.working.Wait()
	for _, j := range b.jobs {
		j.close()
	}
	for _, f := range b.release {
		f()
	}
	b.jobs, b.release = nil, nil
	b.sources.close()
	b.results.close()
}

// whenFlushed calls f once no job of the batch can use what f closes.
func (a *app) whenFlushed(f func()) {
	if len(a.batch.jobs) == 0 {
		f()
		return
	}
	a.batch.release = append(a.batch.release, f)
}
