package gpu

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestLazy checks when the device starts, and what it does before and after that.
func TestLazy(t *testing.T) {
	opened, proceed := make(chan bool), make(chan error)
	var soft *Soft
	ran := 0
	l := NewLazy(Info{Name: "base", Concurrent: 3}, func() (Device, error) {
		opened <- true
		soft = NewSoft(func(*Request) error { ran++; return nil }, SoftConfig{})
		return soft, <-proceed
	})
	r := &Request{}
	if l.Accepts(r) || l.Info().Name != "base" || l.Run(StageN, []*Request{r}) == nil {
		t.Error("the device has started before Start")
	}
	select {
	case <-opened:
		t.Fatal("open is called before Start")
	case <-time.After(10 * time.Millisecond):
	}
	for range 5 { // open is called once
		l.Start()
	}
	<-opened
	if l.Accepts(r) || l.StartTime() != 0 {
		t.Error("the device has started before open returns")
	}
	proceed <- nil
	for !l.Accepts(r) {
		time.Sleep(time.Millisecond)
	}
	if err := l.Run(StageN, []*Request{r}); err != nil || ran != 1 {
		t.Errorf("%d requests ran, want 1; error %v", ran, err)
	}
	if i := l.Info(); i.Name != "soft" || i.Concurrent != 3 || l.StartTime() <= 0 {
		t.Errorf("Info() = %+v, start time %v", i, l.StartTime())
	}
	l.Close()
	l.Close()
	if !soft.closed.Load() || l.StartError() != nil {
		t.Error("Close does not close the device, or StartError is set")
	}
}

// TestLazyFails checks that an error of open, or a panic, is reported.
func TestLazyFails(t *testing.T) {
	for _, panics := range []bool{false, true} {
		l := NewLazy(Info{}, func() (Device, error) {
			if panics {
				panic("test")
			}
			return nil, errors.New("test")
		})
		l.Start()
		for l.StartError() == nil {
			time.Sleep(time.Millisecond)
		}
		if err := l.StartError(); !strings.Contains(err.Error(), "test") {
			t.Errorf("StartError() = %v", err)
		}
		if l.Accepts(&Request{}) || l.Run(StageN, nil) == nil {
			t.Error("requests run although open failed")
		}
		l.Close()
	}
}

// TestLazyClosed checks that a device opened after Close is closed.
func TestLazyClosed(t *testing.T) {
	proceed, soft := make(chan bool), NewSoft(nil, SoftConfig{})
	l := NewLazy(Info{}, func() (Device, error) { <-proceed; return soft, nil })
	l.Start()
	l.Close()
	close(proceed)
	for end := time.Now().Add(10 * time.Second); !soft.closed.Load(); {
		if time.Now().After(end) {
			t.Fatal("the device is still open after 10 s")
		}
		time.Sleep(time.Millisecond)
	}
}
