/**
 * The configuration of our tmux servers. The user's own is not read.
 * A headless session's pane holds only the shim; the window that shows its transcript opens when somebody attaches and
 * closes when the last one leaves, so that looking costs nothing while nobody looks (`tail -F` also takes one of the
 * 128 inotify instances Linux gives a user). So is the status line's caption: tmux reads it only while somebody
 * is there, on a terminal that has room for it. Windows are named where there is more than one to look at: those of a loop's
 * workers.
 */
export const TMUX_CONFIG = `set -g default-shell /bin/sh
set -g default-terminal screen-256color
set -g history-limit 50000
set -g update-environment ''
set -g status-style 'fg=default,bg=default'
set -g status-left '#[bold]#S#[nobold]  #{?#{e|>=:#{client_width},120},#(cat "$ONESHOT_HOME/captions/#{@id}" 2>/dev/null),} '
set -g status-left-length 70
set -g status-interval 2
set -g status-right 'oneshot · leave with #{?#{||:#{m:screen*,#{client_termname}},#{m:tmux*,#{client_termname}}},Ctrl-b Ctrl-b d,Ctrl-b d}, the work continues'
set -g status-right-length 60
set -g window-status-separator ''
set -g window-status-format '#{?#{@loop},#{?#{==:#{window_name},work},, #I:#W},}'
set -g window-status-current-format '#{?#{@loop},#{?#{==:#{window_name},work},, #[reverse]#I:#W#[noreverse]},}'
set -s escape-time 10
set -s set-clipboard off
set -gq allow-passthrough off
set-hook -g client-attached {
  if -F '#{&&:#{!=:#{@show},},#{!=:#{@shown},yes}}' {
    set @shown yes
    new-window -n log 'trap "" INT QUIT TSTP; exec tail -n 2000 -F "$ONESHOT_SHOW"'
  }
}
set-hook -g client-detached {
  if -F '#{&&:#{==:#{@shown},yes},#{==:#{session_attached},0}}' { set -u @shown ; kill-window -t :log }
}
`
