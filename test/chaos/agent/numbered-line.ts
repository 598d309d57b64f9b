import crypto from 'node:crypto'

/** Renders a numbered line of an attempt's output. Every byte follows from the number, so that anybody can check it. */
export function lineOf(attempt: string, number: number, size: number): string {
  const head = `#${attempt}:${number}:`
  const seed = crypto.createHash('sha1').update(head).digest('hex')
  const room = Math.max(0, size - head.length)
  return head + seed.repeat(Math.ceil(room / seed.length)).slice(0, room)
}

/** Returns the attempt and the number of a line; undefined if it is incomplete or no numbered line. */
export function numberOf(line: string): { attempt: string; number: number } | undefined {
  const [, attempt, digits] = /^#([^:]+):(\d+):/.exec(line) ?? []
  if (attempt === undefined || digits === undefined) return undefined
  const number = Number(digits)
  return line === lineOf(attempt, number, line.length) ? { attempt, number } : undefined
}
