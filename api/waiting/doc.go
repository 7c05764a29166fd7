// Package waiting lets requests wait until their answer changes, and sends events as a stream.
//
// A request that waits is handled twice. The first time, it joins a group of requests with the same question and
// returns without an answer; it then rests outside of all middleware, where it needs little more memory than an idle
// connection. After the wait, it is authorized and handled again, and gets the group's answer:
//
//	request ─Pausing─► middleware ─Answer─► join a group ─► return
//	           rest until the group has an answer, the time is over, the client leaves or the server stops
//	           ─► middleware, authorization ─Answer─► the group's answer, or one of its own
//
// Invariants:
//   - A group makes one answer after each event, however many requests wait for it. A request gets no answer that was
//     begun before it joined, because that may be older than what its client already knows.
//   - Requests share an answer only if their viewers may see the same.
//   - The number of waiting requests, their headers, and the answers that they share are bounded.
//
// A handler tells by State whether an answer is one to wait on; by default a 304 is.
package waiting
