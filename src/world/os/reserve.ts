import fs from 'node:fs'
import path from 'node:path'
import { isDiskFull } from '../../lib/trouble.ts'
import { type Home, unusable } from './home.ts'

/** Exit records, claims and a supervisor's start need some hundred KB; the rest is for transcripts. */
const SIZE = 4 * 1_048_576
/** The reserve takes at most this part of the free space, and nothing where that would be too little to help. */
const SHARE = 16
const LEAST_SIZE = 64 * 1024
/** A supervisor writes this much before it answers: a database with its journal and index. */
const LEAST_ROOM = 128 * 1024
/** Below this the disk counts as full. */
const FULL = 64 * 1024
/** The supervisor writes the reserve in pieces of this size, so that no session waits for it. */
const PIECE = LEAST_SIZE
/** A file system may have room for bytes and none for files. To stop a session takes some ten new files. */
const SPARE_FILES = 32
const FEW_FILES = 8

/**
 * A file that keeps some room on the disk of the state folder. It is removed when the disk is full, so that sessions can still
 * be stopped and recorded, and written again when there is room.
 */
export class Reserve {
  readonly #root: string
  readonly #file: string
  readonly #part: string
  readonly #spares: readonly string[]

  constructor(home: Pick<Home, 'root'>) {
    this.#root = home.root
    this.#file = path.join(home.root, 'reserve')
    this.#part = `${this.#file}.part`
    this.#spares = Array.from({ length: SPARE_FILES }, (_, number) => `${this.#file}.${number}`)
  }

  /**
   * Takes the room unless it is taken, or would be missed. False on a disk that is nearly full. The file gets its name when
   * all of the reserve is there: a supervisor that is killed before that leaves a part, which the next one writes again.
   */
  async fill(): Promise<boolean> {
    if (fs.existsSync(this.#file)) return !this.isDiskFull
    const size = this.share(SIZE)
    if (size < LEAST_SIZE) return false
    try {
      await this.#allocate(size)
      return true
    } catch {
      this.release() // The disk is full, or somebody needed the room meanwhile.
      return false
    }
  }

  /** At most `wanted` bytes, and no more than can be spared. */
  share(wanted: number): number {
    return Math.min(wanted, Math.floor(this.#free() / SHARE))
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
      if (this.#hasFilesFor(SPARE_FILES * SHARE)) await this.#takeSpares(part)
      await fs.promises.rename(this.#part, this.#file)
    } finally {
      await part.close()
    }
  }

  async #takeSpares(part: fs.promises.FileHandle): Promise<void> {
    for (const spare of this.#spares) {
      const file = await fs.promises.open(spare, 'w', 0o600)
      await file.close()
      await assertKept(part)
    }
  }

  /** Gives the room to whoever writes next, also that of a reserve half written. False when there is none to give. */
  release(): boolean {
    // The part first: whoever writes it finds that out before it gets the name of the whole.
    const files = [this.#part, this.#file]
    const has = files.some(file => fs.existsSync(file))
    for (const file of [...files, ...this.#spares]) fs.rmSync(file, { force: true })
    return has
  }

  get isDiskFull(): boolean {
    return this.#free() < FULL || !this.#hasFilesFor(FEW_FILES)
  }

  releaseIfFull(): void {
    if (this.isDiskFull) this.release()
  }

  /** Writes, and once more with the reserve when the disk is full. */
  within<T>(write: () => T): T {
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
  #hasFilesFor(count: number): boolean {
    const { files, ffree } = fs.statfsSync(this.#root)
    return files === 0 || ffree >= count
  }

  #free(): number {
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
export function assertRoom(home: Home): void {
  if (fs.existsSync(`${home.database}-wal`)) return
  const probe = path.join(home.root, `room.${process.pid}`)
  try {
    new Reserve(home).within(() => fs.writeFileSync(probe, Buffer.alloc(LEAST_ROOM), { mode: 0o600 }))
  } catch (cause) {
    throw unusable(home.root, cause)
  } finally {
    fs.rmSync(probe, { force: true })
  }
}
