import fs from 'node:fs'

/** What a process ends with: a login session, the user's service manager, or neither of them. */
export type LoginPlace = 'session' | 'manager' | 'elsewhere'

/** Where a process lives, by the control group that systemd has put it in. */
export function loginPlace(pid: number | 'self'): LoginPlace {
  try {
    return placeIn(fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8'))
  } catch {
    return 'elsewhere' // No /proc, or it has ended meanwhile.
  }
}

/** Exported for its test. */
export function placeIn(groups: string): LoginPlace {
  if (/\/user@\d+\.service(\/|$)/m.test(groups)) return 'manager'
  return /\/session-[^/]+\.scope(\/|$)/m.test(groups) ? 'session' : 'elsewhere'
}
