// Package local runs a private Postgres cluster for someone who has no database server yet.
//
//	            Start              answers
//	stopped ───────────▶ starting ─────────▶ running
//	   ▲                  ▲ │  ▲                │ │
//	   │     ended: wait, └─┘  └────────────────┘ │ Stop, or this process dies
//	   │     twice as long      ended by itself   ▼
//	   └───────────────────────────────────── stopping
//	              SIGINT, then SIGQUIT, then SIGKILL
//
// What lies in the state directory:
//
//	lock          held (flock) by the one Purser server that uses the directory; its pid
//	postgres/     the cluster: UTF8, locale C, data checksums
//	postgres.new* an initdb that was interrupted; removed by the next one
//	postgres.log  what Postgres says
//	socket/       the unix socket (under the temp directory where the path would be too long)
//
// Invariants:
//
//   - Whoever touches postgres/ holds the lock, so a postmaster found on it was left over by a server that is gone:
//     it is stopped, and one of our own is started.
//   - postgres/ is a whole cluster or not there: initdb works beside it and the result is renamed into place.
//   - No TCP port. Whoever can open the socket is trusted, and only the account that Postgres runs as (and root) can,
//     because the directories are 0700.
//   - Postgres never runs as root: started by root it runs as the owner of the cluster, for a new one as the user
//     postgres or else nobody.
//   - Postgres has a session of its own: Ctrl-C at the terminal reaches Purser alone, which drains before it calls
//     Stop.
//   - While the Cluster is not stopped, a Postgres that ends is started again, less often the sooner it ends again.
//   - On Linux Postgres does not outlive this process, however that dies. Elsewhere, and where the kernel was too
//     late, a postmaster left over is found by the next Start through /proc; without /proc Postgres itself refuses to
//     start beside it, and the error shows its words.
package local
