package main

import (
	"fmt"
	"sync"
	"time"
)

// plan runs steps within a budget. A step gets a share of the remaining time by its weight. What it
// does not use goes to the later ones.
type plan struct {
	end    time.Time
	report *report
	steps  []step

	mu  sync.Mutex
	now string // name of the step in progress
}

type step struct {
	name   string
	weight float64
	run    func(*limit) error
}

func newPlan(end time.Time, r *report) *plan { return &plan{end: end, report: r} }

func (p *plan) addStep(name string, weight float64, run func(*limit) error) {
	p.steps = append(p.steps, step{name, weight, run})
}

// current returns the name of the step in progress.
func (p *plan) current() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// run runs all steps. It reports their errors.
func (p *plan) run() {
	for i, s := range p.steps {
		left := 0.0
		for _, s := range p.steps[i:] {
			left += s.weight
		}
		share := time.Duration(float64(time.Until(p.end)) * s.weight / left)
		p.mu.Lock()
		p.now = s.name
		p.mu.Unlock()
		l := &limit{name: s.name, end: time.Now().Add(share), report: p.report}
		if share <= 0 {
			l.leaveOut("all of it: the budget is used up")
			continue
		}
		if err := s.run(l); err != nil {
			p.report.failed(fmt.Errorf("%s: %w", s.name, err))
			l.leaveOut("the rest, after an error: " + err.Error())
		}
	}
}

// limit is the time that a step may take.
type limit struct {
	name   string
	end    time.Time
	report *report
}

// left returns the time that remains.
func (l *limit) left() time.Duration { return time.Until(l.end) }

// repeats returns how often something that takes that long may run, at most most. It returns 0 if
// there is no time for it.
func (l *limit) repeats(took time.Duration, most int) int {
	n := int(l.left() / 8 / max(took, 1)) // much is to come
	if n < 1 && took < l.left() {
		n = 1
	}
	return max(0, min(n, most))
}

// leaveOut reports something that the step leaves out.
func (l *limit) leaveOut(what string) { l.report.leaveOut(l.name, what) }
