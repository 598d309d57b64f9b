import fs from 'node:fs'
import path from 'node:path'
import { readPart, replaceFile } from '../../os/files/file-io.ts'
import type { Git } from './git.ts'
import { NO_PROMISORS } from './guard/lazy-fetch.ts'
import type { RepositoryContext } from './repository-context.ts'

/** The name of the record in the folder of a session or a loop. */
const RECORD_FILE = 'lazy-fetch'
/** Bytes; the record is a hash. */
const MAX_RECORD_SIZE = 1_024

/**
 * Records once by which settings git may fetch missing objects, before any agent has worked in the repository. Returns
 * the record.
 */
export async function recordLazyFetch(git: Git, folder: string): Promise<string> {
  const before = readRecord(folder)
  if (before !== null) return before
  const fingerprint = await git.lazyFetchFingerprint()
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(path.join(folder, RECORD_FILE), fingerprint)
  return fingerprint
}

/**
 * Does the same for a repository inside the working tree. Without a record, git fetches nothing for it: the agent may
 * have made it.
 */
export async function recordNestedLazyFetch({ git, folder }: RepositoryContext): Promise<void> {
  if ((await git.lazyFetchFingerprint()) !== NO_PROMISORS) await recordLazyFetch(git, folder)
}

/**
 * Returns git for a checkout, which may need objects that a partial clone lacks. Without a record, another machine or an
 * earlier version made the session, and the present settings count.
 */
export async function gitForCheckout({ git, folder, path: nested }: RepositoryContext): Promise<Git> {
  const record = readRecord(folder) ?? (nested === '' ? await git.lazyFetchFingerprint() : null)
  return record === null ? git : git.withLazyFetch(record)
}

function readRecord(folder: string): string | null {
  const file = path.join(folder, RECORD_FILE)
  return fs.existsSync(file) ? readPart(file, 0, MAX_RECORD_SIZE).toString() : null
}
