package compress

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A Writer or Reader that nobody has made says so.
func TestZeroValues(t *testing.T) {
	for name, f := range map[string]func() error{
		"Write":        func() error { var w Writer; _, err := w.Write([]byte("x")); return err },
		"ReadFrom":     func() error { var w Writer; _, err := w.ReadFrom(strings.NewReader("x")); return err },
		"Flush":        func() error { var w Writer; return w.Flush() },
		"Close":        func() error { var w Writer; w.Close(); return w.Close() },
		"Writer.Reset": func() error { var w Writer; w.Reset(io.Discard); _, err := w.Write(nil); return err },
		"Read":         func() error { var r Reader; _, err := r.Read(make([]byte, 1)); return err },
		"WriteTo":      func() error { var r Reader; _, err := r.WriteTo(io.Discard); return err },
		"Reader.Reset": func() error { var r Reader; r.Reset(strings.NewReader("x")); _, err := io.ReadAll(&r); return err },
	} {
		if err := f(); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "made without New") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var w Writer
	var r Reader
	w.Stats()
	r.Stats()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
