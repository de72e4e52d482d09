package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const objectMax = 50 << 20

type handler struct {
	engine engine
	actor  uint64
}

// Objects of untyped buckets and of one type; every bucket keeps siblings.
func newHandler(engine engine) http.Handler {
	h := &handler{engine, rand.Uint64()}
	mux := http.NewServeMux()
	for _, under := range []string{"", "/types/{type}"} {
		mux.HandleFunc("GET "+under+"/buckets/{bucket}/keys/{key}", h.get)
		mux.HandleFunc("PUT "+under+"/buckets/{bucket}/keys/{key}", h.put)
		mux.HandleFunc("GET "+under+"/buckets/{bucket}/index/{index}/{low}/{high}", h.query)
		mux.HandleFunc("PUT "+under+"/buckets/{bucket}/props", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
		})
	}
	return mux
}

func bucketOf(r *http.Request) string {
	if bucketType := r.PathValue("type"); bucketType != "" {
		return bucketType + "\x00" + r.PathValue("bucket")
	}
	return "default\x00" + r.PathValue("bucket")
}

func nameOf(bucket, key string) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(bucket))), bucket+key...)
}

func (h *handler) get(w http.ResponseWriter, r *http.Request) {
	err := h.engine.read(nameOf(bucketOf(r), r.PathValue("key")), func(stored []byte) error {
		if stored == nil {
			text(w, http.StatusNotFound, "not found\n")
			return nil
		}
		record, err := readRecord(stored)
		if err == nil {
			show(w, r, &record)
		}
		return err
	})
	if err != nil {
		text(w, http.StatusInternalServerError, err.Error()+"\n")
	}
}

// net/http copies what is written, unless it is larger than its buffer.
func show(w http.ResponseWriter, r *http.Request, record *record) {
	header := w.Header()
	header["X-Riak-Vclock"] = []string{record.vector.text()}
	if len(record.contents) != 1 {
		showSiblings(w, record)
		return
	}
	c := &record.contents[0]
	header["Content-Type"] = []string{c.mediaType}
	header["Etag"] = []string{`"` + c.vtag + `"`}
	header["Last-Modified"] = []string{time.UnixMicro(int64(c.modified)).UTC().Format(http.TimeFormat)}
	links := `</buckets/` + url.PathEscape(r.PathValue("bucket")) + `>; rel="up"`
	for _, field := range c.fields {
		if field.name == "Link" {
			links = field.value + ", " + links
			continue
		}
		header[field.name] = []string{field.value}
	}
	header["Link"] = []string{links}
	_, _ = w.Write(c.value)
}

func showSiblings(w http.ResponseWriter, record *record) {
	body := "Siblings:\n"
	for place := range record.contents {
		body += record.contents[place].vtag + "\n"
	}
	text(w, http.StatusMultipleChoices, body)
}

func (h *handler) put(w http.ResponseWriter, r *http.Request) {
	mediaType := r.Header.Get("Content-Type")
	if mediaType == "" {
		text(w, http.StatusBadRequest, "Missing Content-Type request header\n")
		return
	}
	context, err := parseContext(r.Header.Get("X-Riak-Vclock"))
	if err != nil {
		text(w, http.StatusBadRequest, err.Error()+"\n")
		return
	}
	value, err := valueOf(w, r)
	if err != nil {
		text(w, http.StatusRequestEntityTooLarge, err.Error()+"\n")
		return
	}
	fresh := content{vtag: newVtag(), mediaType: mediaType, fields: fieldsOf(r.Header), value: value}
	bucket, key := bucketOf(r), r.PathValue("key")
	err = h.engine.write(nameOf(bucket, key), func(stored []byte) (change, error) {
		var before record
		if stored != nil {
			if before, err = readRecord(stored); err != nil {
				return change{}, err
			}
		}
		fresh.modified = uint64(time.Now().UnixMicro())
		after := record{before.vector, slices.Clone(before.contents)}
		after.put(context, fresh, h.actor)
		return after.changed(&before, bucket, key), nil
	})
	if err != nil {
		text(w, http.StatusInternalServerError, err.Error()+"\n")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func valueOf(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	switch {
	case r.ContentLength > objectMax:
		return nil, errors.New("too large")
	case r.ContentLength >= 0:
		value := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, value)
		return value, err
	default:
		return io.ReadAll(http.MaxBytesReader(w, r.Body, objectMax))
	}
}

// What is stored beside a value, in the order of names.
func fieldsOf(header http.Header) []field {
	fields := make([]field, 0, len(header))
	for name, values := range header {
		switch {
		case strings.HasPrefix(name, indexPrefix):
			fields = append(fields, field{name, joinedTerms(values)})
		case strings.HasPrefix(name, "X-Riak-Meta-"), name == "Link":
			fields = append(fields, field{name, strings.Join(values, ", ")})
		}
	}
	slices.SortFunc(fields, func(one, other field) int { return strings.Compare(one.name, other.name) })
	return fields
}

// The terms of an index, each once.
func joinedTerms(values []string) string {
	terms := strings.Split(strings.Join(values, ", "), ", ")
	different := terms[:0]
	for _, term := range terms {
		if !slices.Contains(different, term) {
			different = append(different, term)
		}
	}
	return strings.Join(different, ", ")
}

const vtagLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func newVtag() string {
	var vtag [22]byte
	for half := range 2 {
		bits := rand.Uint64()
		for place := range 11 {
			vtag[half*11+place] = vtagLetters[bits%62]
			bits /= 62
		}
	}
	return string(vtag[:])
}

// The keys of the objects whose terms lie in the range.
func (h *handler) query(w http.ResponseWriter, r *http.Request) {
	prefix := indexKey(bucketOf(r), r.PathValue("index"))
	low, high := prefix+r.PathValue("low"), prefix+r.PathValue("high")+"\x01"
	keys := []string{}
	err := h.engine.entries([]byte(low), []byte(high), func(entry []byte) {
		_, key, _ := strings.Cut(string(entry[len(prefix):]), "\x00")
		keys = append(keys, key)
	})
	if err != nil {
		text(w, http.StatusInternalServerError, err.Error()+"\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string][]string{"keys": keys})
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header()["Content-Type"] = []string{"text/plain"}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
