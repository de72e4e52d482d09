package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"strings"
	"sync"
)

// ask is what the client is told to do: one line of its input.
type ask struct {
	Method   string
	Path     string
	Fields   [][2]string
	Body     string // a file
	Trailers [][2]string
	Into     string // a file for the content
	GiveUp   bool   // after the first bytes of the content
	Hold     bool   // leave the content for a later line
	Resume   bool   // read the content that was left
	Times    int    // as many times, 20 at once
}

// told is what came of it: one line of the output.
type told struct {
	Status   int         `json:"status"`
	Fields   [][2]string `json:"fields"`
	Interim  []int       `json:"interim"`
	Trailers [][2]string `json:"trailers"`
	Error    string      `json:"error"`
}

type client struct {
	http.Client
	base string
	held *http.Response
}

func runClient(base string, authority []string) {
	c := &client{base: base}
	c.Transport = transport(authority)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var a ask
		if err := json.Unmarshal(line, &a); err != nil {
			log.Fatal(err)
		}
		answer, err := json.Marshal(c.do(a))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(answer))
	}
}

func transport(authority []string) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	roots := x509.NewCertPool()
	for _, file := range authority {
		pem, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		roots.AppendCertsFromPEM(pem)
	}
	return &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: roots}}
}

func (c *client) do(a ask) told {
	var t told
	var err error
	if a.Times > 0 {
		err = c.many(a)
	} else {
		err = c.one(a, &t)
	}
	if err != nil {
		t.Error = err.Error()
	}
	return t
}

// many sends the request as many times and keeps the first error.
func (c *client) many(a ask) error {
	var group sync.WaitGroup
	errors := make(chan error, 20)
	for range 20 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range a.Times / 20 {
				if err := c.one(ask{Method: a.Method, Path: a.Path}, new(told)); err != nil {
					errors <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(errors)
	return <-errors
}

func (c *client) one(a ask, t *told) error {
	response, err := c.held, error(nil)
	if !a.Resume {
		response, err = c.send(a, t)
	}
	if err != nil {
		return err
	}
	if a.Hold {
		c.held = response
		return nil
	}
	defer response.Body.Close()
	t.Status = response.StatusCode
	t.Fields = pairs(response.Header)
	if a.GiveUp {
		_, err = io.ReadFull(response.Body, make([]byte, 10))
		return err
	}
	err = save(response.Body, a.Into)
	t.Trailers = pairs(response.Trailer)
	return err
}

func (c *client) send(a ask, t *told) (*http.Response, error) {
	var body io.Reader
	if a.Body != "" {
		file, err := os.Open(a.Body)
		if err != nil {
			return nil, err
		}
		// The transport closes it.
		body = file
	}
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		t.Interim = append(t.Interim, code)
		return nil
	}}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), a.Method, c.base+a.Path, body)
	if err != nil {
		return nil, err
	}
	for _, field := range a.Fields {
		request.Header.Add(field[0], field[1])
	}
	if a.Trailers != nil {
		request.Trailer = http.Header{}
	}
	for _, field := range a.Trailers {
		request.Trailer.Add(field[0], field[1])
	}
	return c.Do(request)
}

// save keeps what came, even when it is not all.
func save(content io.Reader, into string) error {
	all, err := io.ReadAll(content)
	if into != "" {
		if err := os.WriteFile(into, all, 0o600); err != nil {
			return err
		}
	}
	return err
}

func pairs(fields http.Header) [][2]string {
	var all [][2]string
	for name, values := range fields {
		for _, value := range values {
			all = append(all, [2]string{strings.ToLower(name), value})
		}
	}
	return all
}
