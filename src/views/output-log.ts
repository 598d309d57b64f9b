import fs from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { SessionView } from '../api/contract/responses.ts'
import { ScreenText, drawsOnScreen } from '../lib/text/terminal-emulator.ts'
import { RESET_COLOUR, renderTerminalText } from '../lib/text/strip-terminal-controls.ts'
import type { Instant } from '../lib/time.ts'
import { sessionFolder } from '../state/session-folder.ts'
import type { Home } from '../state/home.ts'
import { CLOSING_MARK } from '../state/shim-records.ts'
import { FileWatcher } from '../os/files/file-watcher.ts'
import { type LogSource, findLogSources, findOffsetOfLastLines, findOffsetSince } from './output-log-source.ts'
import { readSession } from './read-session.ts'

export interface LogOptions {
  /** True: the program's own bytes, unchanged. */
  readonly raw: boolean
  readonly colour: boolean
  readonly lines?: number
  readonly since?: Instant
  readonly attempt?: number
  /** Only the part of the transcript beyond this length. */
  readonly after?: number
}

const CHUNK_SIZE = 262_144
/** Heading above the last screen of a program that has used the alternate screen. */
const LAST_SCREEN = '[full-screen program, its last screen:]'

/** Reads the output of a session so far, from disk alone. */
export async function* readLog(home: Home, session: SessionView, options: LogOptions): AsyncGenerator<Uint8Array> {
  const { lines, ...rest } = options
  if (lines !== undefined && lines > 0 && isDrawnAt(home, session, options)) {
    yield lastLines([...chunksOf(new LogReader(home, session, rest))], lines)
  } else yield* chunksOf(new LogReader(home, session, options))
}

function* chunksOf(reader: LogReader): Generator<Uint8Array> {
  reader.stopAtCurrentEnd()
  yield* reader.readAvailable()
  yield* reader.readRest()
}

/**
 * Returns true when a program drew on the whole terminal screen in the requested part of the log: then its lines are
 * not those of the file.
 */
function isDrawnAt(home: Home, session: SessionView, options: LogOptions): boolean {
  if (options.raw || session.mode !== 'tty') return false
  const raw = new LogReader(home, session, { ...options, raw: true })
  for (const bytes of chunksOf(raw)) if (drawsOnScreen(Buffer.from(bytes).toString('latin1'))) return true
  return false
}

function lastLines(chunks: readonly Uint8Array[], count: number): Uint8Array {
  const lines = Buffer.concat(chunks).toString().replace(/\n$/, '').split('\n')
  return Buffer.from(`${lines.slice(-count).join('\n')}\n`)
}

/** Reads the output so far, and then new output until the session has ended. */
export async function* followLog(
  home: Home,
  session: SessionView,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = new LogReader(home, session, options, `[full-screen program: oneshot attach ${session.name} shows it]`)
  const watcher = new FileWatcher([sessionFolder(home, session.id).root])
  const watched = new Set<string>()
  try {
    while (!signal.aborted) {
      const now = readSession(home, session.id)
      for (const file of reader.files(now ?? session)) {
        if (!watched.has(file)) watcher.watch(file)
        watched.add(file)
      }
      yield* reader.readAvailable()
      if (now === undefined || now.phase === 'ended') break
      await watcher.nextChange(signal)
    }
    yield* reader.readRest()
  } finally {
    watcher.close()
  }
}

/** Reads the files of a log one after the other, each from its last offset. */
class LogReader {
  readonly #home: Home
  readonly #options: LogOptions
  readonly #offsets = new Map<string, number>()
  readonly #ends = new Map<string, number>()
  #session: SessionView
  /** True if the last colour of the text so far is not reset. */
  #isColourOpen = false
  /** The pieces of a line without an end yet. They are joined once: a line may have many megabytes. */
  #partialLine: Buffer[] = []
  #possibleMark: Buffer = Buffer.alloc(0)
  #isTranscript = false
  #file: string | undefined
  readonly #decoder = new StringDecoder()
  /** Draws the screen of a terminal session; null when the caller asks for the raw bytes. */
  readonly #screen: ScreenText | null

  /** `notice`: for a reader who waits for each line, see `ScreenText`. */
  constructor(home: Home, session: SessionView, options: LogOptions, notice: string | null = null) {
    const isDrawn = session.mode === 'tty' && !options.raw
    this.#screen = isDrawn ? new ScreenText({ heading: LAST_SCREEN, notice }) : null
    this.#home = home
    this.#session = session
    this.#options = options
    for (const [file, offset] of findStartOffsets(this.#sources(), options)) this.#offsets.set(file, offset)
  }

  /** Ignores later output: a session that writes faster than we read would never let us end. */
  stopAtCurrentEnd(): void {
    for (const { file } of this.#sources()) this.#ends.set(file, fs.statSync(file).size)
  }

  files(session: SessionView): string[] {
    this.#session = session
    return this.#sources().map(source => source.file)
  }

  *readAvailable(): Generator<Uint8Array> {
    for (const { file, isTranscript } of this.#sources()) {
      this.#isTranscript = isTranscript
      for (let chunk = this.#read(file); chunk.length > 0; chunk = this.#read(file)) {
        const before = this.#screenBefore(file)
        const own = isTranscript ? this.#stripMark(chunk) : this.#drawn(this.#stripMark(chunk))
        const shown = this.#options.raw ? own : this.#wholeLines(Buffer.concat([before, own]))
        if (shown.length > 0) yield shown
      }
    }
  }

  /** Reads a last line without a line end. */
  *readRest(): Generator<Uint8Array> {
    const left = Buffer.concat([
      ...this.#partialLine,
      this.#drawn(this.#possibleMark),
      Buffer.from(this.#screen?.end() ?? ''),
    ])
    const lineEnd = left.at(-1) === 0x0a && this.#screen !== null ? '' : '\n'
    if (left.length > 0) yield this.#options.raw ? left : this.#clean(Buffer.concat([left, Buffer.from(lineEnd)]))
    this.#partialLine = []
    this.#possibleMark = Buffer.alloc(0)
    if (this.#isColourOpen) yield Buffer.from(RESET_COLOUR)
  }

  #read(file: string): Buffer {
    const offset = this.#offsets.get(file) ?? 0
    const fd = fs.openSync(file, 'r')
    try {
      const chunk = Buffer.alloc(CHUNK_SIZE)
      const maxLength = Math.min(CHUNK_SIZE, (this.#ends.get(file) ?? Number.POSITIVE_INFINITY) - offset)
      const length = maxLength <= 0 ? 0 : fs.readSync(fd, chunk, 0, maxLength, offset)
      this.#offsets.set(file, offset + length)
      return chunk.subarray(0, length)
    } finally {
      fs.closeSync(fd)
    }
  }

  /**
   * Removes the shim's closing mark, which is not the program's output. Holds back bytes that may be the beginning of
   * the mark.
   */
  #stripMark(chunk: Buffer): Buffer {
    const bytes = this.#possibleMark.length === 0 ? chunk : Buffer.concat([this.#possibleMark, chunk])
    const mark = Buffer.from(CLOSING_MARK)
    const escapeAt = bytes.lastIndexOf(0x1b)
    const mayBeMark =
      escapeAt >= 0 &&
      bytes.length - escapeAt <= mark.length &&
      mark.subarray(0, bytes.length - escapeAt).equals(bytes.subarray(escapeAt))
    const end = mayBeMark ? escapeAt : bytes.length
    const isWhole = mayBeMark && bytes.length - escapeAt === mark.length
    this.#possibleMark = isWhole ? Buffer.alloc(0) : Buffer.from(bytes.subarray(end))
    return bytes.subarray(0, end)
  }

  /** Returns the last screen of the previous attempt when the reader moves on to another file. */
  #screenBefore(file: string): Buffer {
    const isNext = this.#file !== undefined && this.#file !== file
    this.#file = file
    return Buffer.from(isNext ? (this.#screen?.end() ?? '') : '')
  }

  #drawn(bytes: Buffer): Buffer {
    return this.#screen === null ? bytes : Buffer.from(this.#screen.write(this.#decoder.write(bytes)))
  }

  #wholeLines(chunk: Buffer): Uint8Array {
    const end = chunk.lastIndexOf(0x0a) + 1
    const lines = end === 0 ? [] : [...this.#partialLine.splice(0), chunk.subarray(0, end)]
    if (end < chunk.length) this.#partialLine.push(chunk.subarray(end))
    return end === 0 ? Buffer.alloc(0) : this.#clean(Buffer.concat(lines))
  }

  #clean(bytes: Buffer): Uint8Array {
    const { colour } = this.#options
    const text = renderTerminalText(bytes.toString(), { colour })
    const last = text.lastIndexOf('\u001b')
    if (last >= 0) this.#isColourOpen = !/^\u001b\[0?m/.test(text.slice(last, last + 5))
    return Buffer.from(colour && this.#isTranscript ? colorTranscript(text) : text)
  }

  #sources(): LogSource[] {
    return findLogSources(this.#home, this.#session, this.#options)
  }
}

/** Returns the start offset of each file, so that `lines` and `since` apply to all files together. */
function findStartOffsets(sources: readonly LogSource[], options: LogOptions): Map<string, number> {
  const offsets = new Map<string, number>()
  let remaining = options.lines
  for (const source of [...sources].reverse()) {
    const since = options.since === undefined ? (options.after ?? 0) : findOffsetSince(source, options.since)
    let offset = since
    if (remaining !== undefined) {
      const last =
        remaining === 0
          ? { offset: fs.statSync(source.file).size, found: 0 }
          : findOffsetOfLastLines(source.file, remaining)
      offset = Math.max(since, last.offset)
      remaining = Math.max(0, remaining - last.found)
    }
    offsets.set(source.file, offset)
  }
  return offsets
}

/** The colour of a line by its first characters. */
const LINE_COLORS: readonly (readonly [mark: string, code: number])[] = [
  ['● ', 36],
  ['  │ ', 2],
  ['  ✗ ', 31],
  ['✗ ', 31],
  ['── ', 1],
]

/** Colours a transcript: tool calls and their results, failures, and oneshot's notes; the agent's text stays plain. */
function colorTranscript(text: string): string {
  return text.split('\n').map(colorLine).join('\n')
}

function colorLine(line: string): string {
  const code = LINE_COLORS.find(([mark]) => line.startsWith(mark))?.[1]
  return code === undefined ? line : `\u001b[${code}m${line}\u001b[0m`
}
