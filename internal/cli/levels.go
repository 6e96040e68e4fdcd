package cli

import "strings"

// optionNames says what is known about options.
type optionNames struct {
	short func(letter byte) bool   // reports whether an option takes a value
	long  func(name string) bool   // reports the same
	full  func(part string) string // returns the long name that part abbreviates, or part itself

	// levels returns the long name of an option that a list of levels may follow at once, or "".
	levels func(letter byte) string

	digits bool // each digit is a level, as in gzip
}

// rewriteLevels rewrites the level options of gzip (-1 to -9, also inside a cluster as in -9k,
// --fast and --best) to --level=N, which pflag understands, and completes abbreviated long names.
// It rewrites -b1-9 to --bench=1-9. It changes neither arguments after "--" nor values of options.
//
// Adjacent digits form one number: -19 is level 19, an error. In gzip it is -1 -9.
func rewriteLevels(args []string, names optionNames) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if name, value, ok := strings.Cut(arg, "="); len(name) > 2 && strings.HasPrefix(name, "--") {
			arg = "--" + names.full(name[2:])
			if ok {
				arg += "=" + value
			}
		}
		takesNext := false
		switch {
		case arg == "--":
			return append(out, args[i:]...)
		case arg == "--fast":
			out = append(out, "--level=1")
		case arg == "--best":
			out = append(out, "--level=9")
		case strings.HasPrefix(arg, "--"):
			out = append(out, arg)
			takesNext = !strings.Contains(arg, "=") && names.long(arg[2:])
		case len(arg) > 1 && arg[0] == '-':
			out, takesNext = rewriteCluster(out, arg[1:], names)
		default:
			out = append(out, arg)
		}
		if takesNext && i+1 < len(args) {
			i++
			out = append(out, args[i])
		}
	}
	return out
}

// rewriteCluster splits a cluster of one-letter options at its digits and appends the parts to out.
// It reports whether the last letter takes the next argument as its value.
func rewriteCluster(out []string, cluster string, names optionNames) ([]string, bool) {
	start, before := 0, len(out) // start: first letter not yet appended
	flush := func(end int) {
		if start < end {
			out = append(out, "-"+cluster[start:end])
		}
	}
	for i := 0; i < len(cluster); {
		c := cluster[i]
		option := names.levels(c)
		switch {
		case option != "" && i+1 < len(cluster) && isDigit(cluster[i+1]):
			flush(i)
			list := cluster[i+1:]
			list = list[:len(list)-len(strings.TrimLeft(list, "0123456789,-"))]
			out = append(out, "--"+option+"="+list)
			i += 1 + len(list)
			start = i
		case isDigit(c):
			flush(i)
			end := i + 1
			for !names.digits && end < len(cluster) && isDigit(cluster[end]) {
				end++
			}
			out = append(out, "--level="+cluster[i:end])
			i, start = end, end
		case c == '=', names.short(c):
			// The rest of the cluster is a value.
			flush(len(cluster))
			return out, c != '=' && i+1 == len(cluster)
		case c == '-':
			// Invalid. Keep the cluster whole so that the parser rejects it. Its rest alone could
			// be another option, or "--".
			return append(out[:before], "-"+cluster), false
		default:
			i++
		}
	}
	flush(len(cluster))
	return out, false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
