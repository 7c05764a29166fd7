package wire

import (
	"encoding/json"

	"purser/internal/events"
)

// Webhook is a webhook, with its secret only when the secret is new.
type Webhook struct {
	ID        int64         `json:"id"`
	URL       string        `json:"url"`
	Types     []events.Type `json:"types"`
	Enabled   bool          `json:"enabled"`
	Reason    Optional      `json:"reason"`
	CreatedAt Optional      `json:"createdAt"`
	RotatedAt Optional      `json:"rotatedAt"`
	Secret    string        `json:"secret,omitempty"`
}

// Delivery is an event for a webhook, and the state of its delivery.
type Delivery struct {
	ID       int64           `json:"id"`
	Event    json.RawMessage `json:"event"`
	State    string          `json:"state"`
	Attempts int             `json:"attempts"`
	Status   *int            `json:"status"`
	Answer   Optional        `json:"answer"`
	Error    Optional        `json:"error"`
	Next     Optional        `json:"next"`
}
