//go:build unix

package cli

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress/internal/testenv"
)

// TestKills kills pz at 1,000 random moments. Whatever is there then, each promise holds.
func TestKills(t *testing.T) {
	testenv.Long(t)
	const kills = 1000
	names := []string{
		"compress --rm", "decompress --rm", "parity --rm", "parity -f --rm", "-r --rm", "-d -r --rm",
		"-r -f", "--tar", "-x", "-x -f",
	}
	runs := slices.DeleteFunc(writingRuns(t, 60), func(r writingRun) bool {
		return !slices.Contains(names, r.name)
	})
	if len(runs) != len(names) {
		t.Fatalf("%d runs of %d", len(runs), len(names))
	}
	rnd := rand.New(rand.NewPCG(testenv.Seeds(t, 1)[0], 0))
	for _, r := range runs {
		k := &killed{writingRun: r}
		k.measure(t)
		for range kills / len(runs) {
			k.kill(t, time.Duration(rnd.Int64N(int64(k.time))))
		}
		t.Logf("%s, %v: no result %d times, some %d, all %d; temporary files %d times; %d runs had ended",
			r.name, k.time.Round(time.Millisecond), k.none, k.some, k.all, k.temps, k.ended)
	}
}

// A killed counts what kills of a run have left.
type killed struct {
	writingRun
	time            time.Duration     // of a whole run, if it is fast
	after           map[string]string // files after it
	none, some, all int               // by results that were complete
	temps           int               // kills that left temporary files
	ended           int               // runs that were faster
}

// measure runs pz to its end, and notes its time and its results.
func (k *killed) measure(t *testing.T) {
	k.time = time.Hour
	for range 3 {
		dir := t.TempDir()
		fill(t, dir, k.before)
		cmd := command(k.args...)
		cmd.Dir = dir
		begin := time.Now()
		if text, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != exitWarning {
			t.Fatalf("%s: %v: %s", k.name, err, text)
		}
		k.time = min(k.time, time.Since(begin))
		k.checkEnd(t, dir)
		k.after, _ = filesIn(t, dir)
	}
}

// kill starts pz, kills it after a time and checks the promises.
func (k *killed) kill(t *testing.T, after time.Duration) {
	dir := t.TempDir()
	fill(t, dir, k.before)
	cmd := command(k.args...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	cmd.Process.Kill()
	cmd.Wait()
	if endOf(cmd) != syscall.SIGKILL {
		k.ended++
	}
	files, temps := filesIn(t, dir)
	if temps > 0 {
		k.temps++
	}
	switch k.check(t, files) {
	case 0:
		k.none++
	case len(k.promises):
		k.all++
	default:
		k.some++
	}
}

// check checks the promises, and returns how many results are complete.
func (k *killed) check(t *testing.T, files map[string]string) (complete int) {
	for _, p := range k.promises {
		source, haveSource := files[p.source]
		result, haveResult := files[p.result]
		old, hadResult := k.before[p.result]
		isNew := haveResult && result == k.after[p.result]
		switch {
		case haveSource && source != k.before[p.source]:
			t.Errorf("%s: %s has changed", k.name, p.source)
		case haveResult && !isNew && !(hadResult && result == old):
			t.Errorf("%s: %s is not complete", k.name, p.result)
		case hadResult && !haveResult:
			t.Errorf("%s: neither the old nor the new %s is there", k.name, p.result)
		case !haveSource && !(isNew && p.removes):
			t.Errorf("%s: %s is gone", k.name, p.source)
		}
		if isNew {
			complete++
		}
	}
	return complete
}
