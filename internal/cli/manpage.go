package cli

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// manHead is followed by the text of fullHead, and manTail by the examples of --help.
const (
	manHead = `.SH NAME
pz, unpz, pzcat, pzgrep, pzless \- compress and restore files on all processors
.SH SYNOPSIS
.B pz
.RI [ OPTION ]...
.RI [ FILE ]...
.br
.B pz \-x
.RI [ OPTION ]...
.I ARCHIVE
.RI [ PATH ]...
.br
.B unpz
.RI [ OPTION ]...
.RI [ FILE ]...
.br
.B pzcat
.RI [ OPTION ]...
.RI [ FILE ]...
.br
.B pzgrep
.RI [ GREP\-OPTION ]...
.I PATTERN
.RI [ FILE ]...
.br
.B pzless
.RI [ LESS\-OPTION ]...
.RI [ FILE ]...
.SH DESCRIPTION
`
	manPrograms = `.B pzgrep
searches the contents of files with
.BR grep (1),
or with the program that the environment variable
.B GREP
names. It has the exit codes of grep, and its options but \-r, \-R, \-d, \-D, \-\-include and
\-\-exclude.
.B pzless
shows contents with
.BR less (1).
Both also take files that are not compressed.
.PP
A link to pz may also have the name of another program:
`
	manTail = `.SH "SEE ALSO"
.BR grep (1),
.BR gzip (1),
.BR less (1),
.BR tar (1),
.BR zstd (1)
`
)

// manPage returns the man page of pz with the macros of man(7). date may be empty.
func manPage(version, date string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH PZ 1 \"%s\" \"pz %s\" \"User Commands\"\n", date, version)
	b.WriteString(manHead)
	_, description, _ := strings.Cut(fullHead, "\n\n") // without the usage line
	for i, paragraph := range strings.Split(strings.TrimSpace(description), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		b.WriteString(manSentences(paragraph) + "\n")
	}
	b.WriteString(".PP\n")
	for _, name := range programs[1:] {
		options, _ := withNameOptions([]string{name})
		text := manText(strings.Join(options, " "))
		fmt.Fprintf(&b, ".B %s\nis\n.BR \"%s %s\" .\n", name, programs[0], text)
	}
	b.WriteString(manPrograms)
	b.WriteString(manLinks())
	b.WriteString(".SH OPTIONS\n")
	group := ""
	for _, o := range optionTable {
		if o.group != group {
			group = o.group
			switch group {
			case groupEnvironment:
				b.WriteString(".SH ENVIRONMENT\n")
			case groupExit:
				b.WriteString(".SH \"EXIT STATUS\"\n")
			default:
				fmt.Fprintf(&b, ".SS %q\n", group)
			}
		}
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", o.manNames(), manSentences(helpValues().Replace(o.text)))
	}
	b.WriteString(".SH EXAMPLES\n.nf\n")
	for line := range strings.Lines(examples) {
		b.WriteString(manText(strings.TrimSpace(line)) + "\n")
	}
	b.WriteString(".fi\n" + manTail)
	return b.String()
}

// manLinks says which options the names of other programs stand for.
func manLinks() string {
	var list []string
	for _, row := range nameOptions {
		for _, name := range row.names {
			if !slices.Contains(programs, name) {
				list = append(list, fmt.Sprintf(".B %s\nis\n.BR \"%s %s\"",
					name, programs[0], manText(strings.Join(row.options, " "))))
			}
		}
	}
	return strings.Join(list, " ,\n") + " .\n"
}

// manNames returns the names of an option: its own in bold, the placeholder of its value in
// italics.
func (o *option) manNames() string {
	bold := func(s string) string { return `\fB` + manText(s) + `\fR` }
	if o.label != "" {
		return bold(strings.TrimSpace(o.label))
	}
	s := bold("--" + o.long)
	if o.short != "" {
		s = bold("-"+o.short) + ", " + s
	}
	if o.value != "" {
		s += ` \fI` + manText(o.value) + `\fR`
	}
	return s
}

var manEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// manSentences returns plain text in the syntax of man pages. Each sentence begins a line.
func manSentences(s string) string { return manText(strings.ReplaceAll(s, ". ", ".\n")) }

// manText returns plain text in the syntax of man pages. A full stop at the beginning of a line
// would be a request.
func manText(s string) string {
	s = strings.ReplaceAll(manEscapes.Replace(s), "\n.", "\n\\&.")
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// manPageOfBuild returns the man page with the version of this build and the day of its commit.
func manPageOfBuild() string {
	date := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				date, _, _ = strings.Cut(s.Value, "T")
			}
		}
	}
	return manPage(buildVersion(), date)
}
