package cli

import (
	"slices"
	"testing"
)

// TestCompletions checks that shells are told all options, and the values that pz accepts.
func TestCompletions(t *testing.T) {
	list := completions()
	for _, o := range optionTable {
		if o.long == "" {
			continue
		}
		i := slices.IndexFunc(list, func(c completion) bool { return c.long == o.long })
		if i < 0 || list[i].short != o.short || list[i].about == "" {
			t.Errorf("--%s: wrong or no completion", o.long)
		}
	}
	listed := 0
	for _, c := range list {
		for _, value := range c.values {
			listed++
			if _, err := parseFlags([]string{"--" + c.long + "=" + value}, noEnv, false); err != nil {
				t.Errorf("--%s=%s: %v", c.long, value, err)
			}
		}
	}
	if listed < 20 {
		t.Errorf("only %d values are listed", listed)
	}
}

func noEnv(string) string { return "" }

func TestHeadline(t *testing.T) {
	for in, want := range map[string]string{
		"Do this.":             "Do this",
		"Do this. Or that.":    "Do this",
		"Do: this.":            "Do",
		"Restore .gz; not .xz": "Restore .gz",
	} {
		if got := headline(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
