package gpu

import (
	"errors"
	"testing"
	"time"
)

// TestLazy checks when the device starts, and what it does before and after that.
func TestLazy(t *testing.T) {
	opened, proceed := make(chan bool), make(chan error)
	var soft *Soft
	ran := 0
	l := NewLazy(Info{Name: "base", Concurrent: 3}, 2, func() (Device, error) {
		opened <- true
		soft = NewSoft(func(*Request) error { ran++; return nil }, SoftConfig{})
		return soft, <-proceed
	})
	r := &Request{}
	if l.Accepts(r) || l.Info().Name != "base" || l.Run(StageN, []*Request{r}) == nil {
		t.Error("the device has started before there is work")
	}
	select {
	case <-opened:
		t.Fatal("open is called at the first request")
	case <-time.After(10 * time.Millisecond):
	}
	for range 5 { // open is called once
		if l.Accepts(r) {
			t.Error("Accepts is true before the device has started")
		}
	}
	<-opened
	proceed <- nil
	for !l.Accepts(r) {
		time.Sleep(time.Millisecond)
	}
	if err := l.Run(StageN, []*Request{r}); err != nil || ran != 1 {
		t.Errorf("%d requests ran, want 1; error %v", ran, err)
	}
	if i := l.Info(); i.Name != "soft" || i.Concurrent != 3 {
		t.Errorf("Info() = %+v", i)
	}
	l.Close()
	l.Close()
	if !soft.closed.Load() || l.StartError() != nil {
		t.Error("Close does not close the device, or StartError is set")
	}
}

// TestLazyFails checks that the error of open is reported.
func TestLazyFails(t *testing.T) {
	proceed := make(chan error)
	l := NewLazy(Info{}, 1, func() (Device, error) { return nil, <-proceed })
	r := &Request{}
	l.Accepts(r)
	proceed <- errors.New("test")
	for l.StartError() == nil {
		time.Sleep(time.Millisecond)
	}
	if l.Accepts(r) || l.Run(StageN, nil) == nil {
		t.Error("requests run although open failed")
	}
	l.Close()
}

// TestLazyClosed checks that a device opened after Close is closed.
func TestLazyClosed(t *testing.T) {
	proceed, soft := make(chan bool), NewSoft(nil, SoftConfig{})
	l := NewLazy(Info{}, 1, func() (Device, error) { <-proceed; return soft, nil })
	l.Accepts(&Request{})
	l.Close()
	close(proceed)
	for end := time.Now().Add(10 * time.Second); !soft.closed.Load(); {
		if time.Now().After(end) {
			t.Fatal("the device is still open after 10 s")
		}
		time.Sleep(time.Millisecond)
	}
}
