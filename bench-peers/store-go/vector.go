package main

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// A dot is an actor and its count: the name of a write, and an entry of a version vector.
type dot struct{ actor, count uint64 }

type vector []dot

var errContext = errors.New("the context is damaged")

func (v vector) count(actor uint64) uint64 {
	for _, dot := range v {
		if dot.actor == actor {
			return dot.count
		}
	}
	return 0
}

func (v vector) descends(other vector) bool {
	for _, dot := range other {
		if v.count(dot.actor) < dot.count {
			return false
		}
	}
	return true
}

// The greater count of each actor.
func (v vector) merged(other vector) vector {
	merged := append(make(vector, 0, len(v)+1), v...)
next:
	for _, dot := range other {
		for place := range merged {
			if merged[place].actor == dot.actor {
				merged[place].count = max(merged[place].count, dot.count)
				continue next
			}
		}
		merged = append(merged, dot)
	}
	return merged
}

// The vector with one more write of an actor, and that write.
func (v vector) next(actor uint64) (vector, dot) {
	for place := range v {
		if v[place].actor == actor {
			v[place].count++
			return v, v[place]
		}
	}
	write := dot{actor, 1}
	return append(v, write), write
}

func (v vector) append(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(v)))
	for _, dot := range v {
		out = binary.BigEndian.AppendUint64(out, dot.actor)
		out = binary.AppendUvarint(out, dot.count)
	}
	return out
}

func (v vector) text() string {
	return base64.StdEncoding.EncodeToString(v.append(nil))
}

func parseContext(text string) (vector, error) {
	if text == "" {
		return nil, nil
	}
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errContext
	}
	in := reader{bytes: bytes}
	v := in.vector()
	if in.failed || len(in.bytes) > 0 {
		return nil, errContext
	}
	return v, nil
}
