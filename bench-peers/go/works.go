package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

type item struct {
	title string
	done  bool
}

type shownItem struct {
	List  string `json:"list"`
	ID    uint64 `json:"id"`
	Title string `json:"title"`
	Done  bool   `json:"done"`
}

const itemRoute = "/lists/{list}/items/{item}"

// The works of `cargo xtask bench --servers`: WORK h1|h2 SITE ROUTES [CERTIFICATE KEY]
func serveWork(arguments []string) {
	work, isHTTP1, site, routes := arguments[0], arguments[1] == "h1", arguments[2], arguments[3]
	server := http.Server{Protocols: protocols(isHTTP1), Handler: handler(work, site, routes)}
	server.Protocols.SetHTTP2(!isHTTP1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go answerInput()
	if len(arguments) == 6 {
		check(server.ServeTLS(listener, arguments[4], arguments[5]))
	}
	check(server.Serve(listener))
}

func handler(work, site, routes string) http.Handler {
	switch work {
	case "memory":
		content := bytes.Repeat([]byte("a"), 1024)
		return http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
			writer.Header().Set("Content-Type", "text/plain")
			_, _ = writer.Write(content)
		})
	case "json":
		return routed(routes)
	default:
		return http.FileServer(http.Dir(site))
	}
}

// All 40, in the manner of ServeMux.
func routed(routes string) http.Handler {
	text, err := os.ReadFile(routes)
	check(err)
	mux, items := http.NewServeMux(), makeItems()
	for pattern := range strings.Lines(string(text)) {
		pattern = strings.TrimSpace(pattern)
		switch {
		case pattern == itemRoute:
			mux.HandleFunc("GET "+pattern, func(writer http.ResponseWriter, request *http.Request) {
				answerItem(writer, request, items)
			})
		case pattern == "/":
			mux.HandleFunc("GET /{$}", hello)
		default:
			mux.HandleFunc("GET "+wildcards(pattern), hello)
		}
	}
	return mux
}

// `{name...}` for `{*name}`.
func wildcards(pattern string) string {
	before, name, found := strings.Cut(pattern, "{*")
	if !found {
		return pattern
	}
	return before + "{" + strings.TrimSuffix(name, "}") + "...}"
}

func hello(writer http.ResponseWriter, _ *http.Request) {
	_, _ = writer.Write([]byte("Hello, World!"))
}

func makeItems() map[uint64]item {
	items := make(map[uint64]item)
	for id := range uint64(1000) {
		items[id] = item{fmt.Sprint("What is to be done, part ", id), id%2 == 0}
	}
	return items
}

func answerItem(writer http.ResponseWriter, request *http.Request, items map[uint64]item) {
	id, err := strconv.ParseUint(request.PathValue("item"), 10, 64)
	found, isThere := items[id]
	if err != nil || !isThere {
		http.NotFound(writer, request)
		return
	}
	content, err := json.Marshal(shownItem{request.PathValue("list"), id, found.title, found.done})
	check(err)
	writer.Header().Set("Content-Type", "application/json")
	_, _ = writer.Write(content)
}
