import fs from 'node:fs'

/** Bytes. Private is the memory that the end of the process would free. */
export interface Memory {
  readonly rss: number
  readonly pss: number
  readonly private: number
}

export function memoryOf(pid: number): Memory {
  const text = fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
  const kilobytes = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
  const own = kilobytes('Private_Clean') + kilobytes('Private_Dirty')
  return { rss: kilobytes('Rss') * 1024, pss: kilobytes('Pss') * 1024, private: own * 1024 }
}

export function privateOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + memoryOf(pid).private, 0)
}

/** The kernel counts the time of waited-for children in hundredths of a second. */
const TICK = 10

/** Returns the milliseconds of processor time so far, including threads and waited-for children. */
export function cpuOf(pid: number): number {
  const threads = fs.readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map(thread => Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]))
  const fields = afterName(read(`/proc/${pid}/stat`))
  const ofChildren = (Number(fields[13]) + Number(fields[14])) * TICK
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6 + ofChildren
}

export function childrenOf(...parents: readonly number[]): number[] {
  const wanted = new Set(parents)
  return allPids().filter(child => wanted.has(Number(afterName(read(`/proc/${child}/stat`))[1])))
}

export function isAlive(pid: number): boolean {
  const state = afterName(read(`/proc/${pid}/stat`))[0]
  return state !== undefined && state !== '' && state !== 'Z' && state !== 'X'
}

/** Lists processes with the word in their command line or environment. */
export function processesWith(word: string): { pid: number; command: string }[] {
  return allPids()
    .filter(pid => pid !== process.pid)
    .map(pid => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }))
    .filter(({ pid, command }) => command.includes(word) || read(`/proc/${pid}/environ`).includes(word))
    .filter(({ pid }) => isAlive(pid))
}

function allPids(): number[] {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter(pid => Number.isInteger(pid))
}

/** The program's name may contain anything, so the fields count from the closing parenthesis. */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {
    return '' // The process has ended meanwhile.
  }
}
