//go:build linux

package faults_test

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a program that runs until it is stopped, or until its test or the test binary ends.
type process struct {
	*exec.Cmd
	said  *tail
	ended chan struct{} // closed when it has ended
}

// run starts a program. When this process ends in any way, the program gets the signal orphaned.
func run(t *testing.T, cmd *exec.Cmd, orphaned syscall.Signal) *process {
	t.Helper()
	p := &process{Cmd: cmd, said: &tail{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.said, p.said, time.Second
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, orphaned
	started := make(chan error)
	go func() { // on one thread, which the kernel considers its parent
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) signal(s syscall.Signal) {
	if p.running() {
		_ = syscall.Kill(p.Process.Pid, s)
	}
}

// kill ends the program as a crash does. It ends even if it is frozen.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// tail keeps the last kilobytes that a program prints.
type tail struct {
	mutex sync.Mutex
	text  []byte
}

func (o *tail) Write(text []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	const limit = 8 << 10
	o.text = append(o.text, text...)
	if extra := len(o.text) - limit; extra > 0 {
		o.text = append([]byte(nil), o.text[extra:]...)
	}
	return len(text), nil
}

func (o *tail) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return string(o.text)
}
