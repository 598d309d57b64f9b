#!/bin/sh
# The parent of one attempt: starts the program, waits for it, writes down how it ended. When the next attempt follows at
# once, it is called to that one as well, in the same pane.
# usage: shim.sh HOME SESSION_ID ATTEMPT headless|tty TMUX [GROUP]
# It reads and writes files and needs neither the supervisor nor tmux to stay alive.
# All of it stands in functions, so that the whole text is read before the first line runs.

main() {
  umask 077
  home=$1 id=$2 attempt=$3 mode=$4 tmux=$5 group=$6
  folder=$home/sessions/$id/attempts/$attempt
  notice=$folder/notice called='' sleeper='' is_locked='' has_flock='' has_setsid='' alone='' shim_exports=''
  unset TMUX TMUX_PANE
  is_there flock && has_flock=yes
  is_there setsid && has_setsid=yes
  list_exports
  # What we start is born into our control group. To enter one takes the kernel 30 ms: we do it once, and not for each attempt.
  [ -z "$group" ] || { printf '%s\n' "$$" >"$group/cgroup.procs"; } 2>/dev/null || group=''
  # Whoever finds our claim may call, and a call that is not caught would kill us.
  trap hear USR1
  birth_of_this_shell
  while :; do attend; done
}

# Sees one attempt through. Returns only when it was called to the next one.
attend() {
  letter=$home/mailbox/$id.$attempt

  # The terminal may go away, and Ctrl-C in it is for the program. Caught and not ignored: ignoring is inherited.
  trap : HUP INT QUIT TERM

  # A second shim for the same attempt finds the claim and leaves.
  claim || exit 0
  exec 2>"$notice"

  # Whoever sweeps the attempt before leaves its note first and looks for our claim then; we do it the other way round: one
  # of the two sees the other, and we are not taken for that one's.
  if [ -n "$called" ] && [ -e "$before/swept" ]; then exit 0; fi

  # Everything of this attempt inherits the lock, so that the next one cannot begin beside it.
  if [ -z "$is_locked" ] && ! lock_session; then
    conclude refused 0
    return
  fi
  is_locked=''
  # So does everything that works in its thread: a second writer would tear the conversation apart.
  if [ -h "$folder/thread" ] && ! lock_thread; then
    conclude busy 0
    return
  fi

  # In the foreground: a program started with & would be deaf to Ctrl-C for ever.
  if [ "$mode" = tty ]; then
    "$tmux" -S "$home/tty/$id.sock" wait-for "gate-$attempt"
    (exec sh "$folder/launch" 2>&1)
    status=$?
    # The recorder has everything once it has this, which no terminal shows.
    printf '\033]oneshot;end\007' 2>/dev/null
    conclude ended "$status"
    return
  elif [ -n "$has_setsid" ] && [ -r /proc/self/stat ]; then
    # Without a shell of its own, which would take half a millisecond to start.
    (alone=${shim_exports:+/usr/bin/}setsid && . "$folder/launch")
  elif [ -n "$has_setsid" ]; then
    setsid sh "$folder/launch"
  elif is_there perl; then
    perl -e 'use POSIX "setsid"; setsid(); exec @ARGV' sh "$folder/launch"
  else
    sh "$folder/launch"
  fi
  conclude ended $?
}

# Whoever makes the file has the attempt. It says who that is; by which program, for only one that knows how can be called to
# the next; and the group. On a full disk it waits for room: an attempt that nobody seems to have could begin nowhere else.
claim() {
  set -C
  { : >"$folder/claim"; } 2>/dev/null
  set -- $?
  set +C
  [ "$1" = 0 ] || return 1
  until { printf '%s %s\n%s\n%s\nend\n' "$$" "$birth" "${0##*/}" "$group" >"$folder/claim"; } 2>/dev/null; do
    [ ! -e "$folder/swept" ] && [ -d "$folder" ] || return 1
    sleep 1
  done
}

lock_session() {
  [ -n "$has_flock" ] || return 0
  exec 9>"$home/sessions/$id/lock"
  LC_ALL=C flock -n 9 # Without a language: reading one takes it longer than the rest of its work.
}

lock_thread() {
  [ -n "$has_flock" ] || return 0
  exec 8>"$folder/thread"
  LC_ALL=C flock -n 8
}

# Writes down how it ended, rings, and waits. On a full disk it waits for room: nobody could find out again.
conclude() {
  exec 8>&- 9>&-
  called=''
  # The shell tells a killed program from one that exited with 128 + n by a word on stderr (dash, bash; not for INT, PIPE).
  signalled=no
  case $2 in
    130 | 141) signalled=yes ;;
    129 | 1[3-9]? | 2??) [ -s "$notice" ] && signalled=yes ;;
  esac
  until record "$1" "$2" || [ ! -d "$folder" ]; do sleep 1; done
  # While the supervisor writes down what follows, we are ready for it.
  [ "$mode" = headless ] && lock_session && is_locked=yes
  wait_for_a_call
}

# The record counts once its last line is there, so that it needs no second name. The supervisor has filled the file with empty
# lines; the shim writes over them, so that a full disk has room for the record. From the bell on the supervisor may end us at any
# moment.
record() {
  printf 'kind %s\nstatus %s\nsignalled %s\nend\n' "$1" "$2" "$signalled" 1<>"$folder/exit" || return 1
  trap 'awake; exit 0' HUP TERM
  printf '' >"$letter.exit" || return 1
}

# The supervisor takes the letter within milliseconds, writes down what it says, and may call us to the next attempt. A
# letter that stays means that nobody is there: then it is for us to carry the record to disk, and to start a supervisor.
# A terminal closes with its shim, and its memory may still be needed to fill a gap in the recording: it waits to be told.
# What we start must not inherit the lock.
wait_for_a_call() {
  for pause in 1 2 4 8 16 32; do
    sleep "$pause" 9>&- &
    sleeper=$!
    [ -n "$called" ] || wait "$sleeper"
    awake
    if [ -n "$called" ] && goes_on; then return; fi
    [ ! -e "$home/down" ] || exit 0
    if [ ! -e "$letter.exit" ]; then
      [ "$mode" = tty ] || exit 0
    else
      exec 9>&-
      is_locked=''
      sync "$folder/exit" 2>/dev/null
      wake
    fi
  done
  exit 0
}

hear() {
  called=yes
  awake
}

# What we slept with goes, by a signal that the shell says no word about: one would be taken for one about the program. It is
# none that we catch, either, for a newborn would lose it.
awake() {
  [ -z "$sleeper" ] || kill -PIPE "$sleeper" 2>/dev/null
  sleeper=''
}

# The attempt we are called to is laid down beside this one.
goes_on() {
  before=$folder
  folder=$home/sessions/$id/attempts/$((attempt + 1))
  if [ -e "$folder/launch" ]; then attempt=$((attempt + 1)); else folder=$before; fi
  [ "$folder" != "$before" ]
}

is_there() {
  command -v "$1" >/dev/null 2>&1
}

# One shim for all of them. The lock is not handed on: it would be held for as long as anything lives that was started since.
wake() {
  if [ -n "$has_flock" ]; then
    (flock -n 7 && sh "$home/bin/wake" 7>&- && sleep 1) 7>"$home/wake.lock" &
  else
    sh "$home/bin/wake"
  fi
}

# The names of all variables that we were given: the program has its own and must get none of ours. Only where the shell
# keeps nothing that it does not list: bash keeps functions and odd names.
list_exports() {
  [ -z "$BASH_VERSION$KSH_VERSION$ZSH_VERSION" ] && [ -x /usr/bin/setsid ] || return 0
  set -f
  IFS='
'
  for line in $(export -p); do
    case $line in 'export '*) line=${line#export } name=${line%%=*} ;; *) continue ;; esac
    case $name in '' | [0-9]* | *[!A-Za-z0-9_]*) ;; *) shim_exports="$shim_exports $name" ;; esac
  done
  unset IFS
  set +f
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
