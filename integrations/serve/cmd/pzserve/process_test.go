package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress/integrations/serve/internal/stats"
)

// envRun makes the test binary the command.
const envRun = "PZSERVE_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(envRun) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// process is a running pzserve.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	url   string
	debug string
	log   bytes.Buffer
	read  chan struct{} // closed when the log has ended
}

var listenLine = regexp.MustCompile(`msg="?(listening|listening for /debug)"? address=(\S+)`)

// launch starts pzserve with a debug listener, and waits until it listens.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	args = append([]string{"--listen", "127.0.0.1:0", "--debug-listen", "127.0.0.1:0"}, args...)
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...), read: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), envRun+"=1")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	for p.url == "" || p.debug == "" {
		if !lines.Scan() {
			t.Fatalf("pzserve has ended: %s", p.log.String())
		}
		fmt.Fprintln(&p.log, lines.Text())
		if m := listenLine.FindStringSubmatch(lines.Text()); m != nil {
			if m[1] == "listening" {
				p.url = "http://" + m[2]
			} else {
				p.debug = "http://" + m[2]
			}
		}
	}
	go func() {
		defer close(p.read)
		for lines.Scan() {
			fmt.Fprintln(&p.log, lines.Text())
		}
	}()
	return p
}

// end sends SIGTERM and waits. It returns the log.
func (p *process) end() string {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.read
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("pzserve: %v\n%s", err, p.log.String())
	}
	return p.log.String()
}

// snapshot returns what /debug/stats says.
func (p *process) snapshot() *stats.Snapshot {
	p.t.Helper()
	s := &stats.Snapshot{}
	if err := json.Unmarshal(p.get(p.debug+"/debug/stats"), s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// get returns the body of a response with the status 200.
func (p *process) get(url string) []byte {
	p.t.Helper()
	r, err := http.Get(url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != 200 {
		p.t.Fatalf("%s: status %d, %v", url, r.StatusCode, err)
	}
	return body
}

// peak returns the most memory that the process has had, in bytes; 0 if the system does not say.
func (p *process) peak() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// waitFor waits until ok returns true.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain: " + what)
		}
	}
}
