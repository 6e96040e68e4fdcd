package cli

import "strings"

// rewriteLevels turns the level tokens of gzip (-1 … -9, also inside a cluster as in -9k, --fast, --best) into
// --level=N, which pflag understands. It touches nothing behind "--" and no value of an option, so it has to know
// which options take one: short and long answer that.
//
// All digits that stand together are one number: -19 is level 19 and thereby an error, not -1 -9.
func rewriteLevels(args []string, short func(byte) bool, long func(string) bool) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
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
			takesNext = !strings.Contains(arg, "=") && long(arg[2:])
		case len(arg) > 1 && arg[0] == '-':
			out, takesNext = rewriteCluster(out, arg[1:], short)
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

// rewriteCluster splits the letters of one token at its digits and says whether the last letter takes the next
// argument as its value.
func rewriteCluster(out []string, cluster string, short func(byte) bool) ([]string, bool) {
	start, before := 0, len(out) // start of the letters not yet written
	flush := func(end int) {
		if start < end {
			out = append(out, "-"+cluster[start:end])
		}
	}
	for i := 0; i < len(cluster); {
		c := cluster[i]
		switch {
		case isDigit(c):
			flush(i)
			end := i + 1
			for end < len(cluster) && isDigit(cluster[end]) {
				end++
			}
			out = append(out, "--level="+cluster[i:end])
			i, start = end, end
		case c == '=', short(c):
			// The rest is a value.
			flush(len(cluster))
			return out, c != '=' && i+1 == len(cluster)
		case c == '-':
			// No option; the parser refuses the token whole, where its rest alone would be another option, or the
			// end of all options.
			return append(out[:before], "-"+cluster), false
		default:
			i++
		}
	}
	flush(len(cluster))
	return out, false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
