package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

func clearTextHTTP2() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}

// One request at a time on one connection.
func client(lists, port string) func(int) {
	fields := loadFields(lists, "request")
	client := http.Client{Transport: &http.Transport{Protocols: clearTextHTTP2()}}
	url := "http://127.0.0.1:" + port + "/static/app"
	return func(units int) {
		for range units {
			request, err := http.NewRequest("GET", url, nil)
			check(err)
			for _, field := range fields {
				request.Header.Set(field.name, field.value)
			}
			response, err := client.Do(request)
			check(err)
			if response.StatusCode != 200 || response.ProtoMajor != 2 {
				fail(response.Proto + " " + response.Status)
			}
			_, err = io.Copy(io.Discard, response.Body)
			check(err)
			check(response.Body.Close())
		}
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go answerInput()
	hello := []byte("Hello, World!")
	handler := func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/plain")
		_, _ = writer.Write(hello)
	}
	server := http.Server{Protocols: clearTextHTTP2(), Handler: http.HandlerFunc(handler)}
	check(server.Serve(listener))
}
