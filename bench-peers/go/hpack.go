package main

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const fieldsPerList, pseudoFields = 12, 4

func encode(lists, name string) func(int) {
	file, renew := "fields-a", 0
	switch name {
	case "b", "e":
		file = "fields-" + name
	case "c":
		renew = 1
	case "d":
		renew = 100
	}
	fields := loadFields(lists, file)
	count := len(fields) / fieldsPerList
	var out bytes.Buffer
	encoder, number := hpack.NewEncoder(&out), 0
	return func(units int) {
		for range units {
			if renew > 0 && number%renew == 0 {
				encoder = hpack.NewEncoder(&out)
			}
			out.Reset()
			list := fields[number%count*fieldsPerList:][:fieldsPerList]
			for _, field := range list {
				check(encoder.WriteField(hpack.HeaderField{Name: field.name, Value: field.value}))
			}
			number++
		}
	}
}

func decode(lists, name string) func(int) {
	bytes, err := os.ReadFile(filepath.Join(lists, "blocks-"+name))
	check(err)
	var blocks [][]byte
	for len(bytes) > 0 {
		length := 2 + int(binary.BigEndian.Uint16(bytes))
		blocks = append(blocks, bytes[2:length])
		bytes = bytes[length:]
	}
	seen, next := 0, 0
	decoder := hpack.NewDecoder(4096, func(field hpack.HeaderField) { seen += len(field.Value) })
	return func(units int) {
		for range units {
			_, err := decoder.Write(blocks[next])
			check(err)
			check(decoder.Close())
			if next++; next == len(blocks) {
				if len(blocks) != 2 {
					fail("there are not so many blocks")
				}
				next = 1
			}
		}
	}
}

// A request of net/http and the framer alone, without an answer.
func created(lists string) func(int) {
	fields := loadFields(lists, "created")[pseudoFields:]
	var block, out bytes.Buffer
	encoder, framer := hpack.NewEncoder(&block), http2.NewFramer(&out, nil)
	stream := uint32(1)
	write := func(name, value string) { check(encoder.WriteField(hpack.HeaderField{Name: name, Value: value})) }
	return func(units int) {
		for range units {
			block.Reset()
			out.Reset()
			request, err := http.NewRequest("GET", "http://example.com/static/app", nil)
			check(err)
			for _, field := range fields {
				request.Header.Set(field.name, field.value)
			}
			write(":authority", request.Host)
			write(":method", request.Method)
			write(":path", request.URL.RequestURI())
			write(":scheme", request.URL.Scheme)
			for name, values := range request.Header {
				for _, value := range values {
					write(strings.ToLower(name), value)
				}
			}
			check(framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
			}))
			stream += 2
		}
	}
}
