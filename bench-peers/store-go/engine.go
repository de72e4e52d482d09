package main

// A change is what a write leaves of an object: its record, and what became of its index entries.
type change struct {
	record     []byte
	gone, come [][]byte
}

// A decision makes a change of what is stored, which is nil where nothing is. It is called once, while nothing else writes the object.
type decision func(stored []byte) (change, error)

// An engine keeps records by the names of objects, and index entries.
type engine interface {
	// Calls `use` with the record, nil if there is none, which is only valid until it returns.
	read(name []byte, use func(record []byte) error) error
	// Returns when the disk has the change.
	write(name []byte, decide decision) error
	// Calls `visit` with each entry from `low` up to before `high`, in order.
	entries(low, high []byte, visit func(entry []byte)) error
	close() error
}
