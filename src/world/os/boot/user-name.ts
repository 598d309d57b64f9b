import os from 'node:os'

/** As logind and cron know us. In some containers a user has a number and no name. */
export function userName(): string {
  try {
    return os.userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}
