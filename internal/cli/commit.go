package cli

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// syncers is the number of files that are synced at the same time. A file system with a journal may
// write it once for all that wait.
const syncers = 16

// commit syncs the outputs of jobs, gives them their names, syncs the directories, and then removes
// the sources that are to be removed. No file gets its name before it is on disk, and no source is
// removed before the name of its result is on disk.
func (a *app) commit(jobs []*job) {
	jobs = a.syncOutputs(jobs)
	if len(jobs) == 0 {
		return
	}
	a.step("synced")
	// No signal interrupts the rest.
	a.temp.locked(func() error {
		jobs = a.renameOutputs(jobs)
		if len(jobs) == 0 {
			return nil
		}
		a.step("renamed")
		if jobs = a.syncDirs(jobs); len(jobs) == 0 {
			return nil
		}
		a.step("directory synced")
		removed := false
		for _, j := range jobs {
			if j.remove {
				j.in.remove()
				removed = true
			}
		}
		if removed {
			a.step("removed")
		}
		return nil
	})
	for _, j := range jobs {
		j.app.checkName(j.out)
		j.app.summary(j.in, j.out, j.m)
	}
}

// syncOutputs brings the outputs of the jobs to disk that have one. It returns the jobs that
// succeeded.
func (a *app) syncOutputs(jobs []*job) (synced []*job) {
	var ready []*job
	for _, j := range jobs {
		if j.ready {
			ready = append(ready, j)
		}
	}
	a.inParallel(len(ready), func(i int) { ready[i].sync() })
	for _, j := range ready {
		if j.syncErr != nil {
			j.app.fail(j.out.name, "%s", reason(j.syncErr))
			continue
		}
		synced = append(synced, j)
	}
	return synced
}

// renameOutputs gives the outputs their names and returns the jobs that succeeded. The caller holds
// the lock of the temporary files.
func (a *app) renameOutputs(jobs []*job) (renamed []*job) {
	var r renamer
	defer r.close()
	for _, j := range jobs {
		err := j.out.rename(&r)
		switch {
		case err == nil:
			a.temp.forgetOutput(j.out)
			renamed = append(renamed, j)
			continue
		case errors.Is(err, fs.ErrExist) && j.sharesName(renamed) && j.app.putOff():
		case errors.Is(err, fs.ErrExist):
			j.app.fail(j.out.name, "another program created it meanwhile -- not overwritten; "+
				"use -f to overwrite it")
		default:
			j.app.fail(j.out.name, "%s", reason(err))
		}
		a.temp.removeOutput(j.out)
	}
	return renamed
}

// sharesName reports whether the name of the output belongs to that of an earlier job, as in
// pz -d a.gz a.pz.
func (j *job) sharesName(earlier []*job) bool {
	now, err := j.out.at.root.Lstat(j.out.at.base)
	if err != nil {
		return false
	}
	for _, other := range earlier {
		fi, err := other.out.at.root.Lstat(other.out.at.base)
		if err == nil && os.SameFile(now, fi) {
			return true
		}
	}
	return false
}

// syncDirs brings the names of the outputs to disk and returns the jobs that succeeded. It syncs
// each directory once.
func (a *app) syncDirs(jobs []*job) (synced []*job) {
	index := make(map[*os.Root]int)
	var dirs []*os.Root
	for _, j := range jobs {
		root := j.out.at.root
		if _, ok := index[root]; !ok {
			index[root] = len(dirs)
			dirs = append(dirs, root)
		}
	}
	errs := make([]error, len(dirs))
	a.inParallel(len(dirs), func(i int) { errs[i] = a.syncDir(dirs[i]) })
	for _, j := range jobs {
		if err := errs[index[j.out.at.root]]; err != nil {
			j.app.fail(j.out.name, "cannot sync the directory: %s; the source is kept", reason(err))
			continue
		}
		synced = append(synced, j)
	}
	return synced
}

// inParallel calls do for 0 to n-1, on several goroutines if n is not 1, and waits. Each may take a
// thread, for which a limited address space has no room.
func (a *app) inParallel(n int, do func(int)) {
	if n == 1 || a.cfg.tight {
		for i := range n {
			do(i)
		}
		return
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, syncers) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
