import fs from 'node:fs'
import path from 'node:path'
import type { Instant } from '../lib/time.ts'
import { hasCode } from '../lib/errors.ts'

/**
 * A control group (Linux, version 2) for everything that one attempt starts. A process is born into its parent's and stays
 * there whatever else it leaves behind: its parent, its process session, its environment. Null where none may be made, as
 * for an ordinary user without a delegated one, in most containers and on macOS. `memory`: bytes they may use together.
 */
export function createCgroup(name: string, memory: number | null = null): string | null {
  const base = ownCgroup()
  if (base === null) return null
  try {
    const group = path.join(base, `oneshot-${name}`)
    fs.mkdirSync(group, { recursive: true })
    fs.accessSync(path.join(group, MEMBERS_FILE), fs.constants.W_OK)
    if (memory !== null) limitMemory(group, memory)
    return group
  } catch {
    return null
  }
}

/** The pids in a group; nobody when it is not there. */
export function readCgroupMembers(group: string): ReadonlySet<number> {
  try {
    const pids = fs.readFileSync(path.join(group, MEMBERS_FILE), 'latin1').split('\n')
    return new Set(pids.filter(pid => pid !== '').map(Number))
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENODEV')) return new Set()
    throw cause
  }
}

/** Whether somebody has made groups below this one; true when that cannot be told. */
export function hasChildCgroups(group: string): boolean {
  try {
    return !/^nr_descendants 0$/m.test(fs.readFileSync(path.join(group, 'cgroup.stat'), 'latin1'))
  } catch {
    return true // It is not there: nobody knows what was in it.
  }
}

/** Gives an empty group back; false while something in it is just ending. */
export function removeCgroup(group: string): boolean {
  try {
    fs.rmdirSync(group)
    return true
  } catch (cause) {
    return hasCode(cause, 'ENOENT') // It went with the last boot.
  }
}

/**
 * Lets the kernel hold a group to that much memory, where it can. The controller must be handed down to us, which takes a
 * group of ours that holds no process itself.
 */
function limitMemory(group: string, bytes: number): void {
  try {
    fs.writeFileSync(path.join(path.dirname(group), 'cgroup.subtree_control'), '+memory')
    fs.writeFileSync(path.join(group, 'memory.max'), String(bytes))
  } catch {
    // Most machines: it is watched all the same.
  }
}

/** A group that has just been made is still empty. */
const REMOVE_AFTER = 600_000

/** Gives back the empty groups that nobody lived to give back. One that holds something stays: the kernel sees to that. */
export function removeEmptyCgroups(now: Instant, base: string | null = ownCgroup()): void {
  if (base === null || !fs.existsSync(base)) return // Some containers name groups that they do not show.
  for (const name of fs.readdirSync(base).filter(name => ATTEMPT_CGROUP_NAME.test(name))) {
    const group = path.join(base, name)
    const madeAt = fs.statSync(group, { throwIfNoEntry: false })?.mtimeMs ?? now
    if (now - madeAt > REMOVE_AFTER) removeCgroup(group)
  }
}

const MEMBERS_FILE = 'cgroup.procs'
const ATTEMPT_CGROUP_NAME = /^oneshot-[^/]{10}\.\d+$/

/** The group this process is in, as a folder. */
function ownCgroup(): string | null {
  try {
    const mount = findCgroupMount()
    const own = readCgroup(process.pid)
    // A group outside of what this container may see is told as one above its root.
    return mount === undefined || own === null || own.includes('..')
      ? null
      : path.join(mount, parentOfAttemptCgroup(own))
  } catch {
    return null // No /proc.
  }
}

/** The control group of a process; null where that cannot be told. */
export function readCgroup(pid: number): string | null {
  try {
    return /^0::(.*)$/m.exec(fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? null
  } catch {
    return null // It has ended, or there is no /proc.
  }
}

/** Whether a process of this user might move into a group; true when that cannot be told. */
export function isCgroupWritable(group: string): boolean {
  const mount = findCgroupMount()
  if (mount === undefined || group.includes('..')) return true
  const members = path.join(mount, group, MEMBERS_FILE)
  try {
    fs.accessSync(members, fs.constants.W_OK)
    return true
  } catch (cause) {
    return !hasCode(cause, 'EACCES', 'EPERM')
  }
}

function findCgroupMount(): string | undefined {
  const mounts = fs.readFileSync('/proc/self/mounts', 'utf8').split('\n')
  // A later mount covers an earlier one.
  return mounts.map(line => line.split(' ')).findLast(([, , type]) => type === 'cgroup2')?.[1]
}

/** Whoever is in an attempt's group makes no groups within it: they would be ended with that attempt. */
function parentOfAttemptCgroup(group: string): string {
  return /^(.*?)\/oneshot-[^/]{10}\.\d+(?:\/.*)?$/.exec(group)?.[1] ?? group
}
