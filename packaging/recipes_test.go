package packaging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// recipe says how to test a section of docs/RECIPES.md.
type recipe struct {
	tools    string // programs that it needs
	setup    string // script before the commands of the section
	check    string // script after them
	standIns string // programs that need a server; scripts without a server replace them
}

// makeHome makes a directory to archive, and makes its content go away when it is restored.
const makeHome = "mkdir home; seq 100000 >home/a; cp home/a a\n"

var recipes = map[string]recipe{
	"tar": {
		tools: "tar",
		setup: makeHome,
		check: "cmp a home/a; pz -t home.tar.pz; rm home/a; tar -I pz -xf home.tar.pz; cmp a home/a",
	},
	"Archives": {
		tools: "tar",
		setup: makeHome + "exec >out\n",
		check: "exec >&-; cmp a back/home/a; [ \"$(tail -n 1 out)\" = 100000 ]; grep -q ' home/a$' out\n" +
			"pz -dc home.tar.pz | tar -xOf - home/a | cmp a",
	},
	"TAR_OPTIONS": {
		tools: "tar",
		setup: makeHome,
		check: "pz -t home.tar.pz; rm home/a; tar -xf home.tar.pz; cmp a home/a",
	},
	"rsync": {
		tools: "rsync",
		setup: "mkdir backup; seq 2000000 >db.sql; pz --rsyncable -c db.sql >backup/db.sql.pz\n" +
			"sed -i 's/^1000000$/an edit/' db.sql; cp backup/db.sql.pz before\n",
		check: "cmp db.sql.pz backup/db.sql.pz; pz -dc backup/db.sql.pz | cmp - db.sql\n" +
			"if cmp -s before db.sql.pz; then exit 1; fi\n" +
			"size=$(wc -c <db.sql.pz); cp before backup/db.sql.pz\n" +
			"rsync --stats --no-whole-file db.sql.pz backup/ >stats\n" +
			"sent=$(sed -n 's/[.,]//g; s/^Literal data: \\([0-9]*\\) bytes$/\\1/p' stats)\n" +
			`[ "$sent" -gt 0 ] && [ "$sent" -lt $((size / 2)) ] || { echo "sent $sent of $size"; exit 1; }`,
	},
	"git archive": {
		tools: "git",
		setup: "git init -q; seq 1000 >a; git add a\n" +
			"git -c user.name=a -c user.email=a@example.org commit -qm a\n",
		check: "pz -t release.tar.pz; pz -dc release.tar.pz | tar -xOf - a | cmp - a",
	},
	"Many small files": {
		setup: `mkdir samples records; for i in $(seq 300); do for d in samples records; do
printf '{"id":"%s","user":"name-%d","url":"https://api.example.com/users/%d","tags":["a","b"]}' \
	$i$d $((i * 7919 % 1000)) $i >$d/$i.json; done; done; cp records/1.json one` + "\n",
		check: "pz -dc -D json.dict records/1.json.zst | cmp - one; pz -tr -D json.dict records\n" +
			"if pz -t records/1.json.zst 2>err; then exit 1; fi; grep -q 'needs the dictionary' err",
	},
	"Changes to a file": {
		setup: "seq 200000 | awk '{ x = (x * 7919 + $1) % 1000003; print x }' >old.sql\n" +
			"sed '100000s/^/an edit/' old.sql >new.sql\n",
		check: "cmp new.sql restored.sql; [ $(wc -c <changes.pz) -lt 2000 ]\n" +
			"[ $(pz -9 -c new.sql | wc -c) -gt 200000 ]",
	},
	"Which level?": {
		setup: "seq 20000 >db.sql; exec >rows\n",
		check: "exec >&-; [ $(wc -l <rows) = 10 ]; grep -q '^    9 ' rows\n" +
			"grep -q '</svg>' levels.svg",
	},
	"PostgreSQL": {
		setup:    "seq 1000 >shop\n",
		check:    "cmp shop shop.restored; pz -t shop.sql.pz",
		standIns: "pg_dump psql",
	},
	"MySQL and MariaDB": {
		setup:    "seq 1000 >shop\n",
		check:    "cmp shop shop.restored; pz -t shop.sql.pz",
		standIns: "mysqldump mysql",
	},
	"Docker": {
		setup:    "seq 1000 >app:1.0\n",
		check:    "cmp app:1.0 load.restored; pz -t app.tar.pz",
		standIns: "docker",
	},
	"find and xargs": {
		tools: "find xargs",
		setup: "mkdir logs; seq 1000 >'logs/an old.log'; cp 'logs/an old.log' a; echo new >logs/new.log\n" +
			"touch -d '2 weeks ago' 'logs/an old.log'\n",
		check: "[ ! -e 'logs/an old.log' ]; [ ! -e logs/new.log.pz ]; pz -dc 'logs/an old.log.pz' | cmp - a",
	},
	"grep": {
		tools: "grep rg",
		setup: "mkdir logs; for n in 1 2; do echo \"error $n\" | pz >logs/$n.pz; done; exec >out\n",
		check: "exec >&-; grep -qx 'logs/1.pz:1:error 1' out; [ $(wc -l <out) = 6 ]",
	},
}

// standIn is a program that prints the file that its last argument names, or, if its name is that
// of a program that restores, writes standard input to NAME.restored.
const standIn = `#!/bin/sh
for last do :; done
case "${0##*/} $1" in
  psql* | mysql\ * | *load) cat >"$last.restored" ;;
  *) cat "$last" ;;
esac
`

// sections returns the commands of the sections of a page: its indented lines.
func sections(page string) map[string]string {
	list := map[string]string{}
	title := ""
	for line := range strings.Lines(strings.ReplaceAll(page, "\r\n", "\n")) {
		if t, ok := strings.CutPrefix(line, "## "); ok {
			title = strings.TrimSpace(t)
		}
		if code, ok := strings.CutPrefix(line, "    "); ok {
			list[title] += code
		}
	}
	return list
}

func readSections(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "RECIPES.md"))
	if err != nil {
		t.Fatal(err)
	}
	return sections(string(page))
}

// TestRecipes runs the commands of docs/RECIPES.md.
func TestRecipes(t *testing.T) {
	testenv.Slow(t)
	list := readSections(t)
	for title := range recipes {
		if list[title] == "" {
			t.Errorf("docs/RECIPES.md has no section %q with commands", title)
		}
	}
	for title, commands := range list {
		if title == "logrotate" {
			continue // TestLogrotate
		}
		r, ok := recipes[title]
		if !ok {
			t.Errorf("section %q of docs/RECIPES.md has no test", title)
			continue
		}
		t.Run(title, func(t *testing.T) {
			for _, tool := range strings.Fields(r.tools) {
				testenv.Tool(t, tool)
			}
			s := newShell(t)
			for _, name := range strings.Fields(r.standIns) {
				if err := os.WriteFile(filepath.Join(s.bin, name), []byte(standIn), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			s.must(r.setup + commands + r.check)
		})
	}
}

// TestLogrotate rotates a log with the configuration of docs/RECIPES.md.
func TestLogrotate(t *testing.T) {
	testenv.Slow(t)
	if _, err := os.Stat("/usr/sbin/logrotate"); err == nil {
		t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	}
	testenv.Tool(t, "logrotate")
	s := newShell(t)
	config := readSections(t)["logrotate"]
	for from, to := range map[string]string{"/var/log": s.dir, "/usr/bin": s.bin} {
		if !strings.Contains(config, from) {
			t.Fatalf("the configuration does not name %s: %s", from, config)
		}
		config = strings.ReplaceAll(config, from, to)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "config"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	s.must("seq 1000 >app.log; cp app.log a; chmod 755 .\n" +
		"logrotate -f -s $PWD/state config; [ ! -s app.log ]; pz -dc app.log.1.pz | cmp - a\n" +
		"seq 2000 >app.log; cp app.log b; logrotate -f -s $PWD/state config\n" +
		"pz -dc app.log.1.pz | cmp - b; pz -dc app.log.2.pz | cmp - a")
}
