#!/bin/sh
# Restarts the supervisor whenever it dies.
# usage: keeper.sh HOME NODE MAIN [PID]    PID: a supervisor whose keeper died; this keeper first waits for its end
# The keeper exits when the user stopped the supervisor (0), when the supervisor refused because another one is in
# charge (6), when another supervisor superseded it (7), and when the home is gone. A keeper whose supervisors keep
# failing at startup gives way to a later keeper. So a surplus keeper does no harm and exits. The supervisor in charge
# writes keeper.pid, because a keeper cannot know whether its own supervisor is in charge.

main() {
  umask 077
  home=$1 node=$2 program=$3 present=$4
  cd / || exit 1
  trap '' HUP INT
  leave_attempt
  export ONESHOT_HOME="$home"
  echo $$ >"$home/keeper.last"
  while [ -n "$present" ] && kill -0 "$present" 2>/dev/null; do sleep 1; done
  delay=0
  begun=$(date +%s)
  while [ -d "$home/sessions" ] && [ ! -e "$home/down" ]; do
    # One V8 thread beside the main one, and one arena of glibc's malloc for all threads, save 6 MB. The supervisor
    # removes the variable from its environment.
    MALLOC_ARENA_MAX=1 ONESHOT_KEEPER=$$ "$node" --v8-pool-size=1 "$program" __daemon \
      </dev/null >>"$home/daemon.log" 2>&1
    case $? in 0 | 6 | 7) break ;; esac
    # A supervisor that ran for 5 s restarts at once; after failures at startup the delay grows, up to 30 s.
    ended=$(date +%s)
    if [ $((ended - begun)) -ge 5 ]; then delay=0; fi
    begun=$((ended + delay))
    if [ "$delay" -gt 0 ]; then
      sleep "$delay"
      is_last || break
    fi
    delay=$((delay * 2 + 1))
    [ "$delay" -gt 30 ] && delay=30
  done
  [ "$(last)" = $$ ] && rm -f "$home/keeper.last"
  exit 0
}

# True unless a keeper that was started later is alive. A keeper removes keeper.last when it exits, and this one has
# slept for at least a second, so two keepers cannot both give way to each other.
is_last() {
  other=$(last)
  [ -z "$other" ] || [ "$other" = $$ ] || ! kill -0 "$other" 2>/dev/null
}

last() {
  cat "$home/keeper.last" 2>/dev/null
}

# The process that started this keeper may belong to an attempt: its shim, or an agent that uses oneshot itself. The
# keeper must not end with that attempt.
leave_attempt() {
  unset ONESHOT_ATTEMPT ONESHOT_SESSION
  [ -r /proc/self/cgroup ] || return 0
  own=$(sed -n 's/^0:://p' /proc/self/cgroup)
  case $own in */oneshot-??????????.[0-9]*) ;; *) return 0 ;; esac
  while read -r _ mount type _; do [ "$type" = cgroup2 ] && top=$mount; done </proc/self/mounts
  { printf '%s\n' "$$" >"$top${own%%/oneshot-??????????.[0-9]*}/cgroup.procs"; } 2>/dev/null
}

main "$@"
