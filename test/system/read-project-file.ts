import fs from 'node:fs'
import path from 'node:path'
import { type TestHome, waitUntil } from './test-home.ts'

export const FILES = ['CHECKPOINTS.md', 'HEARTBEAT', 'LAST_STATE.md', 'RECOVERY.md', 'STATUS.md', 'session.log']

/** Returns a file about a session, or about the newest one; '' while it does not exist. */
export function readProjectFile(project: string, file: string): string {
  const full = path.join(project, '.agent', file)
  return fs.existsSync(full) ? fs.readFileSync(full, 'utf8') : ''
}

/** Waits until a file contains these words. Returns its whole text. */
export async function waitForText(place: TestHome | string, file: string, words: string | RegExp): Promise<string> {
  const project = typeof place === 'string' ? place : place.project
  const isSaid = (text: string): boolean => (typeof words === 'string' ? text.includes(words) : words.test(text))
  try {
    return await waitUntil('', () =>
      isSaid(readProjectFile(project, file)) ? readProjectFile(project, file) : undefined,
    )
  } catch {
    throw new Error(`${file} never came to say ${words}; it says: ${readProjectFile(project, file)}`)
  }
}
