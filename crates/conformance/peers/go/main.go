// A server with what static servers do not have: echoed bodies, trailers, interim responses, big field sections,
// bodies that stall, and streams and connections that end early. net/http only.
//
// Usage: go-server CERTIFICATE KEY h2|http/1.1
//
// It prints `clear PORT` and `tls PORT` when it listens.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	protocols := new(http.Protocols)
	if os.Args[3] == "h2" {
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP1(true)
	}
	server := &http.Server{Handler: handlers(), Protocols: protocols, MaxHeaderBytes: 1 << 20}
	clear, secure := listen(), listen()
	announce("clear", clear)
	announce("tls", secure)
	go func() { log.Fatal(server.ServeTLS(secure, os.Args[1], os.Args[2])) }()
	log.Fatal(server.Serve(clear))
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

func announce(name string, listener net.Listener) {
	fmt.Println(name, listener.Addr().(*net.TCPAddr).Port)
}

func handlers() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/small.txt", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "a feather of little weight")
	})
	mux.HandleFunc("/empty.txt", func(w http.ResponseWriter, r *http.Request) {})
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/big", big)
	mux.HandleFunc("/trailers", trailers)
	mux.HandleFunc("/interim", interim)
	mux.HandleFunc("/fields", fields)
	mux.HandleFunc("/goaway", goaway)
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("/reset", reset)
	return mux
}

// echo sends the body back with its content-type and says how it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.Header().Set("X-Method", r.Method)
	w.Header().Set("X-Content-Length", strconv.FormatInt(r.ContentLength, 10))
	io.Copy(w, r.Body)
}

// big sends n octets: the alphabet, again and again.
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

// interim sends two interim responses before the final one.
func interim(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Link", "</style.css>; rel=preload")
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Set("Link", "</script.js>; rel=preload")
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Del("Link")
	io.WriteString(w, "after two hints\n")
}

// fields answers with n fields of size octets each and says what was sent with the request.
func fields(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	size, _ := strconv.Atoi(r.FormValue("size"))
	for i := range n {
		w.Header().Set(fmt.Sprintf("X-Field-%d", i), strings.Repeat("v", size))
	}
	count, octets := 0, 0
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Sent-") {
			count++
			octets += len(values[0])
		}
	}
	fmt.Fprintf(w, "%d fields, %d octets\n", count, octets)
}

// goaway answers and closes the connection after it.
func goaway(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	io.WriteString(w, "the last answer\n")
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
