import fs from 'node:fs'

/**
 * Returns true if a file descriptor is a terminal. node:tty loads all of node:net, which takes 4 ms, so this uses it
 * only when the device number is not enough.
 */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    const stat = fs.fstatSync(descriptor)
    if (!stat.isCharacterDevice()) return false
    return isTtyDevice(stat.rdev) ?? process.getBuiltinModule('node:tty').isatty(descriptor)
  } catch {
    return false // The descriptor is closed.
  }
}

/** Linux gives pseudo-terminals the major numbers 136 to 143, and 1 to /dev/null and similar devices. */
function isTtyDevice(device: number): boolean | undefined {
  if (process.platform !== 'linux') return undefined
  const major = (device >> 8) & 0xfff
  return major === 1 ? false : major >= 136 && major <= 143 ? true : undefined
}

/** Returns the path of this process's terminal. (Only Linux; elsewhere only a program can find a terminal's name.) */
export function ttyPath(): string | undefined {
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
