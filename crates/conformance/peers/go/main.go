// A peer on net/http only: a server with what static servers do not have, and a client that asks for what it is told.
//
// Usage: go-peer server CERTIFICATE KEY h2|http/1.1|both [FOLDER]
//
//	go-peer client URL [AUTHORITY]
//
// The server prints `clear PORT` and `tls PORT` when it listens. The client reads one request a line and writes one
// answer a line, both JSON: see client.go.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	if os.Args[1] == "client" {
		runClient(os.Args[2], os.Args[3:])
		return
	}
	protocols := new(http.Protocols)
	if os.Args[4] != "http/1.1" {
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
	}
	if os.Args[4] != "h2" {
		protocols.SetHTTP1(true)
	}
	// Frames no larger than others take, so that large sections need CONTINUATION.
	frames := &http.HTTP2Config{MaxReadFrameSize: 1 << 14}
	server := &http.Server{Handler: handlers(os.Args[5:]), Protocols: protocols, MaxHeaderBytes: 1 << 20, HTTP2: frames}
	clear, secure := listen(), listen()
	announce("clear", clear)
	announce("tls", secure)
	go func() { log.Fatal(server.ServeTLS(secure, os.Args[2], os.Args[3])) }()
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
