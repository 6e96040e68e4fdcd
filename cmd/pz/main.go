// Command pz compresses and restores .pz, .gz and .zst files. Run `pz --help` for its options.
package main

import (
	"github.com/gopz/compress/internal/cli"
	"github.com/gopz/compress/internal/cli/remote"
)

func main() { cli.Main(remote.Open) }
