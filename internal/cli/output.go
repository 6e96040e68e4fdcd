package cli

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"unicode/utf8"
)

// location is a name in an open directory. It stays valid if the directory is moved.
type location struct {
	root *os.Root
	base string
	path string // for messages
}

// output receives the result of one source. A file has a temporary name until it is complete.
// Standard output, devices and pipes are written in place and have no temporary name.
type output struct {
	app     *app
	f       *os.File
	name    string // for messages
	at      location
	temp    string // temporary name; "" for none
	replace bool   // commit may replace an existing file
}

// Permissions of new files, less the umask.
const (
	permPublic  = fs.FileMode(0o666) // what a shell gives them
	permPrivate = fs.FileMode(0o600) // until complete gives them those of the source
)

// createOutput creates the temporary file for at, with permissions less the umask.
func (a *app) createOutput(at location, replace bool, perm fs.FileMode) (*output, error) {
	o := &output{app: a, name: at.path, at: at, replace: replace}
	for try := 0; ; try++ {
		o.temp = tempName(at.base)
		err := a.temp.locked(func() (err error) {
			// O_EXCL also keeps it from following a symbolic link.
			o.f, err = at.root.OpenFile(o.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openRegular, perm)
			if err == nil {
				a.temp.addOutput(o)
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

// tempMark stands between name and random digits of a temporary name.
const tempMark = ".pz-"

// tempName returns .NAME.pz-XXXXXXXX. It cuts NAME to 200 bytes, because most file systems limit
// names to 255. It cuts between UTF-8 sequences, because some file systems reject other names.
func tempName(base string) string {
	const maxBase = 200
	var b [4]byte
	rand.Read(b[:])
	if cut := maxBase; len(base) > cut {
		// A UTF-8 sequence has at most three bytes after the first.
		for cut > maxBase-3 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		base = base[:cut]
	}
	return "." + base + tempMark + hex.EncodeToString(b[:])
}

// isTempName reports whether tempName makes such names.
func isTempName(name string) bool {
	at := len(name) - len(tempMark) - 8
	if at < 2 || name[0] != '.' || name[at:at+len(tempMark)] != tempMark {
		return false
	}
	_, err := hex.DecodeString(name[at+len(tempMark):])
	return err == nil
}

// discard deletes an output that has not got its name.
func (o *output) discard() {
	if o.temp == "" {
		return
	}
	o.f.Close()
	o.app.temp.locked(func() error { o.app.temp.removeOutput(o); return nil })
}

// complete gives the file the mode and the time of the source.
func (o *output) complete(in *source) error {
	var now fs.FileInfo
	if in.onDisk() {
		// The access that the source has by now counts. Its content is that of the time stored.
		var err error
		now, err = in.f.Stat()
		if err != nil {
			return err
		}
	}
	if in.regular() && !in.info.ModTime().IsZero() {
		modTime := in.info.ModTime()
		if !in.stored.time.IsZero() {
			modTime = in.stored.time
		}
		// The time comes first: Wine makes a read-only file writable when its time is set.
		if err := setTime(o.f, o.at.root, o.temp, modTime); err != nil {
			o.app.warn(o.name, "cannot set the time: %s", reason(err))
		}
	}
	if now != nil {
		if err := copyAccess(o.f, in.f, now); err != nil {
			o.app.warn(o.name, "cannot set the mode: %s", reason(err))
		}
	}
	o.app.step("written")
	return nil
}

// sync brings the file to disk and closes it.
func (o *output) sync() error {
	if err := o.app.syncFile(o.f); err != nil {
		return err
	}
	return o.f.Close()
}

// rename gives the file its name. The caller holds the lock of the temporary files.
func (o *output) rename(r *renamer) error {
	if o.replace {
		return renameOver(o.at.root, o.temp, o.at.base)
	}
	return r.renameNew(o.at.root, o.temp, o.at.base)
}
