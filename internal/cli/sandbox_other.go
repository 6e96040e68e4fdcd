//go:build !linux

package cli

// enterSandbox is nil because there is no sandbox.
var enterSandbox func(rights) (rights, bool)
