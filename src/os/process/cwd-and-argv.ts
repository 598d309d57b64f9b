import fs from 'node:fs'

/** The working folder and command line of a living process. */
export interface ProcessDetails {
  readonly cwd: string
  readonly argv: readonly string[]
  /** Names of its environment variables. */
  readonly variables: readonly string[]
}

/**
 * Returns null if this user may not read the process, if it has ended, or if it runs in a container, where paths
 * differ.
 */
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
