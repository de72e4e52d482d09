//go:build tools

// Package peers pins the Go programs that Alula is tested against; `cargo xtask test` builds them.
package peers

import (
	_ "github.com/summerwind/h2spec/cmd/h2spec"
	_ "github.com/summerwind/h2spec/cmd/h2specd"
)
