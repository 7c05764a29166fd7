package webhooks

import (
	"slices"
	"strconv"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/fault"
	"purser/internal/words"
)

// maxURL bounds the URL of a webhook, in bytes: the list of webhooks has all of them.
const maxURL = 2000

// ParseSpec returns the Spec that a value of a document describes. Fault: Invalid.
func ParseSpec(value any) (spec Spec, err error) {
	fields, isMapping := value.(document.Mapping)
	if !isMapping {
		return spec, badWebhook("must be a mapping with the key url")
	}
	spec.Enabled = true
	for _, field := range fields {
		var ok bool
		switch field.Key {
		case "url":
			spec.URL, ok = field.Value.(string)
		case "secret":
			spec.Secret, ok = field.Value.(string)
		case "enabled":
			spec.Enabled, ok = field.Value.(bool)
		case "types":
			spec.Types, ok = typesOf(field.Value)
		default:
			return spec, badWebhook("has the unknown key " + strconv.Quote(field.Key) + "; " + knownKeys(field.Key))
		}
		if !ok {
			return spec, badWebhook("has a value that cannot be used under " + field.Key + ": url and secret are strings, " +
				"enabled is true or false, types is a list of types of events such as " + string(events.VerdictChanged))
		}
	}
	if spec.URL == "" || len(spec.URL) > maxURL {
		return spec, badWebhook("must have a url, of at most 2000 characters")
	}
	return spec, nil
}

func knownKeys(key string) string {
	if nearest := words.Nearest(key, []string{"url", "types", "enabled", "secret"}); nearest != "" {
		return "did you mean " + nearest + "?"
	}
	return "it can have url, types, enabled and secret"
}

func badWebhook(what string) error {
	return fault.New(fault.Invalid, "HTTPBadRequest", "A webhook %s.", what)
}

// typesOf reads a list of event types; ok is false if the value is not one.
func typesOf(value any) (types []events.Type, ok bool) {
	items, ok := value.([]any)
	for _, item := range items {
		name, _ := item.(string)
		if !slices.Contains(events.Types(), events.Type(name)) {
			return nil, false
		}
		types = append(types, events.Type(name))
	}
	return slices.Compact(slices.Sorted(slices.Values(types))), ok
}
