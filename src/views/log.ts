import fs from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { SessionView } from '../api/contract/session-view.ts'
import { drawsOnScreen, ScreenText } from '../lib/screen-text.ts'
import { readable } from '../lib/terminal-text.ts'
import type { Instant } from '../lib/time.ts'
import { sessionFolder } from '../world/os/folders.ts'
import type { Home } from '../world/os/home.ts'
import { CLOSING_MARK } from '../world/os/spool.ts'
import { Changes } from './changes.ts'
import { type LogSource, logSources, offsetOfLastLines, offsetSince } from './log-source.ts'
import { paintTranscript } from './paint-transcript.ts'
import { readSession } from './sessions.ts'

export interface LogOptions {
  /** The program's own bytes, unchanged. */
  readonly raw: boolean
  readonly colour: boolean
  readonly lines?: number
  readonly since?: Instant
  readonly attempt?: number
  /** Only what the transcript holds beyond this length. */
  readonly after?: number
}

const CHUNK = 262_144
/** Stands above the screen of a program that has used the alternate screen. */
const LAST_SCREEN = '[full-screen program, its last screen:]'

/** What a session has said so far, from disk alone. */
export async function* readLog(home: Home, session: SessionView, options: LogOptions): AsyncGenerator<Uint8Array> {
  const { lines, ...rest } = options
  if (lines !== undefined && lines > 0 && isDrawnAt(home, session, options)) {
    yield lastLines([...chunksOf(new Reader(home, session, rest))], lines)
  } else yield* chunksOf(new Reader(home, session, options))
}

function* chunksOf(reader: Reader): Generator<Uint8Array> {
  reader.stopHere()
  yield* reader.available()
  yield* reader.rest()
}

/** Whether a program drew on the whole screen of a terminal in the part of the log that is asked for: its lines are not those of the file. */
function isDrawnAt(home: Home, session: SessionView, options: LogOptions): boolean {
  if (options.raw || session.mode !== 'tty') return false
  const raw = new Reader(home, session, { ...options, raw: true })
  for (const bytes of chunksOf(raw)) if (drawsOnScreen(Buffer.from(bytes).toString('latin1'))) return true
  return false
}

function lastLines(chunks: readonly Uint8Array[], count: number): Uint8Array {
  const lines = Buffer.concat(chunks).toString().replace(/\n$/, '').split('\n')
  return Buffer.from(`${lines.slice(-count).join('\n')}\n`)
}

/** The same, and then what it goes on to say, until it has ended. */
export async function* followLog(
  home: Home,
  session: SessionView,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = new Reader(home, session, options, `[full-screen program: oneshot attach ${session.name} shows it]`)
  const changes = new Changes([sessionFolder(home, session.id).root])
  const watched = new Set<string>()
  try {
    while (!signal.aborted) {
      const now = readSession(home, session.id)
      for (const file of reader.files(now ?? session)) {
        if (!watched.has(file)) changes.watch(file)
        watched.add(file)
      }
      yield* reader.available()
      if (now === undefined || now.phase === 'ended') break
      await changes.next(signal)
    }
    yield* reader.rest()
  } finally {
    changes.close()
  }
}

/** Reads the files of a log one after the other, each from where it was left. */
class Reader {
  readonly #home: Home
  readonly #options: LogOptions
  readonly #offsets = new Map<string, number>()
  readonly #ends = new Map<string, number>()
  #session: SessionView
  #carry: Buffer = Buffer.alloc(0)
  #held: Buffer = Buffer.alloc(0)
  #isTranscript = false
  #file: string | undefined
  readonly #decoder = new StringDecoder()
  /** Draws the screen of a terminal session; null where the bytes themselves are wanted. */
  readonly #screen: ScreenText | null

  /** `notice`: for a reader who waits for each line, see `ScreenText`. */
  constructor(home: Home, session: SessionView, options: LogOptions, notice: string | null = null) {
    const isDrawn = session.mode === 'tty' && !options.raw
    this.#screen = isDrawn ? new ScreenText({ heading: LAST_SCREEN, notice }) : null
    this.#home = home
    this.#session = session
    this.#options = options
    for (const [file, offset] of beginnings(this.#sources(), options)) this.#offsets.set(file, offset)
  }

  /** What is written from now on is not read: a session that writes faster than we do would never let us end. */
  stopHere(): void {
    for (const { file } of this.#sources()) this.#ends.set(file, fs.statSync(file).size)
  }

  files(session: SessionView): string[] {
    this.#session = session
    return this.#sources().map(source => source.file)
  }

  *available(): Generator<Uint8Array> {
    for (const { file, isTranscript } of this.#sources()) {
      this.#isTranscript = isTranscript
      for (let chunk = this.#read(file); chunk.length > 0; chunk = this.#read(file)) {
        const before = this.#screenBefore(file)
        const own = isTranscript ? this.#withoutMark(chunk) : this.#drawn(this.#withoutMark(chunk))
        const shown = this.#options.raw ? own : this.#wholeLines(Buffer.concat([before, own]))
        if (shown.length > 0) yield shown
      }
    }
  }

  /** A last line that has no end. */
  *rest(): Generator<Uint8Array> {
    const left = Buffer.concat([this.#carry, this.#drawn(this.#held), Buffer.from(this.#screen?.end() ?? '')])
    const lineEnd = left.at(-1) === 0x0a && this.#screen !== null ? '' : '\n'
    if (left.length > 0) yield this.#options.raw ? left : this.#clean(Buffer.concat([left, Buffer.from(lineEnd)]))
    this.#carry = Buffer.alloc(0)
    this.#held = Buffer.alloc(0)
  }

  #read(file: string): Buffer {
    const offset = this.#offsets.get(file) ?? 0
    const fd = fs.openSync(file, 'r')
    try {
      const chunk = Buffer.alloc(CHUNK)
      const wanted = Math.min(CHUNK, (this.#ends.get(file) ?? Number.POSITIVE_INFINITY) - offset)
      const length = wanted <= 0 ? 0 : fs.readSync(fd, chunk, 0, wanted, offset)
      this.#offsets.set(file, offset + length)
      return chunk.subarray(0, length)
    } finally {
      fs.closeSync(fd)
    }
  }

  /** The shim's closing mark is not the program's. While it may just be arriving, its beginning is held back. */
  #withoutMark(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const mark = Buffer.from(CLOSING_MARK)
    const at = bytes.lastIndexOf(0x1b)
    const mayBeMark =
      at >= 0 && bytes.length - at <= mark.length && mark.subarray(0, bytes.length - at).equals(bytes.subarray(at))
    const end = mayBeMark ? at : bytes.length
    const isWhole = mayBeMark && bytes.length - at === mark.length
    this.#held = isWhole ? Buffer.alloc(0) : Buffer.from(bytes.subarray(end))
    return bytes.subarray(0, end)
  }

  /** The last screen of the attempt before, when the first bytes of another file were read. */
  #screenBefore(file: string): Buffer {
    const isNext = this.#file !== undefined && this.#file !== file
    this.#file = file
    return Buffer.from(isNext ? (this.#screen?.end() ?? '') : '')
  }

  #drawn(bytes: Buffer): Buffer {
    return this.#screen === null ? bytes : Buffer.from(this.#screen.write(this.#decoder.write(bytes)))
  }

  #wholeLines(chunk: Buffer): Uint8Array {
    const bytes = Buffer.concat([this.#carry, chunk])
    const end = bytes.lastIndexOf(0x0a) + 1
    this.#carry = bytes.subarray(end)
    return end === 0 ? Buffer.alloc(0) : this.#clean(bytes.subarray(0, end))
  }

  #clean(bytes: Buffer): Uint8Array {
    const { colour } = this.#options
    const text = readable(bytes.toString(), { colour })
    return Buffer.from(colour && this.#isTranscript ? paintTranscript(text) : text)
  }

  #sources(): LogSource[] {
    return logSources(this.#home, this.#session, this.#options)
  }
}

/** Where each file is read from, so that `lines` and `since` hold over all of them together. */
function beginnings(sources: readonly LogSource[], options: LogOptions): Map<string, number> {
  const offsets = new Map<string, number>()
  let wanted = options.lines
  for (const source of [...sources].reverse()) {
    const since = options.since === undefined ? (options.after ?? 0) : offsetSince(source, options.since)
    let offset = since
    if (wanted !== undefined) {
      const last =
        wanted === 0 ? { offset: fs.statSync(source.file).size, found: 0 } : offsetOfLastLines(source.file, wanted)
      offset = Math.max(since, last.offset)
      wanted = Math.max(0, wanted - last.found)
    }
    offsets.set(source.file, offset)
  }
  return offsets
}
