import crypto from 'node:crypto'
import fs from 'node:fs'
import { holdsToken } from '../../../lib/mask/mask.ts'
import { below, bytesOf, type RawPath } from '../../../lib/raw-path.ts'
import { wordsOf } from '../../../lib/trouble.ts'
import { lstat } from '../lstat.ts'
import type { Place } from '../place.ts'
import type { Difference } from './look.ts'

/** Names that people give to files with keys and passwords. Templates such as `.env.example` hold none. */
const NAMES: readonly RegExp[] = [
  /^\.env(?:\.(?!(?:example|sample|template|dist|defaults)$).*)?$/i,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/i,
  /^id_[a-z0-9_-]+$/i,
  /^\.(?:netrc|pgpass|git-credentials|htpasswd)$/i,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|env|txt))?$/i,
  /^service[-_]?account.*\.json$/i,
]
/** Tokens stand at the beginning of the files that are made of them. */
const READ_FOR_TOKENS = 256 * 1024
/** Bytes that are searched before somebody else has a turn. */
const PIECE = 1024 * 1024
const MOST_KNOWN = 10_000

const LOOKS_SECRET = 'looks like a secret, and checkpoints are pushed'
const HOLDS_VALUE = 'holds the value of a secret variable, and checkpoints are pushed'

/**
 * Files that are not to be pushed, and why. One that HEAD does not have: because of its name, a key or a token of a known form
 * in it, or the value of a secret variable. One that HEAD has: because of such a value that it does not hold in HEAD.
 */
export async function findWithheld(
  place: Place,
  differences: readonly Difference[],
  { values, largest }: { values: readonly string[]; largest: number },
): Promise<ReadonlyMap<RawPath, string>> {
  const search = searchFor(values, largest)
  const inHead = new Map(differences.flatMap(one => (isInHead(one) ? [[one.path, one.inHead] as const] : [])))
  const withheld = new Map<RawPath, string>()
  for (const { path, isRepository, isUnmerged } of differences.filter(isOnDisk)) {
    if (isRepository || withheld.has(path)) continue
    const head = inHead.get(path) ?? null
    try {
      const why = (head === null && !isUnmerged && (await whyNew(place, path, search))) || null
      const held = why === null ? await valuesIn(place, path, search) : []
      if (why !== null) withheld.set(path, why)
      else if (held.length > 0 && !(await isHeldBy(place, head, held, largest))) withheld.set(path, HOLDS_VALUE)
    } catch (cause) {
      withheld.set(path, `cannot be looked at: ${wordsOf(cause)}`)
    }
  }
  return withheld
}

/** What is looked for. */
interface Search {
  readonly needles: readonly Buffer[]
  /** Tells one list of them from another. */
  readonly mark: string
  /** Bytes; a larger file is left out anyway. */
  readonly largest: number
}

function searchFor(values: readonly string[], largest: number): Search {
  const mark = crypto.createHash('sha256').update(values.join('\0')).digest('hex')
  return { needles: values.map(value => Buffer.from(value)), mark, largest }
}

function isInHead({ inHead }: Difference): boolean {
  return inHead !== null && !inHead.startsWith('000000 ')
}

/** What is gone, or the same as in the index, is not added; but for what HEAD has and the index has not. */
function isOnDisk({ working, staged }: Difference): boolean {
  return working !== 'D' && (working !== '.' || staged === 'D')
}

async function whyNew({ repository }: Place, path: RawPath, { needles, largest }: Search): Promise<string | null> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (NAMES.some(pattern => pattern.test(name))) return LOOKS_SECRET
  if (needles.some(needle => bytesOf(path).includes(needle))) return HOLDS_VALUE
  const file = below(repository.top, path)
  const stat = lstat(file)
  if (!stat?.isFile() || stat.size > largest) return null
  return holdsToken(await readPieces(file, READ_FOR_TOKENS)) ? LOOKS_SECRET : null
}

/** Those that a file or the target of a link holds. What was found in a file holds as long as that looks the same. */
async function valuesIn(
  { repository, memory }: Place,
  path: RawPath,
  { needles, mark, largest }: Search,
): Promise<Buffer[]> {
  const file = below(repository.top, path)
  const stat = lstat(file)
  if (stat?.isSymbolicLink()) return heldIn(fs.readlinkSync(file, { encoding: 'buffer' }), needles)
  if (!stat?.isFile() || stat.size > largest || needles.length === 0) return []
  const key = `${repository.top}/${path}`
  const stamp = `${mark}:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
  const before = memory.searched.get(key)
  if (before?.stamp === stamp) return needles.filter((_, at) => before.held.has(at))
  const held = new Set<number>()
  await readPieces(file, largest, needles, held)
  if (memory.searched.size > MOST_KNOWN) memory.searched.clear()
  memory.searched.set(key, { stamp, held })
  return needles.filter((_, at) => held.has(at))
}

function heldIn(bytes: Buffer, needles: readonly Buffer[]): Buffer[] {
  return needles.filter(needle => bytes.includes(needle))
}

/** Its user, or somebody whom its user let, has put those values there already. */
async function isHeldBy(place: Place, head: string | null, held: readonly Buffer[], largest: number): Promise<boolean> {
  const [, blob] = head?.split(' ') ?? []
  if (blob === undefined) return false
  const { code, stdout } = await place.git.ask(['cat-file', 'blob', blob], { most: 2 * largest })
  return code === 0 && heldIn(stdout, held).length === held.length
}

/** Reads a file piece by piece; each begins with the end of the one before. Answers the first one. */
async function readPieces(
  file: Buffer,
  most: number,
  needles: readonly Buffer[] = [],
  held = new Set<number>(),
): Promise<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const overlap = Math.max(0, ...needles.map(({ length }) => length - 1))
  const handle = await fs.promises.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const bytes = Buffer.alloc(overlap + Math.min(most, PIECE))
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
