package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var (
	quoted    = regexp.MustCompile("`[^`\n]+`")
	pathName  = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*/?$`)
	isSource  = regexp.MustCompile(`\.(go|sh|wgsl)$`)
	inComment = regexp.MustCompile(`[\w./*-]*[\w*]\.(go|sh|wgsl)\b`)
	goCommand = regexp.MustCompile("(?:go (?:test|run|build|generate)|fuzz\\.sh)[^`\n]* \\./([\\w/-]+)")
	testName  = regexp.MustCompile("`(?:\\w+\\.)?((?:Test|Fuzz)\\w+)`")
	// paragraphEnd separates paragraphs, and rows of tables.
	paragraphEnd = regexp.MustCompile("\n\n|\n\\|")
	oddName      = regexp.MustCompile("[\x00-\x1f\x7f\"'*:<>?`|\\\\]")
)

// checkFileNames finds names of files that do not exist, in Markdown and in comments of Go files,
// and names that a file system or a Go module cannot hold.
func checkFileNames(tr *tree) (found []finding) {
	for name := range tr.exists {
		if oddName.MatchString(name) || !utf8.ValidString(name) {
			found = append(found, finding{key: name, text: "is not a portable file name"})
		}
	}
	for _, f := range tr.files {
		var missing []string
		switch {
		case f.ast != nil:
			missing = missingInComments(tr, f)
		case path.Ext(f.path) == ".md":
			missing = missingInMarkdown(tr, f.text)
		}
		for _, name := range missing {
			text := "names " + name + ", which does not exist"
			found = append(found, finding{key: f.path + " " + name, pos: f.path, text: text})
		}
	}
	return found
}

// missingInComments returns the names of source files in comments that exist neither in the
// directory of f nor below the root of a module. A name with an asterisk stands for several files.
func missingInComments(tr *tree, f *file) (missing []string) {
	dirs := append([]string{path.Dir(f.path), "."}, tr.nested...)
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			for _, name := range inComment.FindAllString(c.Text, -1) {
				if !strings.Contains(name, "*") && !tr.existsIn(dirs, name) {
					missing = append(missing, name)
				}
			}
		}
	}
	return missing
}

// missingInMarkdown returns the packages in go commands and the names in backquotes that do not
// exist. A name is the path of a source file, a path in an existing directory of the root, or the
// base name of a source file. A base name lies in a directory that the same paragraph or table row
// names, or at the root if it names none.
func missingInMarkdown(tr *tree, text string) (missing []string) {
	for _, m := range goCommand.FindAllStringSubmatch(text, -1) {
		if !tr.existsIn(append([]string{"."}, tr.nested...), m[1]) {
			missing = append(missing, m[1])
		}
	}
	for _, part := range paragraphEnd.Split(text, -1) {
		var names, dirs []string
		for _, q := range quoted.FindAllString(part, -1) {
			name, _, _ := strings.Cut(strings.Trim(q, "`"), " ") // drop the arguments of a command
			switch name = strings.TrimSuffix(name, "/"); {
			case !pathName.MatchString(name):
			case tr.exists[name] && path.Ext(name) == "":
				dirs = append(dirs, name)
			default:
				names = append(names, name)
			}
		}
		if dirs == nil {
			dirs = []string{"."}
		}
		for _, name := range names {
			first, _, long := strings.Cut(name, "/")
			switch {
			case long && (isSource.MatchString(name) || tr.exists[first]):
				if !tr.existsIn([]string{"."}, name) {
					missing = append(missing, name)
				}
			case !long && isSource.MatchString(name) && !tr.existsIn(dirs, name):
				missing = append(missing, name)
			}
		}
	}
	return missing
}

// existsIn reports whether a file exists in one of the directories.
func (tr *tree) existsIn(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return tr.exists[path.Join(dir, name)] })
}

// checkTestNames finds names of tests in Markdown that do not exist.
func checkTestNames(tr *tree) (found []finding) {
	tests := map[string]bool{}
	for _, f := range tr.files {
		if f.test() {
			for _, id := range topLevel(f.ast) {
				tests[id.Name] = true
			}
		}
	}
	for _, f := range tr.files {
		if path.Ext(f.path) != ".md" {
			continue
		}
		for _, m := range testName.FindAllStringSubmatch(f.text, -1) {
			if !tests[m[1]] {
				found = append(found, finding{key: f.path + " " + m[1], pos: f.path, text: "does not exist"})
			}
		}
	}
	return found
}
