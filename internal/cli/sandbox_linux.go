package cli

import (
	"github.com/landlock-lsm/go-landlock/landlock"
	"github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// enterSandbox leaves the process no rights but r, by Landlock, for all of its threads and for
// good. It takes what the kernel offers: Linux 5.13 restricts files, 6.7 TCP, 6.12 signals and
// abstract sockets as well. It returns the rights that are left, and whether there is a sandbox.
func enterSandbox(r rights) (rights, bool) {
	if v, err := syscall.LandlockGetABIVersion(); err != nil || v < 1 {
		return r, false
	}
	if restrict(r) == nil {
		return r, true
	}
	// Some names cannot have a rule, such as those of pipes below /dev/fd.
	r = rights{trees: []string{"/"}, network: r.network}
	return r, restrict(r) == nil
}

func restrict(r rights) error {
	const readFile, readDir = syscall.AccessFSReadFile, syscall.AccessFSReadDir
	paths := []landlock.Rule{
		landlock.PathAccess(readFile, r.files...).IgnoreIfMissing(),
		landlock.PathAccess(readDir, r.lists...).IgnoreIfMissing(),
		landlock.PathAccess(readFile|readDir, r.trees...).IgnoreIfMissing(),
	}
	config := landlock.V10.BestEffort()
	if r.network {
		return config.RestrictPaths(paths...)
	}
	return config.Restrict(paths...)
}
