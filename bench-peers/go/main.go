// Go's standard library and its HPACK at the work of crates/bench. `cargo xtask bench` builds and runs it.
//
//	go-peer WORK UNITS LISTS PORT   prints nanoseconds, those of the CPU, and allocations per unit
//	go-peer serve[-h1]              prints the port and serves; each line of the input is answered with the
//	                                allocations so far, and its end ends the program
//	go-peer works WORK h1|h2 SITE ROUTES [CERTIFICATE KEY]
//	                                the same, at one of the works of works.go
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type field struct{ name, value string }

func main() {
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "serve") {
		serve(os.Args[1] == "serve-h1")
		return
	}
	if len(os.Args) >= 6 && os.Args[1] == "works" {
		serveWork(os.Args[2:])
		return
	}
	if len(os.Args) != 5 {
		fail("usage: go-peer WORK UNITS LISTS PORT")
	}
	work, lists, port := os.Args[1], os.Args[3], os.Args[4]
	units, err := strconv.Atoi(os.Args[2])
	check(err)
	kind, name, _ := strings.Cut(work, "-")
	switch kind {
	case "encode":
		measured(encode(lists, name), 502, units)
	case "decode":
		measured(decode(lists, name), 502, units)
	case "client":
		measured(client(lists, port, parseAsking(name)), 1004, units)
	case "created":
		measured(created(lists), 502, units)
	case "fields":
		measured(addFields(lists, name), 502, units)
	case "method":
		measured(connect, 502, units)
	default:
		fail("there is no work " + work)
	}
}

func measured(run func(int), warmUp, units int) {
	run(warmUp)
	allocations, cpu, start := mallocs(), cpuTime(), time.Now()
	run(units)
	wall := time.Since(start)
	cpu = cpuTime() - cpu
	allocations = mallocs() - allocations
	fmt.Println(wall.Nanoseconds(), cpu.Nanoseconds(), float64(allocations)/float64(units))
}

func mallocs() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Mallocs
}

// User and system time of this process, the collector's among it.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func loadFields(lists, name string) []field {
	text, err := os.ReadFile(filepath.Join(lists, name))
	check(err)
	var fields []field
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found {
			fail("a line without a tab")
		}
		fields = append(fields, field{name, value})
	}
	return fields
}

func answerInput() {
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		fmt.Println(mallocs())
	}
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "go-peer:", message)
	os.Exit(1)
}
