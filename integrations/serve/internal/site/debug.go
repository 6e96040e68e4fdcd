package site

import (
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/gopz/compress/integrations/serve/internal/stats"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Debug returns the handler of the pages below /debug/. They are for the operator: they name files
// and show how the process works.
func Debug(c *stats.Counters) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c.Collector(), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/stats", func(w http.ResponseWriter, r *http.Request) {
		if wantsMetrics(r) {
			metrics.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		e.Encode(c.Snapshot("live")) // an error is the client's
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte("/debug/stats                    counters as JSON\n" +
			"/debug/stats?format=prometheus  the same for Prometheus\n" +
			"/debug/pprof/                   profiles of the Go runtime\n"))
	})
	return mux
}

// wantsMetrics reports whether a request is for the text format of Prometheus. A scraper asks for
// it by its Accept header.
func wantsMetrics(r *http.Request) bool {
	switch format := r.URL.Query().Get("format"); format {
	case "prometheus":
		return true
	case "":
		accept := r.Header.Get("Accept")
		return strings.Contains(accept, "openmetrics") || strings.HasPrefix(accept, "text/plain")
	}
	return false
}
