import crypto from 'node:crypto'
import fs from 'node:fs'
import { containsSecret, containsToken, MAX_LINE_LENGTH } from '../../../../lib/mask/mask.ts'
import { joinBelow, rawPathBytes, type RawPath } from '../../../../lib/text/raw-path.ts'
import { errorMessage } from '../../../../lib/errors.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { RepositoryContext, SearchedFile } from '../../repository-context.ts'
import type { Difference } from './working-tree-status.ts'

const TEMPLATE = '(?:example|sample|template|dist|defaults)'

/** Usual names of files with keys and passwords. Templates such as `.env.example` contain none. */
const SECRET_FILE_NAMES: readonly RegExp[] = [
  new RegExp(String.raw`^\.env(?:\.(?!${TEMPLATE}$).*)?$`, 'i'),
  new RegExp(String.raw`^(?!(?:.*\.)?${TEMPLATE}\.env$).*\.env$`, 'i'),
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfvars|tfstate|tfstate\.backup)$/i,
  /^id_[a-z0-9_-]+$/i,
  /^\.(?:netrc|pgpass|git-credentials|htpasswd|pypirc|vault-token|s3cfg|boto|dockercfg|my\.cnf|mylogin\.cnf)$/i,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|env|txt))?$/i,
  /^service[-_]?account.*\.json$/i,
]
const SECRET_PATHS = /(?:^|\/)(?:(?:\.kube\/config|\.docker\/config\.json|\.aws\/config)$|\.config\/gcloud\/)/
/** In files of settings, a password counts that only its name identifies. In a program it may be an example. */
const SETTINGS_FILE_NAME = /^\.[^.]+rc$|\.(?:ini|cnf|conf|cfg|properties)$/i
/** Bytes that we search before other work gets a turn. */
const CHUNK_SIZE = 1024 * 1024
/** Bytes at the start of a file that show its encoding. */
const ENCODING_SAMPLE_SIZE = 512
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
  context: RepositoryContext,
  path: RawPath,
  search: SecretSearch,
): Promise<string | null> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (SECRET_PATHS.test(path) || SECRET_FILE_NAMES.some(pattern => pattern.test(name))) return LOOKS_SECRET
  if (search.needles.some(needle => rawPathBytes(path).includes(needle))) return HOLDS_VALUE
  return (await searchFile(context, path, search)).hasToken ? LOOKS_SECRET : null
}

/** Returns the values in a file or in the target of a link. */
async function findValues(context: RepositoryContext, path: RawPath, search: SecretSearch): Promise<Buffer[]> {
  if (search.needles.length === 0) return []
  const { foundValues } = await searchFile(context, path, search)
  return search.needles.filter((_, at) => foundValues.has(at))
}

/** Searches a file, or the target of a link. Caches the result until the file's stat changes. */
async function searchFile(
  { repository, cache }: RepositoryContext,
  path: RawPath,
  { needles, hash, maxFileSize }: SecretSearch,
): Promise<SearchedFile> {
  const file = joinBelow(repository.top, path)
  const stat = lstat(file)
  const found = { stamp: '', foundValues: new Set<number>(), hasToken: false }
  const findNeedles = (bytes: Buffer): void => {
    for (const [at, needle] of needles.entries()) if (bytes.includes(needle)) found.foundValues.add(at)
  }
  if (stat?.isSymbolicLink()) findNeedles(fs.readlinkSync(file, { encoding: 'buffer' }))
  if (!stat?.isFile() || stat.size > maxFileSize) return found
  found.stamp = `${hash}:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
  const key = `${repository.top}/${path}`
  const known = cache.searchedFiles.get(key)
  if (known?.stamp === found.stamp) return known
  const hasSecret = SETTINGS_FILE_NAME.test(path.slice(path.lastIndexOf('/') + 1)) ? containsSecret : containsToken
  const overlap = Math.max(MAX_LINE_LENGTH, ...needles.map(({ length }) => length))
  for await (const chunk of readChunks(file, maxFileSize, overlap)) {
    findNeedles(chunk)
    found.hasToken ||= hasSecret(toSingleBytes(chunk))
  }
  if (cache.searchedFiles.size > MAX_CACHED) cache.searchedFiles.clear()
  cache.searchedFiles.set(key, found)
  return found
}

/** Returns text in UTF-16 as single bytes, as far as it is ASCII, and any other content as it is. */
function toSingleBytes(bytes: Buffer): Buffer {
  const sample = bytes.subarray(0, ENCODING_SAMPLE_SIZE)
  const zeros = sample.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0)
  return zeros * 4 < sample.length ? bytes : (bytes.filter(byte => byte !== 0) as Buffer)
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

/** Yields a file in chunks that overlap. A chunk is valid until the next one. */
async function* readChunks(file: Buffer, most: number, overlap: number): AsyncGenerator<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const handle = await fs.promises.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const bytes = Buffer.alloc(overlap + Math.min(most, CHUNK_SIZE))
    let kept = 0
    for (let at = 0; at < most; ) {
      const { bytesRead } = await handle.read(bytes, kept, bytes.length - overlap, at)
      if (bytesRead === 0) return
      at += bytesRead
      const chunk = bytes.subarray(0, kept + bytesRead)
      yield chunk
      kept = Math.min(overlap, chunk.length)
      bytes.copyWithin(0, chunk.length - kept, chunk.length)
    }
  } finally {
    await handle.close()
  }
}
