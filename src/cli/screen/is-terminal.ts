import fs from 'node:fs'

/**
 * Whether a file descriptor is a terminal. node:tty loads all of node:net, which a short command behind a pipe can do
 * without, so it is asked only about what may be one.
 */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    return fs.fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(descriptor)
  } catch {
    return false // It is closed.
  }
}
