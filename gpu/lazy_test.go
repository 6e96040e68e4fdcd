package gpu

import (
	"errors"
	"testing"
	"time"
)

func TestLazy(t *testing.T) {
	opened, let := make(chan bool), make(chan error)
	var soft *Soft
	ran := 0
	l := NewLazy(Info{Name: "promise", Concurrent: 3}, 2, func() (Device, error) {
		opened <- true
		soft = NewSoft(func(*Request) error { ran++; return nil }, SoftConfig{})
		return soft, <-let
	})
	r := &Request{}
	if l.Accepts(r) || l.Info().Name != "promise" || l.Run(StageN, []*Request{r}) == nil {
		t.Error("it is up before there is work")
	}
	select {
	case <-opened:
		t.Fatal("started at the first request")
	case <-time.After(10 * time.Millisecond):
	}
	for range 5 { // it is opened once
		if l.Accepts(r) {
			t.Error("it accepts what nobody can do yet")
		}
	}
	<-opened
	let <- nil
	for !l.Accepts(r) {
		time.Sleep(time.Millisecond)
	}
	if err := l.Run(StageN, []*Request{r}); err != nil || ran != 1 {
		t.Error(ran, err)
	}
	if i := l.Info(); i.Name != "soft" || i.Concurrent != 3 {
		t.Errorf("%+v", i)
	}
	l.Close()
	l.Close()
	if !soft.closed.Load() || l.StartError() != nil {
		t.Error("not closed")
	}
}

func TestLazyFails(t *testing.T) {
	let := make(chan error)
	l := NewLazy(Info{}, 1, func() (Device, error) { return nil, <-let })
	r := &Request{}
	l.Accepts(r)
	let <- errors.New("test")
	for l.StartError() == nil {
		time.Sleep(time.Millisecond)
	}
	if l.Accepts(r) || l.Run(StageN, nil) == nil {
		t.Error("there is a device")
	}
	l.Close()
}

// TestLazyClosed closes in the middle of the start.
func TestLazyClosed(t *testing.T) {
	let, soft := make(chan bool), NewSoft(nil, SoftConfig{})
	l := NewLazy(Info{}, 1, func() (Device, error) { <-let; return soft, nil })
	l.Accepts(&Request{})
	l.Close()
	close(let)
	for end := time.Now().Add(10 * time.Second); !soft.closed.Load(); {
		if time.Now().After(end) {
			t.Fatal("the device stays open")
		}
		time.Sleep(time.Millisecond)
	}
}
