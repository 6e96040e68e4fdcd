package corpus

// logLines appends one line of a server log.
func logLines(g *gen) {
	g.clock += uint64(g.below(900))
	ms := g.clock
	g.string("2024-03-")
	g.decimal(1+ms/86400000%28, 2)
	g.bytes('T')
	g.decimal(ms/3600000%24, 2)
	g.bytes(':')
	g.decimal(ms/60000%60, 2)
	g.bytes(':')
	g.decimal(ms/1000%60, 2)
	g.bytes('.')
	g.decimal(ms%1000, 3)
	g.pick("Z INFO ", "Z INFO ", "Z INFO ", "Z DEBUG ", "Z WARN ", "Z ERROR ")
	g.pick("http", "http", "cache", "store", "auth")
	g.string(" host=node-")
	g.decimal(uint64(g.geometric()), 2)
	g.string(" addr=10.")
	g.decimal(uint64(g.geometric()), 1)
	g.bytes('.')
	g.decimal(uint64(g.below(256)), 1)
	g.bytes('.')
	g.decimal(uint64(g.below(256)), 1)
	g.pick(" GET /", " GET /", " GET /static/", " POST /api/v1/", " DELETE /api/v1/")
	g.name()
	g.pick(" 200 ", " 200 ", " 200 ", " 304 ", " 404 ", " 500 ")
	g.decimal(g.next()&0x3fff>>g.geometric(), 1)
	g.string("us trace=")
	g.hex(g.next(), 16)
	g.bytes('\n')
}

// jsonRecords appends one record of a list.
func jsonRecords(g *gen) {
	if g.clock == 0 {
		g.string("[\n")
	}
	g.clock++
	g.string(`  {"id": `)
	g.decimal(100000+g.clock, 1)
	g.string(`, "name": "`)
	g.name()
	g.string(`", "active": `)
	g.pick("true", "true", "false")
	g.string(`, "score": `)
	g.decimal(uint64(g.below(100)), 1)
	g.bytes('.')
	g.decimal(uint64(g.below(100)), 2)
	g.string(`, "tags": [`)
	for i := g.geometric(); i >= 0; i-- {
		g.bytes('"')
		g.name()
		g.bytes('"')
		if i > 0 {
			g.string(", ")
		}
	}
	g.string(`], "address": {"street": "`)
	g.decimal(uint64(1+g.below(200)), 1)
	g.bytes(' ')
	g.name()
	g.string(` street", "zip": "`)
	g.decimal(uint64(g.below(100000)), 5)
	g.string("\", \"country\": null}},\n")
}

// source appends one function of a program.
func source(g *gen) {
	g.pick("// ", "// ", "/* ")
	g.name()
	g.string(" the ")
	g.name()
	g.pick(".\n", " and return it.\n", " in place.\n")
	g.pick("static int ", "static void ", "int ", "size_t ")
	g.name()
	g.string("(const char *")
	g.name()
	g.string(", int ")
	g.name()
	g.string(")\n{\n")
	depth := 1
	for n := g.between(3, 20); n > 0 || depth > 1; n-- {
		for range depth {
			g.bytes('\t')
		}
		switch c := g.below(8); {
		case n <= 0 || c == 0 && depth > 1:
			depth--
			g.out = g.out[:len(g.out)-1]
			g.string("}\n")
		case c == 1 && depth < 5:
			g.pick("if (", "if (!", "while (", "for (;;", "switch (")
			g.name()
			g.string(") {\n")
			depth++
		case c < 4:
			g.name()
			g.pick(" = ", " += ", " = ", " |= ")
			g.name()
			g.pick(";\n", " + 1;\n", "[i];\n", "->next;\n")
		case c == 4:
			g.string("return ")
			g.pick("0;\n", "-1;\n", "NULL;\n", "err;\n")
		default:
			g.name()
			g.bytes('(')
			g.name()
			g.string(", ")
			g.name()
			g.string(");\n")
		}
	}
	g.string("}\n\n")
}
