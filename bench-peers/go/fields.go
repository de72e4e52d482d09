package main

import "net/http"

var methods = []string{"POST", "connect", "CONNECT"}

// Fields added to a map of their own each time; all names are put into Go's spelling.
func addFields(lists, name string) func(int) {
	fields := loadFields(lists, name)
	return func(units int) {
		for range units {
			header := make(http.Header)
			for _, field := range fields {
				header.Add(field.name, field.value)
			}
			if len(header) == 0 {
				fail("no field was added")
			}
		}
	}
}

// Compared as net/http compares them: case is not folded.
func connect(units int) {
	for range units {
		count := 0
		for _, method := range methods {
			if method == http.MethodConnect {
				count++
			}
		}
		if count != 1 {
			fail("one of the methods is CONNECT")
		}
	}
}
