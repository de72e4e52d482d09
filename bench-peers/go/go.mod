module alula/bench-peers

go 1.24

require golang.org/x/net v0.33.0

require golang.org/x/text v0.21.0 // indirect
