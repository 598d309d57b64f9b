import fs from 'node:fs'
import { hasCode } from '../../lib/errors.ts'

/** Identifies a process; `birth` distinguishes it from a later process with the same pid. */
export interface ProcessId {
  readonly pid: number
  /** Opaque; equal means the same process. Linux: start time in clock ticks since boot. Elsewhere: lstart of `ps`. */
  readonly birth: string
}

export interface ProcessRow extends ProcessId {
  readonly parent: number
  /** Id of its process session; 0 if unknown. */
  readonly session: number
  /** The value of ONESHOT_ATTEMPT in its environment, if this user may read it. */
  readonly marker: string | null
}

const MARKER = 'ONESHOT_ATTEMPT='
const hasProc = fs.existsSync('/proc/self/stat')

/** Id of the machine's current boot: a process of another boot is dead, even if its pid exists. */
export const bootId: string = readBootId()

/** Checks whether this very process is alive. A zombie is dead: only its exit status remains. */
export function checkLiveness(process: ProcessId): 'alive' | 'dead' | 'unknown' {
  if (!hasProc) return checkLivenessBySignal(process.pid)
  try {
    const stat = readStat(process.pid)
    const row = parseStat(stat)
    return row.birth === process.birth && row.state !== 'Z' && row.state !== 'X' ? 'alive' : 'dead'
  } catch (cause) {
    return hasCode(cause, 'ENOENT', 'ESRCH') ? 'dead' : 'unknown'
  }
}

/**
 * Returns the processor time of this very process and of the children it has waited for, in ticks; null if it is dead.
 */
export function readCpuTicks(process: ProcessId): number | null {
  try {
    const row = parseStat(readStat(process.pid))
    return row.birth === process.birth && row.state !== 'Z' && row.state !== 'X' ? row.ticks : null
  } catch {
    return null // The process has ended, or the system has no /proc.
  }
}

/** Returns the identity of the process that has this pid now. */
export function identifyProcess(pid: number): ProcessId | undefined {
  try {
    return { pid, birth: hasProc ? parseStat(readStat(pid)).birth : 'unknown' }
  } catch {
    return undefined // The process has ended.
  }
}

/**
 * Returns the process group that Ctrl-C signals: the foreground group of its terminal, or its own group without one.
 */
export function findInterruptGroup(pid: number): number | undefined {
  try {
    const { group, foreground } = parseStat(readStat(pid))
    return foreground > 0 ? foreground : group
  } catch {
    return undefined // The process has ended, or the system has no /proc.
  }
}

/** Returns the parent of a process; undefined if the process has ended. */
export function readParentPid(pid: number): number | undefined {
  try {
    return parseStat(readStat(pid)).parent
  } catch {
    return undefined // The process has ended, or the system has no /proc.
  }
}

/** Origin of a process. `bornAt` is in terms of the current clock. */
export interface ProcessRelation {
  readonly birth: string
  readonly bornAt: number
  readonly parent: number
  readonly session: number
  readonly marker: string | null
}

/** Returns a function that looks up a process as it is now; undefined for one that has ended. */
export async function createRelationReader(): Promise<(pid: number) => ProcessRelation | undefined> {
  if (hasProc) return createProcRelationReader()
  const table = new Map((await tableFromPs()).map(row => [row.pid, { ...row, bornAt: Date.parse(row.birth) }]))
  return pid => table.get(pid)
}

/** Linux counts start times in hundredths of a second since boot, independent of the kernel's own tick rate. */
const TICKS_PER_SECOND = 100

function readBootAt(): number {
  const [uptime = ''] = fs.readFileSync('/proc/uptime', 'latin1').split(' ')
  return Date.now() - Number(uptime) * 1_000
}

function bornAtOf(bootAt: number, birth: string): number {
  return bootAt + (Number(birth) / TICKS_PER_SECOND) * 1_000
}

function createProcRelationReader(): (pid: number) => ProcessRelation | undefined {
  const bootAt = readBootAt()
  return pid => {
    try {
      const { birth, parent, session } = parseStat(readStat(pid))
      return { birth, bornAt: bornAtOf(bootAt, birth), parent, session, marker: readMarker(pid) }
    } catch {
      return undefined // The process has ended.
    }
  }
}

/** Returns true if a signal has stopped the process, so that it cannot answer. */
export function isSuspended(pid: number): boolean {
  try {
    return parseStat(readStat(pid)).state === 'T'
  } catch {
    return false // The process does not exist, or the system has no /proc: nothing shows that it is suspended.
  }
}

/** Sends a signal to exactly this process. Returns false if it is gone. */
export function signalProcess(process_: ProcessId, signal: NodeJS.Signals): boolean {
  if (checkLiveness(process_) === 'dead') return false
  try {
    process.kill(process_.pid, signal)
    return true
  } catch (cause) {
    if (hasCode(cause, 'ESRCH')) return false
    throw cause
  }
}

/** Lists every process of this machine that this user may see. */
export async function processTable(): Promise<ProcessRow[]> {
  return hasProc ? tableFromProc() : tableFromPs()
}

/**
 * A living process with its program name, which the kernel cuts to 15 bytes. `bornAt` is in terms of the current clock.
 */
export interface Program {
  readonly pid: number
  readonly name: string
  readonly bornAt: number
}

/** Lists the programs of all visible living processes; null on a system that does not give their start times. */
export function programs(): Program[] | null {
  if (!hasProc) return null
  const bootAt = readBootAt()
  return fs.readdirSync('/proc').flatMap(entry => {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) return []
    try {
      const text = readStat(pid)
      const { birth, state } = parseStat(text)
      if (state === 'Z' || state === 'X') return []
      const name = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
      return [{ pid, name, bornAt: bornAtOf(bootAt, birth) }]
    } catch {
      return [] // The process has ended.
    }
  })
}

/** Returns the rows that `isRoot` picks and all their descendants, parents before children. */
export function selectTree(table: readonly ProcessRow[], isRoot: (row: ProcessRow) => boolean): ProcessRow[] {
  const children = new Map<number, ProcessRow[]>()
  for (const row of table) {
    const siblings = children.get(row.parent)
    if (siblings === undefined) children.set(row.parent, [row])
    else siblings.push(row)
  }
  const found = new Map<number, ProcessRow>()
  const queue = table.filter(isRoot)
  for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
    if (found.has(row.pid)) continue
    found.set(row.pid, row)
    queue.push(...(children.get(row.pid) ?? []))
  }
  return [...found.values()]
}

async function tableFromProc(): Promise<ProcessRow[]> {
  const rows: ProcessRow[] = []
  for (const name of fs.readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      const stat = parseStat(readStat(pid))
      if (stat.state === 'Z' || stat.state === 'X') continue
      const { birth, parent, session } = stat
      rows.push({ pid, birth, parent, session, marker: cachedMarker(pid, birth) })
    } catch {
      // The process ended during the scan, so it is not in the table.
    }
  }
  pruneMarkers(rows)
  return rows
}

/**
 * The scan caches markers, because reading an environment costs more than the rest. A process without a marker may be a
 * shell that is about to exec a program with one; after 3,000 ms without a marker it never will.
 */
const MARKER_FINAL_AFTER = 3_000
const markers = new Map<string, { readonly marker: string | null; readonly since: number }>()

function cachedMarker(pid: number, birth: string): string | null {
  const name = `${pid}/${birth}`
  const known = markers.get(name)
  const isSettled =
    known !== undefined && (known.marker !== null || performance.now() - known.since > MARKER_FINAL_AFTER)
  if (isSettled) return known.marker
  const marker = readMarker(pid)
  markers.set(name, { marker, since: known?.since ?? performance.now() })
  return marker
}

function pruneMarkers(rows: readonly ProcessRow[]): void {
  if (markers.size < rows.length * 2) return
  const keys = new Set(rows.map(row => `${row.pid}/${row.birth}`))
  for (const name of markers.keys()) if (!keys.has(name)) markers.delete(name)
}

function readMarker(pid: number): string | null {
  try {
    const environment = fs.readFileSync(`/proc/${pid}/environ`)
    const entry = environment
      .toString('latin1')
      .split('\0')
      .find(variable => variable.startsWith(MARKER))
    return entry === undefined ? null : entry.slice(MARKER.length)
  } catch {
    return null // The process belongs to another user or has ended, so it is not part of an attempt.
  }
}

/** Fits 52 numbers and a name of at most 64 bytes. */
const statBuffer = Buffer.allocUnsafe(2_048)

/**
 * Makes three system calls; readFileSync makes five and allocates, and takes three times as long. Each check reads
 * twice.
 */
function readStat(pid: number): string {
  const fd = fs.openSync(`/proc/${pid}/stat`, 'r')
  try {
    return statBuffer.toString('latin1', 0, fs.readSync(fd, statBuffer))
  } finally {
    fs.closeSync(fd)
  }
}

interface Stat {
  readonly state: string
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Foreground process group of its terminal; -1 without a terminal. */
  readonly foreground: number
  readonly birth: string
  /** Processor time of the process and of the children it has waited for, in user and system mode. */
  readonly ticks: number
}

/**
 * Parses /proc/PID/stat. Field 2, the name in parentheses, may contain anything, so the fields count from the last `)`.
 */
function parseStat(stat: string): Stat {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '?', parent, group, session, , foreground] = fields
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foreground: Number(foreground),
    birth: fields[19] ?? '',
    ticks: Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]),
  }
}

function checkLivenessBySignal(pid: number): 'alive' | 'dead' | 'unknown' {
  try {
    process.kill(pid, 0)
    return 'alive'
  } catch (cause) {
    return hasCode(cause, 'ESRCH') ? 'dead' : 'unknown'
  }
}

// macOS: `ps -E` shows the environment of one's own processes; without -ww, ps cuts lines at 80 columns without a
// terminal.
async function tableFromPs(): Promise<ProcessRow[]> {
  // Imported here, because every command that reads sessions would pay for it.
  const { run } = await import('../run.ts')
  const { stdout } = await run('ps', ['-axwwE', '-o', 'pid=,ppid=,stat=,lstart=,command='], { timeout: 10_000 })
  return stdout.split('\n').flatMap(line => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s(.*)$/.exec(line)
    if (match === null || match[3]?.startsWith('Z')) return []
    const marker = /(?:^| )ONESHOT_ATTEMPT=(\S+)/.exec(match[5] ?? '')?.[1] ?? null
    return [{ pid: Number(match[1]), parent: Number(match[2]), session: 0, birth: match[4] ?? '', marker }]
  })
}

function readBootId(): string {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return 'unknown' // Without /proc the shim writes the same word, so that the two agree.
  }
}
