// Command validator posts for each new revision whether its hosts have addresses of their own (docs/validator.md).
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: validator http://127.0.0.1:9000, with a token in TOKEN")
		os.Exit(2)
	}
	api := os.Args[1] + "/api/v1.0"
	for since := "0"; ; { // after a restart it checks again what it has checked; the latest result counts
		var news struct {
			Cursor string
			Events []struct {
				Data struct {
					Revision int64
					Stamp    string
				}
			}
		}
		if err := call("GET", api+"/events?type=purser.revision.created&wait=5m&since="+since, nil, &news); err != nil {
			log.Fatal(err) // a supervisor starts it again
		}
		for _, event := range news.Events {
			revision, seen, result := fmt.Sprint(api, "/revisions/", event.Data.Revision), map[string]bool{}, "success"
			var hosts []struct{ Data struct{ Address string } }
			if err := call("GET", revision+"/rendered-documents?schema=acme/Host/v1", nil, &hosts); err != nil {
				log.Print(err) // it cannot be rendered, as the server's own validations say, or was pruned
				continue
			}
			for _, host := range hosts {
				if seen[host.Data.Address] {
					result = "failure"
				}
				seen[host.Data.Address] = true
			}
			err := call("POST", fmt.Sprint(revision, "/validations/unique-validation?revision-stamp=", event.Data.Stamp),
				map[string]any{"status": result, "validator": map[string]string{"name": "unique"}}, nil)
			if err != nil {
				result = err.Error()
			}
			log.Printf("revision %d: %s", event.Data.Revision, result)
		}
		since = news.Cursor
	}
}

// call sends a request and decodes the answer. It exits if the server does not answer or cannot.
func call(method, url string, body, answer any) error {
	text, _ := json.Marshal(body)
	request, err := http.NewRequest(method, url, bytes.NewReader(text))
	if err != nil {
		log.Fatal(err)
	}
	request.Header = http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "X-Auth-Token": {os.Getenv("TOKEN")},
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode >= 500 {
		log.Fatal(method, " ", url, ": ", response.Status)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(&answer)
}
