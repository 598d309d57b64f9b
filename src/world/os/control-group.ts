import fs from 'node:fs'
import path from 'node:path'
import { hasCode } from '../../lib/trouble.ts'

/**
 * A control group (Linux, version 2) for everything that one attempt starts. A process is born into its parent's and stays
 * there whatever else it leaves behind: its parent, its process session, its environment. Null where none may be made, as
 * for an ordinary user without a delegated one, in most containers and on macOS.
 */
export function makeGroup(name: string): string | null {
  const base = ownGroup()
  if (base === null) return null
  try {
    const group = path.join(base, `oneshot-${name}`)
    fs.mkdirSync(group, { recursive: true })
    fs.accessSync(path.join(group, MEMBERS), fs.constants.W_OK)
    return group
  } catch {
    return null
  }
}

/** The pids in a group; nobody when it is not there. */
export function membersOf(group: string): ReadonlySet<number> {
  try {
    const pids = fs.readFileSync(path.join(group, MEMBERS), 'latin1').split('\n')
    return new Set(pids.filter(pid => pid !== '').map(Number))
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENODEV')) return new Set()
    throw cause
  }
}

/** Whether somebody has made groups below this one; true when that cannot be told. */
export function isDivided(group: string): boolean {
  try {
    return !/^nr_descendants 0$/m.test(fs.readFileSync(path.join(group, 'cgroup.stat'), 'latin1'))
  } catch {
    return true // It is not there: nobody knows what was in it.
  }
}

/** Gives an empty group back; false while something in it is just ending. */
export function removeGroup(group: string): boolean {
  try {
    fs.rmdirSync(group)
    return true
  } catch (cause) {
    return hasCode(cause, 'ENOENT') // It went with the last boot.
  }
}

const MEMBERS = 'cgroup.procs'

/** The group this process is in, as a folder. */
function ownGroup(): string | null {
  try {
    const mounts = fs.readFileSync('/proc/self/mounts', 'utf8').split('\n')
    const mount = mounts.map(line => line.split(' ')).find(([, , type]) => type === 'cgroup2')?.[1]
    const own = /^0::(.*)$/m.exec(fs.readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
    // A group outside of what this container may see is told as one above its root.
    return mount === undefined || own === undefined || own.includes('..') ? null : path.join(mount, own)
  } catch {
    return null // No /proc.
  }
}
