package corpus

// Document returns a small JSON file, as an API returns it: 600 to 1,600 bytes. All files have the
// same keys; the seed sets the values.
func Document(seed uint64) []byte {
	g := &gen{rng: newRNG(seed)}
	name := &gen{rng: g.rng}
	name.name()
	name.bytes('-')
	name.name()
	login := string(name.out)
	g.rng = name.rng
	id := uint64(g.below(90_000_000))
	g.string(`{"login":"` + login + `","id":`)
	g.decimal(id, 1)
	g.string(`,"avatar_url":"https://avatars.example.com/u/`)
	g.decimal(id, 1)
	g.string(`?v=3","gravatar_id":"","url":"https://api.example.com/users/` + login + `"`)
	for _, key := range [...]string{
		"followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events",
		"received_events",
	} {
		g.string(`,"` + key + `_url":"https://api.example.com/users/` + login + "/" + key)
		switch key {
		case "following", "gists", "starred":
			g.string("{/other}")
		}
		g.bytes('"')
	}
	g.pick(`,"type":"User"`, `,"type":"User"`, `,"type":"Organization"`)
	g.pick(`,"site_admin":false`, `,"site_admin":false`, `,"site_admin":true`)
	g.string(`,"name":"`)
	g.name()
	g.bytes(' ')
	g.name()
	g.string(`","company":`)
	g.pick(`null`, `""`, `"`+login+` Inc."`)
	g.string(`,"location":`)
	g.pick("null", `"Berlin"`, `"San Francisco"`, `"London, UK"`, `"São Paulo"`)
	g.string(`,"public_repos":`)
	g.decimal(uint64(g.geometric()*g.below(20)), 1)
	g.string(`,"followers":`)
	g.decimal(uint64(g.geometric()*g.below(50)), 1)
	g.string(`,"bio":"`)
	for range g.below(12) {
		g.name()
		g.bytes(' ')
	}
	for _, key := range [...]string{"created", "updated"} {
		g.string(`","` + key + `_at":"20`)
		for i, sep := range "--T::Z" {
			g.decimal(uint64(10+g.below(13)), 2)
			if i < 6 {
				g.bytes(byte(sep))
			}
		}
	}
	g.string("\"}\n")
	return g.out
}
