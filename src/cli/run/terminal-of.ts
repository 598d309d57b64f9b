import fs from 'node:fs'

/**
 * The terminal this is typed on, where a bell can be heard. None for what runs inside a session: its terminal is recorded,
 * and nothing of ours belongs there. (Linux; elsewhere a terminal's name takes a program to find out.)
 */
export function terminalOf(env: NodeJS.ProcessEnv): string | undefined {
  if (env['ONESHOT_ATTEMPT'] !== undefined) return undefined
  for (const fd of [0, 2, 1]) {
    try {
      const file = fs.readlinkSync(`/proc/self/fd/${fd}`)
      if (/^\/dev\/(pts\/\d+|tty\d+)$/.test(file)) return file
    } catch {
      return undefined // There is no /proc here.
    }
  }
  return undefined
}
