#!/bin/sh
# Appends the output of a terminal to the attempt's stdout file. tmux runs it through pipe-pane.
# usage: recorder.sh ATTEMPT_FOLDER
umask 077
birth=unknown
if [ -r "/proc/$$/stat" ]; then
  read -r stat <"/proc/$$/stat"
  birth=$(set -- $stat && shift 21 && echo "$1")
fi
printf '%s %s\nend\n' "$$" "$birth" >"$1/recorder"
# The supervisor fills the gap before this point first; new output waits in the pipe.
while [ -e "$1/gap" ]; do sleep 0.05; done
exec cat >>"$1/stdout"
