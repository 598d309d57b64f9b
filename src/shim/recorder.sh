#!/bin/sh
# Appends what a terminal shows to the attempt's output. Runs at the far end of tmux's pipe-pane.
# usage: recorder.sh ATTEMPT_FOLDER
umask 077
birth=unknown
if [ -r "/proc/$$/stat" ]; then
  read -r stat <"/proc/$$/stat"
  birth=$(set -- $stat && shift 21 && echo "$1")
fi
printf '%s %s\nend\n' "$$" "$birth" >"$1/recorder"
# What came before is filled in first; what comes meanwhile waits in the pipe.
while [ -e "$1/gap" ]; do sleep 0.05; done
exec cat >>"$1/stdout"
