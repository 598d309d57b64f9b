import type { ParserState, Observation, ParsedLine } from '../../src/ports/agent.ts'

export type ReadLine = (line: string, memory: ParserState) => ParsedLine

export interface ReadResult {
  readonly observations: readonly Observation[]
  readonly transcript: string
  readonly memory: ParserState
}

/** Reads lines of output, or events, one after the other. Serializes the reader's memory between two lines. */
export function readAll(read: ReadLine, lines: readonly (string | object)[]): ReadResult {
  const observations: Observation[] = []
  let transcript = ''
  let memory: ParserState = {}
  for (const line of lines) {
    if (line === '') continue
    const reading = read(typeof line === 'string' ? line : JSON.stringify(line), memory)
    observations.push(...reading.observations)
    transcript += reading.text ?? ''
    memory = JSON.parse(JSON.stringify(reading.memory ?? memory)) as ParserState
  }
  return { observations, transcript, memory }
}
