// What the work of one scenario costs in Go when it is written by hand with the standard library.
// Arguments: pass, json or filter; address to listen on; the addresses to fetch, whose objects are joined in order.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"sync"
)

type object = map[string]any

var client = &http.Client{Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024}}

func main() {
	work, address, sources := os.Args[1], os.Args[2], os.Args[3:]
	log.Fatal(http.ListenAndServe(address, handler(work, sources)))
}

func handler(work string, sources []string) http.Handler {
	if work == "pass" {
		return pass(sources[0])
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := fetchAll(r, sources)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if work == "filter" {
			data = filter(data)
		}
		body, err := json.Marshal(data)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})
}

func pass(source string) http.Handler {
	target, err := url.Parse(source)
	if err != nil {
		log.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Transport: client.Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = target.Scheme, target.Host, target.Path
		},
	}
}

func fetchAll(r *http.Request, sources []string) (object, error) {
	if len(sources) == 1 {
		return fetch(r, sources[0])
	}
	members, failures := make([]object, len(sources)), make([]error, len(sources))
	var all sync.WaitGroup
	for index, source := range sources {
		all.Add(1)
		go func() {
			defer all.Done()
			members[index], failures[index] = fetch(r, source)
		}()
	}
	all.Wait()
	joined := object{}
	for index, member := range members {
		if failures[index] != nil {
			return nil, failures[index]
		}
		for key, value := range member {
			joined[key] = value
		}
	}
	return joined, nil
}

func fetch(r *http.Request, source string) (object, error) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, source, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var data object
	err = json.NewDecoder(response.Body).Decode(&data)
	return data, err
}

func filter(data object) object {
	address, _ := data["address"].(object)
	return object{"user": object{
		"id":        data["id"],
		"full_name": data["name"],
		"contact":   data["email"],
		"address":   object{"city": address["city"], "position": address["position"]},
		"tags":      data["tags"],
	}}
}
