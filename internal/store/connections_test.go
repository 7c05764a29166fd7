package store

import (
	"testing"
	"time"
)

func TestPoolConfig(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct {
		connections int32
		timeout     time.Duration
		writable    bool // only a host that can be written to is taken
	}{
		"postgres://u@h/d":                                             {24, 3 * time.Second, false},
		"postgres://u@h/d?sslmode=prefer":                              {24, 3 * time.Second, false},
		"postgres://u@h,i/d":                                           {24, 3 * time.Second, true},
		"postgres://u@h:1,h:2/d?sslmode=disable":                       {24, 3 * time.Second, true},
		"postgres://u@h,i/d?target_session_attrs=any":                  {24, 3 * time.Second, true},
		"postgres://u@h/d?pool_max_conns=7&connect_timeout=9":          {7, 9 * time.Second, false},
		"host=h user=u dbname=d pool_max_conns=7 connect_timeout=9":    {7, 9 * time.Second, false},
		"postgres://u@h/d?target_session_attrs=read-write&sslmode=any": {},
	} {
		config, err := PoolConfig(url)
		if want.connections == 0 {
			if err == nil {
				t.Errorf("%s: no error", url)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		c := config.ConnConfig
		if config.MaxConns != want.connections || c.ConnectTimeout != want.timeout || (c.ValidateConnect != nil) != want.writable {
			t.Errorf("%s: %d connections, %v, writable %v; want %+v", url, config.MaxConns, c.ConnectTimeout,
				c.ValidateConnect != nil, want)
		}
	}
}

func TestInitial(t *testing.T) {
	t.Parallel()
	const want = "SET enable_seqscan = 'off'; SET idle_in_transaction_session_timeout = '5s'; SET jit = 'off'; SET lock_timeout = '14s'; " +
		"SET plan_cache_mode = 'force_generic_plan'"
	if got := initial(map[string]string{"statement_timeout": "1min", "application_name": "x"}); got != want {
		t.Errorf("%s", got)
	}
}
