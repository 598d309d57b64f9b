#!/bin/sh
# The parent of one attempt: starts the program, waits for it, writes down how it ended.
# usage: shim.sh HOME SESSION_ID ATTEMPT headless|tty TMUX
# It reads and writes files and needs neither the supervisor nor tmux to stay alive.
# All of it stands in functions, so that the whole text is read before the first line runs.

main() {
  umask 077
  home=$1 id=$2 attempt=$3 mode=$4 tmux=$5
  folder=$home/sessions/$id/attempts/$attempt
  letter=$home/mailbox/$id.$attempt

  # A second shim for the same attempt finds the claim and leaves.
  birth_of_this_shell
  (set -C && printf '%s %s\nend\n' "$$" "$birth" >"$folder/claim") 2>/dev/null || exit 0
  exec 2>"$folder/notice"

  # Everything of this attempt inherits the lock, so that the next one cannot begin beside it.
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$home/sessions/$id/lock"
    flock -n 9 || conclude refused 0
    # So does everything that works in its thread: a second writer would tear the conversation apart.
    if [ -h "$folder/thread" ]; then
      exec 8>"$folder/thread"
      flock -n 8 || conclude busy 0
    fi
  fi

  # The terminal may go away, and Ctrl-C in it is for the program. Caught and not ignored: ignoring is inherited.
  trap : HUP INT QUIT TERM
  unset TMUX TMUX_PANE

  # In the foreground: a program started with & would be deaf to Ctrl-C for ever.
  if [ "$mode" = tty ]; then
    "$tmux" -S "$home/tty/$id.sock" wait-for "gate-$attempt"
    (exec sh "$folder/launch" 2>&1)
    status=$?
    # The recorder has everything once it has this, which no terminal shows.
    printf '\033]oneshot;end\007' 2>/dev/null
    conclude ended "$status"
  elif command -v setsid >/dev/null 2>&1; then
    setsid sh "$folder/launch"
  elif command -v perl >/dev/null 2>&1; then
    perl -e 'use POSIX "setsid"; setsid(); exec @ARGV' sh "$folder/launch"
  else
    sh "$folder/launch"
  fi
  conclude ended $?
}

# Writes down how it ended, and rings. On a full disk it waits for room: nobody could find out again.
conclude() {
  exec 8>&- 9>&-
  # The shell tells a killed program from one that exited with 128 + n by a word on stderr (dash, bash; not for INT, PIPE).
  signalled=no
  case $2 in
    130 | 141) signalled=yes ;;
    129 | 1[3-9]? | 2??) [ -s "$folder/notice" ] && signalled=yes ;;
  esac
  until record "$1" "$2" || [ ! -d "$folder" ]; do sleep 1; done
  wait_until_heard
  exit 0
}

# The record is there whole or not at all. Syncing it takes a process, so the bell does not wait for it; it comes after
# the rename, because it then carries the name to disk too. From the bell on the supervisor may end us at any moment.
record() {
  printf 'kind %s\nstatus %s\nsignalled %s\nend\n' "$1" "$2" "$signalled" >"$folder/exit.draft" || return 1
  mv -f "$folder/exit.draft" "$folder/exit" || return 1
  trap 'kill $! 2>/dev/null; exit 0' HUP TERM
  printf '' >"$letter.exit" || return 1
  sync "$folder/exit" 2>/dev/null
  return 0
}

# The supervisor takes the letter within milliseconds. A letter that stays means that nobody is there: start one.
# A terminal closes with its shim, and its memory may still be needed to fill a gap in the recording: it waits to be told.
wait_until_heard() {
  for pause in 1 2 4 8 16 32; do
    sleep "$pause" &
    wait $!
    [ ! -e "$home/down" ] || return 0
    if [ ! -e "$letter.exit" ]; then
      [ "$mode" = tty ] || return 0
    else
      wake
    fi
  done
}

# One shim for all of them. The lock is not handed on: it would be held for as long as anything lives that was started since.
wake() {
  if command -v flock >/dev/null 2>&1; then
    (flock -n 7 && sh "$home/bin/wake" 7>&- && sleep 1) 7>"$home/wake.lock" &
  else
    sh "$home/bin/wake"
  fi
}

# Together with the pid it names this process for ever. Linux: field 22 of stat; the name in field 2 is `(sh)`.
birth_of_this_shell() {
  birth=unknown
  if [ -r "/proc/$$/stat" ]; then
    read -r birth <"/proc/$$/stat"
    set -- $birth
    shift 21
    birth=$1
  else
    birth=$(ps -o lstart= -p $$)
  fi
}

main "$@"
