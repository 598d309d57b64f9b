#!/bin/sh
# Parent process of an attempt: starts the program, waits for it and records its exit. If the next attempt follows at
# once, the supervisor reuses this shim for it, in the same pane.
# usage: shim.sh HOME SESSION_ID ATTEMPT headless|tty TMUX [GROUP]
# The shim reads and writes files; it continues without the supervisor and without tmux.
# All code is in functions, so that the shell reads the whole file before it runs the first line.

main() {
  umask 077
  home=$1 id=$2 attempt=$3 mode=$4 tmux=$5 group=$6
  folder=$home/sessions/$id/attempts/$attempt
  notice=$folder/notice called='' sleeper='' is_locked='' has_flock='' has_setsid='' alone='' shim_exports=''
  unset TMUX TMUX_PANE
  is_there flock && has_flock=yes
  is_there setsid && has_setsid=yes
  list_exports
  # Child processes start in the shim's control group. Entering a group takes the kernel 30 ms, so the shim enters once
  # and not for each attempt.
  [ -z "$group" ] || { printf '%s\n' "$$" >"$group/cgroup.procs"; } 2>/dev/null || group=''
  # A supervisor that reads the claim may send SIGUSR1, which would kill a shim without a handler.
  trap hear USR1
  birth_of_this_shell
  while :; do attend; done
}

# Runs one attempt from claim to exit record. Returns only when the supervisor has called the shim to the next attempt.
attend() {
  letter=$home/mailbox/$id.$attempt

  # The terminal may disappear, and Ctrl-C in it is for the program. The shim catches these signals and does not ignore
  # them, because the program would inherit the ignoring.
  trap : HUP INT QUIT TERM

  # A second shim for the same attempt finds the claim and exits.
  claim || exit 0
  exec 2>"$notice"

  # A sweep of the previous attempt writes its marker first and then reads this claim; the shim does the reverse. So one
  # of them sees the other, and the sweep cannot end a shim that runs this attempt.
  if [ -n "$called" ] && [ -e "$before/swept" ]; then exit 0; fi

  # All processes of this attempt inherit the lock, so that the next attempt cannot start beside them.
  if [ -z "$is_locked" ] && ! lock_session; then
    conclude refused 0
    return
  fi
  is_locked=''
  # They also inherit the lock of the thread: a second writer would corrupt the conversation.
  if [ -h "$folder/thread" ] && ! lock_thread; then
    conclude busy 0
    return
  fi

  # The shim runs the program in the foreground: a program started with & would ignore Ctrl-C for its whole life.
  if [ "$mode" = tty ]; then
    "$tmux" -S "$home/tty/$id.sock" wait-for "gate-$attempt"
    (exec sh "$folder/launch" 2>&1)
    status=$?
    # No terminal displays this mark. Once the recorder has written it, the recording is complete.
    printf '\033]oneshot;end\007' 2>/dev/null
    conclude ended "$status"
    return
  elif [ -n "$has_setsid" ] && [ -r /proc/self/stat ]; then
    # Reads the launch file in a subshell: the start of another shell would take half a millisecond.
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

# The shim that creates the file owns the attempt. The file holds the shim's identity, its program's name (the
# supervisor reuses only shims of its own version) and its control group. On a full disk the shim waits for space: no
# other shim could start an attempt whose claim file exists but is empty.
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
  LC_ALL=C flock -n 9 # LC_ALL=C: loading a locale takes flock longer than the rest of its work.
}

lock_thread() {
  [ -n "$has_flock" ] || return 0
  exec 8>"$folder/thread"
  LC_ALL=C flock -n 8
}

# Records the exit, writes a mailbox entry and waits. On a full disk it waits for space, because nobody else knows the
# exit status.
conclude() {
  exec 8>&- 9>&-
  called=''
  # A message of the shell on stderr distinguishes a killed program from an exit with 128 + n (dash, bash; not for INT,
  # PIPE).
  signalled=no
  case $2 in
    130 | 141) signalled=yes ;;
    129 | 1[3-9]? | 2??) [ -s "$notice" ] && signalled=yes ;;
  esac
  until record "$1" "$2" || [ ! -d "$folder" ]; do sleep 1; done
  # The shim takes the lock for the next attempt while the supervisor stores the exit.
  [ "$mode" = headless ] && lock_session && is_locked=yes
  wait_for_a_call
}

# Readers accept the record once its last line is there, so the shim needs no temporary file. The supervisor has filled
# the file with empty lines; the shim overwrites them, which needs no free space on a full disk. After the mailbox entry
# the supervisor may end the shim at any moment.
record() {
  printf 'kind %s\nstatus %s\nsignalled %s\nend\n' "$1" "$2" "$signalled" 1<>"$folder/exit" || return 1
  trap 'awake; exit 0' HUP TERM
  printf '' >"$letter.exit" || return 1
}

# Within milliseconds the supervisor stores the exit, removes the mailbox entry and may call this shim to the next
# attempt. An entry that stays means that no supervisor runs: the shim then syncs the record to disk and starts a
# supervisor. A terminal closes with its shim, and the supervisor may still need the scrollback to fill a gap in the
# recording; so a terminal's shim waits until the supervisor ends it. The processes started here must not inherit the
# lock.
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

# Ends the sleep process. The shell prints no message about SIGPIPE; any message would look like one about the program.
# The shim does not catch SIGPIPE either: a child process would lose a caught signal before its exec.
awake() {
  [ -z "$sleeper" ] || kill -PIPE "$sleeper" 2>/dev/null
  sleeper=''
}

# Switches to the next attempt if its files exist.
goes_on() {
  before=$folder
  folder=$home/sessions/$id/attempts/$((attempt + 1))
  if [ -e "$folder/launch" ]; then attempt=$((attempt + 1)); else folder=$before; fi
  [ "$folder" != "$before" ]
}

is_there() {
  command -v "$1" >/dev/null 2>&1
}

# Starts a supervisor; one shim does this for all. The lock is closed in the started process, which would otherwise hold
# it for as long as any of its descendants lives.
wake() {
  if [ -n "$has_flock" ]; then
    (flock -n 7 && sh "$home/bin/wake" 7>&- && sleep 1) 7>"$home/wake.lock" &
  else
    sh "$home/bin/wake"
  fi
}

# Lists the names of all exported variables, because the program must get only its own environment. The list stays empty
# in shells that export more than they list: bash keeps functions and unusual names.
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

# The start time identifies this process together with its pid. Linux: field 22 of stat; the name in field 2 is `(sh)`.
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
