import crypto from 'node:crypto'
import fs from 'node:fs'
import { containsToken } from '../../../../lib/mask/mask.ts'
import { joinBelow, rawPathBytes, type RawPath } from '../../../../lib/text/raw-path.ts'
import { errorMessage } from '../../../../lib/errors.ts'
import { lstat } from '../../files.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import type { Difference } from './working-tree-status.ts'

/** Usual names of files with keys and passwords. Templates such as `.env.example` contain none. */
const SECRET_FILE_NAMES: readonly RegExp[] = [
  /^\.env(?:\.(?!(?:example|sample|template|dist|defaults)$).*)?$/i,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/i,
  /^id_[a-z0-9_-]+$/i,
  /^\.(?:netrc|pgpass|git-credentials|htpasswd)$/i,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|env|txt))?$/i,
  /^service[-_]?account.*\.json$/i,
]
/** Bytes. A token file has the token near its start. */
const TOKEN_SEARCH_SIZE = 256 * 1024
/** Bytes that we search before other work gets a turn. */
const CHUNK_SIZE = 1024 * 1024
const MAX_CACHED = 10_000

const LOOKS_SECRET = 'looks like a secret, and checkpoints are pushed'
const HOLDS_VALUE = 'holds the value of a secret variable, and checkpoints are pushed'

/**
 * Returns files that a push must not contain, with the reason. For a file that HEAD lacks: its name, a key or token of
 * a known form, or the value of a secret variable. For a file that HEAD has: such a value that HEAD's version does not
 * contain.
 */
export async function findSecretFiles(
  context: RepositoryContext,
  differences: readonly Difference[],
  { values, largest }: { values: readonly string[]; largest: number },
): Promise<ReadonlyMap<RawPath, string>> {
  const search = createSearch(values, largest)
  const inHead = new Map(differences.flatMap(one => (isInHead(one) ? [[one.path, one.inHead] as const] : [])))
  const withheld = new Map<RawPath, string>()
  for (const { path, isRepository, isUnmerged } of differences.filter(isOnDisk)) {
    if (isRepository || withheld.has(path)) continue
    const head = inHead.get(path) ?? null
    try {
      const why = (head === null && !isUnmerged && (await reasonForNewFile(context, path, search))) || null
      const held = why === null ? await findValues(context, path, search) : []
      if (why !== null) withheld.set(path, why)
      else if (held.length > 0 && !(await isInHeadVersion(context, head, held, largest)))
        withheld.set(path, HOLDS_VALUE)
    } catch (cause) {
      withheld.set(path, `cannot be looked at: ${errorMessage(cause)}`)
    }
  }
  return withheld
}

/** The values to search for. */
interface SecretSearch {
  readonly needles: readonly Buffer[]
  /** Identifies the list of values. */
  readonly hash: string
  /** Bytes; a checkpoint leaves out a larger file anyway. */
  readonly maxFileSize: number
}

function createSearch(values: readonly string[], largest: number): SecretSearch {
  const mark = crypto.createHash('sha256').update(values.join('\0')).digest('hex')
  return { needles: values.map(value => Buffer.from(value)), hash: mark, maxFileSize: largest }
}

function isInHead({ inHead }: Difference): boolean {
  return inHead !== null && !inHead.startsWith('000000 ')
}

/** Skips deleted and unchanged files, except those that HEAD has and the index lacks. */
function isOnDisk({ working, staged }: Difference): boolean {
  return working !== 'D' && (working !== '.' || staged === 'D')
}

async function reasonForNewFile(
  { repository }: RepositoryContext,
  path: RawPath,
  { needles, maxFileSize }: SecretSearch,
): Promise<string | null> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (SECRET_FILE_NAMES.some(pattern => pattern.test(name))) return LOOKS_SECRET
  if (needles.some(needle => rawPathBytes(path).includes(needle))) return HOLDS_VALUE
  const file = joinBelow(repository.top, path)
  const stat = lstat(file)
  if (!stat?.isFile() || stat.size > maxFileSize) return null
  return containsToken(await readChunks(file, TOKEN_SEARCH_SIZE)) ? LOOKS_SECRET : null
}

/** Returns the values in a file or in the target of a link. Caches the result until the file's stat changes. */
async function findValues(
  { repository, cache }: RepositoryContext,
  path: RawPath,
  { needles, hash, maxFileSize }: SecretSearch,
): Promise<Buffer[]> {
  const file = joinBelow(repository.top, path)
  const stat = lstat(file)
  if (stat?.isSymbolicLink()) return valuesInBytes(fs.readlinkSync(file, { encoding: 'buffer' }), needles)
  if (!stat?.isFile() || stat.size > maxFileSize || needles.length === 0) return []
  const key = `${repository.top}/${path}`
  const stamp = `${hash}:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
  const before = cache.searchedFiles.get(key)
  if (before?.stamp === stamp) return needles.filter((_, at) => before.foundValues.has(at))
  const held = new Set<number>()
  await readChunks(file, maxFileSize, needles, held)
  if (cache.searchedFiles.size > MAX_CACHED) cache.searchedFiles.clear()
  cache.searchedFiles.set(key, { stamp, foundValues: held })
  return needles.filter((_, at) => held.has(at))
}

function valuesInBytes(bytes: Buffer, needles: readonly Buffer[]): Buffer[] {
  return needles.filter(needle => bytes.includes(needle))
}

/** Returns true if the committed version already contains the values: the user accepted them. */
async function isInHeadVersion(
  context: RepositoryContext,
  head: string | null,
  held: readonly Buffer[],
  largest: number,
): Promise<boolean> {
  const [, blob] = head?.split(' ') ?? []
  if (blob === undefined) return false
  const { code, stdout } = await context.git.tryRun(['cat-file', 'blob', blob], { maxOutput: 2 * largest })
  return code === 0 && valuesInBytes(stdout, held).length === held.length
}

/** Reads a file in chunks that overlap. Returns the first chunk. */
async function readChunks(
  file: Buffer,
  most: number,
  needles: readonly Buffer[] = [],
  held = new Set<number>(),
): Promise<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const overlap = Math.max(0, ...needles.map(({ length }) => length - 1))
  const handle = await fs.promises.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const bytes = Buffer.alloc(overlap + Math.min(most, CHUNK_SIZE))
    let kept = 0
    for (let at = 0; at < most; ) {
      const { bytesRead } = await handle.read(bytes, kept, bytes.length - overlap, at)
      at += bytesRead
      const piece = bytes.subarray(0, kept + bytesRead)
      if (needles.length === 0 || bytesRead === 0) return piece
      for (const [index, needle] of needles.entries()) if (piece.includes(needle)) held.add(index)
      kept = Math.min(overlap, piece.length)
      bytes.copyWithin(0, piece.length - kept, piece.length)
    }
    return bytes
  } finally {
    await handle.close()
  }
}
