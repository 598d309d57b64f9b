import fs from 'node:fs'

export interface LeftoverProcess {
  readonly pid: number
  readonly command: string
}

/**
 * Lists living processes whose environment names this home, except oneshot's own: its supervisor and keeper, its tmux
 * servers and the programs of the panes. A process with an attempt's marker never counts as oneshot's own.
 */
export function leftoverProcesses(home: string, programs: string): LeftoverProcess[] {
  const rows = new Map(
    ids()
      .flatMap(pid => look(pid, home) ?? [])
      .map(row => [row.pid, row]),
  )
  const isOwn = (row: Row | undefined): boolean =>
    row !== undefined && !row.hasMark && (isOwnProcess(row, programs) || isOwn(rows.get(row.parent)))
  return [...rows.values()].filter(row => !isOwn(row)).map(({ pid, command }) => ({ pid, command }))
}

interface Row extends LeftoverProcess {
  readonly parent: number
  readonly name: string
  readonly hasMark: boolean
}

function isOwnProcess({ name, command }: Row, programs: string): boolean {
  const isDaemon = /main\.cjs __daemon\b|keeper\.sh /.test(command)
  return isDaemon || name.startsWith('tmux') || command.includes(`${programs}/`)
}

function ids(): number[] {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter(pid => Number.isInteger(pid) && pid !== process.pid)
}

function look(pid: number, home: string): Row | undefined {
  try {
    const environment = fs.readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    if (!environment.includes(`HOME=${home}`)) return undefined
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    return {
      pid,
      parent: Number(parent),
      name: fs.readFileSync(`/proc/${pid}/comm`, 'latin1'),
      command: fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim(),
      hasMark: environment.some(entry => entry.startsWith('ONESHOT_ATTEMPT=')),
    }
  } catch {
    return undefined // The process has ended meanwhile.
  }
}
