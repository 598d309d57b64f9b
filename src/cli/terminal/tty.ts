import fs from 'node:fs'

/**
 * Whether a file descriptor is a terminal. node:tty loads all of node:net, 4 ms that a short command can do without, so
 * it is asked only when the kind of file does not tell.
 */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    const stat = fs.fstatSync(descriptor)
    if (!stat.isCharacterDevice()) return false
    return isTtyDevice(stat.rdev) ?? process.getBuiltinModule('node:tty').isatty(descriptor)
  } catch {
    return false // It is closed.
  }
}

/** Linux gives pseudo-terminals the major numbers 136 to 143, and 1 to /dev/null and its kind. */
function isTtyDevice(device: number): boolean | undefined {
  if (process.platform !== 'linux') return undefined
  const major = (device >> 8) & 0xfff
  return major === 1 ? false : major >= 136 && major <= 143 ? true : undefined
}

/**
 * The terminal this is typed on, where a bell can be heard. None for what runs inside a session: its terminal is recorded,
 * and nothing of ours belongs there. (Linux; elsewhere a terminal's name takes a program to find out.)
 */
export function ttyPath(env: NodeJS.ProcessEnv): string | undefined {
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
