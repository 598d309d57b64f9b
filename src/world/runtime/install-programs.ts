import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { installedFile } from '../../os/installed-files.ts'
import { replaceIfChanged } from '../../os/files/file-io.ts'
import type { Home } from '../../state/home.ts'

/**
 * Installs the shell programs into the home. Each file name contains a hash of the content, so an update does not
 * change the file that a running shim was started from.
 */
export function installPrograms(home: Home): { shim: string; recorder: string } {
  replaceIfChanged(home.tmuxConfig, TMUX_CONFIG)
  return { shim: installProgram(home, 'shim.sh'), recorder: installProgram(home, 'recorder.sh') }
}

function installProgram(home: Home, name: string): string {
  const content = fs.readFileSync(installedFile(name), 'utf8')
  const hash = crypto.createHash('sha256').update(content).digest('hex').slice(0, 12)
  const file = path.join(home.programs, `${path.basename(name, '.sh')}-${hash}`)
  // After a power failure the file may be there without its content.
  replaceIfChanged(file, content)
  return file
}

/**
 * The configuration of oneshot's own tmux servers; they do not read the user's configuration.
 * The pane of a headless session holds only the shim. tmux opens the window that shows the transcript when the first
 * client attaches and closes it when the last client detaches, so that it costs nothing in between (`tail -F` also
 * takes one of the 128 inotify instances that Linux grants each user). Likewise, tmux reads the caption of the status
 * line only while a client is attached whose terminal is wide enough. The status line lists window names only for
 * loops, which have one window per worker.
 */
const TMUX_CONFIG = `set -g default-shell /bin/sh
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
