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
		var news struct{ Cursor, Events any }
		call("GET", api+"/events?type=purser.revision.created&wait=5m&since="+since, nil, &news)
		for _, event := range news.Events.([]any) {
			data := event.(map[string]any)["data"].(map[string]any)
			revision, seen, result := fmt.Sprintf("%s/revisions/%.0f", api, data["revision"]), map[string]bool{}, "success"
			var hosts []struct{ Data struct{ Address string } }
			found := call("GET", revision+"/rendered-documents?schema=acme/Host/v1", nil, &hosts)
			for _, host := range hosts {
				if seen[host.Data.Address] {
					result = "failure"
				}
				seen[host.Data.Address] = true
			}
			if found { // else it cannot be rendered, as the server's own validations say, or was pruned
				call("POST", fmt.Sprint(revision, "/validations/unique-validation?revision-stamp=", data["stamp"]), map[string]any{
					"status": result, "validator": map[string]string{"name": "unique"},
				}, nil)
			}
		}
		since = news.Cursor.(string)
	}
}

func call(method, url string, body, answer any) (ok bool) {
	text, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, url, bytes.NewReader(text))
	request.Header = http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}, "X-Auth-Token": {os.Getenv("TOKEN")}}
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode >= 500 {
		log.Fatal(url, err, response) // a supervisor starts it again
	}
	defer response.Body.Close()
	return response.StatusCode < 300 && json.NewDecoder(response.Body).Decode(&answer) == nil
}
