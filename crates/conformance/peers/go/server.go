package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

func handlers(folders []string) http.Handler {
	mux := http.NewServeMux()
	if len(folders) > 0 {
		files(mux, folders[0])
	} else {
		texts(mux)
	}
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/whole", whole)
	mux.HandleFunc("/big", big)
	mux.HandleFunc("/trailers", trailers)
	mux.HandleFunc("/sent-trailers", sentTrailers)
	mux.HandleFunc("/interim", interim)
	mux.HandleFunc("/fields", fields)
	mux.HandleFunc("/goaway", goaway)
	mux.HandleFunc("/wait", wait)
	mux.HandleFunc("/release", release)
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("/reset", reset)
	mux.HandleFunc("/redirect", redirect)
	mux.HandleFunc("/hop", hop)
	mux.HandleFunc("/hopped", hopped)
	return mux
}

// files serves a folder; what lies in a folder named for a content coding has that coding.
func files(mux *http.ServeMux, folder string) {
	server := http.FileServer(http.Dir(folder))
	mux.Handle("/", server)
	for _, coding := range []string{"gzip", "br", "zstd"} {
		mux.HandleFunc("/"+coding+"/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", coding)
			server.ServeHTTP(w, r)
		})
	}
}

func texts(mux *http.ServeMux) {
	mux.HandleFunc("/small.txt", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "a feather of little weight")
	})
	mux.HandleFunc("/empty.txt", func(w http.ResponseWriter, r *http.Request) {})
}

// echo sends the body back with its content-type and says how it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.Header().Set("X-Method", r.Method)
	w.Header().Set("X-Content-Length", strconv.FormatInt(r.ContentLength, 10))
	io.Copy(w, r.Body)
}

// whole sends the body back once it has all of it: proxies do not send on while they receive.
func whole(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Write(body)
}

// big sends n bytes: the alphabet, again and again.
func big(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	block := []byte(strings.Repeat("abcdefghijklmnopqrstuvwxyz", 1024))
	for n > 0 {
		part := block[:min(n, len(block))]
		if _, err := w.Write(part); err != nil {
			return
		}
		n -= len(part)
	}
}

// trailers sends a body and two fields after it.
func trailers(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Trailer", "X-Checksum, X-Count")
	io.WriteString(w, "trailers follow\n")
	w.Header().Set("X-Checksum", "c0ffee")
	w.Header().Set("X-Count", "16")
}

// sentTrailers answers with the trailers of the request.
func sentTrailers(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	for _, name := range []string{"X-Checksum", "X-Count"} {
		fmt.Fprintf(w, "%s: %s\n", strings.ToLower(name), r.Trailer.Get(name))
	}
}

// interim sends two interim responses before the final one.
func interim(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Link", "</style.css>; rel=preload")
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Set("Link", "</script.js>; rel=preload")
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Del("Link")
	io.WriteString(w, "after two hints\n")
}

// fields answers with n fields of size bytes each and says what was sent with the request.
func fields(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	size, _ := strconv.Atoi(r.FormValue("size"))
	for i := range n {
		w.Header().Set(fmt.Sprintf("X-Field-%d", i), strings.Repeat("v", size))
	}
	count, bytes := 0, 0
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Sent-") {
			count++
			bytes += len(values[0])
		}
	}
	fmt.Fprintf(w, "%d fields, %d bytes\n", count, bytes)
}

// goaway answers and closes the connection after it.
func goaway(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	io.WriteString(w, "the last answer\n")
}

var released = make(chan struct{}, 1)

// wait sends a head at once and the content when somebody asks for release.
func wait(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, "held ")
	w.(http.Flusher).Flush()
	<-released
	io.WriteString(w, "and released\n")
}

// release lets one wait go on.
func release(w http.ResponseWriter, r *http.Request) {
	released <- struct{}{}
	io.WriteString(w, "released\n")
}

// slow sends half of a body and then nothing until the client goes away.
func slow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "20")
	io.WriteString(w, "half of it")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// reset sends half of a body and resets the stream.
func reset(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "20")
	io.WriteString(w, "half of it")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// redirect leads to a file.
func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/small.txt", http.StatusFound)
}

// hop leads to a page that knows whether it was reached on the same connection.
func hop(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/hopped?"+r.RemoteAddr, http.StatusFound)
}

func hopped(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery == r.RemoteAddr {
		io.WriteString(w, "reused\n")
	} else {
		io.WriteString(w, "another connection\n")
	}
}
