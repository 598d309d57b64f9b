import fs from 'node:fs'

/**
 * Whether a file descriptor is a terminal. node:tty loads all of node:net, 4 ms that a short command can do without, so
 * it is asked only when the kind of file does not tell.
 */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    const stat = fs.fstatSync(descriptor)
    if (!stat.isCharacterDevice()) return false
    return byDeviceNumber(stat.rdev) ?? process.getBuiltinModule('node:tty').isatty(descriptor)
  } catch {
    return false // It is closed.
  }
}

/** Linux gives pseudo-terminals the major numbers 136 to 143, and 1 to /dev/null and its kind. */
function byDeviceNumber(device: number): boolean | undefined {
  if (process.platform !== 'linux') return undefined
  const major = (device >> 8) & 0xfff
  return major === 1 ? false : major >= 136 && major <= 143 ? true : undefined
}
