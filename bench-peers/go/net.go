package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// How a client asks; the name of its work says it: h1 is HTTP/1.1, m64 is 64 in flight.
type asking struct {
	isHTTP1  bool
	inFlight int
}

func parseAsking(name string) asking {
	own := asking{inFlight: 1}
	for part := range strings.SplitSeq(name, "-") {
		if part == "h1" {
			own.isHTTP1 = true
		} else if number, found := strings.CutPrefix(part, "m"); found {
			inFlight, err := strconv.Atoi(number)
			check(err)
			own.inFlight = inFlight
		}
	}
	return own
}

// In clear text.
func protocols(isHTTP1 bool) *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(isHTTP1)
	protocols.SetUnencryptedHTTP2(!isHTTP1)
	return protocols
}

// One request at a time, or a goroutine for each that is in flight.
func client(lists, port string, asking asking) func(int) {
	fields := loadFields(lists, "request")
	client := http.Client{Transport: &http.Transport{
		Protocols: protocols(asking.isHTTP1), MaxIdleConnsPerHost: asking.inFlight,
	}}
	url := "http://127.0.0.1:" + port + "/static/app"
	ask := func(units int) {
		for range units {
			get(&client, url, fields, asking)
		}
	}
	if asking.inFlight == 1 {
		return ask
	}
	return func(units int) {
		var all sync.WaitGroup
		for number := range asking.inFlight {
			all.Add(1)
			go func() {
				defer all.Done()
				ask((units + number) / asking.inFlight)
			}()
		}
		all.Wait()
	}
}

func get(client *http.Client, url string, fields []field, asking asking) {
	request, err := http.NewRequest("GET", url, nil)
	check(err)
	for _, field := range fields {
		request.Header.Set(field.name, field.value)
	}
	response, err := client.Do(request)
	check(err)
	if response.StatusCode != 200 || response.ProtoMajor == 1 != asking.isHTTP1 {
		fail(response.Proto + " " + response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	check(err)
	check(response.Body.Close())
}

func serve(isHTTP1 bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go answerInput()
	hello := []byte("Hello, World!")
	handler := func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "text/plain")
		_, _ = writer.Write(hello)
	}
	server := http.Server{Protocols: protocols(isHTTP1), Handler: http.HandlerFunc(handler)}
	check(server.Serve(listener))
}
