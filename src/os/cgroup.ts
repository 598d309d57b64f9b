import fs from 'node:fs'
import path from 'node:path'
import type { Instant } from '../lib/time.ts'
import { hasCode } from '../lib/errors.ts'

/**
 * Creates a control group (Linux, version 2) for all processes of one attempt. A process starts in its parent's group
 * and stays there even if it leaves its parent, its process session or its environment. Returns null if the system
 * grants no group: to an ordinary user without a delegated group, in most containers, and on macOS. `memory`: bytes
 * that the group's processes may use together.
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

/** Returns the pids in a group; an empty set if the group does not exist. */
export function readCgroupMembers(group: string): ReadonlySet<number> {
  try {
    const pids = fs.readFileSync(path.join(group, MEMBERS_FILE), 'latin1').split('\n')
    return new Set(pids.filter(pid => pid !== '').map(Number))
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENODEV')) return new Set()
    throw cause
  }
}

/** Returns true if the group has groups below it, or if that is unknown. */
export function hasChildCgroups(group: string): boolean {
  try {
    return !/^nr_descendants 0$/m.test(fs.readFileSync(path.join(group, 'cgroup.stat'), 'latin1'))
  } catch {
    return true // The group does not exist, so its former content is unknown.
  }
}

/** Removes an empty group. Returns false while a process in it is still ending. */
export function removeCgroup(group: string): boolean {
  try {
    fs.rmdirSync(group)
    return true
  } catch (cause) {
    return hasCode(cause, 'ENOENT') // The last boot removed it.
  }
}

/**
 * Sets the kernel's memory limit of a group if possible. The parent group must pass the memory controller on, which the
 * kernel allows only for a group of this user that holds no process itself.
 */
function limitMemory(group: string, bytes: number): void {
  try {
    fs.writeFileSync(path.join(path.dirname(group), 'cgroup.subtree_control'), '+memory')
    fs.writeFileSync(path.join(group, 'memory.max'), String(bytes))
  } catch {
    // Most machines do not allow this; the supervisor still watches the memory.
  }
}

/** Milliseconds: a new group is still empty and must stay. */
const REMOVE_AFTER = 600_000

/**
 * Removes the empty groups that a killed supervisor has left. The kernel refuses to remove a group that holds a
 * process.
 */
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

/** Returns the folder of this process's control group. */
function ownCgroup(): string | null {
  try {
    const mount = findCgroupMount()
    const own = readCgroup(process.pid)
    // The kernel shows a group outside of this container's view as a path above the root.
    return mount === undefined || own === null || own.includes('..')
      ? null
      : path.join(mount, parentOfAttemptCgroup(own))
  } catch {
    return null // This system has no /proc.
  }
}

/** Returns the control group of a process, or null if it is unknown. */
export function readCgroup(pid: number): string | null {
  try {
    return /^0::(.*)$/m.exec(fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? null
  } catch {
    return null // The process has ended, or the system has no /proc.
  }
}

/** Returns true if a process of this user can move into the group, or if that is unknown. */
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

/**
 * A process inside an attempt's group creates new groups beside that one: groups within it would end with the attempt.
 */
function parentOfAttemptCgroup(group: string): string {
  const attempt = /\/oneshot-[^/]{10}\.\d+(?=\/|$)/.exec(group)
  return attempt === null ? group : group.slice(0, attempt.index)
}
