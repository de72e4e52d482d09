// The object store of `alula store`, as far as its benchmark goes: net/http over Pebble or bbolt.
//
//	store-go pebble|bbolt FOLDER   prints the port and serves until the standard input ends
//
// A PUT reads what is stored, merges by version vectors, writes the record and what changed of its index entries in one batch, and is
// answered when the disk has it. `cargo xtask bench --store-peers` builds and runs it.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fail("usage: store-go pebble|bbolt FOLDER")
	}
	engine, err := open(os.Args[1], os.Args[2])
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		check(engine.close())
		os.Exit(0)
	}()
	check(http.Serve(listener, newHandler(engine)))
}

func open(name, folder string) (engine, error) {
	switch name {
	case "pebble":
		return openPebble(folder)
	case "bbolt":
		return openBolt(folder)
	default:
		return nil, fmt.Errorf("there is no engine %s", name)
	}
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "store-go:", message)
	os.Exit(1)
}
