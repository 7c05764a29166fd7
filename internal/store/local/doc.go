// Package local runs a private Postgres cluster for someone who has no database server yet.
//
// The state directory:
//
//	lock          locked (flock) by the one Purser server that uses the directory; its pid
//	postgres/     the cluster: UTF8, locale C, data checksums; locked by the processes of the Postgres that runs on it
//	postgres.new* an initdb that was interrupted; removed by the next one
//	postgres.log  Postgres's log
//	socket/       the unix socket (in the temporary directory if the path would be too long)
//
// Invariants:
//
//   - Only the holder of the lock touches postgres/. So a postmaster that runs on it was left over by a server that is
//     gone: it is stopped, and another one is started when its last process has ended.
//   - postgres/ is complete or missing: initdb works beside it and the result is renamed.
//   - There is no TCP port. A process that can open the socket is trusted; only those of Postgres' own account and root
//     can, because the directories have mode 0700.
//   - Postgres never runs as root: started by root it runs as the owner of the cluster, for a new one as the owner of
//     the state directory or, if that is missing or root's, as the user postgres or else nobody.
//   - Nothing is created before an installation of Postgres is found.
//   - Postgres has a session of its own: Ctrl-C at the terminal reaches Purser alone, which drains before it calls
//     Stop.
//   - Until Stop, a Postgres that ends is started again, after a pause that grows if it soon ends again.
//   - On Linux Postgres does not outlive this process, however that dies: the kernel then asks it for a fast shutdown.
//     On other systems, where there is no /proc to find a postmaster in, the next Start fails and names it.
package local
