package wgsl

import "strings"

type kind uint8

const (
	end kind = iota
	word
	number
	symbol
)

type token struct {
	kind kind
	text string
	line int
}

// symbols holds the symbols that are longer than a byte, the longest first.
var symbols = []string{
	"<<=", ">>=",
	"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	figures = "0123456789"
)

// lex splits the text into tokens.
func (p *parser) lex(src string) {
	for len(src) > 0 {
		n, kind := 1, symbol
		switch c := src[0]; {
		case c == '\n':
			p.line++
			src = src[1:]
			continue
		case c == ' ' || c == '\t' || c == '\r':
			src = src[1:]
			continue
		case strings.HasPrefix(src, "//"):
			if n = strings.IndexByte(src, '\n'); n < 0 {
				n = len(src)
			}
			src = src[n:]
			continue
		case strings.HasPrefix(src, "/*"):
			p.fail("comments between /* and */ are not supported")
		case strings.IndexByte(letters, c) >= 0:
			kind = word
			for n < len(src) && strings.IndexByte(letters+figures, src[n]) >= 0 {
				n++
			}
		case strings.IndexByte(figures, c) >= 0:
			kind = number
			for n < len(src) && strings.IndexByte(letters+figures+".", src[n]) >= 0 {
				n++
			}
		case c < ' ' || c > '~':
			p.fail("unknown character %q", c)
		default:
			for _, s := range symbols {
				if strings.HasPrefix(src, s) {
					n = len(s)
					break
				}
			}
		}
		p.tokens = append(p.tokens, token{kind, src[:n], p.line})
		src = src[n:]
	}
	p.tokens = append(p.tokens, token{end, "the end", p.line})
	p.tok = p.tokens[0]
	p.line = p.tok.line
}

// next returns the next token and moves on.
func (p *parser) next() token {
	t := p.tok
	if t.kind != end {
		p.tokens = p.tokens[1:]
		p.tok = p.tokens[0]
		p.line = p.tok.line
	}
	return t
}

// is reports whether the next token is the text.
func (p *parser) is(text string) bool { return p.tok.kind != end && p.tok.text == text }

// accept skips the next token if it is the text, and reports whether it did.
func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail("found %s, want %s", p.tok.text, text)
	}
}

// closing skips a >, which may be the first half of a >>.
func (p *parser) closing() {
	if p.is(">>") {
		p.tokens[0].text = ">"
		p.tok = p.tokens[0]
		return
	}
	p.expect(">")
}

func (p *parser) word() string {
	if p.tok.kind != word {
		p.fail("found %s, want a name", p.tok.text)
	}
	return p.next().text
}
