package main

import (
	"encoding/binary"
	"errors"
	"strings"
)

var errRecord = errors.New("the record is damaged")

// A field as it was sent and is sent back: metadata, links, and the terms of an index, joined by `, `.
type field struct{ name, value string }

type content struct {
	dot       dot
	vtag      string
	modified  uint64 // microseconds
	mediaType string
	fields    []field
	value     []byte
}

type record struct {
	vector   vector
	contents []content
}

func (r *record) append(out []byte) []byte {
	out = r.vector.append(out)
	out = binary.AppendUvarint(out, uint64(len(r.contents)))
	for place := range r.contents {
		c := &r.contents[place]
		out = binary.BigEndian.AppendUint64(out, c.dot.actor)
		out = binary.AppendUvarint(out, c.dot.count)
		out = binary.BigEndian.AppendUint64(out, c.modified)
		out = appendText(appendText(out, c.vtag), c.mediaType)
		out = binary.AppendUvarint(out, uint64(len(c.fields)))
		for _, field := range c.fields {
			out = appendText(appendText(out, field.name), field.value)
		}
		out = appendText(out, string(c.value))
	}
	return out
}

func appendText(out []byte, text string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}

// What is read is copied, but for values.
func readRecord(bytes []byte) (record, error) {
	in := reader{bytes: bytes}
	read := record{vector: in.vector()}
	count := in.number()
	for ; count > 0 && !in.failed; count-- {
		c := content{dot: in.dot(), modified: in.uint64()}
		c.vtag, c.mediaType = string(in.counted()), string(in.counted())
		count := in.number()
		c.fields = make([]field, 0, min(count, 64))
		for ; count > 0 && !in.failed; count-- {
			c.fields = append(c.fields, field{string(in.counted()), string(in.counted())})
		}
		c.value = in.counted()
		read.contents = append(read.contents, c)
	}
	if in.failed {
		return read, errRecord
	}
	return read, nil
}

// The contents that a write with this context leaves of a record, and the new one.
func (r *record) put(context vector, fresh content, actor uint64) {
	if context.descends(r.vector) {
		r.contents = nil
	}
	left := r.contents[:0]
	for _, stored := range r.contents {
		if context.count(stored.dot.actor) < stored.dot.count {
			left = append(left, stored)
		}
	}
	r.vector, fresh.dot = r.vector.merged(context).next(actor)
	r.contents = append(left, fresh)
}

const indexPrefix = "X-Riak-Index-"

// The keys of the index entries of all contents.
func (r *record) entries(bucket, key string) map[string]struct{} {
	entries := make(map[string]struct{}, 16)
	for place := range r.contents {
		for _, field := range r.contents[place].fields {
			index, is := strings.CutPrefix(field.name, indexPrefix)
			if !is {
				continue
			}
			prefix := indexKey(bucket, index)
			for term := range strings.SplitSeq(field.value, ", ") {
				entries[prefix+term+"\x00"+key] = struct{}{}
			}
		}
	}
	return entries
}

func indexKey(bucket, index string) string {
	return bucket + "\x00" + strings.ToLower(index) + "\x00"
}

func (r *record) changed(before *record, bucket, key string) change {
	gone, come := before.entries(bucket, key), r.entries(bucket, key)
	changed := change{record: r.append(nil)}
	for entry := range come {
		if _, stays := gone[entry]; stays {
			delete(gone, entry)
		} else {
			changed.come = append(changed.come, []byte(entry))
		}
	}
	for entry := range gone {
		changed.gone = append(changed.gone, []byte(entry))
	}
	return changed
}

// A reader of what is appended above. After a failure everything is empty.
type reader struct {
	bytes []byte
	failed bool
}

func (in *reader) take(count uint64) []byte {
	if count > uint64(len(in.bytes)) {
		in.failed, in.bytes = true, nil
		return nil
	}
	taken := in.bytes[:count]
	in.bytes = in.bytes[count:]
	return taken
}

func (in *reader) number() uint64 {
	number, bytes := binary.Uvarint(in.bytes)
	if bytes <= 0 {
		in.failed, in.bytes = true, nil
		return 0
	}
	in.bytes = in.bytes[bytes:]
	return number
}

func (in *reader) counted() []byte { return in.take(in.number()) }

func (in *reader) uint64() uint64 {
	bytes := in.take(8)
	if bytes == nil {
		return 0
	}
	return binary.BigEndian.Uint64(bytes)
}

func (in *reader) dot() dot { return dot{in.uint64(), in.number()} }

func (in *reader) vector() vector {
	count := in.number()
	v := make(vector, 0, min(count, 16))
	for ; count > 0 && !in.failed; count-- {
		v = append(v, in.dot())
	}
	return v
}
