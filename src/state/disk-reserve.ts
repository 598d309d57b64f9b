import fs from 'node:fs'
import path from 'node:path'
import { isDiskFull } from '../lib/errors.ts'
import { type Home, unusableHome } from './home.ts'

/** Exit records, claims and a supervisor's start need some hundred KB; the rest is for transcripts. */
const RESERVE_SIZE = 4 * 1_048_576
/** The reserve takes at most this part of the free space, and nothing where that would be too little to help. */
const FREE_SHARE = 16
const MIN_RESERVE_SIZE = 64 * 1024
/** A supervisor writes this much before it answers: a database with its journal and index. */
const MIN_FREE_SPACE = 128 * 1024
/** Below this the disk counts as full. */
const FULL_BELOW = 64 * 1024
/** The supervisor writes the reserve in pieces of this size, so that no session waits for it. */
const PIECE = MIN_RESERVE_SIZE
/** A file system may have room for bytes and none for files. To stop a session takes some ten new files. */
const RESERVED_INODES = 32
const MIN_FREE_INODES = 8

/**
 * A file that keeps some room on the disk of the state folder. It is removed when the disk is full, so that sessions can still
 * be stopped and recorded, and written again when there is room.
 */
export class DiskReserve {
  readonly #root: string
  readonly #file: string
  readonly #part: string
  readonly #inodeFiles: readonly string[]

  constructor(home: Pick<Home, 'root'>) {
    this.#root = home.root
    this.#file = path.join(home.root, 'reserve')
    this.#part = `${this.#file}.part`
    this.#inodeFiles = Array.from({ length: RESERVED_INODES }, (_, number) => `${this.#file}.${number}`)
  }

  /**
   * Takes the room unless it is taken, or would be missed. False on a disk that is nearly full. The file gets its name when
   * all of the reserve is there: a supervisor that is killed before that leaves a part, which the next one writes again.
   */
  async fill(): Promise<boolean> {
    if (fs.existsSync(this.#file)) return !this.isDiskFull
    const size = this.limitToShare(RESERVE_SIZE)
    if (size < MIN_RESERVE_SIZE) return false
    try {
      await this.#allocate(size)
      return true
    } catch {
      this.release() // The disk is full, or somebody needed the room meanwhile.
      return false
    }
  }

  /** At most `wanted` bytes, and no more than can be spared. */
  limitToShare(size: number): number {
    return Math.min(size, Math.floor(this.#availableSpace() / FREE_SHARE))
  }

  /** Random bytes: some file systems store zeros, and whatever can be compressed, in no room at all. */
  async #allocate(size: number): Promise<void> {
    const block = globalThis.crypto.getRandomValues(new Uint8Array(PIECE))
    const part = await fs.promises.open(this.#part, 'w', 0o600)
    try {
      for (let done = 0; done < size; ) {
        done += (await part.write(block)).bytesWritten
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

  /** Gives the room to whoever writes next, also that of a reserve half written. False when there is none to give. */
  release(): boolean {
    // The part first: whoever writes it finds that out before it gets the name of the whole.
    const files = [this.#part, this.#file]
    const hadReserve = files.some(file => fs.existsSync(file))
    for (const file of [...files, ...this.#inodeFiles]) fs.rmSync(file, { force: true })
    return hadReserve
  }

  get isDiskFull(): boolean {
    return this.#availableSpace() < FULL_BELOW || !this.#hasInodesFor(MIN_FREE_INODES)
  }

  releaseIfFull(): void {
    if (this.isDiskFull) this.release()
  }

  /** Writes, and once more with the reserve when the disk is full. */
  retryAfterRelease<T>(write: () => T): T {
    try {
      return write()
    } catch (cause) {
      if (!isDiskFull(cause) || !this.release()) throw cause
      return write()
    }
  }

  /** Also what only root may use; 0 when nobody knows. */
  freeSpace(): number {
    try {
      const { bfree, bsize } = fs.statfsSync(this.#root)
      return bfree * bsize
    } catch {
      return 0
    }
  }

  /** Some file systems do not count files: they make room for them as for bytes. */
  #hasInodesFor(count: number): boolean {
    const { files, ffree } = fs.statfsSync(this.#root)
    return files === 0 || ffree >= count
  }

  #availableSpace(): number {
    const { bavail, bsize } = fs.statfsSync(this.#root)
    return bavail * bsize
  }
}

/** Somebody who met a full disk has removed the file: its room is free as soon as we close it. */
async function assertKept(file: fs.promises.FileHandle): Promise<void> {
  const { nlink } = await file.stat()
  if (nlink === 0) throw new Error('the reserve was released while it was written')
}

/**
 * Refuses when a supervisor would not find room to begin. It cannot say so by itself: its log is on the same disk. The journal
 * of one that was killed has room enough for its successor.
 */
export function assertFreeSpace(home: Home): void {
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

/** Says once that the disk is full, and once that there is room again; keeps the reserve while there is. */
export class DiskMonitor {
  readonly #log: (sentence: string) => void
  readonly #reserveSpace: () => Promise<boolean>
  #isFull = false
  #isLooking = false

  constructor(log: (sentence: string) => void, reserveSpace: () => Promise<boolean>) {
    this.#log = log
    this.#reserveSpace = reserveSpace
  }

  /** Whether a full disk is the cause of this trouble, which is then told here. */
  reportIfFull(cause: unknown): boolean {
    if (!isDiskFull(cause)) return false
    if (!this.#isFull)
      this.#log('the disk is full: sessions continue, but oneshot records them only when there is room')
    this.#isFull = true
    return true
  }

  /** Does nothing while the reserve is still being written. */
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
