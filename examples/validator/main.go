// Command validator posts whether the hosts of revisions have addresses of their own (docs/validator.md).
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
	for {
		var claim struct {
			Revision          int64
			Documents, Result string
		}
		ask := map[string]any{"validations": []string{"unique-validation"}, "worker": fmt.Sprint("validator:", os.Getpid())}
		if err := call("POST", os.Args[1]+"/api/v1.0/claims?wait=5m", ask, &claim); err != nil {
			log.Fatal(err) // a supervisor starts it again
		}
		if claim.Result == "" {
			continue // there was no work for five minutes
		}
		seen, errors := map[string]bool{}, []map[string]string{}
		var hosts []struct{ Data struct{ Address string } }
		if err := call("GET", claim.Documents+"?schema=acme/Host/v1", nil, &hosts); err != nil {
			errors = append(errors, map[string]string{"message": err.Error()}) // it cannot be rendered
		}
		for _, host := range hosts {
			if seen[host.Data.Address] {
				errors = append(errors, map[string]string{"message": host.Data.Address + " is used twice"})
			}
			seen[host.Data.Address] = true
		}
		status := "success"
		if len(errors) > 0 {
			status = "failure"
		}
		err := call("POST", claim.Result, map[string]any{
			"status": status, "validator": map[string]string{"name": "unique"}, "errors": errors,
		}, nil)
		log.Printf("revision %d: %s %v", claim.Revision, status, err)
	}
}

// call sends a request and decodes the answer, if there is one. It exits if the server does not answer or cannot.
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
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 500:
		log.Fatal(method, " ", url, ": ", response.Status)
	case response.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s", method, url, response.Status)
	case response.StatusCode == http.StatusNoContent:
		return nil
	}
	return json.NewDecoder(response.Body).Decode(&answer)
}
