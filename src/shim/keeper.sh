#!/bin/sh
# Brings the supervisor back whenever it dies.
# usage: keeper.sh HOME NODE MAIN
# Ends when the supervisor was stopped on purpose (0), refused because another one acts (6), or superseded (7): so a
# second keeper is harmless, because its supervisor is refused.

main() {
  umask 077
  home=$1 node=$2 program=$3
  cd / || exit 1
  trap '' HUP INT
  echo $$ >"$home/keeper.pid"
  export ONESHOT_HOME="$home"
  delay=0
  while [ ! -e "$home/down" ]; do
    begun=$(date +%s)
    "$node" "$program" __daemon </dev/null >>"$home/daemon.log" 2>&1
    case $? in 0 | 6 | 7) break ;; esac
    # A supervisor that lived for a while comes back at once; one that dies at birth waits longer each time.
    if [ $(($(date +%s) - begun)) -ge 5 ]; then delay=0; fi
    [ "$delay" -gt 0 ] && sleep "$delay"
    delay=$((delay * 2 + 1))
    [ "$delay" -gt 30 ] && delay=30
  done
  rm -f "$home/keeper.pid"
}

main "$@"
