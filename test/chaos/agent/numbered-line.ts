import crypto from 'node:crypto'

/** A numbered line of an attempt's output. Its every byte follows from its number, so that anybody can check it. */
export function lineOf(attempt: string, number: number, size: number): string {
  const head = `#${attempt}:${number}:`
  const seed = crypto.createHash('sha1').update(head).digest('hex')
  const room = Math.max(0, size - head.length)
  return head + seed.repeat(Math.ceil(room / seed.length)).slice(0, room)
}

/** The attempt and the number in a line; undefined when it is not one of ours, or not whole. */
export function numberOf(line: string): { attempt: string; number: number } | undefined {
  const [, attempt, digits] = /^#([^:]+):(\d+):/.exec(line) ?? []
  if (attempt === undefined || digits === undefined) return undefined
  const number = Number(digits)
  return line === lineOf(attempt, number, line.length) ? { attempt, number } : undefined
}
