package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
	"unicode/utf8"
)

// place is a name in an open directory. What happens to the path of the directory meanwhile does not matter.
type place struct {
	root *os.Root
	base string
	path string // for messages
}

// output takes the result of one source. A file is written under a temporary name and renamed when it is complete;
// standard output, devices and pipes (no temporary name) are written as they are.
type output struct {
	app     *app
	f       *os.File
	name    string // for messages
	at      place
	temp    string
	replace bool // an existing file of the name may be replaced
}

// createOutput makes the temporary file for at. With a source that has a mode the file is nobody else's until it
// gets that mode; without one it is created as the shell would create it.
func (a *app) createOutput(at place, replace, private bool) (*output, error) {
	perm := fs.FileMode(0o666)
	if private {
		perm = 0o600
	}
	o := &output{app: a, name: at.path, at: at, replace: replace}
	for try := 0; ; try++ {
		o.temp = tempName(at.base)
		err := a.temp.locked(func() (err error) {
			// O_EXCL also means that no symbolic link is followed.
			o.f, err = at.root.OpenFile(o.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
			if err == nil {
				a.temp.set(at.root, o.temp)
			}
			return err
		})
		if err == nil {
			return o, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return nil, err
		}
	}
}

// tempName is .NAME.pz-XXXXXXXX, the name cut so that the whole stays below the 255 bytes most file systems allow. It is cut
// between letters: there are file systems that take no other names than UTF-8.
func tempName(base string) string {
	var b [4]byte
	rand.Read(b[:])
	if cut := 200; len(base) > cut {
		// A letter goes on for three bytes at most; in what is not UTF-8 any place is as good.
		for cut > 200-3 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		base = base[:cut]
	}
	return "." + base + ".pz-" + hex.EncodeToString(b[:])
}

// discard gives up an output.
func (o *output) discard() {
	if o.temp == "" {
		return
	}
	o.f.Close()
	o.app.temp.locked(func() error { o.app.temp.remove(); return nil })
}

// commit gives the file its mode, time and name, and removes the source if that is wanted, in this order:
// everything up to the new name is on the disk before the source goes. After an error nothing is left of the
// output and the source is there, unless the error says otherwise.
func (o *output) commit(in *source, removeSource bool) error {
	if err := o.finishFile(in); err != nil {
		o.discard()
		return err
	}
	o.app.step("synced")
	return o.app.temp.locked(func() error {
		if err := o.rename(); err != nil {
			o.app.temp.remove()
			return err
		}
		o.app.temp.clear()
		o.app.step("renamed")
		if err := o.app.syncDir(o.at.root); err != nil {
			return fmt.Errorf("the directory could not be synced: %s (the source is kept)", reason(err))
		}
		o.app.step("directory synced")
		if removeSource {
			in.remove()
			o.app.step("removed")
		}
		return nil
	})
}

func (o *output) finishFile(in *source) error {
	if in.info != nil && in.regular() {
		perm := keepOwner(o.f, in.info)
		if err := o.f.Chmod(perm); err != nil {
			o.app.warn(o.name, "its mode could not be set: %s", reason(err))
		}
		modTime := in.info.ModTime()
		if !in.origin.time.IsZero() {
			modTime = in.origin.time
		}
		// The zero time leaves the access time as it is.
		if err := o.at.root.Chtimes(o.temp, time.Time{}, modTime); err != nil {
			o.app.warn(o.name, "its time could not be set: %s", reason(err))
		}
	}
	o.app.step("written")
	if err := o.app.syncFile(o.f); err != nil {
		return err
	}
	return o.f.Close()
}

func (o *output) rename() error {
	if o.replace {
		return o.at.root.Rename(o.temp, o.at.base)
	}
	err := renameNew(o.at.root, o.temp, o.at.base)
	if errors.Is(err, fs.ErrExist) {
		return errors.New("it was created by somebody else meanwhile -- not overwritten (-f overwrites it)")
	}
	return err
}
