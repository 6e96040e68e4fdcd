package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/gopz/compress/integrations/serve/internal/site"
	"github.com/gopz/compress/integrations/serve/internal/source"
	"github.com/gopz/compress/integrations/serve/internal/stats"
	"github.com/gopz/compress/internal/blockcache"
	"golang.org/x/net/netutil"
)

// server is a server that listens.
type server struct {
	o        *options
	log      *slog.Logger
	counters *stats.Counters
	profile  *stats.Profile // nil without --profile-dir
	set      *source.Set
	cancel   context.CancelFunc // ends reads of URLs
	main     listening
	debug    listening // its listener is nil without --debug-listen
}

// listening is an HTTP server with its listener.
type listening struct {
	net.Listener
	http *http.Server
}

// start listens and opens the sources. Clients that connect in between wait, so that an address in
// use shows at once.
func start(o *options, stderr io.Writer) (_ *server, err error) {
	if o.threads > 0 {
		runtime.GOMAXPROCS(o.threads)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(o.memory)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{o: o, log: newLog(o, stderr), counters: stats.NewCounters(o.mode, o.top), cancel: cancel}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.main.Listener, err = listen("listen", o.listen)
	if err != nil {
		return nil, err
	}
	if o.debugListen != "" {
		s.debug.Listener, err = listen("debug-listen", o.debugListen)
		if err != nil {
			return nil, err
		}
	}
	s.set, err = source.Open(ctx, o.operands, source.Config{
		Memory: source.Memory{Cache: o.cache, Loads: (o.memory - o.cache) / 2}, Allow: o.allow,
		WaitTimeout: o.waitTimeout, Observer: s.counters, Log: s.log,
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, src := range s.set.Sources {
		names = append(names, src.Label)
	}
	s.counters.Watch(names, func() (blockcache.Stats, int64) { return s.set.CacheStats(), o.cache },
		s.set.RemoteStats)
	if o.profileDir != "" {
		s.profile, err = stats.NewProfile(o.profileDir, s.counters, o.snapshots, o.logSize)
		if err != nil {
			return nil, err
		}
	}
	s.main.Listener = netutil.LimitListener(s.main.Listener, o.maxConnections)
	s.main.http = s.newHTTP(site.New(site.Config{
		Set: s.set, Counters: s.counters, Log: s.log, WriteTimeout: o.writeTimeout, Encoded: !o.noEncoded,
	}))
	s.main.http.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.counters.Connection(1)
		case http.StateClosed, http.StateHijacked:
			s.counters.Connection(-1)
		}
	}
	if s.debug.Listener != nil {
		s.debug.http = s.newHTTP(site.Debug(s.counters))
	}
	return s, nil
}

// listen listens on the address that an option names.
func listen(option, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address with --%s", err, option)
	}
	return l, nil
}

func newLog(o *options, w io.Writer) *slog.Logger {
	h := &slog.HandlerOptions{Level: slog.LevelInfo}
	if o.verbose {
		h.Level = slog.LevelDebug
	}
	if o.logJSON {
		return slog.New(slog.NewJSONHandler(w, h))
	}
	return slog.New(slog.NewTextHandler(w, h))
}

// newHTTP returns an HTTP server with the limits of the options.
func (s *server) newHTTP(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           limitBody(h, s.o.headerTimeout),
		ReadHeaderTimeout: s.o.headerTimeout, IdleTimeout: s.o.idleTimeout,
		MaxHeaderBytes: int(s.o.maxHeader), ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

// maxBody is the most bytes of a request's body that are read before the response.
const maxBody = 64 << 10

// limitBody bounds the time that the body of a request may take. Handlers ignore bodies, but
// net/http reads them: without a limit a client that sends none would hold its connection forever.
func limitBody(h http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			c := http.NewResponseController(w)
			c.SetReadDeadline(time.Now().Add(timeout))
			if _, err := io.CopyN(io.Discard, r.Body, maxBody+1); err == io.EOF {
				c.SetReadDeadline(time.Time{}) // else net/http reads on, and the deadline stays
			}
		}
		h.ServeHTTP(w, r)
	})
}

// run serves until ctx ends or a listener fails. After ctx it lets responses complete. stop makes a
// second signal end the process.
func (s *server) run(ctx context.Context, stop func()) error {
	failed := make(chan error, 2)
	for _, l := range []listening{s.main, s.debug} {
		if l.Listener == nil {
			continue
		}
		go func() {
			if err := l.http.Serve(l.Listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		}()
	}
	s.log.Info("listening", "address", s.main.Addr().String())
	if s.debug.Listener != nil {
		s.log.Info("listening for /debug", "address", s.debug.Addr().String())
	}
	if a, ok := s.main.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		s.log.Warn("other machines can connect, without TLS or passwords", "address", a.String())
	}
	snapshots := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if s.profile != nil {
			s.profile.Every(s.o.snapshotInterval, snapshots, s.snapshotFailed)
		}
	}()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop()
	close(snapshots)
	<-ended
	return errors.Join(err, s.shutdown())
}

func (s *server) snapshotFailed(err error) { s.log.Error("cannot write snapshot", "err", err) }

// shutdown lets responses complete, writes the last snapshot and closes everything.
func (s *server) shutdown() error {
	s.log.Info("shutting down", "in flight", s.counters.Snapshot("live").Requests.InFlight,
		"at most", s.o.shutdownTimeout)
	if s.profile != nil {
		// Who waits for the end may lose patience and kill the process.
		if err := s.profile.Write("interval"); err != nil {
			s.snapshotFailed(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.o.shutdownTimeout)
	defer cancel()
	idle := true
	if err := s.main.http.Shutdown(ctx); err != nil {
		s.log.Warn("responses did not complete in time", "err", err)
		s.cancel()
		s.main.http.Close()
		idle = s.await(time.Second)
	}
	var err error
	if s.profile != nil {
		err = errors.Join(s.profile.Write("final"), s.profile.Close())
	}
	if !idle {
		s.set = nil // its files are in use until the process ends
	}
	s.close()
	return err
}

// await waits until there are no requests, at most for so long.
func (s *server) await(d time.Duration) bool {
	for end := time.Now().Add(d); ; time.Sleep(10 * time.Millisecond) {
		if s.counters.Snapshot("live").Requests.InFlight == 0 {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// close closes what start has opened.
func (s *server) close() {
	s.cancel()
	for _, l := range []listening{s.main, s.debug} {
		if l.http != nil {
			l.http.Close()
		}
		if l.Listener != nil {
			l.Listener.Close()
		}
	}
	if s.set != nil {
		s.set.Close()
	}
}
