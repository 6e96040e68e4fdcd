package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
)

// generatedHelp lists the values of --help that print files for packages of pz. All of their text
// comes from optionTable and the other texts of --help.
var generatedHelp = []string{"man", "bash", "zsh", "fish"}

// generateHelp returns what --help prints with a value of generatedHelp, and "" with another one.
func generateHelp(kind string) string {
	switch kind {
	case "man":
		return manPageOfBuild()
	case "bash":
		return bashCompletion()
	case "zsh":
		return zshCompletion()
	case "fish":
		return fishCompletion()
	}
	return ""
}

// programs lists the names of pz that take its options.
var programs = []string{"pz", "unpz", "pzcat"}

// completion is what a shell is told about an option.
type completion struct {
	short, long string
	about       string   // a line of text
	value       string   // placeholder of the value; "" if there is none
	optional    bool     // the value follows --long= or is left out
	values      []string // possible values, where they can be listed
	files, dirs bool     // the value is the name of a file, or of a directory
}

// completions returns the options of pz. The levels -1 to -9 have no long names.
func completions() (list []completion) {
	var c config
	fs := c.flagSet()
	for _, o := range optionTable {
		if o.long == "" {
			continue
		}
		if o.long == levelFlag {
			for _, level := range optionValues(levelFlag) {
				list = append(list, completion{short: level, about: "Set level " + level})
			}
		}
		list = append(list, completion{
			short: o.short, long: o.long, value: o.value,
			about:    headline(helpValues().Replace(o.text)),
			optional: o.value != "" && !takesValue(fs.Lookup(o.long)),
			values:   optionValues(o.long),
			files:    o.value == "FILE",
			dirs:     o.value == "DIR",
		})
	}
	return list
}

// headline returns the beginning of a text that says what an option does.
func headline(text string) string {
	for _, end := range []string{". ", ": ", "; "} {
		text, _, _ = strings.Cut(text, end)
	}
	return strings.TrimSuffix(text, ".")
}

// optionValues returns the values of an option, or nil if they cannot be listed.
func optionValues(long string) (list []string) {
	switch long {
	case levelFlag:
		for n := minLevel; n <= maxLevel; n++ {
			list = append(list, fmt.Sprint(n))
		}
	case "rm":
		list = append(list, removeFast)
	case "format":
		for _, f := range formats {
			list = append(list, f.String())
		}
	case "pipeline":
		for _, p := range bridge.Pipelines() {
			list = append(list, p.Name)
		}
	case "backend":
		list = slices.Sorted(maps.Keys(backends))
	case "gpu-device":
		list = gpu.Devices()
	case "help":
		list = append([]string{helpAll}, generatedHelp...)
	}
	return list
}

const bashHead = `# Completion of pz for bash.
_pz() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -- ]] || return 0
  done
  # bash makes three words of --format=gz.
  if [[ $cur == = ]]; then
    cur= prev+==
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}=
  fi
  case $prev in
`

// bashCompletion returns the completion for bash. Where it finds no words, bash completes names of
// files.
func bashCompletion() string {
	var b strings.Builder
	b.WriteString(bashHead)
	var options []string
	for _, c := range completions() {
		if c.short != "" {
			options = append(options, "-"+c.short)
		}
		if c.long != "" {
			options = append(options, "--"+c.long)
		}
		if c.value == "" {
			continue
		}
		pattern := "--" + c.long + "="
		if !c.optional {
			pattern += " | --" + c.long
			if c.short != "" {
				pattern += " | -" + c.short
			}
		}
		action := "compopt +o default 2>/dev/null; return 0" // bash 3 has no compopt
		switch {
		case c.files:
			action = "return 0"
		case c.dirs:
			action = "compopt +o default -o dirnames 2>/dev/null; return 0"
		case c.values != nil:
			action = "words='" + strings.Join(c.values, " ") + "'"
		}
		fmt.Fprintf(&b, "    %s) %s ;;\n", pattern, action)
	}
	fmt.Fprintf(&b, "    *)\n      [[ $cur == -* ]] || return 0\n      words='%s'\n      ;;\n  esac\n",
		strings.Join(options, " "))
	b.WriteString("  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n")
	b.WriteString("complete -o default -F _pz " + strings.Join(programs, " ") + "\n")
	return b.String()
}

var zshEscapes = strings.NewReplacer(`'`, `'\''`, `[`, `\[`, `]`, `\]`, `:`, `\:`)

// zshCompletion returns the completion for zsh.
func zshCompletion() string {
	var b strings.Builder
	b.WriteString("#compdef " + strings.Join(programs, " ") + "\n\n_arguments -s -S \\\n")
	for _, c := range completions() {
		var names []string
		if c.short != "" {
			names = append(names, "-"+c.short)
		}
		if c.long != "" {
			names = append(names, "--"+c.long)
		}
		excluded := "(" + strings.Join(names, " ") + ")"
		for _, name := range names {
			long := strings.HasPrefix(name, "--")
			value := ""
			switch {
			case c.value == "" || c.optional && !long:
			case c.optional:
				name, value = name+"=-", "::"
			case long:
				name, value = name+"=", ":"
			default:
				name, value = name+"+", ":"
			}
			if value != "" {
				value += zshEscapes.Replace(c.value) + ":"
				switch {
				case c.files:
					value += "_files"
				case c.dirs:
					value += "_files -/"
				case c.values != nil:
					value += "(" + strings.Join(c.values, " ") + ")"
				default:
					value += " "
				}
			}
			fmt.Fprintf(&b, "  '%s%s[%s]%s' \\\n", excluded, name, zshEscapes.Replace(c.about), value)
		}
	}
	b.WriteString("  '*:FILE:_files'\n")
	return b.String()
}

// fishCompletion returns the completion for fish. fish has no options with an optional value.
func fishCompletion() string {
	var b strings.Builder
	b.WriteString("# Completion of pz for fish.\n")
	for _, c := range completions() {
		b.WriteString("complete -c " + programs[0])
		if c.short != "" {
			b.WriteString(" -s " + c.short)
		}
		if c.long != "" {
			b.WriteString(" -l " + c.long)
		}
		switch {
		case c.value == "" || c.optional:
		case c.files:
			b.WriteString(" -r -F")
		case c.dirs:
			b.WriteString(" -x -a '(__fish_complete_directories)'")
		default:
			b.WriteString(" -x")
			if c.values != nil {
				b.WriteString(" -a '" + strings.Join(c.values, " ") + "'")
			}
		}
		about := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(c.about)
		b.WriteString(" -d '" + about + "'\n")
	}
	for _, name := range programs[1:] {
		b.WriteString("complete -c " + name + " -w " + programs[0] + "\n")
	}
	return b.String()
}
