package cli

import (
	"fmt"
	"strings"
)

// A flag is an option as the parser knows it.
type flag struct {
	long  string // name behind --
	short string // one letter, or ""
	rule  valueRule
	set   func(value string) error // receives absent if there is no value
	given bool                     // the command line has the option
}

// valueRule says whether an option has a value.
type valueRule int

const (
	noValue       valueRule = iota
	optionalValue           // only behind a =, as in --help=all
	needsValue
)

// absent is the value of an option that has none.
const absent = ""

// flagSet has the options of a command line.
type flagSet []*flag

// lookup returns the option with a long name, or nil.
func (fs flagSet) lookup(long string) *flag {
	for _, f := range fs {
		if f.long == long {
			return f
		}
	}
	return nil
}

// letter returns the option with a one-letter name, or nil.
func (fs flagSet) letter(c byte) *flag {
	for _, f := range fs {
		if len(f.short) == 1 && f.short[0] == c {
			return f
		}
	}
	return nil
}

// parse sets the options of a command line, from left to right, and returns the operands. Options
// are written as for GNU programs: -d -k or -dk, -T2 or -T 2, --threads=2 or --threads 2. They may
// stand behind operands. All arguments behind -- are operands.
func (fs flagSet) parse(args []string) (operands []string, err error) {
	for i := 0; i < len(args); i++ {
		arg, waits := args[i], (*flag)(nil)
		switch {
		case arg == "--":
			return append(operands, args[i+1:]...), nil
		case strings.HasPrefix(arg, "--"):
			waits, err = fs.parseLong(arg[2:])
		case len(arg) > 1 && arg[0] == '-':
			waits, err = fs.parseLetters(arg[1:])
		default:
			operands = append(operands, arg)
		}
		if waits != nil {
			if i++; i == len(args) {
				return nil, fmt.Errorf("%s needs a value", waits.name())
			}
			err = waits.apply(args[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return operands, nil
}

// parseLong sets the option of an argument, without its --. It returns the option if that takes the
// next argument as its value.
func (fs flagSet) parseLong(arg string) (waits *flag, err error) {
	name, value, given := strings.Cut(arg, "=")
	if name == "" || name[0] == '-' {
		return nil, fmt.Errorf("invalid option %s", printable("--"+arg))
	}
	f := fs.lookup(name)
	switch {
	case f == nil:
		return nil, fs.unknownName(name)
	case f.rule == noValue && given:
		return nil, fmt.Errorf("%s takes no value", f.name())
	case f.rule == needsValue && !given:
		return f, nil
	}
	return nil, f.apply(value)
}

// parseLetters sets the options of an argument, without its -. It returns the last option if that
// takes the next argument as its value. Digits are a level, and adjacent ones are one number: -19 is
// level 19, an error, and not -1 -9.
func (fs flagSet) parseLetters(arg string) (waits *flag, err error) {
	for arg != "" && err == nil {
		if n := len(arg) - len(strings.TrimLeft(arg, "0123456789")); n > 0 {
			err = fs.lookup(levelFlag).apply(arg[:n])
			arg = arg[n:]
			continue
		}
		f := fs.letter(arg[0])
		if f == nil {
			return nil, fs.unknownLetter(arg)
		}
		arg = arg[1:]
		value, given := strings.CutPrefix(arg, "=")
		switch {
		case f.rule == needsValue && arg == "":
			return f, nil
		case f.rule == needsValue, f.rule == optionalValue && given:
			return nil, f.apply(value)
		case given:
			return nil, fmt.Errorf("%s takes no value", f.name())
		}
		err = f.apply(absent)
	}
	return nil, err
}

// apply sets an option.
func (f *flag) apply(value string) error {
	f.given = true
	err := f.set(value)
	switch {
	case err == nil:
		return nil
	case f.long == levelFlag: // the argument was -19 or --level=19
		return fmt.Errorf("level %s: %w", printable(value), err)
	case f.rule == optionalValue:
		return fmt.Errorf("--%s=%s: %w", f.long, printable(value), err)
	}
	return fmt.Errorf("%s %s: %w", f.name(), printable(value), err)
}

// name returns the one-letter name of an option if it has one, and else the long one.
func (f *flag) name() string {
	if f.short != "" {
		return "-" + f.short
	}
	return "--" + f.long
}
