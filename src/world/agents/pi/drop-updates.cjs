// Node loads this file into pi before pi's own code. It drops the lines of pi's stdout that later lines repeat.
//
// pi 0.73 writes the whole answer so far, twice, with every few characters of it: its `message_update` events grow with
// the square of the answer's length. `tool_execution_update` does the same with a tool's output. The events that follow
// them carry everything, and our stdout is a file on the user's disk. One empty line of the kind stays every few
// seconds, as a sign that pi works.
'use strict'

const { isMainThread } = require('node:worker_threads')

const DROPPED_PREFIXES = ['message_update', 'tool_execution_update'].map(type => Buffer.from(`{"type":"${type}"`))
const NEWLINE = 0x0a
/** Five seconds are well below every limit for a silent agent. */
const KEEPALIVE_INTERVAL_MS = 5000

/** Takes output in chunks, cut anywhere, and returns the bytes to write. */
function thinner(now) {
  let pending = Buffer.alloc(0) // The beginning of a line that may have to be dropped.
  let decision = null // The decision about the rest of the current line: 'keep', 'drop', or null at its beginning.
  let lastKeepalive = -Infinity

  return { take, rest: () => pending }

  function take(bytes) {
    const kept = []
    let from = 0
    while (from < bytes.length) {
      const end = bytes.indexOf(NEWLINE, from)
      const to = end < 0 ? bytes.length : end + 1
      kept.push(...filterLine(bytes.subarray(from, to), end >= 0))
      from = to
    }
    return kept.length === 1 ? kept[0] : Buffer.concat(kept)
  }

  function filterLine(piece, isEnd) {
    const whole = decision === null && pending.length > 0 ? Buffer.concat([pending, piece]) : piece
    if (decision === null) decision = keepOrDrop(whole)
    if (decision === null && !isEnd) {
      pending = Buffer.from(whole)
      return []
    }
    const dropped = decision === 'drop'
    pending = Buffer.alloc(0)
    if (isEnd) decision = null
    if (!dropped) return [whole]
    return isEnd ? keepalive() : []
  }

  function keepalive() {
    if (now() - lastKeepalive < KEEPALIVE_INTERVAL_MS) return []
    lastKeepalive = now()
    return [Buffer.from('{"type":"message_update"}\n')]
  }
}

/** Decides about a line by its beginning; returns null while too little of it is known. */
function keepOrDrop(bytes) {
  if (DROPPED_PREFIXES.some(prefix => bytes.subarray(0, prefix.length).equals(prefix))) return 'drop'
  return DROPPED_PREFIXES.some(prefix => prefix.subarray(0, bytes.length).equals(bytes)) ? null : 'keep'
}

function install(stdout) {
  const write = stdout.write
  const { take, rest } = thinner(() => performance.now())
  stdout.write = function (chunk, encoding, callback) {
    const done = typeof encoding === 'function' ? encoding : callback
    const bytes = bytesOf(chunk, encoding)
    if (bytes === undefined || bytes.length === 0) return write.call(stdout, chunk, encoding, callback)
    const kept = take(bytes)
    // An empty write calls back in its turn, after the writes before it.
    return kept.length > 0 || done !== undefined ? write.call(stdout, kept, done) : !stdout.writableNeedDrain
  }
  process.on('exit', () => rest().length > 0 && write.call(stdout, rest()))
}

function bytesOf(chunk, encoding) {
  if (typeof chunk === 'string') return Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8')
  return chunk instanceof Uint8Array ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined
}

// In a worker thread stdout belongs to the main thread, which has already installed the filter.
const isPreloaded = module.parent?.id === 'internal/preload'
if (isPreloaded && isMainThread) {
  install(process.stdout)
  // A process that pi forks would inherit our option, and the reader of its output may need all of it.
  process.execArgv.splice(process.execArgv.indexOf('--require'), 2)
}

module.exports = { thinner }
