import fs from 'node:fs'
import path from 'node:path'
import { hasCode, isDiskFull } from '../lib/errors.ts'
import { type Home, isReadOnly, unusableHome } from './home.ts'

/** Exit records, claims and a supervisor's start need some hundred KB; the rest is for transcripts. */
const RESERVE_SIZE = 4 * 1_048_576
/** The reserve takes at most 1/16 of the free space, and nothing if that would be too little to help. */
const FREE_SHARE = 16
const MIN_RESERVE_SIZE = 64 * 1024
/** A supervisor writes this many bytes before it answers: a database with its journal and index. */
const MIN_FREE_SPACE = 128 * 1024
/** The first reserve may take up to half of the free space: it is all that a small disk has. */
const FIRST_RESERVE_SHARE = 2
/** A disk with fewer free bytes counts as full. */
const FULL_BELOW = 64 * 1024
/** The supervisor writes the reserve in pieces of this size, so that no session waits for it. */
const PIECE = MIN_RESERVE_SIZE
/** A file system may have free bytes but no free inodes. Stopping a session takes about ten new files. */
const RESERVED_INODES = 32
const MIN_FREE_INODES = 8

/**
 * A file that reserves space on the disk of the state folder. A full disk makes oneshot remove it, so that users can
 * still stop sessions and oneshot can record them; oneshot writes it again when there is space.
 */
export class DiskReserve {
  readonly #root: string
  readonly #file: string
  readonly #part: string
  readonly #firstFile: string
  readonly #inodeFiles: readonly string[]

  constructor(home: Pick<Home, 'root'>) {
    this.#root = home.root
    this.#file = path.join(home.root, 'reserve')
    this.#part = `${this.#file}.part`
    this.#firstFile = `${this.#file}.first`
    this.#inodeFiles = Array.from({ length: RESERVED_INODES }, (_, number) => `${this.#file}.${number}`)
  }

  /**
   * Reserves the space with which a supervisor starts and stops a session, unless it is reserved already. A program can
   * fill a small disk within milliseconds, so the supervisor does this before it accepts a session. The write takes
   * 0.2 ms; on a disk with too little space it does nothing.
   */
  fillFirst(): void {
    try {
      if (fs.existsSync(this.#firstFile)) return
      if (this.#availableSpace() < FIRST_RESERVE_SHARE * MIN_FREE_SPACE) return
      fs.writeFileSync(this.#firstFile, randomPieces(MIN_FREE_SPACE), { mode: 0o600 })
    } catch {
      fs.rmSync(this.#firstFile, { force: true }) // A quota may allow less than the free space shows.
    }
  }

  /**
   * Reserves the space unless it is reserved already or the disk has too little. Returns false on an almost full disk.
   * The file gets its final name when it is complete: a supervisor that is killed earlier leaves a part file, which the
   * next one overwrites.
   */
  async fill(): Promise<boolean> {
    this.fillFirst()
    if (fs.existsSync(this.#file)) return !this.isDiskFull
    const size = this.limitToShare(RESERVE_SIZE)
    if (size < MIN_RESERVE_SIZE) return false
    try {
      await this.#allocate(size)
      return true
    } catch {
      // The disk is full, or another process released the reserve meanwhile.
      for (const file of [this.#part, this.#file, ...this.#inodeFiles]) fs.rmSync(file, { force: true })
      return false
    }
  }

  /** Returns `size`, or less if that is more than the reserve's share of the free space. */
  limitToShare(size: number): number {
    return Math.min(size, Math.floor(this.#availableSpace() / FREE_SHARE))
  }

  async #allocate(size: number): Promise<void> {
    const block = randomPieces(PIECE)
    const part = await fs.promises.open(this.#part, 'w', 0o600)
    try {
      for (let done = 0; done < size; ) {
        const written = await writePiece(part, block)
        if (written === 0) {
          await keepShare(part, done)
          break
        }
        done += written
        await assertKept(part)
      }
      if (this.#hasInodesFor(RESERVED_INODES * FREE_SHARE)) await this.#takeSpares(part)
      await fs.promises.rename(this.#part, this.#file)
    } finally {
      await part.close()
    }
  }

  async #takeSpares(part: fs.promises.FileHandle): Promise<void> {
    for (const spare of this.#inodeFiles) {
      const file = await fs.promises.open(spare, 'w', 0o600)
      await file.close()
      await assertKept(part)
    }
  }

  /** Frees the space for the next write, also that of a part file. Returns false if there was no reserve. */
  release(): boolean {
    // Removes the part file first: the process that writes it notices this before it renames the file.
    const files = [this.#part, this.#file, this.#firstFile]
    const hadReserve = files.some(file => fs.existsSync(file))
    for (const file of [...files, ...this.#inodeFiles]) fs.rmSync(file, { force: true })
    return hadReserve
  }

  /** Returns true if a new supervisor has the space to start, possibly with that of the reserve. */
  hasSpaceForStart(): boolean {
    const reserved = [this.#file, this.#firstFile].map(file => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    return reserved.reduce((total, size) => total + size, this.#availableSpace()) >= MIN_FREE_SPACE
  }

  get isDiskFull(): boolean {
    return this.#availableSpace() < FULL_BELOW || !this.#hasInodesFor(MIN_FREE_INODES)
  }

  releaseIfFull(): void {
    if (this.isDiskFull) this.release()
  }

  /** Writes; on a full disk, releases the reserve and writes once more. */
  retryAfterRelease<T>(write: () => T): T {
    try {
      return write()
    } catch (cause) {
      if (!isDiskFull(cause) || !this.release()) throw cause
      return write()
    }
  }

  /** Returns the free bytes, including those reserved for root; 0 if unknown. */
  freeSpace(): number {
    try {
      const { bfree, bsize } = fs.statfsSync(this.#root)
      return bfree * bsize
    } catch {
      return 0
    }
  }

  /** Returns true also for file systems that do not count inodes: they allocate them from free bytes. */
  #hasInodesFor(count: number): boolean {
    const { files, ffree } = fs.statfsSync(this.#root)
    return files === 0 || ffree >= count
  }

  #availableSpace(): number {
    const { bavail, bsize } = fs.statfsSync(this.#root)
    return bavail * bsize
  }
}

/** Returns random bytes: some file systems store zeros and compressible data without using space. */
function randomPieces(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  // getRandomValues refuses more than 64 KB at once.
  for (let at = 0; at < size; at += PIECE) globalThis.crypto.getRandomValues(bytes.subarray(at, at + PIECE))
  return bytes
}

/** Returns 0 if a quota or the file size limit (`ulimit -f`) allows no more: the free space does not show either. */
async function writePiece(part: fs.promises.FileHandle, piece: Uint8Array): Promise<number> {
  try {
    return (await part.write(piece)).bytesWritten
  } catch (cause) {
    if (isDiskFull(cause) || hasCode(cause, 'EFBIG')) return 0
    throw cause
  }
}

/** Gives back all but the reserve's share of the space that there was. */
async function keepShare(part: fs.promises.FileHandle, available: number): Promise<void> {
  const share = Math.floor(available / FREE_SHARE)
  if (share < MIN_RESERVE_SIZE) throw new Error('there is too little space for a reserve')
  await part.truncate(share)
}

/** Throws if another process that met a full disk has removed the file: closing it frees the space. */
async function assertKept(file: fs.promises.FileHandle): Promise<void> {
  const { nlink } = await file.stat()
  if (nlink === 0) throw new Error('the reserve was released while it was written')
}

/**
 * Refuses if a supervisor would lack the space to start. The supervisor could not report that, because its log is on
 * the same disk. The journal of a killed supervisor has enough space for the next one.
 */
export function assertFreeSpace(home: Home): void {
  if (isReadOnly(home.root)) throw unusableHome(home.root, undefined)
  if (fs.existsSync(`${home.database}-wal`)) return
  const probe = path.join(home.root, `room.${process.pid}`)
  try {
    new DiskReserve(home).retryAfterRelease(() =>
      fs.writeFileSync(probe, Buffer.alloc(MIN_FREE_SPACE), { mode: 0o600 }),
    )
  } catch (cause) {
    throw unusableHome(home.root, cause)
  } finally {
    fs.rmSync(probe, { force: true })
  }
}

/** Logs once that the disk is full and once that it has space again; keeps the reserve filled. */
export class DiskMonitor {
  readonly #log: (sentence: string) => void
  readonly #reserveSpace: () => Promise<boolean>
  #isFull = false
  #isLooking = false

  constructor(log: (sentence: string) => void, reserveSpace: () => Promise<boolean>) {
    this.#log = log
    this.#reserveSpace = reserveSpace
  }

  /** Returns true and logs if a full disk caused this error. */
  reportIfFull(cause: unknown): boolean {
    if (!isDiskFull(cause)) return false
    if (!this.#isFull)
      this.#log('the disk is full: sessions continue, but oneshot records them only when there is room')
    this.#isFull = true
    return true
  }

  /** Returns at once while an earlier call still fills the reserve. */
  async check(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const hasRoom = await this.#reserveSpace()
      if (!this.#isFull || !hasRoom) return
      this.#isFull = false
      this.#log('the disk has room again')
    } catch (cause) {
      if (!this.reportIfFull(cause)) throw cause
    } finally {
      this.#isLooking = false
    }
  }
}
