import fs from 'node:fs'

export interface ListedProcess {
  readonly pid: number
  readonly command: string
}

/** Lists living processes, except this one, whose command line, environment or working folder mentions this text. */
export function processesOf(text: string): ListedProcess[] {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter(pid => Number.isInteger(pid) && pid !== process.pid && !isZombie(pid))
    .filter(pid => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`].some(file => readOr(file).includes(text)))
    .map(pid => ({ pid, command: readOr(`/proc/${pid}/cmdline`).split('\0').join(' ').trim() }))
}

/** Returns the tmux server that listens on this socket. */
export function tmuxServerOn(socket: string): number | undefined {
  return processesOf(socket).find(({ pid, command }) => command.includes('tmux') && isServer(pid))?.pid
}

/** tmux names the process of its server `tmux: server`. */
function isServer(pid: number): boolean {
  return readOr(`/proc/${pid}/comm`).startsWith('tmux: server')
}

function isZombie(pid: number): boolean {
  const stat = readOr(`/proc/${pid}/stat`)
  return stat === '' || /\) [ZX]/.test(stat)
}

function readOr(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return '' // The process ended during the scan, or belongs to another user.
  }
}
