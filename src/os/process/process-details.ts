import fs from 'node:fs'

/** Where a living process works and how it was started. */
export interface ProcessDetails {
  readonly cwd: string
  readonly argv: readonly string[]
  /** The names of its environment variables. */
  readonly variables: readonly string[]
}

/** Null where we may not read it, where it has ended, and where its paths are not ours because it runs in a container. */
export function processDetails(pid: number): ProcessDetails | null {
  try {
    if (fs.readlinkSync(`/proc/${pid}/ns/mnt`) !== fs.readlinkSync('/proc/self/ns/mnt')) return null
    const words = (file: string): string[] => fs.readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
    return {
      cwd: fs.readlinkSync(`/proc/${pid}/cwd`),
      argv: words('cmdline').slice(0, -1),
      variables: words('environ').map(entry => entry.split('=', 1)[0] ?? ''),
    }
  } catch {
    return null
  }
}
