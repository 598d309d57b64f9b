#!/bin/sh
# Brings the supervisor back whenever it dies.
# usage: keeper.sh HOME NODE MAIN [PID]    with the PID of a supervisor whose keeper died: that one is waited for first
# Ends when the supervisor was stopped on purpose (0), refused because another one acts (6), or superseded (7), and when
# the home was removed. A keeper whose supervisors all die at birth leaves that to a later keeper. So one keeper too many is
# harmless, and does not stay. The supervisor in charge writes keeper.pid: a keeper cannot know whether its own is in charge.

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
  while [ -d "$home/sessions" ] && [ ! -e "$home/down" ]; do
    begun=$(date +%s)
    # A supervisor makes little garbage: a small young generation saves 20 MB.
    ONESHOT_KEEPER=$$ "$node" --max-semi-space-size=2 "$program" __daemon </dev/null >>"$home/daemon.log" 2>&1
    case $? in 0 | 6 | 7) break ;; esac
    # A supervisor that lived for a while comes back at once; one that dies at birth waits longer each time.
    if [ $(($(date +%s) - begun)) -ge 5 ]; then delay=0; fi
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

# No other keeper that lives was started after us. One that leaves has taken its name away a second ago: both cannot leave.
is_last() {
  other=$(last)
  [ -z "$other" ] || [ "$other" = $$ ] || ! kill -0 "$other" 2>/dev/null
}

last() {
  cat "$home/keeper.last" 2>/dev/null
}

# Whoever started us may be of an attempt: its shim, or an agent that uses oneshot itself. We must not end with it.
leave_attempt() {
  unset ONESHOT_ATTEMPT ONESHOT_SESSION
  [ -r /proc/self/cgroup ] || return 0
  own=$(sed -n 's/^0:://p' /proc/self/cgroup)
  case $own in */oneshot-??????????.[0-9]*) ;; *) return 0 ;; esac
  while read -r _ mount type _; do [ "$type" = cgroup2 ] && top=$mount; done </proc/self/mounts
  { printf '%s\n' "$$" >"$top${own%%/oneshot-??????????.[0-9]*}/cgroup.procs"; } 2>/dev/null
}

main "$@"
